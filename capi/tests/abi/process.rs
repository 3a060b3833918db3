//! The process: threads, contexts, forks and the end.

use std::ptr;

use cupola_capi::{CupolaStatus, cupola_allocate, cupola_free, cupola_torch_reset, cupola_trim};

use crate::framework::{allocate_on, alone, free_on, last_error};

// Without it a framework that takes its current device from the context would launch on another one.
#[test]
fn the_current_context_stays_what_it_was() {
    alone(
        "process::the_current_context_stays_what_it_was",
        &[],
        |framework| {
            let stream = framework.stream();
            let mut other = ptr::null_mut();
            // SAFETY: the places outlive the calls. The thread has no context after them.
            unsafe {
                framework
                    .driver
                    .cuCtxCreate_v2(&raw mut other, 0, 0)
                    .unwrap();
                let mut popped = ptr::null_mut();
                for _ in 0..2 {
                    framework
                        .driver
                        .cuCtxPopCurrent_v2(&raw mut popped)
                        .unwrap();
                }
            }
            for context in [ptr::null_mut(), other, framework.context] {
                // SAFETY: null or a live context.
                unsafe { framework.driver.cuCtxSetCurrent(context) }.unwrap();
                let block = allocate_on(3 << 20, stream);
                let any = cupola_allocate(0, 3 << 20);
                assert!(!any.is_null(), "{}", last_error());
                assert_eq!(framework.current(), context);
                assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
                assert_eq!(cupola_free(any), CupolaStatus::CupolaOk);
                assert_eq!(framework.current(), context);
                assert_eq!(cupola_trim(0), CupolaStatus::CupolaOk);
                cupola_torch_reset();
                assert_eq!(framework.current(), context);
            }
            // SAFETY: it is used no more.
            unsafe { framework.driver.cuCtxDestroy_v2(other) }.unwrap();
        },
    );
}

// Without it a worker of a data loader could hang in a lock that the parent's thread had, or free the
// parent's memory.
#[test]
fn a_child_of_a_fork_is_refused() {
    alone("process::a_child_of_a_fork_is_refused", &[], |framework| {
        let stream = framework.stream();
        let block = allocate_on(1000, stream);
        // SAFETY: the child calls functions that refuse, and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: a child that waits for ever is ended.
            unsafe { libc::alarm(30) };
            let refused = [
                cupola_free(block) == CupolaStatus::CupolaForked,
                free_on(block, stream) == CupolaStatus::CupolaForked,
                cupola_trim(0) == CupolaStatus::CupolaForked,
                cupola_allocate(0, 10).is_null(),
                !cupola_capi::cupola_last_error().is_null(),
            ];
            let code = i32::from(refused.contains(&false));
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(code) };
        }
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
        assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
    });
}

// Without it a program that ends with blocks alive, or that frees them when it ends, could crash.
#[test]
fn a_process_may_end_with_blocks_and_free_them_late() {
    static LATE: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    extern "C" fn late() {
        if let Some(&block) = LATE.get() {
            let _status = cupola_free(ptr::without_provenance_mut(block));
        }
    }
    alone(
        "process::a_process_may_end_with_blocks_and_free_them_late",
        &[],
        |framework| {
            // SAFETY: the handler may run at any exit.
            unsafe { libc::atexit(late) };
            let stream = framework.stream();
            let _alive = allocate_on(3 << 20, stream);
            let block = allocate_on(1000, stream);
            LATE.set(block.addr()).unwrap();
        },
    );
}

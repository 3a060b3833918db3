//! The process: threads, contexts, forks and the end.

use std::ptr;

use cupola_capi::{
    CupolaStatus, CupolaUsage, cupola_allocate, cupola_allocate_on, cupola_free,
    cupola_torch_reset, cupola_trim, cupola_usage,
};

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

// Without it a block could be another device's, or two devices share a limit.
#[test]
fn each_device_has_a_pool_of_its_own() {
    alone(
        "process::each_device_has_a_pool_of_its_own",
        &[("CUPOLA_SIM_DEVICES", "2"), ("CUPOLA_LIMIT", "64MiB")],
        |framework| {
            let mut count = 0;
            // SAFETY: the place outlives the call.
            unsafe { framework.driver.cuDeviceGetCount(&raw mut count) }.unwrap();
            if count < 2 {
                eprintln!("SKIPPED: there is one device");
                return;
            }
            // The default stream of each.
            let blocks = [0, 1].map(|device| {
                // SAFETY: the default stream is always there.
                unsafe { cupola_allocate_on(device, 60 << 20, ptr::null_mut()) }
            });
            assert!(!blocks.contains(&ptr::null_mut()), "{}", last_error());
            assert_ne!(blocks[0], blocks[1]);
            assert_eq!(framework.current(), framework.context);
            let live = |device| {
                let mut usage = CupolaUsage::default();
                // SAFETY: the place can be written.
                let status = unsafe { cupola_usage(device, &raw mut usage) };
                assert_eq!(status, CupolaStatus::CupolaOk);
                usage.live
            };
            assert_eq!([live(0), live(1)], [60 << 20; 2]);
            // PyTorch frees from whichever thread, whose device is another one.
            assert_eq!(cupola_free(blocks[1]), CupolaStatus::CupolaOk);
            assert_eq!(cupola_trim(1), CupolaStatus::CupolaOk);
            assert_eq!([live(0), live(1)], [60 << 20, 0]);
            assert_eq!(cupola_free(blocks[0]), CupolaStatus::CupolaOk);
            assert_eq!(framework.current(), framework.context);
        },
    );
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
    let folder = tempfile::TempDir::new().unwrap();
    let log = folder.path().join("log");
    let printed = alone(
        "process::a_process_may_end_with_blocks_and_free_them_late",
        &[("CUPOLA_SIM_LOG", log.to_str().unwrap())],
        |framework| {
            // SAFETY: the handler may run at any exit.
            unsafe { libc::atexit(late) };
            let stream = framework.stream();
            let _alive = allocate_on(3 << 20, stream);
            let block = allocate_on(1000, stream);
            LATE.set(block.addr()).unwrap();
        },
    );
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let is_logged = printed.is_some() && std::env::var_os("CUPOLA_TEST_DEVICE").is_none();
    assert!(!is_logged || log.contains("cuMemCreate("), "{log}");
    for ending in [
        "MemUnmap",
        "MemRelease",
        "StreamDestroy",
        "PrimaryCtxRelease",
    ] {
        assert!(!log.contains(ending), "{ending} {log}");
    }
}

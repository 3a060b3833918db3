//! Kernels whose threads wait for what never comes: a GPU hangs, this device says who waits.

use cupola_sys::driver::CUresult;

use crate::support::{TestBench, code, without_hanging};

/// Runs kernel `k` of a body with 64 threads; the code of the wait, and the messages. The body
/// begins at line 6.
fn run(body: &str) -> (CUresult, String) {
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n\
         .reg .b32 %t, %r; .reg .pred %p; mov.u32 %t, %tid.x;\n{body}\nret; }}"
    );
    let bench = TestBench::new();
    let k = bench.function(bench.load(&text), c"k");
    let launched = bench.launch(k, 2, 64, std::ptr::null_mut(), &[]);
    assert_eq!(launched, CUresult::CUDA_SUCCESS);
    // SAFETY: no pointers.
    let waited = unsafe { bench.driver.cuCtxSynchronize() };
    (code(waited), bench.machine.messages().join("\n"))
}

/// Checks what a body's end is: a time-out, with this in the message.
fn deadlocks(body: &'static str, says: &'static [&'static str]) {
    without_hanging(move || {
        let (code, messages) = run(body);
        assert_eq!(code, CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, "{messages}");
        for part in says {
            assert!(messages.contains(part), "no \"{part}\" in: {messages}");
        }
    });
}

/// Without it, warps at different barriers would hang the program.
#[test]
fn warps_at_different_barriers() {
    deadlocks(
        "setp.lt.u32 %p, %t, 32;\n@%p bar.sync 1, 64;\n@!%p bar.sync 2, 64;",
        &[
            "deadlock",
            "threads 0-31 at barrier 1 (PTX line 7), where 32 of 64 came",
            "threads 32-63 at barrier 2 (PTX line 8), where 32 of 64 came",
            "in kernel k (function k, PTX line 7)",
            "thread (0,0,0)",
        ],
    );
}

/// Without it, a barrier that counts more threads than can come would hang the program.
#[test]
fn a_barrier_for_more_threads_than_there_are() {
    deadlocks(
        "setp.ge.u32 %p, %t, 32;\n@%p bra done;\nbar.sync 3, 64;\ndone:",
        &["threads 0-31 at barrier 3 (PTX line 8), where 32 of 64 came"],
    );
}

/// Without it, lanes that a warp-wide instruction waits for could keep it for ever.
#[test]
fn lanes_that_never_come_to_a_shuffle() {
    deadlocks(
        "and.b32 %r, %t, 1;\nsetp.eq.u32 %p, %r, 0;\n@%p bra even;\nbar.sync 0;\nbra done;\n\
         even: shfl.sync.idx.b32 %r, %t, 0, 31, -1;\nbar.sync 0;\ndone:",
        &[
            "threads 0,2,4,",
            "for other lanes of their warp (PTX line 11)",
            "threads 1,3,5,",
            "at barrier 0 (PTX line 9), where 32 came",
        ],
    );
}

//! The threads of an ordered machine. One test in a process of its own: it counts them.
#![cfg(target_os = "linux")]

mod support;

use cupola_sim::{Machine, Order};
use cupola_sys::driver::CUstream_flags;
use support::{TestBench, without_hanging};

/// All threads of this process: a thread counts before it has given itself a name.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// How many threads a machine with work in two streams has more than one without, while
/// the work is queued and when it is done.
fn work(order: Order) -> (usize, usize) {
    let before = threads();
    let bench = TestBench::with(Machine::builder().order(order));
    let d = &bench.driver;
    let (a, b) = (bench.alloc(4), bench.alloc(4));
    bench.upload(b, &[0; 4]);
    let streams = [(); 2].map(|()| bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING));
    // SAFETY: live memory and handles.
    unsafe {
        for stream in streams {
            // Nothing gets past it before the value is there.
            d.cuStreamWaitValue32_v2(stream, b, 1, 1).unwrap();
            d.cuMemsetD32Async(a, 7, 1, stream).unwrap();
        }
    }
    let queued = threads() - before;
    // SAFETY: live memory.
    unsafe { d.cuMemsetD32_v2(b, 1, 1) }.unwrap();
    bench.synchronize();
    assert_eq!(bench.download(a, 4), 7u32.to_le_bytes());
    (queued, threads() - before)
}

/// Without it, an ordered machine could have threads outside of its order.
#[test]
fn streams_of_ordered_machines_have_no_threads() {
    without_hanging(|| {
        for order in [Order::Seeded(1), Order::Timed] {
            assert_eq!(work(order), (0, 0));
        }
        // They would be seen: two streams that wait have a thread each.
        assert_eq!(work(Order::Threads).0, 2);
    });
}

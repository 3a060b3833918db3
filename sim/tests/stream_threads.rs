//! The threads of streams. One test in a process of its own: it counts them.
#![cfg(target_os = "linux")]

mod support;

use std::time::Duration;

use support::{TestBench, without_hanging};

fn stream_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "cupola-stream").count()
}

/// Without it, every thread of the program that ever used its default stream would leave a
/// thread behind; and a stream whose thread has gone could lose its work.
#[test]
fn idle_streams_give_their_threads_back() {
    without_hanging(|| {
        let bench = TestBench::new();
        let d = &bench.driver;
        let a = bench.alloc(4);
        let fill = |value| {
            // SAFETY: live memory.
            unsafe {
                d.cuMemsetD32Async_ptsz(a, value, 1, std::ptr::null_mut())
                    .unwrap();
                d.cuStreamSynchronize_ptsz(std::ptr::null_mut()).unwrap();
            }
        };
        for value in 0..20 {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    bench.attach();
                    fill(value);
                });
            });
        }
        for value in 100..103u32 {
            fill(value);
            while stream_threads() > 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(bench.download(a, 4), value.to_le_bytes());
        }
        bench.free(a);
        bench.finish();
    });
}

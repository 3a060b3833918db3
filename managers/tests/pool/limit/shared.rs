//! Pools that share a limit, and come and go while others use it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::Error;
use cupola_managers::pool::{DeviceLimit, PoolConfig};

use crate::*;

/// A pool of a limit in common that waits no longer than this.
fn pool(bench: &TestBench, limit: &DeviceLimit, wait: Duration) -> MemoryPool {
    let config = PoolConfig {
        wait,
        ..PoolConfig::limit(u64::MAX).within(limit)
    };
    bench.context.memory_pool(config).unwrap()
}

// Without it pools that ask each other while they end could wait for each other, or stay.
#[test]
fn pools_may_go_while_others_ask_them() {
    on_both(|bench| {
        let limit = DeviceLimit::new(8 * PAGE);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (bench, limit) = (&bench, &limit);
            let workers: Vec<_> = (0..4)
                .map(|seed| {
                    scope.spawn(move || {
                        let (stream, mut random) = (bench.stream(), Random::new(seed + 1));
                        for _ in 0..40 {
                            let pool = pool(bench, limit, Duration::from_millis(2));
                            let mut last = None;
                            for _ in 0..6 {
                                let bytes = 1 + (random.below(5 * PAGE) >> random.below(12));
                                match pool.allocate_raw(bytes, 256, &stream) {
                                    Ok(block) => {
                                        if let Some(block) = last.replace(block) {
                                            free(block, &stream);
                                        }
                                    }
                                    Err(Error::OverLimit(_)) => {}
                                    Err(error) => panic!("{error}"),
                                }
                            }
                            // The pool goes with its handle, or with its last block.
                            let pool = (random.below(2) == 0).then_some(pool);
                            if let Some(block) = last {
                                free(block, &stream);
                            }
                            drop(pool);
                        }
                    })
                })
                .collect();
            let watch = bench.execution.watch();
            let done = &done;
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let _looked = (watch.live(), bench.context.buffers().stats());
                    std::thread::yield_now();
                }
            });
            for worker in workers {
                worker.join().unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(limit.used(), 0);
        bench.finish();
    });
}

// Without it a program could not make room by ending another pool: that would wait for the very
// request that it is asked about.
#[test]
fn a_callback_before_a_refusal_may_end_a_pool() {
    on_both(|bench| {
        let limit = DeviceLimit::new(16 * PAGE);
        let (other, asking, stream) = (
            pool(&bench, &limit, Duration::ZERO),
            pool(&bench, &limit, Duration::ZERO),
            bench.stream(),
        );
        let block = other.allocate_raw(12 * PAGE, 256, &stream).unwrap();
        let spare = Mutex::new(Some((other, block, stream.clone())));
        asking.on_refusal(move |_| {
            let Some((other, block, stream)) = spare.lock().unwrap().take() else {
                return false;
            };
            free(block, &stream);
            drop(other);
            true
        });
        let block = asking.allocate_raw(12 * PAGE, 256, &stream).unwrap();
        free(block, &stream);
        asking.on_refusal(|_| false);
        drop((asking, stream));
        assert_eq!(limit.used(), 0);
        bench.finish();
    });
}

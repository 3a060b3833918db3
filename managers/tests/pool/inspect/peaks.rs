//! The most that was alive, held and mapped, and its reset.

use crate::*;

// Without it the peak could miss what was alive between two looks, or count what was not alive at
// the same time, on whichever path blocks come and go.
#[test]
fn the_peak_of_live_bytes_is_that_of_a_moment() {
    on_both(|bench| {
        let pool = bench.pool(64 << 20);
        let (stream, other) = (bench.stream(), bench.stream());
        let before = pool.allocate::<u8>(1000, &stream).unwrap();
        drop(pool.allocate::<u8>(1 << 20, &stream).unwrap());
        assert_eq!(pool.usage().unwrap().peak_live, None, "not counted");
        pool.record(0).unwrap();
        assert_eq!(pool.usage().unwrap().peak_live, Some(1000));
        for bytes in [300, 5000, 300_000, 3 << 20] {
            let blocks = [(); 3].map(|()| pool.allocate::<u8>(bytes, &stream).unwrap());
            let [one, two, three] = blocks;
            one.used_on(&other).unwrap();
            drop(one);
            two.free_on(&other).unwrap();
            drop(three);
            let peak = 1000 + 3 * bytes as u64;
            assert_eq!(pool.usage().unwrap().peak_live, Some(peak), "{bytes}");
        }
        assert!(pool.allocate::<u8>(1 << 30, &stream).is_err(), "refused");
        pool.reset_peaks().unwrap();
        assert_eq!(pool.usage().unwrap().peak_live, Some(1000));
        let raw = pool.allocate_raw(77, 256, &stream).unwrap();
        free(raw, &stream);
        assert_eq!(pool.usage().unwrap().peak_live, Some(1077));
        drop(before);
        assert_eq!(pool.take_recording().unwrap().peak_live, 1077);
        assert_eq!(pool.usage().unwrap().peak_live, None);
        drop((pool, stream, other));
        bench.finish();
    });
}

// Without it threads that come and go at once could be counted one by one.
#[test]
fn threads_count_together() {
    on_both(|bench| {
        let pool = bench.pool(64 << 20);
        pool.record(10).unwrap();
        let all = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let stream = bench.stream();
                    let block = pool.allocate::<u8>(10_000, &stream).unwrap();
                    all.wait();
                    drop(block);
                    all.wait();
                    for _ in 0..100 {
                        drop(pool.allocate::<u8>(5000, &stream).unwrap());
                    }
                });
            }
        });
        let recording = pool.take_recording().unwrap();
        assert_eq!(recording.peak_live, 40_000);
        assert_eq!(recording.events.len(), 10);
        drop(pool);
        bench.finish();
    });
}

// Without it a reset could leave a peak of before, or take one below what is there now.
#[test]
fn peaks_begin_anew_at_what_is_there() {
    on_both(|bench| {
        let config = PoolConfig {
            history: 4,
            ..PoolConfig::limit(256 << 20)
        };
        let pool = bench.context.memory_pool(config).unwrap();
        let stream = bench.stream();
        let kept = pool.allocate::<u8>(3 << 20, &stream).unwrap();
        drop(pool.allocate::<u8>(40 << 20, &stream).unwrap());
        ops::synchronize(&stream).unwrap();
        trim_to(&pool, 39 << 20);
        let usage = pool.usage().unwrap();
        assert_eq!(usage.peak_live, Some(43 << 20));
        assert!(usage.peak_held >= 43 << 20 && usage.peak_mapped >= 43 << 20);
        pool.reset_peaks().unwrap();
        let usage = pool.usage().unwrap();
        assert_eq!(usage.peak_live, Some(3 << 20));
        assert_eq!(usage.peak_mapped, usage.mapped);
        assert!((3 << 20..43 << 20).contains(&usage.peak_held), "{usage:?}");
        drop((kept, pool, stream));
        bench.finish();
    });
}

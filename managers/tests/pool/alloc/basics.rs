//! What a single thread may ask for, and gets.

use cupola_managers::pool::{Backing, PoolConfig, Source};
use cupola_managers::{Error, ops};

use crate::*;

// Without it a configuration or a device could get the other kind of memory.
#[test]
fn a_pool_has_the_memory_that_there_is() {
    for backing in [Backing::Pages, Backing::Chunks] {
        let bench = bench_on(backing);
        let pool = bench.pool(64 << 20);
        assert_eq!((pool.backing(), pool.page()), (backing, PAGE));
        drop(pool);
        let mut config = PoolConfig::limit(64 << 20);
        config.source = Source::Chunks;
        let pool = bench.context.memory_pool(config).unwrap();
        assert_eq!(pool.backing(), Backing::Chunks);
        drop(pool);
        bench.finish();
    }
}

// Without it a block could be too small, not aligned, or lie in another one.
#[test]
fn any_size_at_any_alignment() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(256 << 20), bench.stream());
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut blocks = Vec::new();
        for shift in 0..=21 {
            for bytes in [1, 255, 256, 257, 8192, 8193, 100_000, PAGE - 1, PAGE + 1] {
                let align = 1 << shift;
                let block = pool.allocate_raw(bytes, align, &stream).unwrap();
                assert!(block.bytes() >= bytes);
                assert_eq!(block.address() % align, 0, "{bytes} at {align}");
                assert_eq!(block.address() % 256, 0);
                let place = (block.address(), block.address() + block.bytes());
                for other in &taken {
                    assert!(
                        place.1 <= other.0 || other.1 <= place.0,
                        "{bytes} at {align}"
                    );
                }
                taken.push(place);
                blocks.push(block);
                if blocks.len() > 40 {
                    taken.remove(0);
                    free(blocks.remove(0), &stream);
                }
            }
        }
        assert_eq!(pool.usage().unwrap().blocks, blocks.len() as u64);
        for block in blocks {
            free(block, &stream);
        }
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.blocks), (0, 0));
        drop((pool, stream));
        bench.finish();
    });
}

// Without it sizes that cannot be could wrap around, and a block be smaller than it says.
#[test]
fn absurd_requests_are_refused_and_cost_nothing() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 << 20), bench.stream());
        for bytes in [
            u64::MAX,
            u64::MAX - 255,
            i64::MAX as u64,
            1 << 63,
            (64 << 20) + 1,
        ] {
            let error = pool.allocate_raw(bytes, 256, &stream).unwrap_err();
            let Error::OverLimit(account) = &error else {
                panic!("{bytes}: {error}");
            };
            assert_eq!(account.requested, bytes);
        }
        for align in [0, 3, 2 * PAGE, 1 << 63] {
            let error = pool.allocate_raw(256, align, &stream).unwrap_err();
            assert!(
                matches!(error, Error::Invalid { field: "align", .. }),
                "{align}: {error}"
            );
        }
        let error = pool.allocate::<u64>(usize::MAX / 4, &stream).unwrap_err();
        assert!(!error.is_sticky(), "{error}");
        assert_eq!((pool.mapped(), bench.on_device()), (0, 0));
        // An unlimited pool is no reason to overflow either.
        let all = bench.pool(u64::MAX);
        for bytes in [u64::MAX, u64::MAX - 4096, 1 << 60, 1 << 48] {
            all.allocate_raw(bytes, 256, &stream).unwrap_err();
        }
        free(all.allocate_raw(1, 1, &stream).unwrap(), &stream);
        drop((all, pool, stream));
        bench.finish();
    });
}

// Without it a block of nothing could cost memory, or count for ever.
#[test]
fn nothing_has_no_address_and_takes_no_room() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(0), bench.stream());
        let block = pool.allocate_raw(0, PAGE, &stream).unwrap();
        let buffer = pool.allocate::<u64>(0, &stream).unwrap();
        assert_eq!((block.address(), block.bytes(), buffer.as_raw()), (0, 0, 0));
        let usage = pool.usage().unwrap();
        assert_eq!((usage.blocks, usage.live, usage.mapped), (2, 0, 0));
        free(block, &stream);
        drop(buffer);
        assert_eq!(pool.usage().unwrap().blocks, 0);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it the memory of a pool could never be had elsewhere, or be given back in use.
#[test]
fn trimming_gives_back_what_nothing_uses() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(256 << 20), bench.stream());
        let kept = pool.allocate::<u32>(1000, &stream).unwrap();
        let sizes = [100, 5000, 70_000, PAGE, 5 * PAGE];
        let blocks = sizes.map(|bytes| pool.allocate_raw(bytes, 256, &stream).unwrap());
        let mapped = pool.mapped();
        assert_eq!(mapped, bench.on_device());
        for block in blocks {
            free(block, &stream);
        }
        assert_eq!(pool.mapped(), mapped, "a free gives nothing back");
        ops::synchronize(&stream).unwrap();
        let given = pool.trim().unwrap();
        assert_eq!(pool.mapped() + given, mapped);
        assert_eq!(pool.mapped(), bench.on_device());
        if pool.backing() == Backing::Pages {
            trim_to(&pool, PAGE);
        }
        assert_ne!(pool.mapped(), 0);
        drop(kept);
        trim_to(&pool, 0);
        assert_eq!(bench.on_device(), 0);
        // And it can be had again.
        drop(pool.allocate::<u8>(3 << 20, &stream).unwrap());
        drop((pool, stream));
        bench.finish();
    });
}

// Without it work that runs would lose its memory: unmapping is not ordered on streams.
#[test]
fn trimming_leaves_what_work_may_use() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(256 << 20), bench.stream());
        let held = hold(&stream);
        free(pool.allocate_raw(4 * PAGE, 256, &stream).unwrap(), &stream);
        let mapped = pool.mapped();
        assert_eq!(pool.trim().unwrap(), 0);
        assert_eq!(pool.mapped(), mapped);
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.pending), (0, mapped), "{usage:?}");
        drop(held);
        ops::synchronize(&stream).unwrap();
        trim_to(&pool, 0);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a stream could wait for its own frees, or take what another still uses.
#[test]
fn a_stream_uses_again_what_it_freed_and_others_do_not() {
    on_both(|bench| {
        let (pool, one, two) = (bench.pool(256 << 20), bench.stream(), bench.stream());
        for (bytes, align) in [(1000, 256), (1 << 20, 256), (1 << 20, 512), (3 << 20, 4096)] {
            let held = hold(&one);
            let block = pool.allocate_raw(bytes, align, &one).unwrap();
            let address = block.address();
            free(block, &one);
            let other = pool.allocate_raw(bytes, align, &two).unwrap();
            assert_ne!(other.address(), address, "{bytes}: the work may still run");
            let again = pool.allocate_raw(bytes, align, &one).unwrap();
            assert_eq!(
                again.address(),
                address,
                "{bytes}: the stream's own order is enough"
            );
            free(again, &one);
            free(other, &two);
            drop(held);
            ops::synchronize(&one).unwrap();
        }
        assert_eq!(pool.usage().unwrap().host_waits, 0);
        drop((pool, one, two));
        bench.finish();
    });
}

// Without it a pool that is full could refuse what only has to be waited for on the device.
#[test]
fn a_full_pool_lends_what_another_stream_will_have_finished() {
    let bench = bench_on(Backing::Pages);
    let (pool, one, two) = (bench.pool(4 * PAGE), bench.stream(), bench.stream());
    let held = hold(&one);
    let mut first = pool.allocate::<u32>(PAGE as usize, &one).unwrap();
    ops::fill(&mut first, 1, &one).unwrap();
    drop(first);
    let mut second = pool.allocate::<u32>(PAGE as usize, &two).unwrap();
    ops::fill(&mut second, 2, &two).unwrap();
    let usage = pool.usage().unwrap();
    assert_eq!((usage.device_waits, usage.host_waits), (1, 0));
    assert!(!ops::query(&two).unwrap(), "behind the work of the other");
    drop(held);
    let mut back = vec![0; PAGE as usize];
    ops::read(&second, &mut back, &two).unwrap();
    assert!(back.iter().all(|&word| word == 2));
    drop((second, pool, one, two));
    bench.finish();
}

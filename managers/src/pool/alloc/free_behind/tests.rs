//! Buffers that other streams than their own have used.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use cupola_sys::driver::id;

use crate::pool::{MemoryPool, PoolConfig};
use crate::stream::Stream;
use crate::test_bench::{TestBench, hold};
use crate::{Error, ops};

const PAGE: usize = 2 << 20;

/// Whether the work on the stream is over before long.
fn is_free(stream: &Stream) -> bool {
    let (over, is_over) = channel();
    ops::host_function(stream, move || {
        let _ = over.send(());
    })
    .unwrap();
    is_over.recv_timeout(Duration::from_secs(20)).is_ok()
}

// Without it the drop of a buffer would make its stream wait for all that is on the streams that
// have used it, which makes several streams useless; or another user would get its memory while
// they use it.
#[test]
fn the_memory_waits_for_the_other_stream_and_the_streams_do_not() {
    for bytes in [PAGE / 2, 1000] {
        let bench = TestBench::with_workers(3);
        let (pool, home, other) = (bench.impatient(PAGE as u64), bench.stream(), bench.stream());
        let buffer = pool.allocate::<u8>(bytes, &home).unwrap();
        let address = buffer.as_raw();
        buffer.used_on(&other).unwrap();
        let held = hold(&other);
        bench.faults.reset();
        drop(buffer);
        assert_eq!(bench.faults.counts().values().sum::<u64>(), 0, "no calls");
        assert!(is_free(&home), "the buffer's stream waits for the other");
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.blocks), (0, 0));
        assert!(usage.pending >= bytes as u64, "{usage:?}");
        let refused = pool.allocate::<u8>(PAGE, &home);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
        let next = pool.allocate::<u8>(bytes, &home).unwrap();
        assert_ne!(next.as_raw(), address);
        drop((next, held));
        ops::synchronize(&other).unwrap();
        let all = pool.allocate::<u8>(PAGE, &home).unwrap();
        drop((all, pool, home, other));
        bench.finish();
    }
}

// Without it memory could be handed out that one of several streams still uses.
#[test]
fn the_memory_waits_for_each_of_several_streams() {
    let bench = TestBench::with_workers(3);
    let (pool, home) = (bench.impatient(PAGE as u64), bench.stream());
    let others = [(); 2].map(|()| bench.stream());
    for last in [0, 1] {
        let buffer = pool.allocate::<u8>(PAGE, &home).unwrap();
        let mut holds: Vec<_> = (others.iter())
            .map(|other| {
                buffer.used_on(other).unwrap();
                hold(other)
            })
            .collect();
        drop(buffer);
        let kept = holds.swap_remove(last);
        drop(holds);
        ops::synchronize(&others[1 - last]).unwrap();
        let refused = pool.allocate::<u8>(PAGE, &home);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
        drop(kept);
        ops::synchronize(&others[last]).unwrap();
        drop(pool.allocate::<u8>(PAGE, &home).unwrap());
    }
    drop((pool, home, others));
    bench.finish();
}

// Without it the buffer's own stream could still use memory that the others have done with.
#[test]
fn the_memory_is_others_only_behind_its_own_stream() {
    let bench = TestBench::with_workers(3);
    let (pool, home, other) = (bench.impatient(PAGE as u64), bench.stream(), bench.stream());
    let buffer = pool.allocate::<u8>(PAGE, &home).unwrap();
    buffer.used_on(&other).unwrap();
    let held = hold(&home);
    drop(buffer);
    assert!(is_free(&other), "the other stream waits for the buffer's");
    // The other stream may have it behind its own stream's work, and no sooner.
    let waits = bench.faults.count(id::cuStreamWaitEvent);
    let until = Instant::now() + Duration::from_secs(20);
    let next = loop {
        // The driver may need a moment to see that the other stream has come so far.
        match pool.allocate::<u8>(PAGE, &other) {
            Err(Error::OverLimit(_)) if Instant::now() < until => {}
            next => break next.unwrap(),
        }
    };
    assert_eq!(bench.faults.count(id::cuStreamWaitEvent), waits + 1);
    drop((next, held, pool, home, other));
    bench.finish();
}

// Without it a pool would never end whose last piece waits for a stream, or end under its work.
#[test]
fn a_pool_ends_behind_what_its_pieces_wait_for() {
    for is_closed_first in [false, true] {
        let bench = TestBench::with_workers(3);
        let (pool, home, other) = (
            bench.impatient(4 * PAGE as u64),
            bench.stream(),
            bench.stream(),
        );
        let buffer = pool.allocate::<u8>(PAGE, &home).unwrap();
        buffer.used_on(&other).unwrap();
        let held = hold(&other);
        let (mut buffer, mut pool) = (Some(buffer), Some(pool));
        if is_closed_first {
            drop(pool.take());
        } else {
            drop(buffer.take());
        }
        let unmapped = || bench.faults.count(id::cuMemUnmap);
        std::thread::scope(|scope| {
            let last = scope.spawn(move || drop((buffer, pool)));
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(unmapped(), 0);
            drop(held);
            last.join().unwrap();
        });
        assert_eq!(unmapped(), 1);
        drop((home, other));
        bench.finish();
    }
}

// Without it memory would wait for ever for a stream that is gone, or for another one that has
// its place.
#[test]
fn what_waits_for_a_stream_that_goes_is_had_when_its_work_is_over() {
    let bench = TestBench::with_workers(3);
    let (pool, home) = (bench.impatient(PAGE as u64), bench.stream());
    for round in 0..3 {
        let other = bench.stream();
        let buffer = pool.allocate::<u8>(PAGE, &home).unwrap();
        buffer.used_on(&other).unwrap();
        let held = hold(&other);
        // With the buffer goes the last lease.
        drop(other);
        drop(buffer);
        bench.context.streams().trim(0).unwrap();
        let refused = pool.allocate::<u8>(PAGE, &home);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "round {round}");
        drop(held);
        let until = Instant::now() + Duration::from_secs(20);
        while pool.mapped() > 0 {
            pool.trim().unwrap();
            assert!(Instant::now() < until, "round {round}: {:?}", pool.usage());
        }
    }
    drop((pool, home));
    bench.finish();
}

// Without it the first use of new memory on another stream would wait for all that its own stream
// has been given since, or one of memory that is used again not wait for its user before.
#[test]
fn the_first_use_elsewhere_waits_only_for_earlier_users_of_the_memory() {
    let bench = TestBench::with_workers(3);
    let (pool, home, other) = (
        bench.impatient(64 * PAGE as u64),
        bench.stream(),
        bench.stream(),
    );
    let waits = || bench.faults.count(id::cuStreamWaitEvent);
    let first = pool.allocate::<u8>(PAGE, &home).unwrap();
    let held = hold(&home);
    first.used_on(&other).unwrap();
    assert_eq!(waits(), 0);
    assert!(is_free(&other), "the other stream waits for later work");
    drop(held);
    ops::synchronize(&home).unwrap();
    drop(first);
    for bytes in [1000, PAGE / 2, 4 * PAGE] {
        drop(pool.allocate::<u8>(bytes, &home).unwrap());
        let again = pool.allocate::<u8>(bytes, &home).unwrap();
        let before = waits();
        again.used_on(&other).unwrap();
        again.used_on(&other).unwrap();
        assert_eq!(waits(), before + 1, "{bytes}");
    }
    drop((pool, home, other));
    bench.finish();
}

/// A request waits until the held work goes on, and gets its memory then.
#[track_caller]
fn is_had_after(pool: &MemoryPool, bytes: usize, home: &Stream, held: Sender<()>) {
    std::thread::scope(|scope| {
        let request = scope.spawn(|| pool.allocate::<u8>(bytes, home));
        while pool.usage().unwrap().host_waits == 0 && !request.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        drop(request.join().unwrap().unwrap());
    });
}

// Without it a request would be refused at once that has only to wait for the other streams: as if
// a piece that waits for them had a user.
#[test]
fn what_waits_for_another_stream_is_waited_for() {
    for bytes in [PAGE, 1000] {
        let bench = TestBench::with_workers(3);
        let config = PoolConfig::limit(PAGE as u64).wait(Duration::from_secs(600));
        let pool = bench.context.memory_pool(config).unwrap();
        let (home, other) = (bench.stream(), bench.stream());
        let buffer = pool.allocate::<u8>(bytes, &home).unwrap();
        buffer.used_on(&other).unwrap();
        let held = hold(&other);
        drop(buffer);
        is_had_after(&pool, PAGE, &home, held);
        drop((pool, home, other));
        bench.finish();
    }
}

// Without it the same would be so of a slab of which another stream has freed a slot.
#[test]
fn what_another_stream_has_freed_of_a_slab_is_waited_for() {
    let bench = TestBench::with_workers(3);
    let config = PoolConfig::limit(PAGE as u64).wait(Duration::from_secs(600));
    let pool = bench.context.memory_pool(config).unwrap();
    let (home, other) = (bench.stream(), bench.stream());
    let slot = pool.allocate_raw(1000, 1, &home).unwrap();
    let held = hold(&other);
    // SAFETY: nothing uses it.
    unsafe { slot.free(&other) }.unwrap();
    is_had_after(&pool, PAGE, &home, held);
    drop((pool, home, other));
    bench.finish();
}

// Without it a request of the size of a slot would be refused at once that waits for another
// stream, where all other slots have users.
#[test]
fn a_slot_that_waits_for_another_stream_is_waited_for() {
    let bench = TestBench::with_workers(3);
    let config = PoolConfig::limit(PAGE as u64).wait(Duration::from_secs(600));
    let pool = bench.context.memory_pool(config).unwrap();
    let (home, other) = (bench.stream(), bench.stream());
    let try_one = || pool.try_allocate::<u8>(1000, &home);
    let mut all: Vec<_> = std::iter::from_fn(|| try_one().ok()).collect();
    let one = all.swap_remove(all.len() / 2);
    one.used_on(&other).unwrap();
    let held = hold(&other);
    drop(one);
    is_had_after(&pool, 1000, &home, held);
    drop((all, pool, home, other));
    bench.finish();
}

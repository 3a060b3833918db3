//! Requests that find all memory leased.

use std::thread;
use std::time::Duration;

use cupola_random::Random;
use cupola_residency::{Residency, ResidencyConfig, ResidencyError};
use cupola_testing::{Machine, TestBench};

use super::{Bench, MIB, check, config, register};

const HOUR: Duration = Duration::from_secs(3600);

/// Sleeps until so many requests have waited for leases.
fn wait_for_waiters(residency: &Residency, waits: u64) {
    while residency.metrics().room_waits < waits {
        thread::sleep(Duration::from_millis(1));
    }
}

// Without it a request could be refused that has only to wait, or sleep on when the memory is free.
#[test]
fn a_request_waits_for_a_lease_to_end() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let held = register(&residency, 1, 14 * MIB);
    let wanted = register(&residency, 2, 10 * MIB);
    let lease = residency.lease(&held, &bench.stream).unwrap();
    let other = bench.context.streams().create(Default::default()).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let lease = residency.lease_within(&wanted, &other, HOUR).unwrap();
            check(&lease, 2, &other);
        });
        wait_for_waiters(&residency, 1);
        check(&lease, 1, &bench.stream);
        assert_eq!(held.resident(), 14 * MIB);
        drop(lease);
        waiter.join().unwrap();
    });
    assert!(residency.usage().charged <= 16 * MIB);
    drop((held, wanted, other, residency));
    bench.finish();
}

// Without it a thread that waits for its own lease would hang, and its error not say what it waits for.
#[test]
fn a_request_that_waits_for_itself_is_told_so() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let held = register(&residency, 1, 14 * MIB);
    let wanted = register(&residency, 2, 10 * MIB);
    let lease = residency.lease(&held, &bench.stream).unwrap();
    let wait = Duration::from_millis(20);
    let refused = residency.lease_within(&wanted, &bench.stream, wait);
    let error = refused.unwrap_err();
    let text = error.to_string();
    let ResidencyError::TimedOut {
        slot,
        lacking,
        waited,
        before,
        held: leased,
    } = error
    else {
        panic!("{text}");
    };
    assert!((slot.as_str(), before) == ("model 2", 0) && lacking > 0);
    assert!(waited >= wait);
    let [of] = leased.as_slice() else {
        panic!("{leased:?}");
    };
    assert_eq!(
        (of.slot.as_str(), of.leases, of.bytes),
        ("model 1", 1, 14 * MIB)
    );
    assert!(!of.seen_for.is_zero() && of.seen_for <= waited, "{of}");
    assert!(text.contains("model 1 (1 leases, 14680064 bytes"), "{text}");
    check(&lease, 1, &bench.stream);
    drop(lease);
    let lease = residency.lease(&wanted, &bench.stream).unwrap();
    check(&lease, 2, &bench.stream);
    drop((lease, held, wanted, residency));
    bench.finish();
}

// Without it leases that overlap could keep the memory for ever that a request waits for, or requests of
// slots whose memory is of no use to it be held up.
#[test]
fn hits_do_not_starve_a_request() {
    let bench = Bench::new();
    let config = ResidencyConfig {
        passes: 3,
        ..config(24 * MIB)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let busy = register(&residency, 1, 14 * MIB);
    let pinned = register(&residency, 2, 4 * MIB);
    let wanted = register(&residency, 3, 16 * MIB);
    residency.preload(&pinned).unwrap();
    pinned.pin();
    let mut lease = residency.lease(&busy, &bench.stream).unwrap();
    let streams = [(); 2].map(|()| bench.context.streams().create(Default::default()).unwrap());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let lease = residency.lease_within(&wanted, &streams[0], HOUR).unwrap();
            check(&lease, 3, &streams[0]);
        });
        wait_for_waiters(&residency, 1);
        // Each begins before the one before it ends.
        for _ in 0..3 {
            lease = residency.lease_within(&busy, &bench.stream, HOUR).unwrap();
        }
        let refused = residency.try_lease(&busy, &bench.stream);
        assert!(
            matches!(refused, Err(ResidencyError::TimedOut { before: 1, .. })),
            "{refused:?}"
        );
        drop(residency.try_lease(&pinned, &bench.stream).unwrap());
        let held_back = scope.spawn(|| {
            let lease = residency.lease_within(&busy, &streams[1], HOUR).unwrap();
            check(&lease, 1, &streams[1]);
        });
        drop(lease);
        waiter.join().unwrap();
        held_back.join().unwrap();
    });
    assert!(residency.metrics().hits_held_back >= 1);
    drop((busy, pinned, wanted, streams, residency));
    bench.finish();
}

// Without it a slot that is unpinned, or dropped, could leave a request asleep which it has memory for.
#[test]
fn a_request_hears_of_slots_that_are_unpinned() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let held = register(&residency, 1, 8 * MIB);
    let pinned = register(&residency, 2, 8 * MIB);
    let wanted = register(&residency, 3, 8 * MIB);
    residency.preload(&pinned).unwrap();
    pinned.pin();
    let lease = residency.lease(&held, &bench.stream).unwrap();
    let other = bench.context.streams().create(Default::default()).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let lease = residency.lease_within(&wanted, &other, HOUR).unwrap();
            check(&lease, 3, &other);
        });
        wait_for_waiters(&residency, 1);
        pinned.unpin();
        waiter.join().unwrap();
    });
    check(&lease, 1, &bench.stream);
    drop((lease, held, pinned, wanted, other, residency));
    bench.finish();
}

// Without it a wake-up could be lost, or two requests wait for each other.
#[test]
fn threads_wait_for_each_others_leases() {
    let machine = Machine::builder().worker_threads(2);
    let bench = Bench::on(TestBench::builder().machine(machine).open().unwrap());
    let config = ResidencyConfig {
        piece: 2 * MIB,
        chunk: 4 * MIB,
        wait: HOUR,
        passes: 2,
        ..config(8 * MIB)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    // No two but the smallest fit beside the largest.
    let slots = [1, 2, 3, 4].map(|seed| register(&residency, seed, 2 * seed * MIB));
    thread::scope(|scope| {
        for thread in 0..4 {
            let (residency, slots, context) = (&residency, &slots, &bench.context);
            scope.spawn(move || {
                let stream = context.streams().create(Default::default()).unwrap();
                let mut random = Random::new(thread);
                for _ in 0..60 {
                    let which = random.index(4);
                    let lease = residency.lease(&slots[which], &stream).unwrap();
                    if random.one_in(3) {
                        check(&lease, which as u64 + 1, &stream);
                    }
                    if random.one_in(4) {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    let usage = residency.usage();
    assert!(usage.charged <= 8 * MIB && usage.leased == 0, "{usage:?}");
    drop((slots, residency));
    bench.finish();
}

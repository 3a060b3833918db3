//! Slots that are loaded before their announced requests come.

use std::thread;
use std::time::Duration;

use cupola_managers::ops;
use cupola_residency::policy::LeastRecent;
use cupola_residency::{LoadAhead, Residency, ResidencyConfig, SlotConfig};

use super::{Bench, MIB, Model, check, config, hold, register};

/// Loads ahead as far as it goes. A copy takes as long as it takes.
fn load_ahead(residency: &Residency) -> LoadAhead {
    loop {
        match residency.load_ahead().unwrap() {
            LoadAhead::Begun { .. } | LoadAhead::Copying => {
                thread::sleep(Duration::from_micros(100));
            }
            other => return other,
        }
    }
}

fn residency(bench: &Bench, limit: u64) -> Residency {
    Residency::new(&bench.context, config(limit).policy(LeastRecent)).unwrap()
}

// Without it slots could be loaded in another order than they are used in, or not before their requests.
#[test]
fn announced_slots_are_loaded_in_their_order() {
    let bench = Bench::new();
    let residency = residency(&bench, 32 * MIB);
    let slots = [1, 2, 3].map(|seed| register(&residency, seed, 8 * MIB));
    for slot in &slots {
        residency.preload(slot).unwrap();
    }
    ops::synchronize(&bench.stream).unwrap();
    residency.sleep().unwrap();
    let before = residency.metrics();
    // The first copy is put by this.
    residency
        .announce([&slots[2], &slots[0], &slots[1]])
        .unwrap();
    let there = || slots.each_ref().map(|slot| slot.resident() / MIB);
    assert_eq!(there(), [0, 0, 8]);
    let mut seen = vec![there()];
    loop {
        match residency.load_ahead().unwrap() {
            LoadAhead::Begun { bytes } => {
                assert_eq!(bytes, 8 * MIB);
                seen.push(there());
            }
            LoadAhead::Copying => thread::sleep(Duration::from_micros(100)),
            other => {
                assert_eq!(other, LoadAhead::Done);
                break;
            }
        }
    }
    assert_eq!(seen, [[0, 0, 8], [8, 0, 8], [8, 8, 8]]);
    for seed in [3, 1, 2] {
        let slot = &slots[seed - 1];
        let lease = residency.lease(slot, &bench.stream).unwrap();
        check(&lease, seed as u64, &bench.stream);
    }
    let after = residency.metrics();
    assert_eq!(after.hits - before.hits, 3);
    assert_eq!(after.hits_ahead, 3);
    assert_eq!(after.bytes_loaded_ahead, 24 * MIB);
    assert_eq!(after.bytes_loaded - before.bytes_loaded, 24 * MIB);
    assert_eq!(after.bytes_ahead_wasted, 0);
    drop((slots, residency));
    bench.finish();
}

// Without it a slot could lose memory that it needs before the slot which is loaded ahead, and load it again.
#[test]
fn what_is_needed_sooner_stays() {
    let bench = Bench::new();
    let residency = residency(&bench, 16 * MIB);
    let [one, two, three] = [1, 2, 3].map(|seed| register(&residency, seed, 8 * MIB));
    for slot in [&three, &one, &two] {
        residency.preload(slot).unwrap();
    }
    let loaded = residency.metrics().bytes_loaded;
    residency.announce([&one, &two, &three]).unwrap();
    assert_eq!(load_ahead(&residency), LoadAhead::Done);
    assert_eq!((one.resident(), two.resident()), (8 * MIB, 8 * MIB));
    // Now the first is of no more use, but while it is.
    let held = hold(&bench.stream);
    let lease = residency.lease(&one, &bench.stream).unwrap();
    assert_eq!(load_ahead(&residency), LoadAhead::Busy);
    drop(lease);
    assert_eq!(load_ahead(&residency), LoadAhead::Busy, "its work runs");
    assert_eq!(residency.metrics().bytes_loaded, loaded);
    drop(held);
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(load_ahead(&residency), LoadAhead::Done);
    let there = [&one, &two, &three].map(|slot| slot.resident() / MIB);
    assert_eq!(there, [0, 8, 8]);
    drop((one, two, three, residency));
    bench.finish();
}

// Without it work that runs could not be overlapped: the memory that goes is another slot's.
#[test]
fn a_slot_is_loaded_while_another_computes() {
    let bench = Bench::new();
    let residency = residency(&bench, 16 * MIB);
    let [old, busy, next] = [1, 2, 3].map(|seed| register(&residency, seed, 8 * MIB));
    for slot in [&next, &old, &busy] {
        residency.preload(slot).unwrap();
    }
    let held = hold(&bench.stream);
    let lease = residency.lease(&busy, &bench.stream).unwrap();
    residency.announce([&next]).unwrap();
    // The memory that it takes is in use as long as it is still loaded.
    while load_ahead(&residency) == LoadAhead::Busy {
        thread::sleep(Duration::from_millis(1));
    }
    let there = [&old, &busy, &next].map(|slot| slot.resident() / MIB);
    assert_eq!(there, [0, 8, 8]);
    drop((held, lease));
    let before = residency.metrics();
    let lease = residency.lease(&next, &bench.stream).unwrap();
    check(&lease, 3, &bench.stream);
    assert_eq!(residency.metrics().hits - before.hits, 1);
    drop((lease, old, busy, next, residency));
    bench.finish();
}

// Without it a slot's loader would run, or a wait for its memory, in a request for another one; or bytes that
// were loaded for nothing not be seen.
#[test]
fn slots_are_left_to_their_requests_and_waste_is_counted() {
    let bench = Bench::new();
    let residency = residency(&bench, 16 * MIB);
    let staged = SlotConfig::new("staged").without_host_copy();
    let bytes = 4 * MIB;
    let staged = (residency.register(staged, Model { seed: 1, bytes })).unwrap();
    let [new, one, two] = [2, 3, 4].map(|seed| register(&residency, seed, 8 * MIB));
    for slot in [&staged, &new] {
        residency.announce([slot]).unwrap();
        assert_eq!(load_ahead(&residency), LoadAhead::Done);
        residency.forget_announced();
        assert_eq!(slot.resident(), 0);
    }
    residency.preload(&one).unwrap();
    residency.preload(&two).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    residency.evict(&one).unwrap();
    residency.announce([&one]).unwrap();
    load_ahead(&residency);
    assert_eq!(one.resident(), 8 * MIB);
    residency.set_load_ahead(0);
    residency.forget_announced();
    residency.evict(&one).unwrap();
    let metrics = residency.metrics();
    assert_eq!(metrics.bytes_loaded_ahead, 8 * MIB);
    assert_eq!(
        (metrics.bytes_ahead_wasted, metrics.hits_ahead),
        (8 * MIB, 0)
    );
    residency.announce([&one]).unwrap();
    assert_eq!(load_ahead(&residency), LoadAhead::Done, "it is turned off");
    assert_eq!(one.resident(), 0);
    drop((staged, new, one, two, residency));
    bench.finish();
}

// Without it a request that waits could find the memory taken that it waits for.
#[test]
fn a_request_that_waits_goes_first() {
    let bench = Bench::new();
    let residency = residency(&bench, 16 * MIB);
    let [held, next, wanted] = [12, 4, 14].map(|mib| register(&residency, mib, mib * MIB));
    residency.preload(&next).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    residency.evict(&next).unwrap();
    let lease = residency.lease(&held, &bench.stream).unwrap();
    let other = bench.context.streams().create(Default::default()).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let hour = Duration::from_secs(3600);
            let lease = residency.lease_within(&wanted, &other, hour).unwrap();
            check(&lease, 14, &other);
        });
        while residency.metrics().room_waits == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        residency.announce([&next]).unwrap();
        assert_eq!(residency.load_ahead().unwrap(), LoadAhead::Busy);
        assert_eq!(next.resident(), 0);
        drop(lease);
        waiter.join().unwrap();
    });
    drop((held, next, wanted, other, residency));
    bench.finish();
}

// Without it requests of different depths could be loaded ahead at the price of others.
#[test]
fn no_more_is_loaded_and_less_is_waited_for() {
    use super::bound::{LIMIT, PIECE, REQUESTS, SIZES, least, orders};
    for (name, requests) in orders() {
        let serve = |depth: usize| {
            let bench = Bench::new();
            let config = ResidencyConfig {
                piece: PIECE * MIB,
                chunk: 2 * PIECE * MIB,
                patience: Duration::from_secs(3600),
                load_ahead: depth,
                ..config(LIMIT * MIB)
            };
            let residency = Residency::new(&bench.context, config).unwrap();
            let slots: Vec<_> = (0..SIZES.len())
                .map(|model| register(&residency, model as u64, SIZES[model] * MIB))
                .collect();
            slots
                .iter()
                .for_each(|slot| residency.preload(slot).unwrap());
            ops::synchronize(&bench.stream).unwrap();
            residency.sleep().unwrap();
            let before = residency.metrics();
            (residency.announce(requests.iter().map(|&model| &slots[model]))).unwrap();
            for &model in &requests {
                let lease = residency.lease(&slots[model], &bench.stream).unwrap();
                // As long as it computes.
                load_ahead(&residency);
                ops::synchronize(&bench.stream).unwrap();
                drop(lease);
            }
            let after = residency.metrics();
            drop((slots, residency));
            bench.finish();
            let ahead = after.bytes_loaded_ahead - before.bytes_loaded_ahead;
            let loaded = after.bytes_loaded - before.bytes_loaded;
            (
                loaded / MIB,
                (loaded - ahead) / MIB,
                after.bytes_ahead_wasted,
            )
        };
        let least = least(&requests);
        let ((without, stalled), (with, left, wasted)) = {
            let (loaded, stalled, _) = serve(0);
            ((loaded, stalled), serve(4))
        };
        println!(
            "{name}: least {least} MiB; without {without}, all waited for; with {with}, of which {left} waited for, {wasted} bytes wasted"
        );
        assert_eq!(without, stalled);
        assert!(with <= least + least / 20, "{name}: {with} of {least}");
        assert!(left < stalled, "{name}: {left} of {stalled}");
        assert!(requests.len() == REQUESTS);
    }
}

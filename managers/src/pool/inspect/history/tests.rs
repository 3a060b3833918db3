use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::pool::{PoolConfig, RawBlock};
use crate::test_bench::PoolBench;

const MIB: u64 = 1 << 20;

fn blocks(recording: &Recording) -> Vec<Event> {
    let events = recording.events.iter().copied();
    events
        .filter(|event| !matches!(event.action, Action::Map | Action::Unmap))
        .collect()
}

/// Checks that no block is handed out while it is, and none comes back that is not out.
fn check_order(recording: &Recording) {
    let mut out: HashMap<u64, u64> = HashMap::new();
    let mut last = 0;
    for event in &recording.events {
        assert!(event.nanoseconds >= last);
        last = event.nanoseconds;
        match event.action {
            Action::Allocate => {
                assert_eq!(out.insert(event.address, event.block), None, "{event:?}");
            }
            Action::Free => {
                assert_eq!(out.remove(&event.address), Some(event.block), "{event:?}");
            }
            _ => {}
        }
    }
}

// Without it a recording could miss hits of the magazines, or say the wrong thing of them.
#[test]
fn hits_are_recorded_with_all_that_is_known() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    let warm = bench.take(1000);
    bench.put(warm);
    let hit = bench.pool.usage().unwrap();
    bench.pool.record(100).unwrap();
    let line = line!() + 1;
    let block = bench.take(1000);
    let address = block.address();
    bench.put(block);
    let named = bench.pool.allocate_named::<u8>("weights", 5, &bench.stream);
    drop(named.unwrap());
    let usage = bench.pool.usage().unwrap();
    let recording = bench.pool.take_recording().unwrap();
    // A hit is a hit, recorded or not.
    assert_eq!(usage.misses, hit.misses + 1);
    assert_eq!(usage.allocations, hit.allocations + 2);
    let events = blocks(&recording);
    let actions: Vec<_> = events.iter().map(|event| event.action).collect();
    use Action::{Allocate, Free};
    assert_eq!(actions, [Allocate, Free, Allocate, Free]);
    let first = events[0];
    assert_eq!(
        (first.address, first.bytes, first.block),
        (address, 1000, 1024)
    );
    assert_eq!((first.stream, first.ticket), (bench.stream.serial(), 0));
    assert_eq!((first.name, events[2].name), (None, Some("weights")));
    assert_eq!(events[3].name, Some("weights"));
    let site = first.site.unwrap();
    assert_eq!((site.file(), site.line()), (file!(), line));
    assert!(events[1].site.is_some() && events[1].ticket > 0);
    // A drop has no line.
    assert_eq!(events[3].site, None);
    assert_eq!((events[3].bytes, events[3].block), (5, 256));
    check_order(&recording);
    assert_eq!(recording.dropped, 0);

    // Off: nothing more is kept, and owners are on their hit path again.
    bench.put(bench.take(1000));
    assert_eq!(bench.pool.take_recording().unwrap().events, []);
    assert_eq!(bench.pool.history().unwrap().events, []);
}

// Without it a recording could take any amount of memory, or lose events in silence.
#[test]
fn the_last_events_are_kept_and_the_others_counted() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB).history(3));
    for _ in 0..5 {
        bench.put(bench.take(300));
    }
    let before = bench.pool.history().unwrap();
    assert_eq!(before.events.len(), 3);
    assert!(before.dropped >= 7);
    assert!(before.origin.is_some());
    // Recordings come and go, and the history stays.
    bench.pool.record(4).unwrap();
    bench.put(bench.take(300));
    assert_eq!(bench.pool.take_recording().unwrap().events.len(), 2);
    bench.put(bench.take(300));
    let after = bench.pool.history().unwrap();
    assert_eq!(after.dropped, before.dropped + 4);
    assert!(after.events[0].nanoseconds > before.events[2].nanoseconds);
    bench.pool.record(0).unwrap();
    bench.put(bench.take(300));
    let nothing = bench.pool.take_recording().unwrap();
    assert_eq!((nothing.events.len(), nothing.dropped), (0, 2));
}

// Without it a recording would not show where the memory was, and which requests were refused.
#[test]
fn pages_and_refusals_are_recorded() {
    let bench = PoolBench::new(PoolConfig::limit(8 * MIB).history(100));
    let block = bench.take(4 * MIB + 1);
    assert!(bench.pool.allocate_raw(4 * MIB, 1, &bench.stream).is_err());
    let address = block.address();
    bench.put(block);
    bench.pool.trim().unwrap();
    let recording = bench.pool.history().unwrap();
    let of = |action| {
        let events = recording.events.iter();
        events.filter(move |event| event.action == action)
    };
    let mapped: u64 = of(Action::Map).map(|event| event.bytes).sum();
    let unmapped: u64 = of(Action::Unmap).map(|event| event.bytes).sum();
    assert_eq!((mapped, unmapped), (6 * MIB, 6 * MIB));
    assert_eq!(of(Action::Map).next().unwrap().address, address);
    let refusal = of(Action::Refuse).next().unwrap();
    assert_eq!((refusal.address, refusal.bytes), (0, 4 * MIB));
    assert_eq!(refusal.site.unwrap().file(), file!());
}

// Without it a reader of a recording could take a limit for a device without memory.
#[test]
fn a_refusal_has_what_the_device_had_free() {
    let bench = PoolBench::new(PoolConfig::limit(8 * MIB).history(100));
    let block = bench.take(4 * MIB);
    // One that is refused without a search, and one that goes through the whole slow path.
    for bytes in [u64::MAX, 8 * MIB] {
        let refused = bench.pool.allocate_raw(bytes, 1, &bench.stream);
        let Err(crate::Error::OverLimit(account)) = refused else {
            panic!("{refused:?}");
        };
        let recording = bench.pool.history().unwrap();
        let refusal = recording.events.last().unwrap();
        assert_eq!((refusal.action, refusal.bytes), (Action::Refuse, bytes));
        assert_eq!(refusal.device_free, account.device_free);
        assert!(refusal.device_free > 8 * MIB);
    }
    bench.put(block);
    let recording = bench.pool.history().unwrap();
    let others = recording.events.iter();
    let mut others = others.filter(|event| event.action != Action::Refuse);
    assert!(others.all(|event| event.device_free == 0));
}

// Without it a block could seem to be handed out twice when threads pass blocks on, and a
// thread that comes while the pool is recorded could be missed.
#[test]
fn events_of_several_threads_are_in_order() {
    const EACH: u64 = 400;
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    bench.pool.record(1 << 20).unwrap();
    let (to, from) = mpsc::sync_channel::<RawBlock>(8);
    thread::scope(|scope| {
        let bench = &bench;
        scope.spawn(move || {
            for block in from {
                bench.put(block);
            }
        });
        for size in [256, 9000, 700] {
            let to = to.clone();
            scope.spawn(move || {
                for round in 0..EACH {
                    let block = bench.take(size + round % 3);
                    if round % 2 == 0 {
                        bench.put(block);
                    } else {
                        to.send(block).unwrap();
                    }
                }
            });
        }
        drop(to);
    });
    let recording = bench.pool.take_recording().unwrap();
    let events = blocks(&recording);
    assert_eq!(events.len() as u64, 3 * EACH * 2);
    check_order(&recording);
    let mut threads: Vec<_> = events.iter().map(|event| event.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 4);
}

// Without it a recording that begins or ends under load could stop the pool, or lose blocks.
#[test]
fn recordings_come_and_go_under_load() {
    let bench = PoolBench::new(PoolConfig::limit(64 * MIB));
    let other = bench.base.stream();
    thread::scope(|scope| {
        let bench = &bench;
        let loads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for round in 0..3000_u64 {
                        bench.put(bench.take(300 + round % 5000));
                    }
                })
            })
            .collect();
        while loads.iter().any(|load| !load.is_finished()) {
            bench.pool.record(1000).unwrap();
            thread::yield_now();
            drop(bench.pool.take_recording().unwrap());
        }
    });
    drop(other);
    let usage = bench.pool.usage().unwrap();
    assert_eq!((usage.live, usage.blocks), (0, 0));
}

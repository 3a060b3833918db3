//! The sharded counter: exact at rest, never falling while it is added to, and never a
//! number that it could not have had.

use cupola_core::ShardedCounter;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::model;

/// Would break if a change could be lost, on one shard or on different ones.
#[test]
fn a_counter_at_rest_is_exact() {
    model(&["three"], |seen| {
        let counter = Arc::new(ShardedCounter::<2>::new());
        let other = {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                counter.add(0, 3);
                counter.sub(3, 1);
            })
        };
        counter.add(2, 2);
        counter.sub(1, 1);
        other.join().unwrap();
        if counter.read() == 3 {
            seen.note("three");
        }
    });
}

/// Would break if a reading could miss an addition that the one before has counted.
#[test]
fn readings_do_not_fall_while_additions_come() {
    model(&["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"], |seen| {
        let counter = Arc::new(ShardedCounter::<2>::new());
        let reader = {
            let counter = Arc::clone(&counter);
            thread::spawn(move || (counter.read(), counter.read()))
        };
        counter.add(0, 1);
        counter.add(1, 1);
        seen.note(match reader.join().unwrap() {
            (0, 0) => "0 0",
            (0, 1) => "0 1",
            (0, 2) => "0 2",
            (1, 1) => "1 1",
            (1, 2) => "1 2",
            (2, 2) => "2 2",
            _ => "fell",
        });
    });
}

/// Would break if the subtractions were read after the additions, or if one could be seen
/// without what came before it: the reading would be below zero.
#[test]
fn a_subtraction_is_not_seen_without_its_addition() {
    model(&["0", "1"], |seen| {
        let counter = Arc::new(ShardedCounter::<2>::new());
        let added = Arc::new(AtomicBool::new(false));
        let other = {
            let (counter, added) = (Arc::clone(&counter), Arc::clone(&added));
            thread::spawn(move || {
                if added.load(Ordering::Acquire) {
                    counter.sub(1, 1);
                }
            })
        };
        let reader = {
            let counter = Arc::clone(&counter);
            thread::spawn(move || counter.read())
        };
        counter.add(0, 1);
        added.store(true, Ordering::Release);
        other.join().unwrap();
        seen.note(match reader.join().unwrap() {
            0 => "0",
            1 => "1",
            _ => "out of range",
        });
    });
}

/// Would break if the reader did not look again, or if an addition could be seen without
/// the subtraction that came before it: a counter that is 0 or 1 would be read as 2.
#[test]
fn what_comes_and_goes_is_not_counted_twice() {
    model(&["0", "1"], |seen| {
        let counter = Arc::new(ShardedCounter::<2>::new());
        let reader = {
            let counter = Arc::clone(&counter);
            thread::spawn(move || counter.read())
        };
        counter.add(0, 1);
        counter.sub(0, 1);
        counter.add(1, 1);
        seen.note(match reader.join().unwrap() {
            0 => "0",
            1 => "1",
            _ => "out of range",
        });
    });
}

//! The rotation: one holder a buffer, publications in order, the newest never lost.

use cupola_core::{Buffered, Rotation};
use loom::sync::Arc;
use loom::thread;

use super::model;

/// Would break if `publish` or `latest` were relaxed: the consumer could read a value that
/// is still being written.
#[test]
fn what_is_written_comes_before_it_is_read() {
    model(&["nothing", "the value"], |seen| {
        let buffers = Arc::new(Buffered::<u64, 2>::new([0; 2]));
        let consumer = {
            let (buffers, seen) = (Arc::clone(&buffers), seen.clone());
            thread::spawn(move || match buffers.latest() {
                Some(value) => {
                    seen.note("the value");
                    assert_eq!((*value, value.generation()), (7, 1));
                }
                None => seen.note("nothing"),
            })
        };
        let mut value = buffers.begin().unwrap();
        *value = 7;
        assert_eq!(value.publish(), 1);
        consumer.join().unwrap();
    });
}

/// Would break if giving back or taking were relaxed: a producer could write to a buffer
/// that is still being read.
#[test]
fn what_is_read_comes_before_it_is_written_over() {
    model(&["passed on", "skipped", "held"], |seen| {
        let buffers = Arc::new(Buffered::<u64, 2>::new([0; 2]));
        let mut first = buffers.begin().unwrap();
        *first = 1;
        first.publish();
        let consumer = {
            let buffers = Arc::clone(&buffers);
            thread::spawn(move || {
                let read = buffers.oldest().unwrap();
                assert_eq!(*read, read.generation());
                read.generation()
            })
        };
        let mut value = buffers.begin().unwrap();
        *value = 2;
        let published = value.turn_over();
        if published.is_some() {
            *value = 3; // where the first value was
        }
        let read = consumer.join().unwrap();
        seen.note(match (published, read) {
            (Some(2), 1) => "passed on",
            (Some(2), 2) => "skipped",
            (None, 1) => "held",
            _ => "something else",
        });
        drop(value);
        let counts = buffers.rotation().counts();
        assert_eq!(
            counts.published,
            counts.consumed + counts.skipped + counts.fresh
        );
    });
}

/// Would break if a generation were fixed before the exchange that publishes: two
/// publications could have one generation, or come in the wrong order.
#[test]
fn two_producers_publish_in_one_order() {
    model(&["here first", "there first"], |seen| {
        let buffers = Arc::new(Buffered::<u64, 2>::new([0; 2]));
        let produce = |stamp| {
            let buffers = Arc::clone(&buffers);
            move || {
                let mut value = buffers.begin().unwrap();
                *value = stamp;
                value.publish()
            }
        };
        let there = thread::spawn(produce(20));
        let here = produce(10)();
        let there = there.join().unwrap();
        let (first, second) = if here < there {
            seen.note("here first");
            (10, 20)
        } else {
            seen.note("there first");
            (20, 10)
        };
        assert_eq!(here + there, 3);
        let oldest = buffers.oldest().unwrap();
        assert_eq!((oldest.generation(), *oldest), (1, first));
        let next = buffers.oldest().unwrap();
        assert_eq!((next.generation(), *next), (2, second));
    });
}

/// Would break if the word could be seen without the generations that belong to it: an
/// older buffer would pass for the newest.
#[test]
fn the_latest_is_the_newest() {
    model(&["0", "1", "2"], |seen| {
        let rotation = Arc::new(Rotation::<2>::new());
        let first = rotation.begin().unwrap();
        let second = rotation.begin().unwrap();
        let consumer = {
            let rotation = Arc::clone(&rotation);
            thread::spawn(move || {
                let known = rotation.published();
                let read = rotation.latest();
                let generation = read.map_or(0, |read| read.generation());
                assert!(generation >= known);
                generation
            })
        };
        // The higher buffer first: the lower one is the newer.
        second.publish();
        first.publish();
        let read = consumer.join().unwrap();
        seen.note(["0", "1", "2"][read as usize]);
        assert_eq!(rotation.newer_than(read), read < 2);
    });
}

/// Would break if the producer of a triple buffer could find no buffer, if it could take
/// the newest, or if a consumer could go back to an older one.
#[test]
fn a_triple_buffer_neither_waits_nor_loses_the_newest() {
    let outcomes = &[
        "none, none",
        "none, 1",
        "none, 2",
        "1, none",
        "1, 2",
        "2, none",
    ];
    model(outcomes, |seen| {
        let buffers = Arc::new(Buffered::<u64, 3>::new([0; 3]));
        let consume = |buffers: &Buffered<u64, 3>| {
            let value = buffers.latest()?;
            assert_eq!(*value, value.generation());
            Some(value.generation())
        };
        let consumer = {
            let buffers = Arc::clone(&buffers);
            thread::spawn(move || (consume(&buffers), consume(&buffers)))
        };
        for stamp in 1..=2 {
            let mut value = buffers.begin_over().unwrap();
            *value = stamp;
            assert_eq!(value.publish(), stamp);
        }
        let (first, second) = consumer.join().unwrap();
        seen.note(match (first, second) {
            (None, None) => "none, none",
            (None, Some(1)) => "none, 1",
            (None, Some(2)) => "none, 2",
            (Some(1), None) => "1, none",
            (Some(1), Some(2)) => "1, 2",
            (Some(2), None) => "2, none",
            _ => "something else",
        });
        let newest = consume(&buffers).or(second).or(first);
        assert_eq!(newest, Some(2));
        let counts = buffers.rotation().counts();
        assert_eq!((counts.published, counts.fresh), (2, 0));
        assert_eq!(counts.consumed + counts.skipped, 2);
    });
}

/// Would break if the one-step moves lost a publication or left a buffer held: the
/// producer publishes and goes on, the consumer moves on to the newest.
#[test]
fn moving_on_in_one_step_loses_nothing() {
    model(&["came too early", "stayed", "moved on"], |seen| {
        let buffers = Arc::new(Buffered::<u64, 3>::new([0; 3]));
        let consumer = {
            let (buffers, seen) = (Arc::clone(&buffers), seen.clone());
            thread::spawn(move || {
                let mut reader = buffers.latest()?;
                let first = reader.generation();
                assert_eq!(*reader, first);
                let moved = reader.refresh();
                assert_eq!(*reader, reader.generation());
                assert_eq!(moved, *reader > first);
                seen.note(if moved { "moved on" } else { "stayed" });
                Some(*reader)
            })
        };
        let mut value = buffers.begin_over().unwrap();
        *value = 1;
        assert_eq!(
            value.turn_over(),
            Some(1),
            "of three, one is always to be had"
        );
        *value = 2;
        assert_eq!(value.publish(), 2);
        let last = consumer.join().unwrap();
        if last.is_none() {
            seen.note("came too early");
        }
        let newest = buffers.latest().map(|value| *value);
        assert_eq!(newest.or(last), Some(2));
        let counts = buffers.rotation().counts();
        assert_eq!((counts.published, counts.fresh), (2, 0));
        assert_eq!(counts.consumed + counts.skipped, 2);
    });
}

/// Would break if a producer could skip what a consumer takes at that moment, or skip the
/// newest because the one before it has just been taken.
#[test]
fn a_publication_is_read_or_skipped() {
    model(&["skipped", "held", "given back"], |seen| {
        let buffers = Arc::new(Buffered::<u64, 2>::new([1, 2]));
        let (one, two) = (buffers.begin().unwrap(), buffers.begin().unwrap());
        one.publish();
        two.publish();
        let consumer = {
            let buffers = Arc::clone(&buffers);
            thread::spawn(move || {
                let value = buffers.oldest().unwrap();
                assert_eq!(*value, value.generation());
                value.generation()
            })
        };
        let taken = buffers.begin_over().map(|mut value| {
            *value = 9;
            value.cancel();
        });
        let read = consumer.join().unwrap();
        let counts = buffers.rotation().counts();
        seen.note(match (taken, read, counts.skipped) {
            (Some(()), 2, 1) => "skipped",
            (None, 1, 0) => "held",
            (Some(()), 1, 0) => "given back",
            _ => "something else",
        });
        assert_eq!(buffers.latest().is_some(), read == 1);
    });
}

/// Would break if two consumers could take one buffer.
#[test]
fn two_consumers_never_share_a_buffer() {
    model(&["1 and 2", "2 alone"], |seen| {
        let buffers = Arc::new(Buffered::<u64, 2>::new([1, 2]));
        let (one, two) = (buffers.begin().unwrap(), buffers.begin().unwrap());
        one.publish();
        two.publish();
        let other = {
            let buffers = Arc::clone(&buffers);
            thread::spawn(move || {
                let mut value = buffers.oldest()?;
                *value += 10;
                Some(value.generation())
            })
        };
        let mut value = buffers.latest().unwrap();
        *value += 20;
        let other = other.join().unwrap();
        seen.note(match (other, *value) {
            (Some(1), 22) => "1 and 2",
            (None, 22) => "2 alone",
            // The other one took 2 only when it was the last: not while we hold it.
            _ => "something else",
        });
    });
}

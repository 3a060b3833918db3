//! Threads that fill the slots of a pipeline.

use std::num::NonZeroUsize;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::pipeline::depth::Turns;
use crate::pipeline::faces::feed::{Feed, Next};

/// Two slots, filled by the thread that has taken them.
struct Slots {
    feed: Feed,
    contents: [UnsafeCell<u64>; 2],
}

// SAFETY: loom fails the model when two threads touch a slot without an order.
unsafe impl Sync for Slots {}
// SAFETY: loom fails the model when two threads touch a slot without an order.
unsafe impl Send for Slots {}

// Without it the pipeline could read an input that a thread still writes, lose or repeat an item,
// take them out of order, or wait for ever for threads that are gone.
#[test]
fn items_come_whole_and_in_the_order_of_their_numbers() {
    let outcomes = ["a slot was left out", "all slots were filled"];
    model(&outcomes, |seen| {
        let slots = Arc::new(Slots {
            feed: Feed::new(2),
            contents: [UnsafeCell::new(0), UnsafeCell::new(0)],
        });
        slots.feed.add_producer();
        let producers = [0, 1].map(|thread| {
            let slots = Arc::clone(&slots);
            thread::spawn(move || {
                if let Some(number) = slots.feed.take() {
                    // SAFETY: the slot is this thread's, as loom checks.
                    slots.contents[number as usize % 2].with_mut(|at| unsafe { *at = number + 10 });
                    // The second thread leaves the second item out.
                    let len = (thread == 0 || number == 0).then_some(1);
                    slots.feed.give_back(number, len);
                }
                slots.feed.remove_producer();
            })
        });
        slots.feed.offer();
        slots.feed.offer();
        let mut filled = 0;
        let mut number = 0;
        loop {
            match slots.feed.wait_for(number) {
                Next::Filled(len) => {
                    assert_eq!(len, 1);
                    // SAFETY: the slot came back, as loom checks.
                    let found = slots.contents[number as usize % 2].with(|at| unsafe { *at });
                    assert_eq!(found, number + 10);
                    filled += 1;
                }
                Next::Skipped => assert_eq!(number, 1),
                Next::Over => break,
                Next::Pending => unreachable!("it was waited for"),
            }
            number += 1;
        }
        assert_eq!(number, 2, "each thread took one");
        seen.note(if filled == 2 {
            "all slots were filled"
        } else {
            "a slot was left out"
        });
        for producer in producers {
            producer.join().unwrap();
        }
    });
}

// Without it a thread could fill a slot again before its last item has arrived, or write on in one
// that the pipeline reads; or a run that fails could wait for threads that fill, or they for it.
#[test]
fn a_slot_goes_round_until_the_run_fails() {
    let outcomes = ["one thread filled all", "both threads filled some"];
    model(&outcomes, |seen| {
        let slots = Arc::new(Slots {
            feed: Feed::new(1),
            contents: [UnsafeCell::new(0), UnsafeCell::new(0)],
        });
        slots.feed.add_producer();
        let producers = [0, 1].map(|_| {
            let slots = Arc::clone(&slots);
            thread::spawn(move || {
                let mut filled = 0;
                while let Some(number) = slots.feed.take() {
                    // SAFETY: the slot is this thread's, as loom checks.
                    slots.contents[0].with_mut(|at| unsafe { *at = number + 10 });
                    slots.feed.give_back(number, Some(1));
                    filled += 1;
                }
                slots.feed.remove_producer();
                filled
            })
        });
        let depth = NonZeroUsize::new(1).unwrap();
        let mut turns = Turns::new(depth, depth);
        let mut last = None;
        for number in 0..2 {
            // As in a run: a turn begins, and then its slot is offered.
            let turn = turns.begin().expect("the slot is free");
            assert_ne!(last.replace(turn), Some(turn), "its generation");
            slots.feed.offer();
            assert_eq!(slots.feed.wait_for(number), Next::Filled(1));
            // SAFETY: the slot came back, as loom checks.
            let found = slots.contents[0].with(|at| unsafe { *at });
            assert_eq!(found, number + 10);
            assert!(turns.begin().is_none(), "its item is on its way");
            for _ in 0..3 {
                turns.advance(turn);
            }
        }
        // The second item has failed.
        slots.feed.end();
        turns.reset();
        let filled = producers.map(|producer| producer.join().unwrap());
        assert_eq!(filled[0] + filled[1], 2, "none twice, and none lost");
        seen.note(match filled.contains(&0) {
            true => "one thread filled all",
            false => "both threads filled some",
        });
    });
}

// Without it a thread that waits for a slot could sleep for ever when a run ends with an error.
#[test]
fn the_end_of_a_run_wakes_threads_that_wait() {
    let outcomes = ["it had a slot", "it had none"];
    model(&outcomes, |seen| {
        let feed = Arc::new(Feed::new(1));
        let waiting = {
            let feed = Arc::clone(&feed);
            thread::spawn(move || {
                let taken = feed.take();
                if let Some(number) = taken {
                    feed.give_back(number, None);
                    assert_eq!(feed.take(), None);
                }
                taken.is_some()
            })
        };
        feed.offer();
        feed.end();
        seen.note(if waiting.join().unwrap() {
            "it had a slot"
        } else {
            "it had none"
        });
    });
}

// Without it a pipeline that waits for an input could sleep on when a thread, which goes on to the
// next one, has filled it.
#[test]
fn a_filled_slot_wakes_the_pipeline() {
    model(&["filled"], |seen| {
        let feed = Arc::new(Feed::new(1));
        let producer = {
            let feed = Arc::clone(&feed);
            thread::spawn(move || {
                let number = feed.take().unwrap();
                feed.give_back(number, Some(3));
            })
        };
        feed.offer();
        assert_eq!(feed.wait_for(0), Next::Filled(3));
        producer.join().unwrap();
        assert_eq!(
            feed.poll(1),
            Next::Pending,
            "the right to take slots is still there"
        );
        seen.note("filled");
    });
}

//! Threads that fill the slots of a pipeline, and the one that puts its downloads.

use std::num::NonZeroUsize;
use std::task::Poll;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::pipeline::depth::Turns;
use crate::pipeline::downloads::queue::JobQueue;
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

// Without it a download could be lost, put twice or out of order, or its outcome be taken for that of another
// slot's; or one of the two threads could sleep for ever.
#[test]
fn each_download_is_put_once_and_in_order() {
    let outcomes = ["asked before it was put", "asked after it was put"];
    model(&outcomes, |seen| {
        let queue = Arc::new(JobQueue::<u64, u64>::new(2));
        let worker = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let mut jobs = 0;
                while let Some((place, job)) = queue.next() {
                    assert_eq!(job, jobs, "the order");
                    jobs += 1;
                    queue.finish(place, job + 10);
                }
                queue.leave();
                jobs
            })
        };
        queue.push(0, 0);
        queue.push(1, 1);
        seen.note(match queue.poll(0, None) {
            Poll::Ready(put) => {
                assert_eq!(put, Some(10));
                "asked after it was put"
            }
            Poll::Pending => {
                assert_eq!(queue.wait(0), Some(10));
                "asked before it was put"
            }
        });
        queue.push(0, 2);
        assert_eq!((queue.wait(1), queue.wait(0)), (Some(11), Some(12)));
        assert_eq!(queue.wait(0), None, "it was taken");
        queue.wait_until_idle();
        queue.close();
        assert_eq!(worker.join().unwrap(), 3);
    });
}

// Without it memory could be given back while a copy to it is being put, or a thread that waits sleep on when
// the other has ended with jobs left.
#[test]
fn no_download_is_begun_when_they_are_dropped_or_the_thread_is_gone() {
    let outcomes = ["none was begun", "one was begun"];
    model(&outcomes, |seen| {
        let queue = Arc::new(JobQueue::<(), bool>::new(2));
        let memory = Arc::new(UnsafeCell::new(0));
        let worker = {
            let (queue, memory) = (Arc::clone(&queue), Arc::clone(&memory));
            thread::spawn(move || {
                // It ends with the second one, as it does when the context is lost.
                for _ in 0..2 {
                    let Some((place, ())) = queue.next() else {
                        break;
                    };
                    // SAFETY: the memory stays until the job is done, as loom checks.
                    memory.with_mut(|at| unsafe { *at += 1 });
                    queue.finish(place, true);
                }
                queue.leave();
            })
        };
        queue.push(0, ());
        queue.clear();
        // SAFETY: no job uses it any more, as loom checks.
        let begun = memory.with_mut(|at| unsafe { *at });
        seen.note(match begun {
            0 => "none was begun",
            _ => "one was begun",
        });
        assert_eq!(queue.wait(0), None);
        queue.push(0, ());
        queue.push(1, ());
        assert_eq!(queue.wait(0), Some(true));
        assert_eq!(queue.wait(1), (begun == 0).then_some(true));
        queue.close();
        worker.join().unwrap();
    });
}

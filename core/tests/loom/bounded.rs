//! The bounded queue: each value once, in order, seen whole; "empty" and "full" are true.

use cupola_core::queue::{Bounded, PopError, PushError};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model};

/// Would break if two pushes could have one place, or two pops one value.
#[test]
fn a_value_comes_out_once() {
    model(&["here first", "there first"], |seen| {
        let queue = Arc::new(Bounded::<u64, 2>::new());
        queue.push(1).unwrap();
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.pop().ok())
        };
        queue.push(2).unwrap();
        let mine = queue.pop().ok();
        let theirs = other.join().unwrap();
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop().ok()).collect();
        assert!(queue.is_empty());
        let mut all: Vec<_> = mine.into_iter().chain(theirs).collect();
        all.extend(&rest);
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        seen.note(match (mine, theirs) {
            (Some(1), Some(2)) => "here first",
            (Some(2), Some(1)) => "there first",
            // There is always one left for the other.
            _ => "lost",
        });
    });
}

/// Would break if two pops took one position.
#[test]
fn of_two_pops_of_one_value_one_succeeds() {
    model(&["mine", "theirs"], |seen| {
        let queue = Arc::new(Bounded::<u64, 2>::new());
        queue.push(1).unwrap();
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.pop())
        };
        let mine = queue.pop();
        match (mine, other.join().unwrap()) {
            (Ok(1), Err(PopError::Empty)) => seen.note("mine"),
            (Err(PopError::Empty), Ok(1)) => seen.note("theirs"),
            outcome => panic!("{outcome:?}"),
        }
    });
}

/// Would break if two pushes took one position, or a push lost its place.
#[test]
fn of_two_pushes_to_one_place_one_succeeds() {
    model(&["mine", "theirs"], |seen| {
        let queue = Arc::new(Bounded::<u64, 1>::new());
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(2))
        };
        let mine = queue.push(1);
        let theirs = other.join().unwrap();
        match (mine, theirs) {
            (Ok(()), Err(PushError::Full(2))) => {
                seen.note("mine");
                assert_eq!(queue.pop(), Ok(1));
            }
            (Err(PushError::Full(1)), Ok(())) => {
                seen.note("theirs");
                assert_eq!(queue.pop(), Ok(2));
            }
            outcome => panic!("{outcome:?}"),
        }
        assert_eq!(queue.pop(), Err(PopError::Empty));
    });
}

/// Would break if a consumer could pass over a value that was pushed before another.
#[test]
fn values_of_one_producer_come_in_order() {
    model(&["none", "one", "two"], |seen| {
        let queue = Arc::new(Bounded::<u64, 2>::new());
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || [queue.pop().ok(), queue.pop().ok()])
        };
        queue.push(1).unwrap();
        queue.push(2).unwrap();
        let got: Vec<_> = consumer.join().unwrap().into_iter().flatten().collect();
        assert_eq!(got, [1, 2][..got.len()]);
        seen.note(["none", "one", "two"][got.len()]);
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop().ok()).collect();
        assert_eq!(rest, [1, 2][got.len()..]);
    });
}

/// Would break if the stamp did not publish the value, or what came before the push.
#[test]
fn what_came_before_a_push_comes_before_its_pop() {
    model(&["popped", "not yet"], |seen| {
        let queue = Arc::new(Bounded::<Value, 1>::new());
        let consumer = {
            let (queue, seen) = (Arc::clone(&queue), seen.clone());
            thread::spawn(move || {
                if let Ok(value) = queue.pop() {
                    seen.note("popped");
                    assert_eq!(value.read(), 1);
                    value.end();
                } else {
                    seen.note("not yet");
                }
            })
        };
        let value = Value::new(1, &Ended::default());
        value.write();
        queue.push(value).unwrap();
        consumer.join().unwrap();
    });
}

/// Would break if a push could write over a value that is still being moved out.
#[test]
fn a_place_is_empty_before_it_is_filled_again() {
    model(&["pushed", "full", "busy"], |seen| {
        let queue = Arc::new(Bounded::<u64, 1>::new());
        queue.push(1).unwrap();
        let producer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(2))
        };
        assert_eq!(queue.pop(), Ok(1));
        match producer.join().unwrap() {
            Ok(()) => {
                seen.note("pushed");
                assert_eq!(queue.pop(), Ok(2));
            }
            Err(PushError::Full(2)) => seen.note("full"),
            Err(PushError::Busy(2)) => seen.note("busy"),
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(queue.pop(), Err(PopError::Empty));
    });
}

/// Would break if a push under way looked like an empty queue: the second value is there
/// for certain, whatever has become of the first.
#[test]
fn a_queue_with_a_value_is_not_empty() {
    model(&["the first", "the second", "busy"], |seen| {
        let queue = Arc::new(Bounded::<u64, 2>::new());
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(1).unwrap())
        };
        queue.push(2).unwrap();
        match queue.pop() {
            Ok(1) => seen.note("the first"),
            Ok(2) => seen.note("the second"),
            Err(PopError::Busy) => seen.note("busy"),
            outcome => panic!("{outcome:?}"),
        }
        other.join().unwrap();
    });
}

/// Would break if a push could judge by a tail of now and a head of long ago: of the values
/// 1, 2 and 9 there are never two in the queue unless the 9 is one of them.
#[test]
fn a_queue_with_room_is_not_full() {
    model(&["before the 2", "after the 2"], |seen| {
        let queue = Arc::new(Bounded::<u64, 2>::new());
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(9))
        };
        queue.push(1).unwrap();
        let first = queue.pop();
        let second = queue.push(2);
        assert_eq!(other.join().unwrap(), Ok(()));
        if (first, second) == (Ok(1), Ok(())) && queue.pop() == Ok(2) {
            seen.note("after the 2");
        } else {
            seen.note("before the 2");
        }
    });
}

/// Would break if a pop could judge by a head of now and a tail of long ago: the values are
/// 1 and 2, then 2, then 2 and 3, then 3.
#[test]
fn a_queue_that_was_never_empty_is_not_empty() {
    model(&["the 1", "the 2", "the 3"], |seen| {
        let queue = Arc::new(Bounded::<u64, 2>::new());
        queue.push(1).unwrap();
        queue.push(2).unwrap();
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.pop())
        };
        let _ = queue.pop();
        // Refused when the other pop is still under way.
        if queue.push(3).is_ok() {
            let _ = queue.pop();
            let theirs = other.join().unwrap();
            seen.note(["the 1", "the 2", "the 3"][theirs.unwrap() as usize - 1]);
        }
    });
}

/// Would break if dropping the queue lost a value, or dropped one that had been popped.
#[test]
fn dropping_the_queue_drops_what_is_left() {
    model(&["popped", "left"], |seen| {
        let counter = std::sync::Arc::new(());
        let queue = Arc::new(Bounded::<_, 1>::new());
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.pop().ok())
        };
        queue.push(counter.clone()).unwrap();
        let popped = consumer.join().unwrap();
        drop(queue);
        let held = usize::from(popped.is_some());
        assert_eq!(std::sync::Arc::strong_count(&counter), 1 + held);
        seen.note(if held == 1 { "popped" } else { "left" });
    });
}

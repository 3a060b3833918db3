//! The intrusive queue: each node once, in order, with what came before its push; nobody
//! sleeps while there is something to take.

use std::ptr::NonNull;

use cupola_core::queue::{Chain, Link, Linked, Mpsc};
use loom::sync::Arc;
use loom::thread;

use super::{Ended, Value, model};

type Queue<T> = Mpsc<Owned<T>>;

/// A node on the heap, which goes with its owner.
struct Owned<T>(Box<Boxed<T>>);

#[repr(C)]
struct Boxed<T> {
    link: Link,
    value: T,
}

// SAFETY: a box owns what it points to, `into_raw` gives all of that away, and the link is
// the first field. A box that is passed on does not promise to last.
unsafe impl<T> Linked for Owned<T> {
    fn into_link(self) -> NonNull<Link> {
        NonNull::from(Box::leak(self.0)).cast()
    }

    unsafe fn from_link(link: NonNull<Link>) -> Self {
        // SAFETY: it comes from `into_link`, so from a box, and comes back once.
        Self(unsafe { Box::from_raw(link.cast::<Boxed<T>>().as_ptr()) })
    }
}

fn node<T>(value: T) -> Owned<T> {
    let link = Link::new();
    Owned(Box::new(Boxed { link, value }))
}

/// The value of a node, which is freed.
fn free<T>(node: Owned<T>) -> T {
    node.0.value
}

/// Takes all, newest first.
fn take<T>(queue: &Queue<T>) -> Vec<T> {
    queue.pop_all().map(free).collect()
}

/// Would break if a push could lose another's node, or a node come out twice.
#[test]
fn of_two_producers_each_node_comes_once() {
    model(&["none", "one", "two"], |seen| {
        let queue = Arc::new(Queue::new());
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(node(2)))
        };
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || take(&queue))
        };
        let mine = queue.push(node(1));
        let theirs = other.join().unwrap();
        let mut got = consumer.join().unwrap();
        seen.note(["none", "one", "two"][got.len()]);
        // One wake-up for each time that the queue went from empty to not empty.
        let times = if got.len() == 1 { 2 } else { 1 };
        assert_eq!(usize::from(mine) + usize::from(theirs), times);
        got.extend(take(&queue));
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}

/// Would break if two that take everything could get the same node.
#[test]
fn of_two_consumers_one_gets_a_node() {
    model(&["mine", "theirs"], |seen| {
        let queue = Arc::new(Queue::new());
        queue.push(node(1));
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || take(&queue).len())
        };
        let mine = take(&queue).len();
        let theirs = other.join().unwrap();
        assert_eq!(mine + theirs, 1);
        seen.note(if mine == 1 { "mine" } else { "theirs" });
    });
}

/// Would break if a node could overtake another of its producer.
#[test]
fn nodes_of_one_producer_come_in_order() {
    model(&["none", "one", "two"], |seen| {
        let queue = Arc::new(Queue::new());
        let in_order = |queue: &Queue<_>| queue.pop_all().oldest_first().map(free);
        let consumer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || in_order(&queue).collect::<Vec<_>>())
        };
        queue.push(node(1));
        queue.push(node(2));
        let mut got = consumer.join().unwrap();
        seen.note(["none", "one", "two"][got.len()]);
        got.extend(in_order(&queue));
        assert_eq!(got, [1, 2]);
    });
}

/// Would break if a push or the taking were relaxed, also for the pushes that are not the
/// newest: the links and the values could be read before they are written.
#[test]
fn what_came_before_a_push_comes_before_its_pop() {
    model(&["none", "one", "two"], |seen| {
        let queue = Arc::new(Queue::new());
        let ended = Ended::default();
        let push = |number| {
            let (queue, ended) = (Arc::clone(&queue), ended.clone());
            move || {
                let value = Value::new(number, &ended);
                value.write();
                queue.push(node(value));
            }
        };
        let other = thread::spawn(push(2));
        let consumer = {
            let (queue, seen) = (Arc::clone(&queue), seen.clone());
            thread::spawn(move || {
                let got = take(&queue);
                seen.note(["none", "one", "two"][got.len()]);
                got.into_iter().for_each(Value::end);
            })
        };
        push(1)();
        other.join().unwrap();
        consumer.join().unwrap();
        take(&queue).into_iter().for_each(Value::end);
        assert_eq!(ended.count(), 2);
    });
}

/// Would break, by a deadlock, if a push that finds the queue empty did not say so, or if
/// one that finds it empty on its second attempt answered for its first.
#[test]
fn who_parks_on_an_empty_queue_is_woken() {
    model(&["without parking", "after parking"], |seen| {
        let queue = Arc::new(Queue::new());
        queue.push(node(1));
        let consumer = thread::current();
        let producer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                if queue.push(node(2)) {
                    consumer.unpark();
                }
            })
        };
        let (mut got, mut parked) = (0, false);
        while got < 2 {
            let batch = take(&queue);
            if batch.is_empty() {
                parked = true;
                thread::park();
            }
            got += batch.len();
        }
        producer.join().unwrap();
        seen.note(if parked {
            "after parking"
        } else {
            "without parking"
        });
    });
}

/// Would break if the nodes of a chain could be torn apart, or the chain were published
/// before its last link.
#[test]
fn a_chain_comes_whole() {
    model(
        &["nothing", "alone", "chain", "chain first", "chain last"],
        |seen| {
            let queue = Arc::new(Queue::new());
            let other = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || queue.push(node(3)))
            };
            let consumer = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    let nodes = queue.pop_all().oldest_first();
                    nodes.map(free).collect::<Vec<_>>()
                })
            };
            let mut chain = Chain::new();
            chain.push(node(1));
            chain.push(node(2));
            queue.push_chain(chain);
            other.join().unwrap();
            let batch = consumer.join().unwrap();
            seen.note(match batch[..] {
                [] => "nothing",
                [3] => "alone",
                [1, 2] => "chain",
                [1, 2, 3] => "chain first",
                [3, 1, 2] => "chain last",
                _ => "torn",
            });
            assert_eq!(batch.len() + take(&queue).len(), 3);
        },
    );
}

//! The queues against a `VecDeque`, and under real threads.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cupola_core::queue::{Bounded, Chain, Mpsc, Node, PopError, PushError};
use quickcheck::quickcheck;

const PRODUCERS: u64 = 3;
const EACH: u64 = 20_000;

/// True if a queue of `N` places does what a list does; `steps` are pushes and pops.
fn like_a_list<const N: usize>(steps: &[bool]) -> bool {
    let counter = Arc::new(());
    let queue = Bounded::<_, N>::new();
    let mut list = VecDeque::new();
    for (number, push) in steps.iter().enumerate() {
        if *push {
            match queue.push((number, Arc::clone(&counter))) {
                Ok(()) => list.push_back(number),
                Err(PushError::Full((back, _))) => assert_eq!((list.len(), back), (N, number)),
                Err(busy) => panic!("nobody else is here: {busy:?}"),
            }
        } else {
            match queue.pop() {
                Ok((front, _)) => assert_eq!(Some(front), list.pop_front()),
                Err(PopError::Empty) => assert!(list.is_empty()),
                Err(PopError::Busy) => panic!("nobody else is here"),
            }
        }
        assert_eq!(
            (queue.len(), queue.is_empty()),
            (list.len(), list.is_empty())
        );
        assert!(list.len() <= N);
        assert_eq!(Arc::strong_count(&counter), 1 + list.len());
    }
    drop(queue);
    Arc::strong_count(&counter) == 1
}

quickcheck! {
    /// Without it a place could be wrong in a later lap, above all where the length is one
    /// or no power of two, and a value that is left could be leaked or dropped twice.
    fn a_bounded_queue_behaves_like_a_list(steps: Vec<bool>) -> bool {
        like_a_list::<1>(&steps)
            && like_a_list::<2>(&steps)
            && like_a_list::<3>(&steps)
            && like_a_list::<5>(&steps)
            && like_a_list::<8>(&steps)
    }

    /// Without it chains could be linked in the wrong order or at the wrong end, and nodes
    /// that are not looked at could be lost. A step below 100 pushes that many nodes as a
    /// chain, one below 200 pushes one, others take everything, or only the first nodes.
    fn an_intrusive_queue_behaves_like_a_list(steps: Vec<u8>) -> bool {
        let counter = Arc::new(());
        let nodes = steps.iter().map(|step| if *step < 100 { usize::from(*step) } else { 1 });
        let mut nodes: Vec<_> =
            (0..nodes.sum()).map(|number| Node::new((number, Arc::clone(&counter)))).collect();
        let mut nodes = nodes.iter_mut();
        let queue = Mpsc::new();
        let mut list = Vec::new();
        for step in steps {
            let was_empty = list.is_empty();
            match step {
                0..100 => {
                    let mut chain = Chain::new();
                    for node in nodes.by_ref().take(step.into()) {
                        list.push(node.0);
                        chain.push(node);
                    }
                    assert_eq!((chain.len(), chain.is_empty()), (step.into(), step == 0));
                    assert_eq!(queue.push_chain(chain), was_empty && step > 0);
                }
                100..200 => {
                    let node = nodes.next().unwrap();
                    list.push(node.0);
                    assert_eq!(queue.push(node), was_empty);
                }
                200..220 => {
                    let batch = queue.pop_all();
                    assert_eq!(batch.is_empty(), was_empty);
                    let got = batch.map(|node| node.0);
                    assert!(got.eq(list.drain(..).rev()));
                }
                220..240 => {
                    let got = queue.pop_all().oldest_first().map(|node| node.0);
                    assert!(got.eq(list.drain(..)));
                }
                _ => {
                    // The rest is dropped: exclusive borrows that end.
                    let first = queue.pop_all().next().map(|node| node.0);
                    assert_eq!(first, list.last().copied());
                    list.clear();
                }
            }
            assert_eq!(queue.is_empty(), list.is_empty());
        }
        true
    }
}

/// An owning pointer of the test's own: without it nodes that stay in a queue, a batch or
/// a chain when it is dropped could leak, or be freed twice.
#[test]
fn what_is_left_in_an_intrusive_queue_is_dropped_once() {
    use cupola_core::queue::{Link, Linked};
    use std::ptr::NonNull;

    struct Owned(Box<Node<Arc<()>>>);

    // SAFETY: the box owns the node and gives it away as a whole; the link comes from the
    // implementation for the borrow of the same node.
    unsafe impl Linked for Owned {
        fn into_link(self) -> NonNull<Link> {
            Box::leak(self.0).into_link()
        }

        unsafe fn from_link(link: NonNull<Link>) -> Self {
            // SAFETY: `into_link` above gave this link.
            let node = unsafe { <&mut Node<Arc<()>>>::from_link(link) };
            // SAFETY: the node was a box that `into_link` leaked, and comes back once.
            Self(unsafe { Box::from_raw(node) })
        }
    }

    let counter = Arc::new(());
    let new = || Owned(Box::new(Node::new(Arc::clone(&counter))));
    let chain = || {
        let mut chain = Chain::new();
        (0..3).for_each(|_| chain.push(new()));
        chain
    };
    let queue = Mpsc::new();
    queue.push_chain(chain());
    queue.push(new());
    let mut batch = queue.pop_all();
    assert!(batch.next().is_some());
    assert_eq!(Arc::strong_count(&counter), 4);
    drop(batch);
    assert_eq!(Arc::strong_count(&counter), 1);
    queue.push_chain(chain());
    let kept = chain();
    assert_eq!(Arc::strong_count(&counter), 7);
    drop(queue);
    assert_eq!(Arc::strong_count(&counter), 4);
    assert_eq!(kept.into_iter().count(), 3);
    assert_eq!(Arc::strong_count(&counter), 1);
}

/// Checks that each producer's numbers come in order and completely.
struct Account([u64; PRODUCERS as usize]);

impl Account {
    fn take(&mut self, (producer, number): (u64, u64)) {
        let next = &mut self.0[producer as usize];
        assert!(*next <= number, "{number} of {producer} came late or twice");
        *next = number + 1;
    }
}

/// Without it several places a line and many laps, which the models do not have, would go
/// untested by more than one thread.
#[test]
fn a_bounded_queue_survives_threads() {
    let queue = Bounded::<(u64, u64), 7>::new();
    let (sum, taken) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let queue = &queue;
            scope.spawn(move || {
                for number in 0..EACH {
                    let mut value = (producer, number);
                    while let Err(refused) = queue.push(value) {
                        value = refused.into_value();
                        thread::yield_now();
                    }
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let mut account = Account([0; PRODUCERS as usize]);
                while taken.load(Ordering::Relaxed) < PRODUCERS * EACH {
                    let Ok(value) = queue.pop() else {
                        thread::yield_now();
                        continue;
                    };
                    taken.fetch_add(1, Ordering::Relaxed);
                    sum.fetch_add(value.1, Ordering::Relaxed);
                    account.take(value);
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), PRODUCERS * EACH);
    assert_eq!(sum.into_inner(), PRODUCERS * (EACH * (EACH - 1) / 2));
    assert_eq!(queue.pop(), Err(PopError::Empty));
}

/// Without it a lost wake-up or a lost node would show only in a long run.
#[test]
fn an_intrusive_queue_survives_threads() {
    let mut nodes: Vec<_> = (0..PRODUCERS * EACH)
        .map(|at| Node::new((at / EACH, at % EACH)))
        .collect();
    let queue = Mpsc::new();
    thread::scope(|scope| {
        let consumer = thread::current();
        for nodes in nodes.chunks_mut(EACH as usize) {
            let (queue, consumer) = (&queue, consumer.clone());
            scope.spawn(move || {
                for pair in nodes.chunks_mut(3) {
                    let mut pair = pair.iter_mut();
                    let first = pair.next().unwrap();
                    let mut chain = Chain::new();
                    pair.for_each(|node| chain.push(node));
                    if queue.push(first) | queue.push_chain(chain) {
                        consumer.unpark();
                    }
                }
            });
        }
        let (mut account, mut taken) = (Account([0; PRODUCERS as usize]), 0);
        while taken < PRODUCERS * EACH {
            let batch = queue.pop_all();
            if batch.is_empty() {
                thread::park();
            }
            for node in batch.oldest_first() {
                assert_eq!(
                    account.0[node.0 as usize], node.1,
                    "each node comes in its turn"
                );
                account.take(**node);
                taken += 1;
            }
        }
    });
    assert!(queue.is_empty());
}

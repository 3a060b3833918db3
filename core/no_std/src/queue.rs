//! Both queues.

use cupola_core::queue::{
    Batch, Bounded, Chain, Link, Linked, Mpsc, Node, PopError, PushError,
};

use crate::{length, message};

static READY: Bounded<[u64; 3], 5> = Bounded::new();

/// Uses the bounded queue.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_bounded(number: u64) -> u64 {
    let pushed: Result<(), PushError<[u64; 3]>> = READY.push([number; 3]);
    let pushed = pushed.map_or_else(
        |refusal| message(&refusal) as u64 + refusal.into_value()[0],
        |()| 0,
    );
    let popped: Result<[u64; 3], PopError> = READY.pop();
    let popped = popped.map_or_else(|refusal| message(&refusal) as u64, |value| value[2]);
    pushed + popped + READY.len() as u64 + length(format_args!("{READY:?}")) as u64
}

/// Takes everything out, oldest first.
fn take<P: Linked + core::ops::Deref<Target = Node<u64>>>(batch: Batch<P>) -> u64 {
    let text = length(format_args!("{batch:?}"));
    batch.oldest_first().map(|node| **node).sum::<u64>() + text as u64
}

/// Uses the intrusive queue.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_mpsc(number: u64) -> u64 {
    let mut nodes = [const { Node::new(1_u64) }; 3];
    let link = Link::new();
    let queue: Mpsc<&mut Node<u64>> = Mpsc::new();
    let mut sum = length(format_args!("{:?} {queue:?} {link:?}", nodes[0])) as u64;
    *nodes[0] = number;
    let mut chain = Chain::new();
    for (at, node) in nodes.iter_mut().enumerate() {
        if at == 0 {
            sum += u64::from(queue.push(node));
        } else {
            chain.push(node);
        }
    }
    sum += length(format_args!("{chain:?}")) as u64;
    sum += u64::from(queue.push_chain(chain));
    sum + take(queue.pop_all())
}

//! Queues between threads, as statics.

use cupola_core::queue::{Batch, Bounded, Chain, Link, Linked, Mpsc, Node, PopError, PushError};

use crate::{length, message};

static BOUNDED: Bounded<u64, 3> = Bounded::new();
static FREED: Mpsc<&mut Node<u64>> = Mpsc::new();

fn number<P: Linked>(node: P, value: impl Fn(&P) -> u64) -> u64 {
    let value = value(&node);
    let link = node.into_link();
    // SAFETY: `into_link` gave it just now.
    value
        + length(format_args!(
            "{link:?} {:?}",
            unsafe { P::from_link(link) }.into_link()
        )) as u64
}

/// Uses a bounded queue.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_bounded_queue(value: u64) -> u64 {
    let pushed: Result<(), PushError<u64>> = BOUNDED.push(value);
    let refused = pushed.map_or_else(|error| message(&error) as u64 + error.into_value(), |()| 0);
    let popped: Result<u64, PopError> = BOUNDED.pop();
    let text = length(format_args!("{BOUNDED:?}")) + BOUNDED.len();
    refused + popped.unwrap_or_else(|error| message(&error) as u64) + text as u64
}

/// Uses an intrusive queue of static nodes, and one of borrowed ones.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_intrusive_queue(value: u64) -> u64 {
    let freed: Batch<&'static mut Node<u64>> = FREED.pop_all();
    let mut sum = length(format_args!("{freed:?} {:?}", Link::new())) as u64;
    for node in freed {
        sum += **node;
        FREED.push(node);
    }
    let mut nodes = [Node::new(value), Node::new(sum)];
    let queue = Mpsc::new();
    let mut chain = Chain::new();
    nodes.iter_mut().for_each(|node| chain.push(node));
    sum += length(format_args!("{chain:?}")) as u64;
    sum += u64::from(queue.push_chain(chain));
    for node in queue.pop_all().oldest_first() {
        sum += number(node, |node| ***node);
    }
    sum + length(format_args!("{queue:?} {:?}", Node::new(value))) as u64
}

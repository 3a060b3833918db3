//! The list of least recent use, and the sharded counter.

use cupola_core::{Lru, LruError, LruNode, ShardedCounter, Touch};

use crate::{length, message};

static TOUCH: Touch = Touch::new();
static COUNTER: ShardedCounter<3> = ShardedCounter::new();

fn order<S: AsRef<[LruNode]> + AsMut<[LruNode]>>(
    lru: &mut Lru<S>,
    index: usize,
) -> Result<usize, LruError> {
    lru.insert(index)?;
    lru.insert(index + 1)?;
    lru.touch(index)?;
    TOUCH.touch();
    let evicted = lru.evict(|_| TOUCH.take(), |at| at != index);
    let sum = lru.iter().sum::<usize>() + evicted.unwrap_or(0);
    lru.remove(index)?;
    Ok(sum + lru.len() + lru.pop_lru().unwrap_or(0) + length(format_args!("{lru:?} {TOUCH:?}")))
}

/// Uses lists over nodes in place and borrowed ones.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_lru(index: usize) -> usize {
    let mut nodes = [LruNode::new(); 5];
    let sums = [
        order(&mut Lru::<[_; 3]>::in_place(), index),
        order(&mut Lru::new(&mut nodes[..]), index),
    ];
    sums.iter()
        .map(|sum| sum.unwrap_or_else(|error| message(&error)))
        .sum()
}

/// Uses a sharded counter.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_counter(thread: usize, amount: u64) -> u64 {
    COUNTER.add(thread, amount);
    COUNTER.sub(thread + 1, amount / 2);
    COUNTER.read() + length(format_args!("{COUNTER:?}")) as u64
}

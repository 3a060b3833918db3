//! The list of least recent use.

use cupola_core::{Lru, LruError, LruNode, Touch};

use crate::{length, message};

static TOUCH: Touch = Touch::new();

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

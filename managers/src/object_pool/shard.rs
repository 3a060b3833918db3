//! `Shard`: the stacks that a thread uses first.

use super::stack::Stack;

/// Kinds of object that do not stand in for each other, in one object pool.
pub(crate) const CLASSES: usize = if cfg!(loom) { 2 } else { 16 };

/// Shards of an object pool: more threads than these share.
pub(super) const SHARDS: usize = if cfg!(loom) { 1 } else { 16 };

/// The stacks of one shard, by class, on a pair of cache lines of their own.
#[repr(align(128))]
pub(super) struct Shard(pub(super) [Stack; CLASSES]);

impl Shard {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| Stack::new()))
    }
}

/// The number of the thread that asks, of which its shard is made.
#[cfg(not(loom))]
#[inline]
pub(super) fn of_thread() -> usize {
    crate::sync::thread_number::this()
}

/// There is one shard.
#[cfg(loom)]
pub(super) fn of_thread() -> usize {
    0
}

//! `Stack`: nodes that wait for their next life, newest first.
//!
//! A Treiber stack over indices. The head carries a count of pushes, so that a pop which
//! looked at a node that was taken and pushed again meanwhile starts over (ABA). And it can
//! be shut: that takes all nodes at once, and from then on a push is refused, in the same
//! exchange. So a thread that pushes need not look twice, and a thread that shuts need not wait.

use crate::sync::{AtomicU64, Ordering};

/// Index plus one of the top node (24 bits, 0 for none), whether it is shut (2 bits), count
/// of pushes (38 bits).
pub(super) struct Stack {
    head: AtomicU64,
}

/// Whether nodes are taken, and whether a node that is not taken is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// They are taken.
    Open,
    /// They are emptied, and kept for later.
    Shut,
    /// They are freed: the manager is gone.
    Gone,
}

const TOP: u64 = (1 << 24) - 1;
const SHUT: u64 = 1 << 24;
const GONE: u64 = 1 << 25;
const PUSH: u64 = 1 << 26;

impl Stack {
    pub(super) fn new() -> Self {
        Self {
            head: AtomicU64::new(0),
        }
    }

    fn door_of(head: u64) -> Door {
        if head & GONE != 0 {
            Door::Gone
        } else if head & SHUT != 0 {
            Door::Shut
        } else {
            Door::Open
        }
    }

    /// Pushes the node with this index; `link` is told which one is below it before another thread
    /// sees it. Once this returns `Open` the node is no longer the caller's.
    #[inline]
    pub(super) fn push(&self, index: u32, mut link: impl FnMut(u32)) -> Door {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let door = Self::door_of(head);
            if door != Door::Open {
                // Acquire: the thread that shut the stack looked at the node before.
                self.head.load(Ordering::Acquire);
                return door;
            }
            link((head & TOP) as u32);
            let count = if mutant!("object_pool_stack_without_count") {
                head & !TOP
            } else {
                (head & !TOP).wrapping_add(PUSH)
            };
            let new = count | (u64::from(index) + 1);
            match self
                .head
                .compare_exchange_weak(head, new, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return Door::Open,
                Err(now) => head = now,
            }
        }
    }

    /// Pops the newest node; `below` returns the one that lies below a node. `None` when there is
    /// none, or when the stack is shut.
    #[inline]
    pub(super) fn pop(&self, mut below: impl FnMut(u32) -> u32) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let top = (head & TOP) as u32;
            let index = top.checked_sub(1)?;
            let new = (head & !TOP) | u64::from(below(index));
            // Release: a thread that misses this node sees what this one has pushed before, on any
            // stack. Not Acquire: the pushes are counted, so this is the head that was loaded.
            match self
                .head
                .compare_exchange_weak(head, new, Ordering::Release, Ordering::Acquire)
            {
                Ok(_) => return Some(index),
                Err(now) => head = now,
            }
        }
    }

    /// Count of pushes so far. Relaxed: a later look at this stack sees nothing older.
    pub(super) fn pushes(&self) -> u64 {
        self.head.load(Ordering::Relaxed) / PUSH
    }

    /// Shuts the stack and takes its nodes: the index plus one of the top one, which leads to
    /// the others.
    pub(super) fn shut(&self, door: Door) -> u32 {
        let bit = match door {
            Door::Open => return 0,
            Door::Shut => SHUT,
            Door::Gone => GONE,
        };
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let new = (head & !TOP) | bit;
            // Acquire: the nodes are as they were pushed. Release: a node that is not on the stack is
            // freed by the thread that finds the stack shut, and the thread that shuts it may have
            // looked at the node.
            match self
                .head
                .compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return (head & TOP) as u32,
                Err(now) => head = now,
            }
        }
    }

    /// Takes nodes again, unless the manager is gone.
    pub(super) fn open(&self) {
        self.head.fetch_and(!SHUT, Ordering::Relaxed);
    }
}

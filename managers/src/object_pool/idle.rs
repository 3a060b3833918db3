//! `IdleObjects`: the stacks on which nodes wait.

use super::shard::{self, CLASSES, SHARDS, Shard};
use super::stack::Stack;
use super::word::Word;
use crate::handle::ManagerNumber;
use crate::sync::AtomicUsize;
#[cfg(feature = "test-utils")]
use crate::sync::{AtomicU64, Ordering};

/// The stacks that a node needs when its last lease ends, whether or not the manager is still
/// there.
pub(super) struct IdleObjects {
    /// Nodes with an object that waits. Each thread gives back to one shard and takes from
    /// it first, so that threads do not meet on one stack.
    pub(super) shards: [Shard; SHARDS],
    /// Nodes without an object.
    pub(super) vacant: Stack,
    /// Nodes that have used up their names.
    pub(super) exhausted: Stack,
    /// Driver objects that exist.
    pub(super) existing: AtomicUsize,
    /// The manager that these objects are of.
    pub(super) manager: ManagerNumber,
    /// The word that new nodes start with: in a test it may be a late one.
    #[cfg(feature = "test-utils")]
    pub(super) first: AtomicU64,
}

impl IdleObjects {
    /// The word that new nodes start with.
    #[cfg_attr(
        not(feature = "test-utils"),
        expect(clippy::unused_self, reason = "only a test says another word")
    )]
    pub(super) fn first_word(&self) -> Word {
        #[cfg(feature = "test-utils")]
        return Word(self.first.load(Ordering::Relaxed));
        #[cfg(not(feature = "test-utils"))]
        return Word::NEW;
    }

    pub(super) fn new(manager: ManagerNumber) -> Self {
        Self {
            manager,
            shards: std::array::from_fn(|_| Shard::new()),
            vacant: Stack::new(),
            exhausted: Stack::new(),
            existing: AtomicUsize::new(0),
            #[cfg(feature = "test-utils")]
            first: AtomicU64::new(Word::NEW.0),
        }
    }

    /// This thread's shard, by class.
    #[inline]
    pub(super) fn idle_here(&self) -> &[Stack; CLASSES] {
        &self.shards[shard::of_thread() % SHARDS].0
    }

    /// How often objects were given back to wait, modulo a large number.
    pub(super) fn pushes(&self) -> u64 {
        let mut sum = 0_u64;
        for stack in self.idle() {
            sum = sum.wrapping_add(stack.pushes());
        }
        sum
    }

    /// Every stack of objects that wait.
    pub(super) fn idle(&self) -> impl Iterator<Item = &Stack> {
        self.shards.iter().flat_map(|shard| &shard.0)
    }
}

//! Where a store keeps its slots: in place, or in chunks that its caller lends.

mod fixed;
mod pool;

pub use fixed::{FixedSlots, InPlace};
pub use pool::{Chunk, ChunkSource, Grown, SlotPool};

use super::payload::sealed::Keep;

/// Where a store keeps its slots. Sealed: implemented by this crate's layouts only.
pub trait Layout: sealed::Groups {}

mod sealed {
    use super::super::group::Group;
    use super::super::payload::Payload;
    use super::super::slot::Slot;

    pub trait Groups {
        type Cell: Payload;

        /// Group `index`; `None` past the end. A group once seen stays where it is.
        fn group(&self, index: usize) -> Option<Group<'_, Self::Cell>>;

        /// The slot at `index`.
        fn slot(&self, index: usize) -> Option<&Slot<Self::Cell>>;

        /// Number of groups, perhaps a little out of date: for hints only.
        fn count(&self) -> usize;

        /// Tries to add group `index`, which the caller has not found. False when there is
        /// none to be had; true when it is worth looking again.
        fn grow(&self, index: usize) -> bool;

        /// Ends growth at `index`, and returns the group there if it is older. After `None`
        /// no group will ever be at `index`.
        fn seal(&self, index: usize) -> Option<Group<'_, Self::Cell>>;

        /// The store was closed before it had any group.
        fn is_sealed_empty(&self) -> bool;

        /// Slots that the store may come to have.
        fn capacity(&self) -> usize;
    }
}

/// The type of the values of a store with this layout.
pub type ValueOf<L> = <<L as sealed::Groups>::Cell as Keep>::Value;

//! `ManagedHandle<Tag>`: the name of one life of one object of one manager, in one non-zero `u64`.
//!
//! A [`Handle`] of `cupola-core` names a life of a slot, and every store counts its slots from 0: the
//! first objects of any two managers would have one name. No manager has as many objects as a
//! handle has indices, so the upper bits of the index are free to say which manager it was.

use std::cmp::Ordering as Order;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_core::{Handle, Tag, tag};

/// Bits that say which of a manager's objects it is: no manager has more.
const SLOT_BITS: u32 = 16;
/// Managers of a kind that have numbers of their own.
const NUMBERS: u32 = (1 << (Handle::<tag::Slot>::INDEX_BITS - SLOT_BITS)) - 1;

/// The number of a manager among those of its kind: from 1, and again from 1 after 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ManagerNumber(u32);

impl ManagerNumber {
    /// The number of a new manager of this kind of object.
    pub(crate) fn next<G: Tag>() -> Self {
        const KINDS: [&str; 7] = [
            tag::Device::NAME,
            tag::Context::NAME,
            tag::Stream::NAME,
            tag::Event::NAME,
            tag::Buffer::NAME,
            tag::Module::NAME,
            tag::Function::NAME,
        ];
        static MADE: [AtomicU32; KINDS.len() + 1] = [const { AtomicU32::new(0) }; KINDS.len() + 1];
        let kind = KINDS.iter().position(|kind| *kind == G::NAME);
        let made = MADE[kind.unwrap_or(KINDS.len())].fetch_add(1, Ordering::Relaxed);
        Self(1 + made % NUMBERS)
    }
}

/// Names a context of a [`ContextManager`](crate::ContextManager).
pub type ContextHandle = ManagedHandle<tag::Context>;

/// The name of one life of one object of one manager.
///
/// A handle is plain data: copying it keeps nothing alive, and using it after its release is an
/// error and never reaches the object's next life. Another manager refuses it: it has the
/// number of the manager that gave it, and no two of the last 255 of a kind have the same. A
/// handle that is kept beyond 254 younger managers of its kind may be taken for one of the 255th.
///
/// Its text is `Stream#3.0@7`: manager, object, and which life of that.
#[repr(transparent)]
pub struct ManagedHandle<G>(Handle<G>);

impl<G> ManagedHandle<G> {
    /// Of no manager, and of more lives than a place has.
    pub(crate) const NONE: Self = Self(Handle::from_parts(0, u64::MAX));

    /// A handle of this manager. The index is of one of its slots.
    #[inline]
    pub(crate) fn new(manager: ManagerNumber, handle: Handle<G>) -> Self {
        debug_assert!(handle.index() >> SLOT_BITS == 0);
        let index = handle.index() as u32 | manager.0 << SLOT_BITS;
        Self(Handle::from_parts(index, handle.generation()))
    }

    /// The handle as the manager's store knows it; `None` if it is another manager's.
    #[inline]
    pub(crate) fn of(self, manager: ManagerNumber) -> Option<Handle<G>> {
        let slot = Handle::from_parts(self.index(), self.generation());
        (self.manager() == manager.0).then_some(slot)
    }

    /// The handle as a number, for C and for logs. Never zero.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    /// The handle that [`to_bits`](Self::to_bits) gave `bits` for. `None` when `bits` can be no
    /// handle. Any other number is accepted; the manager that it is shown to decides whether it
    /// names an object.
    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Self> {
        Handle::from_bits(bits).map(Self)
    }

    /// Which of its manager's objects it is, below 2^16.
    #[must_use]
    pub const fn index(self) -> u32 {
        (self.0.index() & ((1 << SLOT_BITS) - 1)) as u32
    }

    /// The number of the manager that gave it.
    #[must_use]
    pub const fn manager(self) -> u32 {
        (self.0.index() >> SLOT_BITS) as u32
    }

    /// The text of a handle of this kind of object.
    pub(crate) fn write(self, kind: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (manager, index) = (self.manager(), self.index());
        write!(f, "{kind}#{manager}.{index}@{}", self.generation())
    }

    /// Which life of the object's place it names.
    #[must_use]
    pub const fn generation(self) -> u64 {
        self.0.generation()
    }
}

// Written out because derives would ask the tag for the same traits.
impl<G> Clone for ManagedHandle<G> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<G> Copy for ManagedHandle<G> {}
impl<G> PartialEq for ManagedHandle<G> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<G> Eq for ManagedHandle<G> {}
impl<G> PartialOrd for ManagedHandle<G> {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}
impl<G> Ord for ManagedHandle<G> {
    fn cmp(&self, other: &Self) -> Order {
        self.0.cmp(&other.0)
    }
}
impl<G> Hash for ManagedHandle<G> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<G: Tag> fmt::Debug for ManagedHandle<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(G::NAME, f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a manager could take another's handle for its own, or refuse its own.
    #[test]
    fn a_handle_is_of_one_manager() {
        let numbers: Vec<_> = (0..NUMBERS)
            .map(|_| ManagerNumber::next::<tag::Graph>())
            .collect();
        for (index, generation) in [(0, 1), ((1 << SLOT_BITS) - 1, (1 << 40) - 1)] {
            let slot = Handle::<tag::Graph>::from_parts(index, generation);
            for &number in &numbers {
                let handle = ManagedHandle::new(number, slot);
                assert_eq!(ManagedHandle::from_bits(handle.to_bits()), Some(handle));
                assert_eq!((handle.index(), handle.generation()), (index, generation));
                let takers = numbers.iter().filter(|taker| handle.of(**taker).is_some());
                assert_eq!(takers.collect::<Vec<_>>(), [&number]);
                assert_eq!(handle.of(number), Some(slot));
            }
        }
        let handle = ManagedHandle::new(ManagerNumber(3), Handle::<tag::Stream>::from_parts(0, 7));
        assert_eq!(format!("{handle:?}"), "Stream#3.0@7");
    }
}

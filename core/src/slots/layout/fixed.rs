//! `FixedSlots`: a store that holds its slots in place and can live in a `static`.
//!
//! A type cannot have `N / 64` words on stable Rust, so the words are an array of `N` of
//! which the first two of every 64 are used. That costs 8 bytes a slot, and keeps the used
//! words 512 bytes apart, so that threads working in different groups do not meet there.

use core::fmt;
use core::marker::PhantomData;

use super::super::Slots;
use super::super::group::{Bitmap, Group};
use super::super::payload::{InCell, Payload};
use super::super::policy::{Policy, StorePolicy};
use super::super::slot::{Slot, vacant};
use super::{Layout, sealed};
use crate::handle::{Handle, Tag, tag};
use crate::sync::{AtomicU64, GROUP, const_fn, repeat};

/// A store of at most `N` values (1 to 2^24), held in place; its handles are tagged `G`.
///
/// ```
/// use cupola_core::{FixedSlots, Release};
///
/// static NAMES: FixedSlots<&str, 100> = FixedSlots::new();
///
/// let handle = NAMES.insert("compute").unwrap();
/// let lease = NAMES.get(handle).unwrap();
/// assert_eq!(*lease, "compute");
///
/// assert_eq!(NAMES.release(handle), Ok(Release::Deferred)); // the lease keeps it alive
/// assert!(NAMES.get(handle).is_err()); // but its handle is stale
/// assert_eq!(lease.release(), Some("compute")); // and the last lease hands it out
/// ```
pub type FixedSlots<T, const N: usize, G = tag::Slot, P = StorePolicy> =
    Slots<InPlace<InCell<T, <P as Policy>::Error>, N>, G, P>;

/// The layout of [`FixedSlots`].
pub struct InPlace<C: Payload, const N: usize> {
    slots: [Slot<C>; N],
    /// At the index of a group's first slot its `taken` word, at the next its `left`
    /// word.
    words: [AtomicU64; N],
    /// The words of a last group of one slot, whose `left` word has no place in `words`.
    last: Bitmap,
}

impl<C: Payload, const N: usize, G: Tag, P: Policy> Slots<InPlace<C, N>, G, P> {
    const FITS: () = assert!(N > 0 && N <= Handle::<tag::Slot>::MAX_SLOTS);

    const_fn! {
        /// An empty store. A constant, so that it can initialise a `static`.
        #[must_use]
        pub fn new() -> Self {
            let () = Self::FITS;
            Self {
                layout: InPlace {
                    slots: repeat![vacant!(); N],
                    words: repeat![AtomicU64::new(0); N],
                    last: Bitmap::new(),
                },
                types: PhantomData,
            }
        }
    }
}

impl<C: Payload, const N: usize, G: Tag, P: Policy> Default for Slots<InPlace<C, N>, G, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Payload, const N: usize> InPlace<C, N> {
    /// The words of the group whose first slot is `first`, which is below `N`.
    fn bitmap(&self, first: usize) -> &Bitmap {
        match self.words.get(first..first + 2) {
            // SAFETY: the cast needs the same layout and the same accesses. A `Bitmap` is two
            // `AtomicU64` in order (repr(C)), so it has the size and the alignment of the two
            // in this slice, and is only accessed by atomic operations, as they are.
            Some(two) => unsafe { &*two.as_ptr().cast::<Bitmap>() },
            None => &self.last,
        }
    }
}

impl<C: Payload, const N: usize> fmt::Debug for InPlace<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPlace").finish_non_exhaustive()
    }
}

impl<C: Payload, const N: usize> Layout for InPlace<C, N> {}

impl<C: Payload, const N: usize> sealed::Groups for InPlace<C, N> {
    type Cell = C;

    fn group(&self, index: usize) -> Option<Group<'_, C>> {
        let first = index.checked_mul(GROUP).filter(|&first| first < N)?;
        Some(Group {
            bitmap: self.bitmap(first),
            slots: &self.slots[first..N.min(first + GROUP)],
        })
    }

    fn slot(&self, index: usize) -> Option<&Slot<C>> {
        self.slots.get(index)
    }

    fn count(&self) -> usize {
        N.div_ceil(GROUP)
    }

    fn grow(&self, _: usize) -> bool {
        false
    }

    fn seal(&self, index: usize) -> Option<Group<'_, C>> {
        self.group(index)
    }

    fn is_sealed_empty(&self) -> bool {
        false
    }

    fn capacity(&self) -> usize {
        N
    }
}

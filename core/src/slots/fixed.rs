//! `FixedSlots`: a store that holds its slots in place and can live in a `static`.
//!
//! A type cannot have `N / 64` words on stable Rust, so the words are an array of `N` of
//! which every 32nd is used. That costs 8 bytes a slot, and keeps the used words 256
//! bytes apart, so that threads working in different groups share no cache line.

use core::fmt;
use core::marker::PhantomData;

use super::group::Group;
use super::slot::Slot;
use super::{Layout, Slots, sealed};
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
/// assert!(NAMES.get(handle).is_err()); // but it is stale for everyone else
/// assert_eq!(lease.release(), Some("compute")); // and the last lease hands it out
/// ```
pub type FixedSlots<T, const N: usize, G = tag::Slot> = Slots<InPlace<T, N>, G>;

/// The layout of [`FixedSlots`].
pub struct InPlace<T, const N: usize> {
    slots: [Slot<T>; N],
    /// At the index of a group's first slot its `taken` word, half a group further its
    /// `retired` word.
    words: [AtomicU64; N],
    /// The `retired` word of a last group that is too short to have it in `words`.
    last_retired: AtomicU64,
}

impl<T, const N: usize, G: Tag> FixedSlots<T, N, G> {
    const FITS: () = assert!(N > 0 && N <= Handle::<tag::Slot>::MAX_SLOTS);

    const_fn! {
        /// An empty store. A constant, so that it can initialise a `static`.
        #[must_use]
        pub fn new() -> Self {
            let () = Self::FITS;
            Self {
                layout: InPlace {
                    slots: repeat![Slot::new(); N],
                    words: repeat![AtomicU64::new(0); N],
                    last_retired: AtomicU64::new(0),
                },
                tag: PhantomData,
            }
        }
    }
}

impl<T, const N: usize, G: Tag> Default for FixedSlots<T, N, G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> fmt::Debug for InPlace<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPlace").finish_non_exhaustive()
    }
}

impl<T, const N: usize> Layout for InPlace<T, N> {}

impl<T, const N: usize> sealed::Groups for InPlace<T, N> {
    type Value = T;

    fn group(&self, index: usize) -> Option<Group<'_, T>> {
        let first = index.checked_mul(GROUP).filter(|&first| first < N)?;
        Some(Group {
            taken: &self.words[first],
            retired: self
                .words
                .get(first + GROUP / 2)
                .unwrap_or(&self.last_retired),
            slots: &self.slots[first..N.min(first + GROUP)],
        })
    }

    fn count(&self) -> usize {
        N.div_ceil(GROUP)
    }

    fn grow(&self, _: usize) -> bool {
        false
    }

    fn seal(&self, index: usize) -> Option<Group<'_, T>> {
        self.group(index)
    }

    fn is_sealed_empty(&self) -> bool {
        false
    }

    fn capacity(&self) -> usize {
        N
    }
}

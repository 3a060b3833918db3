//! Which magazine a size belongs to.
//!
//! Small sizes, of whole granules, have a class each, whose pieces are slots of slabs. Larger
//! ones up to 4 MiB are kept by their exact size, in a magazine that several sizes share:
//! a program asks for the same sizes again and again, and rounding up would waste memory.

use crate::pool::heap::best_fit::GRANULE;

/// Classes of small sizes: sizes of so many granules and fewer have one each. Classes of two
/// granules from 4 KiB on, as there were, cost programs of such blocks up to 0.7 % of their peak.
pub(crate) const CLASSES: usize = 32;
/// Magazines for exact sizes: one in models, whose threads have small stacks.
const EXACT: usize = if cfg!(loom) { 1 } else { 64 };
/// Magazines in all.
pub(crate) const SLOTS: usize = CLASSES + EXACT;

/// The largest size that magazines keep.
pub(crate) const MOST_CACHED: u64 = 4 << 20;
/// The largest size that slabs serve.
#[cfg(all(test, not(loom)))]
const MOST_SMALL: u64 = CLASSES as u64 * GRANULE;
/// Bytes of a slab, but for the smallest classes.
const SLAB: u64 = 64 << 10;

/// The number of a magazine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u16);

impl Slot {
    /// No magazine keeps it.
    pub(crate) const NONE: Self = Self(u16::MAX);

    /// The magazine of a size, and the size of its pieces for this request; `None` for sizes that
    /// magazines do not keep. `bytes` is not 0.
    #[inline]
    pub(crate) fn of(bytes: u64) -> Option<(Self, u64)> {
        if bytes > MOST_CACHED {
            return None;
        }
        let granules = bytes.div_ceil(GRANULE);
        if granules <= CLASSES as u64 {
            return Some((Self((granules - 1) as u16), granules * GRANULE));
        }
        // Fibonacci hashing: sizes that are near or multiples of each other spread.
        let hash = granules.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        Some((Self(CLASSES as u16 + hash as u16), granules * GRANULE))
    }

    /// Every magazine.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..SLOTS as u16).map(Self)
    }

    /// The magazines of small sizes, each with the size of its pieces.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn classes() -> impl Iterator<Item = (Self, u64)> {
        (0..CLASSES as u64).map(|class| (Self(class as u16), (class + 1) * GRANULE))
    }

    #[inline]
    pub(crate) fn number(self) -> usize {
        usize::from(self.0)
    }

    /// The bit of a magazine for exact sizes among those.
    #[inline]
    pub(crate) fn bit(self) -> u64 {
        1 << (self.number().wrapping_sub(CLASSES) % EXACT)
    }

    /// Whether its pieces are slots of slabs.
    #[inline]
    pub(crate) fn is_small(self) -> bool {
        self.number() < CLASSES
    }

    /// Whether a magazine keeps it.
    #[inline]
    pub(crate) fn is_kept(self) -> bool {
        self.number() < SLOTS
    }
}

/// How many slots a slab of pieces of `bytes` has: at most a word's bits.
pub(crate) fn slots_of_slab(bytes: u64) -> u32 {
    (SLAB / bytes).clamp(8, 64) as u32
}

/// Most pieces of this size that a magazine keeps.
#[inline]
pub(crate) fn capacity(bytes: u64) -> u32 {
    (MOST_BYTES / bytes.max(1)).clamp(4, MOST_PIECES as u64) as u32
}

/// Most pieces in a magazine: few in models, whose threads have small stacks.
pub(crate) const MOST_PIECES: usize = if cfg!(loom) { 4 } else { 32 };
/// Bytes that one magazine aims at.
const MOST_BYTES: u64 = 16 << 20;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a request could get a piece that is too small, or much too large.
    #[test]
    fn pieces_hold_the_request_and_waste_less_than_a_granule() {
        let mut last = (0, 0);
        for bytes in 1..=MOST_CACHED {
            let (slot, size) = Slot::of(bytes).unwrap();
            assert!(slot.is_kept());
            assert_eq!(size, bytes.next_multiple_of(GRANULE), "{bytes}");
            assert_eq!(slot.is_small(), bytes <= MOST_SMALL);
            if slot.is_small() {
                assert!(slot.number() >= last.0 && size >= last.1, "{bytes}");
                // One class, one size.
                assert_eq!(
                    slot.number() == last.0,
                    size == last.1 || bytes == 1,
                    "{bytes}"
                );
                last = (slot.number(), size);
                assert_eq!(Slot::of(size), Some((slot, size)));
                let slots = u64::from(slots_of_slab(size));
                assert!((8..=64).contains(&slots) && slots * size <= SLAB, "{size}");
            }
            assert!((4..=MOST_PIECES as u32).contains(&capacity(size)));
        }
        assert_eq!(last.0, CLASSES - 1);
        for (slot, size) in Slot::classes() {
            assert_eq!(Slot::of(size), Some((slot, size)));
        }
        assert_eq!(Slot::classes().count(), CLASSES);
        assert_eq!(Slot::of(MOST_CACHED + 1), None);
        assert!(!Slot::NONE.is_kept());
    }
}

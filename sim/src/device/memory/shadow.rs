//! Which bytes of an allocation have been written: a bit for each.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::memory::backing::Backing;

/// Bits that say which bytes of a block were written.
#[derive(Debug)]
pub(in crate::device) struct Shadow {
    /// One 64-bit word for each 64 bytes.
    words: Backing,
    len: u64,
}

/// The bits of the word at `index` that are for bytes `first..end`.
fn mask(index: u64, first: u64, end: u64) -> u64 {
    let (low, high) = (index * 64, index * 64 + 64);
    let from = first.clamp(low, high) - low;
    let to = end.clamp(low, high) - low;
    let below = |bits: u64| {
        if bits == 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        }
    };
    below(to) & !below(from)
}

impl Shadow {
    /// Nothing is written; `None` if the host has no memory for it.
    pub(in crate::device) fn new(len: u64) -> Option<Self> {
        let words = Backing::new(len.div_ceil(64).checked_mul(8)?)?;
        Some(Self { words, len })
    }

    fn word(&self, index: u64) -> &AtomicU64 {
        let last = self.len.saturating_sub(1) / 64;
        let index = usize::try_from(index.min(last)).unwrap_or(0);
        // SAFETY: there is a word for each 64 bytes of `len`, `index` is not beyond the
        // last, the memory is aligned to 16 and is accessed through these atomics alone.
        unsafe { AtomicU64::from_ptr(self.words.start().cast::<u64>().add(index)) }
    }

    /// The words of a range that is cut where the memory ends, each with its mask.
    fn words(&self, first: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let end = first.saturating_add(bytes).min(self.len);
        let words = if first < end {
            first / 64..end.div_ceil(64)
        } else {
            0..0
        };
        words.map(move |index| (index, mask(index, first, end)))
    }

    pub(in crate::device) fn wrote(&self, first: u64, bytes: u64) {
        for (index, mask) in self.words(first, bytes) {
            self.word(index).fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// The first byte of a range that was never written.
    pub(in crate::device) fn unwritten(&self, first: u64, bytes: u64) -> Option<u64> {
        self.words(first, bytes).find_map(|(index, mask)| {
            let missing = mask & !self.word(index).load(Ordering::Relaxed);
            (missing != 0).then(|| index * 64 + u64::from(missing.trailing_zeros()))
        })
    }

    /// Bytes are copied here: each is as written as it was there.
    pub(in crate::device) fn copied(&self, first: u64, from: &Self, at: u64, bytes: u64) {
        for k in 0..bytes.min(self.len.saturating_sub(first)) {
            let written = from.unwritten(at + k, 1).is_none();
            let (index, bit) = ((first + k) / 64, 1 << ((first + k) % 64));
            if written {
                self.word(index).fetch_or(bit, Ordering::Relaxed);
            } else {
                self.word(index).fetch_and(!bit, Ordering::Relaxed);
            }
        }
    }
}

impl Shadow {
    /// The first of these bytes that is written.
    pub(in crate::device) fn written(&self, first: u64, bytes: u64) -> Option<u64> {
        let mut words = self.words(first, bytes);
        words.find_map(|(index, mask)| {
            let bits = self.word(index).load(Ordering::Relaxed) & mask;
            (bits != 0).then(|| index * 64 + u64::from(bits.trailing_zeros()))
        })
    }

    /// The first byte that is written here and there, of memory of one length.
    pub(in crate::device) fn common(&self, other: &Self) -> Option<u64> {
        (0..self.len.min(other.len).div_ceil(64)).find_map(|index| {
            let load = |shadow: &Self| shadow.word(index).load(Ordering::Relaxed);
            let bits = load(self) & load(other);
            (bits != 0).then(|| index * 64 + u64::from(bits.trailing_zeros()))
        })
    }

    /// Adds what is written there, of memory of one length.
    pub(in crate::device) fn add(&self, other: &Self) {
        for index in 0..self.len.min(other.len).div_ceil(64) {
            let bits = other.word(index).load(Ordering::Relaxed);
            if bits != 0 {
                self.word(index).fetch_or(bits, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, a range that begins or ends within a word could say too much or too
    /// little.
    #[test]
    fn ranges_are_exact() {
        for first in [0, 1, 63, 64, 65, 127] {
            for bytes in [1, 2, 63, 64, 65, 130] {
                let shadow = Shadow::new(300).unwrap();
                shadow.wrote(first, bytes);
                let written = |at| shadow.unwritten(at, 1).is_none();
                for at in 0..300 {
                    assert_eq!(written(at), (first..first + bytes).contains(&at), "{at}");
                }
                assert_eq!(shadow.unwritten(first, bytes), None);
                assert_eq!(shadow.unwritten(first, bytes + 1), Some(first + bytes));
                let copy = Shadow::new(300).unwrap();
                copy.wrote(0, 300);
                copy.copied(7, &shadow, first, bytes + 1);
                assert_eq!(copy.unwritten(0, 300), Some(7 + bytes));
            }
        }
    }

    /// Without it, two that share a byte could count as apart, or two that share none as one.
    #[test]
    fn what_two_have_in_common_is_exact() {
        let made = |first, bytes| {
            let shadow = Shadow::new(300).unwrap();
            shadow.wrote(first, bytes);
            shadow
        };
        for (first, bytes) in [(0, 1), (60, 10), (64, 64), (200, 100)] {
            let one = made(first, bytes);
            assert_eq!(one.common(&made(first + bytes, 300)), None);
            assert_eq!(one.common(&made(0, first)), None);
            let last = first + bytes - 1;
            assert_eq!(one.common(&made(last, 300)), Some(last));
            assert_eq!(one.written(0, 300), Some(first));
            assert_eq!(one.written(last + 1, 300), None);
            one.add(&made(299, 1));
            assert_eq!(one.written(last + 1, 300), (last < 299).then_some(299));
        }
    }

    /// Without it, a range beyond the end could reach other memory.
    #[test]
    fn ranges_end_with_the_memory() {
        let shadow = Shadow::new(10).unwrap();
        shadow.wrote(8, u64::MAX);
        shadow.wrote(u64::MAX, 2);
        assert_eq!(shadow.unwritten(0, u64::MAX), Some(0));
        assert_eq!(shadow.unwritten(8, u64::MAX), None);
        shadow.copied(9, &shadow, 9, 100);
        assert_eq!(shadow.unwritten(9, 1), None);
    }
}

//! What a program has said about parts of its managed memory.
//!
//! Here managed memory is where host and devices reach it and never moves, so advice and
//! prefetches change nothing but what the program is told when it asks.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::device::sync::lock;

/// Advice and prefetches are for whole pages.
const PAGE: u64 = 4096;

/// Where memory can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Location {
    /// A device's ordinal.
    Device(usize),
    Host,
    /// A node of the host.
    Numa(i32),
}

/// What has been said about a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct Advice {
    pub(in crate::device) read_mostly: bool,
    pub(in crate::device) preferred: Option<Location>,
    /// Ordinals of devices, as bits.
    pub(in crate::device) accessed_by: u32,
    pub(in crate::device) accessed_by_host: bool,
    /// Where the last prefetch was to go.
    pub(in crate::device) prefetched: Option<Location>,
}

/// The advice for all pages of an allocation.
#[derive(Debug)]
pub(in crate::device) struct Advices {
    pages: u64,
    /// What holds from a page on, up to the next key. There is one for page 0.
    from: Mutex<BTreeMap<u64, Advice>>,
}

impl Advices {
    pub(super) fn new(len: u64) -> Self {
        Self {
            pages: len.div_ceil(PAGE),
            from: Mutex::new(BTreeMap::from([(0, Advice::default())])),
        }
    }

    /// The pages that `len` bytes at `offset` touch; the range lies in the allocation.
    fn pages(&self, offset: u64, len: u64) -> std::ops::Range<u64> {
        let end = offset.saturating_add(len).div_ceil(PAGE);
        offset / PAGE..end.min(self.pages)
    }

    /// Changes what has been said about every page that the range touches.
    pub(in crate::device) fn change(&self, offset: u64, len: u64, f: impl Fn(&mut Advice)) {
        let pages = self.pages(offset, len);
        let mut from = lock(&self.from);
        for at in [pages.start, pages.end] {
            let here = from.range(..=at).next_back();
            let here = here.map(|(_, advice)| advice.clone());
            // One for the end of all is never read.
            from.entry(at).or_insert_with(|| here.unwrap_or_default());
        }
        from.range_mut(pages).for_each(|(_, advice)| f(advice));
    }

    /// What `f` says of every page that the range touches, if it is the same everywhere.
    pub(in crate::device) fn common<T: PartialEq>(
        &self,
        offset: u64,
        len: u64,
        f: impl Fn(&Advice) -> T,
    ) -> Option<T> {
        let pages = self.pages(offset, len);
        let from = lock(&self.from);
        let first = f(from.range(..=pages.start).next_back()?.1);
        let same = from.range(pages).all(|(_, advice)| f(advice) == first);
        same.then_some(first)
    }

    /// What all pages that the range touches have in common of a set of bits.
    pub(in crate::device) fn all(&self, offset: u64, len: u64, f: impl Fn(&Advice) -> u32) -> u32 {
        let pages = self.pages(offset, len);
        let from = lock(&self.from);
        let first = from.range(..=pages.start).next_back();
        let first = first.map_or(0, |(_, advice)| f(advice));
        let rest = from.range(pages);
        rest.fold(first, |bits, (_, advice)| bits & f(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, advice for one part could be told of another.
    #[test]
    fn advice_holds_for_the_pages_it_was_given_for() {
        let advices = Advices::new(10 * PAGE + 1);
        let read = |advice: &Advice| advice.read_mostly;
        advices.change(2 * PAGE + 5, PAGE, |advice| advice.read_mostly = true);
        for (page, expected) in [(0, false), (1, false), (2, true), (3, true), (4, false)] {
            assert_eq!(
                advices.common(page * PAGE, 1, read),
                Some(expected),
                "{page}"
            );
        }
        assert_eq!(advices.common(PAGE, 2 * PAGE, read), None);
        advices.change(0, 10 * PAGE + 1, |advice| advice.read_mostly = true);
        assert_eq!(advices.common(0, 10 * PAGE + 1, read), Some(true));
        advices.change(3 * PAGE, 1, |advice| advice.read_mostly = false);
        assert_eq!(advices.common(3 * PAGE, PAGE, read), Some(false));
        assert_eq!(advices.common(4 * PAGE, PAGE, read), Some(true));
        assert_eq!(advices.common(10 * PAGE, 1, read), Some(true));
    }

    /// Without it, a device that was named for a part would be told for the whole.
    #[test]
    fn sets_are_what_all_pages_share() {
        let advices = Advices::new(4 * PAGE);
        advices.change(0, 4 * PAGE, |advice| advice.accessed_by |= 1);
        advices.change(PAGE, PAGE, |advice| advice.accessed_by |= 2);
        let bits = |advice: &Advice| advice.accessed_by;
        assert_eq!(advices.all(0, 4 * PAGE, bits), 1);
        assert_eq!(advices.all(PAGE, PAGE, bits), 3);
        assert_eq!(advices.all(PAGE, PAGE + 1, bits), 1);
    }
}

//! Which parts of a growing file are free.

use std::collections::BTreeMap;

/// Free ranges below `end`; everything from there on is free too.
#[derive(Debug, Default)]
pub(super) struct FreeExtents {
    /// Length by first byte; no two of them touch.
    free: BTreeMap<u64, u64>,
    end: u64,
}

impl FreeExtents {
    /// The lowest place for `len` bytes. `None` if the file would be too long.
    pub(super) fn take(&mut self, len: u64) -> Option<u64> {
        let fits = self.free.iter().find(|(_, hole)| **hole >= len);
        if let Some((&start, &hole)) = fits {
            self.free.remove(&start);
            if hole > len {
                self.free.insert(start + len, hole - len);
            }
            return Some(start);
        }
        let start = self.end;
        self.end = start
            .checked_add(len)
            .filter(|end| *end <= i64::MAX as u64)?;
        Some(start)
    }

    /// Gives back what `take` gave.
    pub(super) fn give(&mut self, mut start: u64, mut len: u64) {
        if let Some(next) = self.free.remove(&(start + len)) {
            len += next;
        }
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            self.free.remove(&before);
            start = before;
            len += size;
        }
        if start + len == self.end {
            self.end = start;
        } else {
            self.free.insert(start, len);
        }
    }

    /// Length that the file must have.
    pub(super) fn end(&self) -> u64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    quickcheck::quickcheck! {
        /// Without it, two physical allocations could share bytes, or the file could grow
        /// for ever while most of it is free.
        fn ranges_are_apart_and_come_back(steps: Vec<(u8, bool)>) -> bool {
            let mut extents = FreeExtents::default();
            let mut live: Vec<(u64, u64)> = Vec::new();
            for (size, take) in steps {
                if take || live.is_empty() {
                    let len = u64::from(size) + 1;
                    let Some(start) = extents.take(len) else { return false };
                    let apart = |(s, l): &(u64, u64)| start + len <= *s || s + l <= start;
                    if !live.iter().all(apart) || start + len > extents.end() {
                        return false;
                    }
                    live.push((start, len));
                } else {
                    let (start, len) = live.swap_remove(usize::from(size) % live.len());
                    extents.give(start, len);
                }
                let used: u64 = live.iter().map(|(_, len)| len).sum();
                let free: u64 = extents.free.values().sum();
                if used + free != extents.end() {
                    return false;
                }
            }
            for (start, len) in live.drain(..) {
                extents.give(start, len);
            }
            extents.end() == 0 && extents.free.is_empty()
        }
    }
}

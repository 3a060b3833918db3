//! `Layout`: the pieces of a slot.

/// How slots are cut into pieces: as many of the unit as there are, then one for each power of two of the
/// rest. So pieces of a few sizes serve slots of any size, and a slot wastes less than a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of a page: the least piece.
    page: u64,
    /// Bytes of a piece: a power of two of pages.
    unit: u64,
}

impl Layout {
    /// `None` where the unit is no power of two of pages.
    pub(crate) fn new(page: u64, unit: u64) -> Option<Self> {
        let fits = page > 0 && unit.is_multiple_of(page) && (unit / page).is_power_of_two();
        fits.then_some(Self { page, unit })
    }

    pub(crate) fn unit(self) -> u64 {
        self.unit
    }

    /// `bytes` in whole pages, if that is a number.
    pub(crate) fn round(self, bytes: u64) -> Option<u64> {
        bytes.checked_next_multiple_of(self.page)
    }

    /// Bytes of the piece that begins at `offset` of a slot of `rounded` bytes, which is less.
    pub(crate) fn piece(self, offset: u64, rounded: u64) -> u64 {
        let rest = rounded.saturating_sub(offset);
        if rest >= self.unit {
            return self.unit;
        }
        let pages = rest / self.page;
        self.page << pages.checked_ilog2().unwrap_or(0)
    }

    /// Where the piece begins that ends at `end` of a slot of `rounded` bytes.
    pub(crate) fn last_begin(self, end: u64, rounded: u64) -> u64 {
        let mut at = end.saturating_sub(1).min(rounded) / self.unit * self.unit;
        loop {
            let next = at + self.piece(at, rounded);
            if next >= end || next == at {
                return at;
            }
            at = next;
        }
    }

    /// The last end of a piece from `from` on that is at most `limit`, or `from`.
    pub(crate) fn end_within(self, from: u64, rounded: u64, limit: u64) -> u64 {
        let mut at = from;
        while at < rounded {
            let next = at + self.piece(at, rounded);
            if next > limit || next == at {
                break;
            }
            at = next;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    const PAGE: u64 = 2 << 20;

    // Without it a slot could have pieces of sizes that no other slot can use, or waste more than a page.
    #[test]
    fn pieces_cover_a_slot_and_are_of_few_sizes() {
        fn covers(bytes: u64, shift: u8) -> bool {
            let bytes = bytes % (1 << 40) + 1;
            let layout = Layout::new(PAGE, PAGE << (shift % 6)).unwrap();
            let rounded = layout.round(bytes).unwrap();
            let (mut at, mut small) = (rounded / layout.unit * layout.unit, 0);
            assert!(at == 0 || layout.piece(0, rounded) == layout.unit);
            while at < rounded {
                let piece = layout.piece(at, rounded);
                assert!(piece < layout.unit && (piece / PAGE).is_power_of_two());
                at += piece;
                small += 1;
            }
            at == rounded && rounded - bytes < PAGE && small <= 5
        }
        quickcheck(covers as fn(u64, u8) -> bool);
    }

    // Without it a slot could give up a part of a piece, or get one, which cannot be.
    #[test]
    fn ends_and_beginnings_are_of_pieces() {
        fn agree(bytes: u64, shift: u8, some: u64) -> bool {
            let bytes = bytes % (1 << 33) + 1;
            let layout = Layout::new(PAGE, PAGE << (shift % 6)).unwrap();
            let rounded = layout.round(bytes).unwrap();
            let mut ends = vec![0];
            while *ends.last().unwrap() < rounded {
                let at = *ends.last().unwrap();
                ends.push(at + layout.piece(at, rounded));
            }
            let begins = ends
                .windows(2)
                .all(|pair| layout.last_begin(pair[1], rounded) == pair[0]);
            let limit = some % (rounded + PAGE);
            let wanted = ends.iter().rfind(|&&end| end <= limit);
            begins && layout.end_within(0, rounded, limit) == *wanted.unwrap()
        }
        quickcheck(agree as fn(u64, u8, u64) -> bool);
    }

    // Without it pieces of odd sizes would be kept for slots that never come.
    #[test]
    fn a_unit_is_a_power_of_two_of_pages() {
        for unit in [0, 1, PAGE - 1, 3 * PAGE, 5 * PAGE] {
            assert_eq!(Layout::new(PAGE, unit), None, "{unit}");
        }
        assert!(Layout::new(PAGE, 8 * PAGE).is_some());
        assert_eq!(Layout::new(0, 8), None);
    }
}

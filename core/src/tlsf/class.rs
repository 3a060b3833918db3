//! Size classes: the two levels of "two-level".
//!
//! A size's row is its power of two and its column the next bits below the highest one, so
//! that a class number is the size as a floating-point number with `COLUMN_BITS` of
//! mantissa, and classes are ordered as sizes are. Sizes below `COLUMNS` granules have a
//! class each.

/// Bits of the second level: 64 columns are one word of bits, and a block's class tells its
/// size to 1.6 %.
pub(super) const COLUMN_BITS: u32 = 6;
/// Classes in a row.
pub(super) const COLUMNS: usize = 1 << COLUMN_BITS;
/// Rows that 64-bit sizes need.
pub(super) const ROWS: usize = 65 - COLUMN_BITS as usize;
/// Classes in all.
pub(super) const CLASSES: usize = ROWS * COLUMNS;

/// The class beyond the last one, which no block is in.
pub(super) const END: Class = Class(CLASSES as u16);

/// The number of a size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class(u16);

impl Class {
    /// The class of a block of `granules`: the last one whose blocks are not all larger.
    #[inline]
    pub(super) const fn of(granules: u64) -> Self {
        let shift = Self::shift(granules);
        // The highest bit that is left in `granules >> shift` carries into the row.
        Self(((shift << COLUMN_BITS) as u64 + (granules >> shift)) as u16)
    }

    /// The first class whose blocks all have at least `granules`.
    #[inline]
    pub(super) fn covering(granules: u64) -> Self {
        let below = (1 << Self::shift(granules)) - 1;
        let class = Self::of(granules);
        if granules & below == 0 || mutant!("tlsf_covering_class_rounds_down") {
            class
        } else {
            class.next()
        }
    }

    /// The class after this one.
    #[inline]
    pub(super) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    #[inline]
    pub(super) const fn at(row: usize, column: u32) -> Self {
        Self((row << COLUMN_BITS) as u16 + column as u16)
    }

    #[inline]
    pub(super) const fn number(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub(super) const fn row(self) -> usize {
        self.number() >> COLUMN_BITS
    }

    #[inline]
    pub(super) const fn column(self) -> u32 {
        self.0 as u32 % COLUMNS as u32
    }

    /// Bits of a size that its class does not tell.
    #[inline]
    const fn shift(granules: u64) -> u32 {
        63 - COLUMN_BITS - (granules | COLUMNS as u64).leading_zeros()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The smallest size of a class, computed the long way.
    fn smallest(class: Class) -> u128 {
        let (row, column) = (class.row() as u32, u128::from(class.column()));
        match row {
            0 => column,
            _ => (COLUMNS as u128 + column) << (row - 1),
        }
    }

    /// Without it a block could be kept in a class where no request looks for it, or be
    /// handed out for a request that it does not hold.
    #[test]
    fn every_class_begins_where_the_one_before_it_ends() {
        for number in 1..CLASSES as u16 {
            let class = Class(number);
            assert_eq!(Class::at(class.row(), class.column()), class);
            let first = u64::try_from(smallest(class)).unwrap();
            let last = u64::try_from(smallest(class.next()) - 1).unwrap();
            for inside in [first, first + (last - first) / 2, last] {
                assert_eq!(Class::of(inside), class, "{inside}");
            }
            assert_eq!(Class::covering(first), class);
            if last > first {
                assert_eq!(Class::covering(first + 1), class.next());
                assert_eq!(Class::covering(last), class.next());
            }
        }
        assert_eq!(Class::of(u64::MAX).number(), CLASSES - 1);
        assert_eq!(Class::covering(u64::MAX).number(), CLASSES);
    }
}

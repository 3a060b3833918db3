//! Which bytes of a block an operation uses.

use crate::device::memory::{Rows, Shadow};

/// Bytes of a block, counted from its beginning.
#[derive(Debug)]
pub(in crate::device::strict) enum Extent {
    /// From the first to the one after the last: ascending, with others between them.
    Rows(Vec<(u64, u64)>),
    Bytes(Shadow),
}

/// None.
impl Default for Extent {
    fn default() -> Self {
        Self::Rows(Vec::new())
    }
}

impl Extent {
    /// Rows of which the first begins at that byte.
    pub(in crate::device::strict) fn rows(first: u64, rows: Rows) -> Self {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for offset in rows.offsets() {
            let begin = first.saturating_add(offset);
            let end = begin.saturating_add(rows.width);
            match joined.last_mut() {
                Some(last) if last.1 == begin => last.1 = end,
                _ => joined.push((begin, end)),
            }
        }
        Self::Rows(joined)
    }

    /// The first byte that both have.
    pub(in crate::device::strict) fn common(&self, other: &Self) -> Option<u64> {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(other)) => one.common(other),
            (Self::Bytes(bytes), Self::Rows(rows)) | (Self::Rows(rows), Self::Bytes(bytes)) => rows
                .iter()
                .find_map(|(first, end)| bytes.written(*first, end - first)),
            (Self::Rows(one), Self::Rows(other)) => common(one, other),
        }
    }

    /// Takes others of the same operation in.
    pub(in crate::device::strict) fn add(&mut self, more: Self) {
        match (&mut *self, more) {
            (Self::Bytes(bytes), Self::Bytes(more)) => bytes.add(&more),
            (Self::Bytes(bytes), Self::Rows(rows)) => mark(bytes, &rows),
            (Self::Rows(rows), Self::Bytes(bytes)) => {
                mark(&bytes, rows);
                *self = Self::Bytes(bytes);
            }
            (Self::Rows(rows), Self::Rows(more)) => {
                rows.extend(more);
                rows.sort_unstable();
                rows.dedup_by(|next, last| {
                    let joins = next.0 <= last.1;
                    if joins {
                        last.1 = last.1.max(next.1);
                    }
                    joins
                });
            }
        }
    }
}

fn mark(bytes: &Shadow, rows: &[(u64, u64)]) {
    for (first, end) in rows {
        bytes.wrote(*first, end - first);
    }
}

/// The first byte that is in rows of both. Each row is looked at once.
fn common(mut one: &[(u64, u64)], mut other: &[(u64, u64)]) -> Option<u64> {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        let first = a.0.max(b.0);
        if first < a.1.min(b.1) {
            return Some(first);
        }
        if a.1 <= b.1 {
            one = rest_of_one;
        } else {
            other = rest_of_other;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 256 * 3;

    /// Bytes as a set, and the same as an extent of each kind.
    fn both(rows: &[(u8, u8)]) -> (Vec<bool>, [Extent; 2]) {
        let mut set = vec![false; LEN as usize];
        let (mut joined, shadow) = (Extent::default(), Shadow::new(LEN).unwrap());
        for (first, len) in rows {
            let (first, len) = (u64::from(*first) * 2, u64::from(*len));
            joined.add(Extent::rows(first, Rows::one(len)));
            shadow.wrote(first, len);
            (first..first + len).for_each(|at| set[at as usize] = true);
        }
        (set, [joined, Extent::Bytes(shadow)])
    }

    quickcheck::quickcheck! {
        /// Without it bytes that two operations share could be missed, or lost when an operation
        /// does more with its block.
        fn what_is_common_is_what_a_set_says(
            one: Vec<(u8, u8)>,
            other: Vec<(u8, u8)>,
            more: Vec<(u8, u8)>
        ) -> bool {
            let first = |one: &[bool], other: &[bool]| {
                let at = one.iter().zip(other).position(|(one, other)| *one && *other);
                at.map(|at| at as u64)
            };
            (0..8).all(|kinds| {
                let kind = |extents: [Extent; 2], bit: usize| {
                    extents.into_iter().nth(kinds >> bit & 1).unwrap()
                };
                let ((mut set, one), (other_set, other)) = (both(&one), both(&other));
                let (mut one, other) = (kind(one, 0), kind(other, 1));
                let mut right = one.common(&other) == first(&set, &other_set);
                let (more_set, more) = both(&more);
                one.add(kind(more, 2));
                set.iter_mut().zip(more_set).for_each(|(set, more)| *set |= more);
                right &= one.common(&other) == first(&set, &other_set);
                right && other.common(&one) == one.common(&other)
            })
        }
    }

    /// Without it a copy of many rows that touch could be compared row by row.
    #[test]
    fn rows_without_gaps_are_one() {
        let dense = Extent::rows(5, Rows::new([8, 3, 2], 8, 24).unwrap());
        assert!(matches!(dense, Extent::Rows(rows) if rows == [(5, 53)]));
        let apart = Extent::rows(0, Rows::new([8, 2, 1], 9, 18).unwrap());
        assert!(matches!(apart, Extent::Rows(rows) if rows == [(0, 8), (9, 17)]));
    }
}

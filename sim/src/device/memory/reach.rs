//! Memory that an operation has found, kept while it is accessed.

use super::super::health::Fault;
use super::block::Block;
use super::rows::Rows;
use super::space::{Place, Space};
use super::transfer::Side;
use super::viewer::Wish;

/// Rows that begin in one place.
struct Part {
    /// Where its first row begins, from the beginning of all.
    first: u64,
    /// That row's first byte.
    start: *mut u8,
    /// Its address, if it is device memory.
    address: u64,
    /// Keeps it; a caller's memory needs no keeper.
    place: Option<Place>,
}

/// The rows of one end of an operation.
pub(super) struct Reach {
    /// At least one, ascending. More only if the rows lie in several allocations.
    parts: Vec<Part>,
    rows: Rows,
}

impl Reach {
    /// Finds the memory of all rows that an operation accesses.
    ///
    /// # Errors
    /// A row that is in no live allocation, or where there is no such access.
    pub(super) fn find(
        side: &mut Side,
        rows: Rows,
        space: &Space,
        wish: Wish<'_>,
    ) -> Result<Self, Fault> {
        let one = |start, place| Self {
            parts: vec![Part {
                first: 0,
                start,
                address: 0,
                place,
            }],
            rows,
        };
        match side {
            Side::Device(address) => Self::in_device(*address, rows, space, wish),
            Side::Pinned(range, address) => {
                let place = Place::Pinned(range.clone());
                if !wish.may(&place) {
                    return Err(space.refused(&place, *address, rows.width, wish));
                }
                Ok(one(range.host(*address), Some(place)))
            }
            Side::Caller(pointer) => Ok(one(pointer.0, None)),
            Side::Staged(bytes) => Ok(one(bytes.as_mut_ptr(), None)),
        }
    }

    fn in_device(address: u64, rows: Rows, space: &Space, wish: Wish<'_>) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut current: Option<Place> = None;
        for first in rows.offsets() {
            let at = address.wrapping_add(first);
            let known = |place: &Place| place.holds(at, rows.width);
            if current.as_ref().is_some_and(known) {
                continue;
            }
            let place = space.resolve(at, rows.width, wish.what)?;
            if !wish.may(&place) {
                return Err(space.refused(&place, at, rows.width, wish));
            }
            parts.push(Part {
                first,
                start: place.host(at),
                address: at,
                place: Some(place.clone()),
            });
            // Almost always one allocation has them all.
            if first == 0 && place.holds(address, rows.span()) {
                break;
            }
            current = Some(place);
        }
        Ok(Self { parts, rows })
    }

    /// Pointers to the rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = *mut u8> {
        self.each().map(|(part, from_start)| {
            let from_start = usize::try_from(from_start).unwrap_or(0);
            part.start.wrapping_add(from_start)
        })
    }

    /// Says that the rows are written.
    pub(super) fn wrote(&self) {
        for (block, at) in self.blocks().flatten() {
            block.wrote(at, self.rows.width);
        }
    }

    /// Says that the rows are copies of others.
    pub(super) fn copied(&self, from: &Self) {
        for (to, from) in self.blocks().zip(from.blocks()) {
            if let Some((block, at)) = to {
                block.copied(at, from, self.rows.width);
            }
        }
    }

    /// The blocks and addresses of rows that are device memory.
    fn blocks(&self) -> impl Iterator<Item = Option<(&Block, u64)>> {
        self.each().map(|(part, from_start)| match &part.place {
            Some(Place::Device(block)) => Some((&**block, part.address + from_start)),
            _ => None,
        })
    }

    /// For each row the part that it is in, and where it begins from the part's start.
    fn each(&self) -> impl Iterator<Item = (&Part, u64)> {
        let mut parts = self.parts.iter().peekable();
        let mut current = parts.next();
        self.rows.offsets().filter_map(move |offset| {
            while let Some(next) = parts.next_if(|part| part.first <= offset) {
                current = Some(next);
            }
            let part = current?;
            Some((part, offset - part.first))
        })
    }
}

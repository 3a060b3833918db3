//! Memory that an operation has found, kept while it is accessed.

use super::super::health::Fault;
use super::rows::Rows;
use super::space::{Place, Space};
use super::transfer::Side;

/// Rows that begin in one place.
struct Part {
    /// Where its first row begins, from the beginning of all.
    first: u64,
    /// That row's first byte.
    start: *mut u8,
    /// Only held; a caller's memory needs no keeper.
    _place: Option<Place>,
}

/// The rows of one end of an operation.
pub(super) struct Reach {
    /// At least one, ascending. More only if the rows lie in several allocations.
    parts: Vec<Part>,
    rows: Rows,
}

impl Reach {
    /// Finds the memory of all rows that an operation called `what` accesses.
    ///
    /// # Errors
    /// A row that is in no live allocation, or where `may` says no.
    pub(super) fn find(
        side: &mut Side,
        rows: Rows,
        space: &Space,
        may: impl Fn(&Place) -> bool,
        what: &str,
    ) -> Result<Self, Fault> {
        let one = |start, _place| Self {
            parts: vec![Part {
                first: 0,
                start,
                _place,
            }],
            rows,
        };
        match side {
            Side::Device(address) => Self::in_device(*address, rows, space, may, what),
            Side::Pinned(range, address) => {
                let place = Place::Pinned(range.clone());
                Ok(one(range.host(*address), Some(place)))
            }
            Side::Caller(pointer) => Ok(one(pointer.0, None)),
            Side::Staged(bytes) => Ok(one(bytes.as_mut_ptr(), None)),
        }
    }

    fn in_device(
        address: u64,
        rows: Rows,
        space: &Space,
        may: impl Fn(&Place) -> bool,
        what: &str,
    ) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut current: Option<Place> = None;
        for first in rows.offsets() {
            let at = address.wrapping_add(first);
            let known = |place: &Place| place.holds(at, rows.width);
            if current.as_ref().is_some_and(known) {
                continue;
            }
            let place = space.resolve(at, rows.width, what)?;
            if !may(&place) {
                let (width, owner) = (rows.width, place.device());
                return Err(Fault::illegal_address(format!(
                    "{what} of {width} bytes at 0x{at:x}: they are memory of device {owner}, \
                     which this context may not access"
                )));
            }
            parts.push(Part {
                first,
                start: place.host(at),
                _place: Some(place.clone()),
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
        let mut parts = self.parts.iter().peekable();
        let mut current = parts.next();
        self.rows.offsets().filter_map(move |offset| {
            while let Some(next) = parts.next_if(|part| part.first <= offset) {
                current = Some(next);
            }
            let part = current?;
            let from_start = usize::try_from(offset - part.first).ok()?;
            Some(part.start.wrapping_add(from_start))
        })
    }
}

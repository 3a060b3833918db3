//! Memory that an operation has found, kept while it is accessed.

use std::sync::Arc;

use crate::device::contexts::health::Fault;
use crate::device::memory::access::AccessRequest;
use crate::device::memory::block::Block;
use crate::device::memory::rows::Rows;
use crate::device::memory::shadow::Shadow;
use crate::device::memory::space::{Place, Space};
use crate::device::memory::transfer::Side;
use crate::device::strict::{Map, Moment, Region};

/// What may know which of its bytes are written.
enum Kept<'a> {
    Block(&'a Block),
    Region(&'a Arc<Region>),
}

impl Kept<'_> {
    fn shadow(&self, address: u64) -> Option<(&Shadow, u64)> {
        match self {
            Self::Block(block) => block.shadow(address),
            Self::Region(region) => region.shadow(address),
        }
    }

    fn wrote(&self, address: u64, bytes: u64) {
        if let Some((shadow, at)) = self.shadow(address) {
            shadow.wrote(at, bytes);
        }
    }

    /// Bytes are copied here, from memory of the device if it says which.
    fn copied(&self, to: u64, from: Option<&(Self, u64)>, bytes: u64) {
        let from = from.and_then(|(kept, address)| kept.shadow(*address));
        match (self.shadow(to), from) {
            (Some((shadow, at)), Some((from, first))) => shadow.copied(at, from, first, bytes),
            (Some((shadow, at)), None) => shadow.wrote(at, bytes),
            (None, _) => {}
        }
    }
}

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
pub(super) struct AccessGuard {
    /// At least one, ascending. More only if the rows lie in several allocations.
    parts: Vec<Part>,
    rows: Rows,
}

impl AccessGuard {
    /// Finds the memory of all rows that an operation accesses.
    ///
    /// # Errors
    /// A row that is in no live allocation, or where there is no such access.
    pub(super) fn find(
        side: &mut Side,
        rows: Rows,
        space: &Space,
        request: AccessRequest<'_>,
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
            Side::Device(address) => Self::in_device(*address, rows, space, request),
            Side::Pinned(range, address) => {
                let place = Place::Pinned(range.clone());
                if !request.may(&place) {
                    return Err(space.refused(&place, *address, rows.width, request));
                }
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
        request: AccessRequest<'_>,
    ) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut current: Option<Place> = None;
        for first in rows.offsets() {
            let at = address.wrapping_add(first);
            let known = |place: &Place| place.holds(at, rows.width);
            if current.as_ref().is_some_and(known) {
                continue;
            }
            let place = space.resolve(at, rows.width, request.what)?;
            if !request.may(&place) {
                return Err(space.refused(&place, at, rows.width, request));
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

    /// The ordinal of the device that has the memory, if a device has it.
    pub(super) fn device(&self) -> Option<usize> {
        match self.parts.first()?.place.as_ref()? {
            Place::Pinned(_) => None,
            place => Some(place.device()),
        }
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
        let moment = Moment::now();
        let map = moment.as_deref().map(|moment| &*moment.map);
        for (kept, at) in self.kept(map).flatten() {
            kept.wrote(at, self.rows.width);
        }
    }

    /// Says that the rows are copies of others.
    pub(super) fn copied(&self, from: &Self) {
        let moment = Moment::now();
        let map = moment.as_deref().map(|moment| &*moment.map);
        for (to, from) in self.kept(map).zip(from.kept(map)) {
            if let Some((kept, at)) = to {
                kept.copied(at, from.as_ref(), self.rows.width);
            }
        }
    }

    /// What knows which bytes of a row are written, and the row's address, of rows that are device
    /// memory: a block of the program's allocator before the driver's.
    fn kept<'a>(&'a self, map: Option<&'a Map>) -> impl Iterator<Item = Option<(Kept<'a>, u64)>> {
        self.each().map(move |(part, from_start)| {
            let at = part.address + from_start;
            let kept = match (map.and_then(|map| map.find(at)), &part.place) {
                (Some(region), _) => Kept::Region(region),
                (None, Some(Place::Device(block))) => Kept::Block(block),
                _ => return None,
            };
            Some((kept, at))
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

//! The parts of the ledger's words.

use core::num::NonZeroU64;

/// Bytes of a unit. The ledger counts in units, and a row's bytes are rounded up to them.
pub const UNIT: u64 = 64 << 10;
/// Rows: as many processes at a time.
pub const ROWS: usize = if cfg!(loom) { 2 } else { 255 };
/// The largest limit: 2^28 - 1 units, 64 KiB short of 16 TiB. A larger one means this one.
pub const MAX_LIMIT: u64 = UNITS * UNIT;

/// The row of changes of the limit, which no process has.
pub(super) const LIMIT_ROW: usize = ROWS;

const UNITS_BITS: u32 = 28;
const ROW_BITS: u32 = 8;
const SEQ_BITS: u32 = 28;
const ENTRY_SEQ_BITS: u32 = 64 - UNITS_BITS;
const START_BITS: u32 = 42;

pub(super) const UNITS: u64 = (1 << UNITS_BITS) - 1;
const SEQ: u64 = (1 << SEQ_BITS) - 1;
const ENTRY_SEQ: u64 = (1 << ENTRY_SEQ_BITS) - 1;

/// The word that operations are exchanges of: the units that all rows have (28 bits), the row of the last
/// operation (8), and the low bits of that operation's number in its row (28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Total(pub(super) u64);

impl Total {
    /// Of `units`, which are at most [`UNITS`].
    #[inline]
    pub(super) fn new(units: u64, row: usize, number: u64) -> Self {
        Self(units << (ROW_BITS + SEQ_BITS) | (row as u64) << SEQ_BITS | number & SEQ)
    }

    #[inline]
    pub(super) fn units(self) -> u64 {
        self.0 >> (ROW_BITS + SEQ_BITS)
    }

    /// A row that there is, or that of the limit.
    #[inline]
    pub(super) fn row(self) -> usize {
        let row = (self.0 >> SEQ_BITS) & ((1 << ROW_BITS) - 1);
        (row as usize).min(LIMIT_ROW)
    }

    /// Whether the last operation is number `number` of its row.
    #[inline]
    pub(super) fn is_number(self, number: u64) -> bool {
        (self.0 ^ number) & SEQ == 0
    }
}

/// A line of a row's journal: the row's units after an operation (28 bits), and the low bits of that
/// operation's number (36).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    #[inline]
    pub(super) fn new(number: u64, units: u64) -> Self {
        Self(units << ENTRY_SEQ_BITS | number & ENTRY_SEQ)
    }

    #[inline]
    pub(super) fn units(self) -> u64 {
        self.0 >> ENTRY_SEQ_BITS
    }

    #[inline]
    pub(super) fn is_number(self, number: u64) -> bool {
        (self.0 ^ number) & ENTRY_SEQ == 0
    }
}

/// The owner of a row: a process, by its number and the time at which it started, so that a later process of
/// the same number is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(NonZeroU64);

impl Owner {
    const PID_BITS: u32 = 64 - START_BITS;

    /// A process. `start` is in the system's ticks since it was booted, of which the low 42 bits count: more
    /// than a thousand years of hundredths of a second. `None` where `pid` is 0 or has more than the 22 bits
    /// that Linux gives.
    #[must_use]
    #[inline]
    pub const fn new(pid: u32, start: u64) -> Option<Self> {
        if pid == 0 || pid >> Self::PID_BITS != 0 {
            return None;
        }
        match NonZeroU64::new(start << Self::PID_BITS | pid as u64) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// The number of the process. It is 0 only in words that no ledger has written.
    #[must_use]
    #[inline]
    pub const fn pid(self) -> u32 {
        (self.0.get() & ((1 << Self::PID_BITS) - 1)) as u32
    }

    #[inline]
    pub(super) fn from_bits(bits: u64) -> Option<Self> {
        NonZeroU64::new(bits).map(Self)
    }

    #[inline]
    pub(super) fn bits(self) -> u64 {
        self.0.get()
    }
}

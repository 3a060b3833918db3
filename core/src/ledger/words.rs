//! `Words`: the ledger's shared memory, and each access to it.

use core::fmt;

use super::Damaged;
use super::operation::{Goal, Operation, Outcome};
use super::word::{Entry, LIMIT_ROW, MAX_LIMIT, Owner, ROWS, Total, UNIT};
use crate::sync::{AtomicU64, Ordering, const_fn, repeat};

/// The words of a ledger: memory that processes share. Zeroes are a ledger whose limit is 0.
///
/// All of it is atomic words, so any bytes are valid ones: what strangers write there can make the ledger
/// wrong, and no function of it panics or goes on for ever.
#[repr(C)]
pub struct Words {
    /// In bytes.
    limit: Line<AtomicU64>,
    total: Line<AtomicU64>,
    rows: Rows,
}

#[cfg(not(loom))]
type Rows = [Row; ROWS + 1];
#[cfg(loom)]
type Rows = [Row; 3];

/// A cache line of its own.
#[repr(C, align(64))]
struct Line<T>(T);

/// The row of one process.
#[repr(C, align(64))]
struct Row {
    /// An [`Owner`], or 0.
    owner: AtomicU64,
    /// The number of the last operation that is known to have happened. It only rises, and goes on from one
    /// owner to the next.
    applied: AtomicU64,
    /// Operation `n` writes its [`Entry`] to `n % 2` before it happens.
    journal: [AtomicU64; 2],
}

impl Row {
    const_fn! {
        fn new() -> Self {
            Self {
                owner: AtomicU64::new(0),
                applied: AtomicU64::new(0),
                journal: [AtomicU64::new(0), AtomicU64::new(0)],
            }
        }
    }
}

/// A row that has an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its process.
    pub owner: Owner,
    /// Bytes charged, in whole units.
    pub bytes: u64,
}

impl Words {
    const_fn! {
        /// A ledger with a limit of 0.
        #[must_use]
        pub fn new() -> Self {
            Self {
                limit: Line(AtomicU64::new(0)),
                total: Line(AtomicU64::new(0)),
                rows: repeat!(Row::new(); LIMIT_ROW + 1),
            }
        }
    }

    /// The limit in bytes.
    #[must_use]
    #[inline]
    pub fn limit(&self) -> u64 {
        // Acquire: the total that is read next is at least as new as the one this limit was set after.
        self.limit.0.load(Ordering::Acquire)
    }

    /// Bytes that all processes have charged, in whole units.
    #[must_use]
    #[inline]
    pub fn used(&self) -> u64 {
        self.total().units() * UNIT
    }

    /// Changes the limit (at most [`MAX_LIMIT`]). After it has returned nothing is granted beyond it, not even
    /// to a charge that had begun in another process. Bytes that are charged stay so.
    pub fn set_limit(&self, bytes: u64) {
        // Release: a charge that sees this limit sees the charges before it too.
        self.limit.0.store(bytes.min(MAX_LIMIT), Ordering::Release);
        if !mutant!("ledger_limit_is_no_operation") {
            // A new total: exchanges of charges that read the old limit fail.
            let _: Outcome = Operation::new(LIMIT_ROW, Goal::Note).run(self);
        }
    }

    /// Takes a free row for `owner`; `None` when all are taken.
    #[must_use]
    pub fn join(&self, owner: Owner) -> Option<usize> {
        (0..ROWS).find(|&row| {
            let word = &self.rows[row].owner;
            // Acquire: pairs with the Release that freed the row, so that its last operation is seen.
            word.load(Ordering::Relaxed) == 0
                && word
                    .compare_exchange(0, owner.bits(), Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
        })
    }

    /// Gives a row back that has nothing charged. Nothing happens where `owner` no longer has it.
    pub fn leave(&self, row: usize, owner: Owner) {
        if row < ROWS {
            self.free(row, owner);
        }
    }

    /// The owner of a row; `None` where it has none, or there is no such row.
    #[must_use]
    #[inline]
    pub fn owner(&self, row: usize) -> Option<Owner> {
        let row = self.rows[..ROWS].get(row)?;
        Owner::from_bits(row.owner.load(Ordering::Relaxed))
    }

    /// The owner of a row and what it has charged; `None` where it has none, or there is no such row.
    ///
    /// # Errors
    /// [`Damaged`] when the row's words contradict each other.
    pub fn member(&self, row: usize) -> Result<Option<Member>, Damaged> {
        let Some(mut owner) = self.owner(row) else {
            return Ok(None);
        };
        let mut applied = self.applied(row);
        loop {
            let total = self.total();
            // The last operation may not be known to have happened; then its entry counts.
            let is_last = total.row() == row && total.is_number(applied.wrapping_add(1));
            let number = applied.wrapping_add(u64::from(is_last));
            let entry = self.journal(row, number);
            let Some(now) = self.owner(row) else {
                return Ok(None);
            };
            if now == owner && entry.is_number(number) {
                let bytes = entry.units() * UNIT;
                return Ok(Some(Member { owner, bytes }));
            }
            let later = self.applied(row);
            if later == applied && now == owner && self.total() == total {
                return Err(Damaged { row });
            }
            (applied, owner) = (later, now);
        }
    }

    #[inline]
    pub(super) fn total(&self) -> Total {
        // Acquire: all operations before this one, their entries, and that they are applied, are seen.
        Total(self.total.0.load(Ordering::Acquire))
    }

    /// The operation itself. Whether it happened.
    #[inline]
    pub(super) fn exchange_total(&self, now: Total, next: Total) -> bool {
        // Release: for the Acquire of `total`. No Acquire here: `now` was read by that, and is never
        // written twice.
        let (now, next) = (now.0, next.0);
        let exchanged =
            (self.total.0).compare_exchange(now, next, Ordering::Release, Ordering::Relaxed);
        exchanged.is_ok()
    }

    #[inline]
    pub(super) fn applied(&self, row: usize) -> u64 {
        // Acquire: the entry of this operation is seen.
        self.rows[row].applied.load(Ordering::Acquire)
    }

    /// Operation `number` of the row has happened.
    #[inline]
    pub(super) fn apply(&self, row: usize, number: u64) {
        let applied = &self.rows[row].applied;
        // Release: for the Acquire of `applied`. It fails where others have done so.
        let _ = applied.compare_exchange(
            number.wrapping_sub(1),
            number,
            Ordering::Release,
            Ordering::Relaxed,
        );
    }

    #[inline]
    pub(super) fn journal(&self, row: usize, number: u64) -> Entry {
        // Acquire: what was applied before an entry was written over is seen with the new one.
        Entry(self.line(row, number).load(Ordering::Acquire))
    }

    /// Writes what operation `number` will come to.
    #[inline]
    pub(super) fn write_journal(&self, row: usize, number: u64, entry: Entry) {
        // Release: for the Acquire of `journal`.
        self.line(row, number).store(entry.0, Ordering::Release);
    }

    /// The same for a row that others may write to as well. Whether it was written.
    #[inline]
    pub(super) fn replace_journal(&self, row: usize, number: u64, old: Entry, new: Entry) -> bool {
        let line = self.line(row, number);
        // Release: as for `write_journal`.
        line.compare_exchange(old.0, new.0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    fn line(&self, row: usize, number: u64) -> &AtomicU64 {
        &self.rows[row].journal[(number % 2) as usize]
    }

    /// Frees a row, if it is still this owner's. Whether it was.
    #[inline]
    pub(super) fn free(&self, row: usize, owner: Owner) -> bool {
        let word = &self.rows[row].owner;
        // Release: the next owner sees the row's last operation.
        word.compare_exchange(owner.bits(), 0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }
}

#[cfg(not(loom))]
impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words")
            .field("limit", &self.limit())
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}

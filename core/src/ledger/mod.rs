//! A ledger: bytes that several processes charge against one limit, in memory that they share.
//!
//! There is no lock. A process that is killed or stopped at any instruction blocks no other, and what it had
//! charged is known exactly: any process can [take it back](Operation::reclaim). This module is the algorithm
//! over words of memory; whose memory that is, and which processes have ended, the crate `cupola-sharing`
//! knows.
//!
//! Each process has a row. One word, the total, has the units that all rows have together, and names the last
//! operation: its row, and its number there. An operation is one exchange of that word:
//!
//! 1. It reads the total, and sees to it that the operation that this names is *applied*: that its row says
//!    that it has happened. So all operations are, but the last.
//! 2. It writes to its row's journal what the row will have.
//! 3. It exchanges the total. If another operation came first, it starts again.
//!
//! Whether an operation has happened is decided by whether the row says so or the total names it, whatever
//! becomes of the process. The journal has two entries: that of the last operation that happened, and
//! that of the next.
//!
//! ```
//! use cupola_core::ledger::{Operation, Outcome, Owner, UNIT, Words};
//!
//! static WORDS: Words = Words::new();
//! WORDS.set_limit(10 * UNIT);
//! let [one, two] = [1, 2].map(|pid| Owner::new(pid, 0).unwrap());
//! let rows = [one, two].map(|owner| WORDS.join(owner).unwrap());
//!
//! let charge = |row: usize, units| Operation::charge(row, units * UNIT).run(&WORDS);
//! assert_eq!(charge(rows[0], 6), Outcome::Done { before: 0 });
//! let (used, limit) = (6 * UNIT, 10 * UNIT);
//! assert_eq!(charge(rows[1], 5), Outcome::Refused { used, limit });
//!
//! // The first process has ended.
//! let reclaimed = Operation::reclaim(rows[0], one).run(&WORDS);
//! assert_eq!(reclaimed, Outcome::Done { before: 6 * UNIT });
//! assert_eq!(charge(rows[1], 5), Outcome::Done { before: 0 });
//! assert_eq!(WORDS.used(), 5 * UNIT);
//! ```

mod operation;
mod word;
mod words;

use core::fmt;

pub use operation::{Operation, Outcome};
pub use word::{MAX_LIMIT, Owner, ROWS, UNIT};
pub use words::{Member, Words};

/// Words of a ledger contradict each other: other code has written to its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The row.
    pub row: usize,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row;
        write!(
            f,
            "row {row} of the ledger contradicts itself: its memory was written to by other code"
        )
    }
}

impl core::error::Error for Damaged {}

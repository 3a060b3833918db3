//! `Account`: the row of one process in a ledger.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupola_core::ledger::{Operation, Outcome, Owner};
use cupola_managers::OverBudget;
use cupola_managers::pool::{DeviceLimit, SharedBudget};

use crate::ledger::Ledger;

/// A process's account in a [`Ledger`]. Clones are the same.
///
/// [`device_limit`](Self::device_limit) is what pools and virtual memory are charged to. The account stays
/// as long as there is such a limit. When the last of them is dropped and nothing is charged, its row is
/// free for another process; what is still charged then stays charged until this process ends.
///
/// A forked child has no part in its parent's account: it is granted nothing and gives nothing back there. It
/// [joins](Ledger::join) by itself.
#[derive(Clone)]
pub struct Account(Arc<Row>);

struct Row {
    ledger: Ledger,
    row: usize,
    owner: Owner,
    /// Exact bytes, which the ledger has rounded up to units. The lock orders the threads of this process:
    /// a row has one operation at a time.
    bytes: Mutex<u64>,
}

impl Account {
    pub(crate) fn new(ledger: Ledger, row: usize, owner: Owner) -> Self {
        Self(Arc::new(Row {
            ledger,
            row,
            owner,
            bytes: Mutex::new(0),
        }))
    }

    /// A limit for pools and virtual memory of this process, all of whose bytes are charged to the ledger too.
    /// Its own limit is the ledger's of now.
    #[must_use]
    pub fn device_limit(&self) -> DeviceLimit {
        self.device_limit_of(self.0.ledger.limit())
    }

    /// The same with an own limit of `bytes`: for a process that is to have no more than that, whatever the
    /// ledger has left.
    #[must_use]
    pub fn device_limit_of(&self, bytes: u64) -> DeviceLimit {
        DeviceLimit::within(bytes, Arc::new(self.clone()))
    }

    /// The ledger that this is an account in.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.0.ledger
    }

    /// Bytes that this account has charged, which are its part of [`Ledger::used`]: that counts in whole units of
    /// 64 KiB.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        if self.0.is_elsewhere() {
            return 0;
        }
        *self.0.bytes()
    }
}

impl Row {
    /// Whether this process is another one than joined: a fork. Its threads do not hold the lock, and
    /// may have left it taken.
    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.owner.pid()
    }

    fn bytes(&self) -> MutexGuard<'_, u64> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has so many bytes charged in place of those before.
    fn set(&self, bytes: u64) -> Outcome {
        let words = self.ledger.words();
        if words.owner(self.row) != Some(self.owner) {
            return Outcome::Damaged;
        }
        Operation::charge(self.row, bytes).run(words)
    }

    fn charge(&self, requested: u64) -> Result<(), OverBudget> {
        let refusal = |used, limit| OverBudget {
            requested,
            used,
            limit,
        };
        let now = || refusal(self.ledger.used(), self.ledger.limit());
        if self.is_elsewhere() {
            return Err(now());
        }
        let mut bytes = self.bytes();
        let Some(sum) = bytes.checked_add(requested) else {
            return Err(now());
        };
        match self.set(sum) {
            Outcome::Done { .. } => {
                *bytes = sum;
                Ok(())
            }
            Outcome::Refused { used, limit } => Err(refusal(used, limit)),
            // Nothing is granted by a ledger that other code has written to.
            Outcome::Gone | Outcome::Damaged => Err(now()),
        }
    }

    fn release(&self, bytes: u64) {
        if self.is_elsewhere() {
            return;
        }
        let mut charged = self.bytes();
        *charged = charged.saturating_sub(bytes);
        // A smaller charge is refused only by a damaged ledger, of which `members` tells.
        let _: Outcome = self.set(*charged);
    }
}

/// What a [`DeviceLimit`] does for pools and virtual memory, for memory that is had in other ways.
impl SharedBudget for Account {
    fn charge(&self, bytes: u64) -> Result<(), OverBudget> {
        self.0.charge(bytes)
    }

    fn release(&self, bytes: u64) {
        self.0.release(bytes);
    }

    fn used(&self) -> u64 {
        self.0.ledger.used()
    }

    fn limit(&self) -> u64 {
        self.0.ledger.limit()
    }

    fn reclaim(&self) -> u64 {
        self.0.ledger.reclaim()
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        if !self.is_elsewhere() && *self.bytes() == 0 {
            self.ledger.words().leave(self.row, self.owner);
        }
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("pid", &self.owner.pid())
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

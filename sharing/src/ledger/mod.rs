//! One exact limit over several processes.
//!
//! A [`Ledger`] is a sealed file in memory that processes map. Each has a row in it, and what all rows have
//! together never passes the limit. There is no lock in it: a process that is killed or stopped, at any
//! instruction, blocks no other. What a process had when it ended is taken back by the first that lacks it.
//! `cupola_core::ledger` is the algorithm; this module knows files and processes.

mod account;
mod error;
mod file;
mod header;
mod process;
mod stat;

use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use cupola_core::ledger::{Operation, Outcome, Owner, ROWS, Words};

pub use account::Account;
pub use error::LedgerError;
use file::LedgerFile;
pub use header::HeaderError;

/// One limit in bytes that several processes have in common. Clones are the same.
///
/// Its file goes to other processes as any descriptor does: over a Unix socket, or inherited. All of them
/// must be trusted with the limit, for each can write anything there; a ledger that is damaged so grants
/// nothing or too much, and does no other harm.
///
/// ```
/// use cupola_managers::ExecutionManager;
/// use cupola_managers::pool::PoolConfig;
/// use cupola_sharing::Ledger;
///
/// let ledger = Ledger::create(1 << 30)?;
/// // As a rule in another process, which was sent the descriptor.
/// let theirs = Ledger::open(ledger.file().try_clone_to_owned()?)?;
/// let account = theirs.join()?;
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let limit = account.device_limit();
/// let pool = context.memory_pool(PoolConfig::limit(u64::MAX).within(&limit))?;
/// let stream = context.streams().create(Default::default())?;
/// let block = pool.allocate_raw(512 << 20, 256, &stream)?;
/// assert!(ledger.used() >= 512 << 20);
/// # drop(block);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Ledger(Arc<LedgerFile>);

/// A process that has a row in a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerMember {
    /// Its number. It may have ended: see [`Ledger::reclaim`].
    pub pid: u32,
    /// Bytes charged, in whole units of 64 KiB.
    pub bytes: u64,
}

impl Ledger {
    /// A new ledger with a limit of `bytes`, at most 64 KiB less than 16 TiB; more counts as that.
    ///
    /// # Errors
    /// [`LedgerError::System`] when the kernel lacks `memfd_create`, sealing or `pidfd_open` (Linux 5.3), or
    /// refuses; [`LedgerError::Namespace`] when `/proc` is of another namespace than this process.
    #[doc(alias = "memfd_create")]
    pub fn create(limit: u64) -> Result<Self, LedgerError> {
        process::check_support()?;
        process::this()?;
        let file = LedgerFile::create(process::namespaces()?)?;
        file.words().set_limit(limit);
        Ok(Self(Arc::new(file)))
    }

    /// The ledger of a descriptor that another process, or this one, has of [`file`](Self::file).
    ///
    /// # Errors
    /// [`LedgerError::Unsealed`] and [`LedgerError::Header`] when the file is no ledger, or of another version;
    /// [`LedgerError::Namespace`] when its maker is in another pid or time namespace;
    /// [`LedgerError::System`].
    pub fn open(file: OwnedFd) -> Result<Self, LedgerError> {
        process::check_support()?;
        process::this()?;
        let (file, theirs) = LedgerFile::open(file)?;
        let ours = process::namespaces()?;
        if theirs.processes != ours.processes {
            return Err(LedgerError::Namespace { kind: "pid" });
        }
        if theirs.time != ours.time {
            return Err(LedgerError::Namespace { kind: "time" });
        }
        Ok(Self(Arc::new(file)))
    }

    /// Its file, which is closed on `exec`: for `SCM_RIGHTS`, or a duplicate that a child inherits.
    #[must_use]
    pub fn file(&self) -> BorrowedFd<'_> {
        self.0.file()
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.words().limit()
    }

    /// Changes the limit, for all processes. What is charged stays charged; after this has returned nothing
    /// more is granted until it fits.
    pub fn set_limit(&self, bytes: u64) {
        self.words().set_limit(bytes);
    }

    /// Bytes that all processes have charged, in whole units of 64 KiB for each.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.words().used()
    }

    /// The processes that have a row, and what they have charged. They are looked at one after the other.
    ///
    /// # Errors
    /// [`LedgerError::Damaged`] when other code has written to the ledger.
    pub fn members(&self) -> Result<Vec<LedgerMember>, LedgerError> {
        let mut members = Vec::new();
        for row in 0..ROWS {
            if let Some(member) = self.words().member(row)? {
                let pid = member.owner.pid();
                members.push(LedgerMember {
                    pid,
                    bytes: member.bytes,
                });
            }
        }
        Ok(members)
    }

    /// A row for this process. It may have several.
    ///
    /// # Errors
    /// [`LedgerError::Full`] when all rows have owners that have not ended; [`LedgerError::System`] and
    /// [`LedgerError::Namespace`] when this process cannot be told from others.
    pub fn join(&self) -> Result<Account, LedgerError> {
        let owner = process::this()?;
        let mut row = self.words().join(owner);
        if row.is_none() {
            self.reclaim();
            row = self.words().join(owner);
        }
        let row = row.ok_or(LedgerError::Full { rows: ROWS })?;
        Ok(Account::new(self.clone(), row, owner))
    }

    /// Takes back what processes that have ended had charged, and frees their rows. How many bytes came back.
    /// Charges that are refused do this by themselves.
    ///
    /// A process has ended when its last thread has, and all that it had open is closed: the driver has
    /// its memory back then. (A child that was forked and has not called `exec` keeps what the parent had open.)
    pub fn reclaim(&self) -> u64 {
        let words = self.words();
        let mut given = 0;
        // One process may have several rows.
        let mut last: Option<(Owner, bool)> = None;
        for row in 0..ROWS {
            let Some(owner) = words.owner(row) else {
                continue;
            };
            let has_ended = match last {
                Some((known, has_ended)) if known == owner => has_ended,
                _ => process::has_ended(owner),
            };
            last = Some((owner, has_ended));
            if has_ended && let Outcome::Done { before } = Operation::reclaim(row, owner).run(words)
            {
                given += before;
            }
        }
        given
    }

    pub(crate) fn words(&self) -> &Words {
        self.0.words()
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("limit", &self.limit())
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}

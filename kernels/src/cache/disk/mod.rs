//! `DiskStore`: entries in a private folder, one file each.

pub(crate) mod file_system;
mod inspect;
mod key_lock;
mod layer;
mod names;
mod refusal;
mod room;

use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::config::SharedLayer;
use super::entry::Entry;
use super::format;
use super::key::Key;
use super::stats::Counters;
use file_system::{FileSystem, System};
use layer::{Layer, Look, Owners};
use names::Name;
use room::Incoming;

pub(crate) use key_lock::KeyLock;

pub use inspect::{Condition, Listed, Usage};
pub use refusal::Refusal;

/// An entry is touched when it was last used so long ago: eviction does not tell hits of one minute
/// apart, and most hits write nothing.
const TOUCH_AFTER: i64 = 60_000_000_000;

/// A private folder of entries.
#[derive(Debug)]
pub struct DiskStore {
    layer: Layer,
    limit: u64,
    counters: Arc<Counters>,
}

impl DiskStore {
    /// Opens a folder that is there, for a look at what it has.
    ///
    /// # Errors
    /// The folder is not there ([`Refusal::is_absence`]), or could be another user's.
    pub fn open(folder: &Path) -> Result<Self, Refusal> {
        Ok(Self {
            layer: Layer::open(Arc::new(System), folder, Owners::Own)?,
            // It keeps nothing.
            limit: 0,
            counters: Arc::default(),
        })
    }

    /// Opens a folder to keep entries of so many bytes, and makes it where it is not there.
    pub(super) fn create(
        files: Arc<dyn FileSystem>,
        folder: &Path,
        limit: u64,
        counters: Arc<Counters>,
    ) -> Result<Self, Refusal> {
        let made = files.create_folder(folder);
        made.map_err(|error| Refusal::Failed {
            call: "mkdir",
            path: folder.to_owned(),
            error: error.into(),
        })?;
        Ok(Self {
            layer: Layer::open(files, folder, Owners::Own)?,
            limit,
            counters,
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.layer.path()
    }

    /// The entry of a key. What is no entry is removed, what may be another user's is left alone, and
    /// neither is returned.
    pub(super) fn load(&self, key: &Key) -> Option<Entry> {
        let found = match self.layer.look(key) {
            Look::Found(found) => found,
            Look::Absent => return None,
            Look::Corrupt(error) => {
                self.counters.corrupt.note();
                tracing::warn!(%key, %error, "a kernel's entry is damaged: it is compiled again");
                self.remove(key);
                return None;
            }
            Look::Refused(refusal) => {
                self.tell(&refusal);
                return None;
            }
        };
        let unused = now().saturating_sub(found.attributes.modified);
        // By the local clock: one that is ahead or behind touches more often than it must.
        if !(0..TOUCH_AFTER).contains(&unused)
            && !mutant!("disk_hits_leave_no_mark")
            && let Err(error) = self.layer.files().touch(found.file.as_fd())
        {
            self.tell(&self.layer.failed("futimens", &Name::entry(key), error));
        }
        Some(found.entry)
    }

    /// Keeps an entry. What fails is counted and told; the caller has the entry anyway.
    pub(super) fn store(&self, key: &Key, entry: &Entry) {
        let bytes = entry.encode(key);
        if bytes.len() as u64 > self.limit.min(format::MOST_BYTES) {
            return;
        }
        let temporary = Name::temporary();
        match self.write(key, &temporary, &bytes) {
            Ok(true) => self.counters.stored.note(),
            Ok(false) => self.discard(&temporary),
            Err(refusal) => {
                self.tell(&refusal);
                self.discard(&temporary);
            }
        }
    }

    /// The order makes a loss of power harmless: an entry has its name only when its bytes are on
    /// the disk. Returns whether there was room.
    fn write(&self, key: &Key, temporary: &str, bytes: &[u8]) -> Result<bool, Refusal> {
        let (files, folder) = (self.layer.files(), self.layer.folder());
        let name = Name::entry(key);
        let failed = |call| move |error| self.layer.failed(call, temporary, error);
        let file = files.create(folder, temporary).map_err(failed("open"))?;
        files.write(file.as_fd(), bytes).map_err(failed("write"))?;
        if !mutant!("disk_renames_before_sync") {
            files.sync(file.as_fd()).map_err(failed("fsync"))?;
        }
        // The file system's own time, which hosts whose clocks differ agree on.
        let now = files
            .attributes(file.as_fd())
            .map_err(failed("fstat"))?
            .modified;
        drop(file);
        let incoming = Incoming {
            key: *key,
            temporary,
            now,
        };
        let made = room::make(&self.layer, self.limit, &incoming).map_err(failed("getdents"))?;
        self.counters.swept.add(made.swept);
        self.counters.evicted.add(made.evicted);
        if !made.fits {
            return Ok(false);
        }
        files
            .rename(folder, temporary, &name)
            .map_err(failed("rename"))?;
        if let Err(error) = files.sync(folder) {
            // It is there for all but a loss of power.
            self.tell(&self.layer.failed("fsync", "", error));
        }
        Ok(true)
    }

    /// Removes the entry of a key, if it is there.
    pub(super) fn remove(&self, key: &Key) {
        self.discard(&Name::entry(key));
    }

    fn discard(&self, name: &str) {
        use rustix::io::Errno;
        match self.layer.files().remove(self.layer.folder(), name) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => self.tell(&self.layer.failed("unlink", name, error)),
        }
    }

    /// The lock of a key among processes, or `None`: then the caller goes on without it.
    pub(super) fn lock(&self, key: &Key, timeout: Duration) -> Option<KeyLock<'_>> {
        match KeyLock::take(&self.layer, key, timeout) {
            Ok(lock) => Some(lock),
            Err(key_lock::NoLock::TimedOut) => {
                self.counters.lock_timeouts.note();
                tracing::warn!(%key, "another process compiles this kernel for too long: so does this one");
                None
            }
            Err(key_lock::NoLock::Failed(refusal)) => {
                self.tell(&refusal);
                None
            }
        }
    }

    fn tell(&self, refusal: &Refusal) {
        tell(&self.counters, refusal);
    }
}

/// A folder that is only read.
#[derive(Debug)]
pub(super) struct SharedStore {
    layer: Layer,
    counters: Arc<Counters>,
}

impl SharedStore {
    pub(super) fn open(
        files: Arc<dyn FileSystem>,
        shared: &SharedLayer,
        counters: Arc<Counters>,
    ) -> Result<Self, Refusal> {
        let owners = Owners::OwnRootAnd(shared.owner);
        let layer = Layer::open(files, &shared.folder, owners)?;
        Ok(Self { layer, counters })
    }

    /// The entry of a key. Nothing is removed or touched here, whatever is found.
    pub(super) fn load(&self, key: &Key) -> Option<Entry> {
        match self.layer.look(key) {
            Look::Found(found) => Some(found.entry),
            Look::Absent => None,
            Look::Corrupt(error) => {
                self.counters.corrupt.note();
                tracing::warn!(%key, %error, "a kernel's entry of the shared folder is damaged");
                None
            }
            Look::Refused(refusal) => {
                tell(&self.counters, &refusal);
                None
            }
        }
    }
}

/// Counts and tells what the store goes without.
pub(super) fn tell(counters: &Counters, refusal: &Refusal) {
    match refusal {
        Refusal::Failed { .. } => counters.io_failures.note(),
        _ => counters.refused.note(),
    }
    tracing::warn!(%refusal, "the cache of kernels goes without");
}

/// Nanoseconds since 1970 by this host's clock.
fn now() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

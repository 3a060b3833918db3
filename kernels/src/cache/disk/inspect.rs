//! What the folder has, for people.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::super::entry::Entry;
use super::super::key::Key;
use super::layer::Look;
use super::refusal::Refusal;
use super::room::{Contents, Resident, sweep};
use super::{DiskStore, now};

/// An entry as its file is.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Names it.
    pub key: Key,
    /// Of its file.
    pub bytes: u64,
    /// When it was last used, within a minute.
    pub used: SystemTime,
}

/// How much the folder has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many entries.
    pub entries: u64,
    /// Bytes of entries.
    pub bytes: u64,
    /// Files that are being written, or that dead processes left.
    pub temporaries: u64,
    /// Bytes of those.
    pub temporary_bytes: u64,
    /// Locks of compiles that are under way, or that dead processes left.
    pub locks: u64,
}

/// How an entry is.
#[derive(Debug)]
#[non_exhaustive]
pub enum Condition {
    /// A hit.
    Right {
        /// What it has.
        entry: Box<Entry>,
    },
    /// Whole, but the files that it was made of have changed: it is made again when it is needed.
    Stale,
    /// Not an entry of its key.
    Corrupt(super::super::format::FormatError),
    /// It could be another user's, or could not be read.
    Refused(Refusal),
    /// It went while the folder was looked through.
    Gone,
}

impl DiskStore {
    fn contents(&self) -> Result<Contents, Refusal> {
        Contents::of(&self.layer).map_err(|error| self.layer.failed("getdents", "", error))
    }

    /// Every entry, the least recently used first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, Refusal> {
        let entries = self.contents()?.into_oldest(now());
        let listed = entries.into_iter().filter_map(
            |Resident {
                 key, bytes, used, ..
             }| {
                let since = Duration::from_nanos(u64::try_from(used).unwrap_or(0));
                let used = UNIX_EPOCH + since;
                key.map(|key| Listed { key, bytes, used })
            },
        );
        Ok(listed.collect())
    }

    /// How much there is.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn usage(&self) -> Result<Usage, Refusal> {
        let contents = self.contents()?;
        let bytes = |files: &[Resident]| files.iter().map(|file| file.bytes).sum();
        Ok(Usage {
            entries: contents.entries.len() as u64,
            bytes: bytes(&contents.entries),
            temporaries: contents.temporaries.len() as u64,
            temporary_bytes: bytes(&contents.temporaries),
            locks: contents.locks.len() as u64,
        })
    }

    /// Removes every entry, and what dead processes left. Programs that run keep what they have
    /// loaded, and compile again what they need. Returns how many entries went.
    ///
    /// # Errors
    /// The folder cannot be read, or an entry cannot be removed.
    pub fn clear(&self) -> Result<u64, Refusal> {
        let contents = self.contents()?;
        for file in contents.stale(now()) {
            sweep(&self.layer, file);
        }
        let mut removed = 0;
        for file in contents.entries {
            use rustix::io::Errno;
            match self.layer.files().remove(self.layer.folder(), &file.name) {
                Ok(()) => removed += 1,
                Err(Errno::NOENT) => {}
                Err(error) => return Err(self.layer.failed("unlink", &file.name, error)),
            }
        }
        Ok(removed)
    }

    /// Reads an entry as a hit does, and changes nothing.
    #[must_use]
    pub fn check(&self, key: &Key) -> Condition {
        match self.layer.look(key) {
            Look::Found(found) if found.entry.manifest.holds() => Condition::Right {
                entry: Box::new(found.entry),
            },
            Look::Found(_) => Condition::Stale,
            Look::Absent => Condition::Gone,
            Look::Corrupt(error) => Condition::Corrupt(error),
            Look::Refused(refusal) => Condition::Refused(refusal),
        }
    }
}

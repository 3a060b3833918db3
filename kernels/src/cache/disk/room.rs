//! Room for a new entry: what is stale and what was least recently used goes.

use std::os::fd::AsFd as _;

use super::super::key::Key;
use super::layer::Layer;
use super::names::Name;

const SECOND: i64 = 1_000_000_000;

/// A temporary or a lock of this age was left by a process that died.
const STALE: i64 = 3600 * SECOND;

/// A time so far ahead says nothing: its entry is taken for the oldest.
const AHEAD: i64 = 24 * 3600 * SECOND;

/// What the folder has.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) entries: Vec<Resident>,
    pub(super) temporaries: Vec<Resident>,
    pub(super) locks: Vec<Resident>,
}

/// A file of the store.
#[derive(Clone, Debug)]
pub(super) struct Resident {
    pub(super) name: String,
    /// Of an entry.
    pub(super) key: Option<Key>,
    pub(super) bytes: u64,
    /// Nanoseconds since 1970.
    pub(super) used: i64,
}

impl Contents {
    /// Looks through the folder. What goes meanwhile is left out.
    pub(super) fn of(layer: &Layer) -> rustix::io::Result<Self> {
        let mut contents = Self::default();
        for name in layer.files().names(layer.folder())? {
            let Some(kind) = Name::parse(&name) else {
                continue;
            };
            let Ok(found) = layer.files().attributes_at(layer.folder(), &name) else {
                continue;
            };
            let (list, key) = match kind {
                Name::Entry(key) => (&mut contents.entries, Some(key)),
                Name::Temporary => (&mut contents.temporaries, None),
                Name::Lock => (&mut contents.locks, None),
            };
            list.push(Resident {
                name,
                key,
                bytes: found.size,
                used: found.modified,
            });
        }
        Ok(contents)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.entries
            .iter()
            .chain(&self.temporaries)
            .map(|file| file.bytes)
            .sum()
    }

    /// What dead processes have left. `now` is the file system's time, not this host's.
    pub(super) fn stale(&self, now: i64) -> impl Iterator<Item = &Resident> {
        let files = self.temporaries.iter().chain(&self.locks);
        files.filter(move |file| now.saturating_sub(file.used) > STALE || is_ahead(file.used, now))
    }

    /// The entries, those first that are to go first.
    pub(super) fn into_oldest(self, now: i64) -> Vec<Resident> {
        let mut entries = self.entries;
        entries.sort_by_key(|file| match is_ahead(file.used, now) {
            true => i64::MIN,
            false => file.used,
        });
        entries
    }
}

fn is_ahead(time: i64, now: i64) -> bool {
    time.saturating_sub(now) > AHEAD
}

/// Removes a file that a dead process has left; a lock only if it is not held. Whether it is gone.
pub(super) fn sweep(layer: &Layer, file: &Resident) -> bool {
    let (files, folder) = (layer.files(), layer.folder());
    if Name::parse(&file.name) == Some(Name::Lock) {
        let gone = files.open(folder, &file.name).and_then(|lock| {
            // Its name is taken away by the process that holds it: no other file has it meanwhile.
            let held = files.try_lock(lock.as_fd())? && layer.is_named(lock.as_fd(), &file.name)?;
            Ok(held && files.remove(folder, &file.name).is_ok())
        });
        return gone.unwrap_or(false);
    }
    files.remove(folder, &file.name).is_ok()
}

/// What making room came to.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) swept: u64,
    pub(super) evicted: u64,
    /// The entry now has room.
    pub(super) fits: bool,
}

/// Removes what is stale, and entries until the incoming one has room.
pub(super) fn make(layer: &Layer, limit: u64, incoming: &Incoming<'_>) -> rustix::io::Result<Made> {
    let contents = Contents::of(layer)?;
    let mut made = Made::default();
    // Its temporary is in the folder already, and the entry that it replaces goes.
    let mut bytes = contents.bytes();
    let replaced = contents
        .entries
        .iter()
        .find(|file| file.key == Some(incoming.key));
    bytes = bytes.saturating_sub(replaced.map_or(0, |file| file.bytes));
    for file in contents
        .stale(incoming.now)
        .filter(|file| file.name != incoming.temporary)
    {
        if sweep(layer, file) {
            made.swept += 1;
            if Name::parse(&file.name) == Some(Name::Temporary) {
                bytes = bytes.saturating_sub(file.bytes);
            }
        }
    }
    for file in contents.into_oldest(incoming.now) {
        if bytes <= limit || mutant!("disk_without_eviction") {
            break;
        }
        let is_own = file.key == Some(incoming.key);
        if !is_own && layer.files().remove(layer.folder(), &file.name).is_ok() {
            made.evicted += 1;
            bytes = bytes.saturating_sub(file.bytes);
        }
    }
    made.fits = bytes <= limit || mutant!("disk_without_eviction");
    Ok(made)
}

/// The entry that needs room.
pub(super) struct Incoming<'i> {
    pub(super) key: Key,
    pub(super) temporary: &'i str,
    /// The file system's time.
    pub(super) now: i64,
}

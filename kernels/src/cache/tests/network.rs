//! `Network`: a file system as hosts of a cluster see it, each with what it remembers.
//!
//! Like NFS and Lustre it has no locks between hosts, renames that are seen late, look-ups that are
//! remembered although they are no longer true, calls that were done although they failed, handles
//! that go stale, files that are busy, and clocks that differ. How late is counted in calls, so that
//! no test depends on time.

use std::collections::HashMap;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Mutex;

use cupola_random::Random;
use rustix::io::{Errno, Result};

use crate::cache::disk::file_system::{Attributes, FileSystem, System};

/// One host.
#[derive(Debug)]
pub(super) struct Network {
    state: Mutex<State>,
    /// Nanoseconds that the server's clock is ahead of this host's.
    skew: i64,
}

#[derive(Debug)]
struct State {
    random: Random,
    /// What look-ups of names came to, and for how many more they do so.
    remembered: HashMap<String, (Remembered, u64)>,
}

#[derive(Debug)]
enum Remembered {
    Absent,
    /// The file that had the name then.
    Present(OwnedFd),
}

impl Network {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let hours = random.below(97).cast_signed() - 48;
        Self {
            skew: hours * 3_600_000_000_000,
            state: Mutex::new(State {
                random,
                remembered: HashMap::new(),
            }),
        }
    }

    /// Fails now and then.
    fn shake(&self, errors: &[Errno]) -> Result<()> {
        let random = &mut self.state.lock().unwrap().random;
        match random.one_in(12) {
            true => Err(errors[random.index(errors.len())]),
            false => Ok(()),
        }
    }

    /// Done, and yet said to have failed: the answer was lost, and the call was made again.
    fn repeated(&self, done: Result<()>, second: Errno) -> Result<()> {
        done?;
        match self.state.lock().unwrap().random.one_in(12) {
            true => Err(second),
            false => Ok(()),
        }
    }

    fn skewed(&self, found: Attributes) -> Attributes {
        Attributes {
            modified: found.modified.saturating_add(self.skew),
            ..found
        }
    }
}

/// Another handle of the same file, from its start.
fn reopen(file: &OwnedFd) -> Result<OwnedFd> {
    use std::os::fd::AsRawFd as _;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    rustix::fs::open(path, flags, rustix::fs::Mode::empty())
}

impl FileSystem for Network {
    fn open(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        self.shake(&[Errno::STALE, Errno::IO])?;
        let state = &mut *self.state.lock().unwrap();
        if let Some((what, left)) = state.remembered.get_mut(name)
            && *left > 0
        {
            *left -= 1;
            return match what {
                Remembered::Absent => Err(Errno::NOENT),
                Remembered::Present(file) => reopen(file),
            };
        }
        let opened = System.open(folder, name);
        let what = match &opened {
            Ok(file) => Remembered::Present(rustix::io::fcntl_dupfd_cloexec(file, 0)?),
            Err(_) => Remembered::Absent,
        };
        let left = state.random.below(4);
        state.remembered.insert(name.to_owned(), (what, left));
        match opened {
            // A handle of its own, which is not moved by reads of the other.
            Ok(file) => reopen(&file),
            Err(error) => Err(error),
        }
    }

    fn try_lock(&self, file: BorrowedFd<'_>) -> Result<bool> {
        let _ = file;
        // Of this host alone, or of no host.
        match self.state.lock().unwrap().random.one_in(2) {
            true => Ok(true),
            false => Err(Errno::NOLCK),
        }
    }

    fn attributes(&self, file: BorrowedFd<'_>) -> Result<Attributes> {
        self.shake(&[Errno::STALE])?;
        System.attributes(file).map(|found| self.skewed(found))
    }

    fn attributes_at(&self, folder: BorrowedFd<'_>, name: &str) -> Result<Attributes> {
        self.shake(&[Errno::STALE, Errno::NOENT])?;
        System
            .attributes_at(folder, name)
            .map(|found| self.skewed(found))
    }

    fn read(&self, file: BorrowedFd<'_>, most: u64, to: &mut Vec<u8>) -> Result<()> {
        self.shake(&[Errno::STALE, Errno::IO])?;
        System.read(file, most, to)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<()> {
        self.shake(&[Errno::STALE, Errno::DQUOT])?;
        System.write(file, bytes)
    }

    fn rename(&self, folder: BorrowedFd<'_>, from: &str, to: &str) -> Result<()> {
        self.shake(&[Errno::BUSY, Errno::STALE, Errno::NOENT])?;
        self.repeated(System.rename(folder, from, to), Errno::NOENT)
    }

    fn remove(&self, folder: BorrowedFd<'_>, name: &str) -> Result<()> {
        self.shake(&[Errno::BUSY, Errno::STALE])?;
        self.repeated(System.remove(folder, name), Errno::NOENT)
    }

    fn names(&self, folder: BorrowedFd<'_>) -> Result<Vec<String>> {
        self.shake(&[Errno::STALE])?;
        let mut names = System.names(folder)?;
        // Those that other hosts made lately are not seen, and one may be seen twice.
        let random = &mut self.state.lock().unwrap().random;
        names.retain(|_| !random.one_in(8));
        if let Some(name) = names.first().cloned() {
            names.push(name);
        }
        Ok(names)
    }
}

//! `KeyLock`: one process compiles a key, others wait for it. It is advice: a process that cannot have it
//! compiles.

use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::super::key::Key;
use super::layer::Layer;
use super::names::Name;
use super::refusal::Refusal;

/// How often a lock may vanish between being opened and being locked. A file system where it does
/// so again and again shows old names.
const MOST_MISSES: u32 = 64;

const SHORTEST_WAIT: Duration = Duration::from_millis(1);
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// Held while a key is compiled. A process that dies leaves a file without a lock, which the next
/// one takes.
#[derive(Debug)]
pub(crate) struct KeyLock<'l> {
    layer: &'l Layer,
    name: String,
    /// Closing it unlocks.
    _file: OwnedFd,
}

/// Why there is no lock.
#[derive(Debug)]
pub(super) enum NoLock {
    TimedOut,
    /// The file system has no locks, or failed.
    Failed(Refusal),
}

impl<'l> KeyLock<'l> {
    /// Takes the lock of a key, and waits for the process that has it, for no longer than `timeout`.
    pub(super) fn take(layer: &'l Layer, key: &Key, timeout: Duration) -> Result<Self, NoLock> {
        let name = Name::lock(key);
        let failed = |call, error| NoLock::Failed(layer.failed(call, &name, error));
        let (files, folder) = (layer.files(), layer.folder());
        let start = Instant::now();
        let mut wait = SHORTEST_WAIT;
        let mut misses = 0;
        loop {
            let file = files
                .open_lock(folder, &name)
                .map_err(|error| failed("open", error))?;
            if files
                .try_lock(file.as_fd())
                .map_err(|error| failed("flock", error))?
            {
                // Its last holder may have removed it after it was opened here: then another process
                // makes a new one.
                if layer
                    .is_named(file.as_fd(), &name)
                    .map_err(|error| failed("stat", error))?
                {
                    return Ok(Self {
                        layer,
                        name,
                        _file: file,
                    });
                }
                misses += 1;
                if misses > MOST_MISSES {
                    return Err(failed("stat", Errno::NOENT));
                }
                continue;
            }
            drop(file);
            if start.elapsed() >= timeout {
                return Err(NoLock::TimedOut);
            }
            thread::sleep(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        // While it is locked: no process that locks it later takes it for the one of this name.
        // What cannot be removed is swept.
        let _ = self.layer.files().remove(self.layer.folder(), &self.name);
    }
}

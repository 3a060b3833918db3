//! `Faulty`: a file system whose calls fail when a test says so.

use std::collections::HashSet;
use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::{Errno, Result};

use crate::cache::disk::file_system::{Attributes, FileSystem, System};

/// What the `n`-th call, of this name, comes to: an error, or what the system says.
type Fault = dyn Fn(usize, &'static str) -> Option<Errno> + Send + Sync;

/// The system's file system with faults. It knows which files were written and not synced.
pub(super) struct Faulty {
    fault: Box<Fault>,
    calls: AtomicUsize,
    unsynced: Mutex<HashSet<u64>>,
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty")
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

impl Faulty {
    pub(super) fn new(
        fault: impl Fn(usize, &'static str) -> Option<Errno> + Send + Sync + 'static,
    ) -> Self {
        Self {
            fault: Box::new(fault),
            calls: AtomicUsize::new(0),
            unsynced: Mutex::default(),
        }
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Takes from files in the folder what no sync has put on the disk, as a loss of power does.
    pub(super) fn lose_power(&self, folder: &Path) {
        let unsynced = self.unsynced.lock().unwrap();
        for file in std::fs::read_dir(folder).unwrap() {
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(file.unwrap().path())
                .unwrap();
            let found = System.attributes(file.as_fd()).unwrap();
            if unsynced.contains(&found.inode) {
                file.set_len(found.size / 2).unwrap();
            }
        }
    }

    fn call(&self, name: &'static str) -> Result<()> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        (self.fault)(number, name).map_or(Ok(()), Err)
    }
}

/// What all calls of the store are called.
pub(super) const CALLS: [&str; 13] = [
    "mkdir",
    "open_folder",
    "open",
    "create",
    "open_lock",
    "flock",
    "fstat",
    "stat",
    "read",
    "write",
    "sync",
    "rename",
    "remove",
];

impl FileSystem for Faulty {
    fn create_folder(&self, path: &Path) -> Result<()> {
        self.call("mkdir")?;
        System.create_folder(path)
    }

    fn open_folder(&self, path: &Path) -> Result<OwnedFd> {
        self.call("open_folder")?;
        System.open_folder(path)
    }

    fn open(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        self.call("open")?;
        System.open(folder, name)
    }

    fn create(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        self.call("create")?;
        System.create(folder, name)
    }

    fn open_lock(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        self.call("open_lock")?;
        System.open_lock(folder, name)
    }

    fn try_lock(&self, file: BorrowedFd<'_>) -> Result<bool> {
        self.call("flock")?;
        System.try_lock(file)
    }

    fn attributes(&self, file: BorrowedFd<'_>) -> Result<Attributes> {
        self.call("fstat")?;
        System.attributes(file)
    }

    fn attributes_at(&self, folder: BorrowedFd<'_>, name: &str) -> Result<Attributes> {
        self.call("stat")?;
        System.attributes_at(folder, name)
    }

    fn read(&self, file: BorrowedFd<'_>, most: u64, to: &mut Vec<u8>) -> Result<()> {
        self.call("read")?;
        System.read(file, most, to)
    }

    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Result<()> {
        self.unsynced
            .lock()
            .unwrap()
            .insert(System.attributes(file)?.inode);
        // As a disk that fills up: half is there.
        if let Err(error) = self.call("write") {
            System.write(file, &bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        System.write(file, bytes)
    }

    fn sync(&self, file: BorrowedFd<'_>) -> Result<()> {
        self.call("sync")?;
        self.unsynced
            .lock()
            .unwrap()
            .remove(&System.attributes(file)?.inode);
        System.sync(file)
    }

    fn touch(&self, file: BorrowedFd<'_>) -> Result<()> {
        self.call("touch")?;
        System.touch(file)
    }

    fn rename(&self, folder: BorrowedFd<'_>, from: &str, to: &str) -> Result<()> {
        self.call("rename")?;
        System.rename(folder, from, to)
    }

    fn remove(&self, folder: BorrowedFd<'_>, name: &str) -> Result<()> {
        self.call("remove")?;
        System.remove(folder, name)
    }

    fn names(&self, folder: BorrowedFd<'_>) -> Result<Vec<String>> {
        self.call("getdents")?;
        System.names(folder)
    }
}

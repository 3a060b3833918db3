//! `FileSystem`: the calls that the store makes. Tests put a network's file system in its place.

use std::ffi::CStr;
use std::fmt;
use std::fs::DirBuilder;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, Timespec, Timestamps,
    UTIME_NOW,
};
use rustix::io::{Errno, Result};

/// Calls of a file system, each as the system makes it. Files are named within a folder that is
/// open, so that a folder which is moved or replaced is still the one that was looked at.
pub(crate) trait FileSystem: fmt::Debug + Send + Sync {
    /// Makes a folder and those above it, for this user alone.
    fn create_folder(&self, path: &Path) -> Result<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| errno(&error))
    }

    /// Opens a folder, which may not be a link.
    fn open_folder(&self, path: &Path) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(CWD, path, flags, Mode::empty())
    }

    /// Opens a file to read it. It may not be a link, and a named pipe does not wait for a writer.
    fn open(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(folder, name, flags, Mode::empty())
    }

    /// Makes a file that is not there yet.
    fn create(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::openat(folder, name, flags, PRIVATE)
    }

    /// Opens a file to lock it, and makes it where it is not there.
    fn open_lock(&self, folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(folder, name, flags, PRIVATE)
    }

    /// Locks a file unless another process has: then `false` is returned.
    fn try_lock(&self, file: BorrowedFd<'_>) -> Result<bool> {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What an open file is.
    fn attributes(&self, file: BorrowedFd<'_>) -> Result<Attributes> {
        rustix::fs::fstat(file).map(|found| Attributes::of(&found))
    }

    /// What a name is, which is not followed.
    fn attributes_at(&self, folder: BorrowedFd<'_>, name: &str) -> Result<Attributes> {
        let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        found.map(|found| Attributes::of(&found))
    }

    /// Reads at most `most` bytes.
    fn read(&self, file: BorrowedFd<'_>, most: u64, to: &mut Vec<u8>) -> Result<()> {
        let file = Descriptor(file);
        file.take(most)
            .read_to_end(to)
            .map_err(|error| errno(&error))?;
        Ok(())
    }

    /// Writes all of `bytes`.
    fn write(&self, file: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(file, bytes) {
                Ok(0) => return Err(Errno::IO),
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until a file, or a folder's names, are where a loss of power does not reach them.
    fn sync(&self, file: BorrowedFd<'_>) -> Result<()> {
        rustix::fs::fsync(file)
    }

    /// Says that a file was used now. The time is the file system's: hosts whose clocks differ agree.
    fn touch(&self, file: BorrowedFd<'_>) -> Result<()> {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        rustix::fs::futimens(file, &times)
    }

    /// Gives a file another name, in the place of the one that has it.
    fn rename(&self, folder: BorrowedFd<'_>, from: &str, to: &str) -> Result<()> {
        rustix::fs::renameat(folder, from, folder, to)
    }

    /// Takes a name away.
    fn remove(&self, folder: BorrowedFd<'_>, name: &str) -> Result<()> {
        rustix::fs::unlinkat(folder, name, AtFlags::empty())
    }

    /// Every name in a folder.
    fn names(&self, folder: BorrowedFd<'_>) -> Result<Vec<String>> {
        let names = Dir::read_from(folder)?.map(|found| Ok(text(found?.file_name())));
        // A name that is no text is none of the store's.
        names.filter_map(Result::transpose).collect()
    }
}

/// For this user alone.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The system's file systems, as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System;

impl FileSystem for System {}

/// What the store wants to know of a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) owner: u32,
    pub(crate) permissions: u32,
    pub(crate) is_file: bool,
    pub(crate) size: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i64,
}

impl Attributes {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        reason = "types differ between systems"
    )]
    fn of(found: &Stat) -> Self {
        let nanos = (found.st_mtime as i64).saturating_mul(1_000_000_000);
        Self {
            owner: found.st_uid,
            permissions: found.st_mode as u32 & 0o7777,
            is_file: FileType::from_raw_mode(found.st_mode).is_file(),
            size: u64::try_from(found.st_size).unwrap_or(0),
            device: found.st_dev as u64,
            inode: found.st_ino as u64,
            modified: nanos.saturating_add(found.st_mtime_nsec as i64),
        }
    }
}

struct Descriptor<'f>(BorrowedFd<'f>);

impl io::Read for Descriptor<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0.as_fd(), to)?)
    }
}

fn text(name: &CStr) -> Option<String> {
    name.to_str().ok().map(str::to_owned)
}

/// An error that std has from the system; of others the system says nothing.
fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

//! `Layer`: a folder of entries, its owner checked, that is open and read.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use super::super::entry::Entry;
use super::super::format::{self, FormatError, PREFIX};
use super::super::key::Key;
use super::file_system::{Attributes, FileSystem};
use super::names::Name;
use super::refusal::Refusal;

/// The users who may own a folder and what is in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owners {
    /// This process's user alone.
    Own,
    /// Root and one more besides.
    OwnRootAnd(Option<u32>),
}

impl Owners {
    fn has(self, user: u32) -> bool {
        let own = rustix::process::geteuid().as_raw();
        user == own
            || match self {
                Self::Own => false,
                Self::OwnRootAnd(other) => user == 0 || other == Some(user),
            }
    }
}

/// The permission to write, of the group and of all others.
const OTHERS_WRITE: u32 = 0o022;

/// A folder of entries.
#[derive(Debug)]
pub(super) struct Layer {
    files: Arc<dyn FileSystem>,
    folder: OwnedFd,
    path: PathBuf,
    owners: Owners,
}

/// What a look for an entry came to.
#[derive(Debug)]
pub(super) enum Look {
    Found(Found),
    Absent,
    /// A file that is no entry of the key.
    Corrupt(FormatError),
    Refused(Refusal),
}

/// An entry and the file that it was read from.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) entry: Entry,
    pub(super) file: OwnedFd,
    pub(super) attributes: Attributes,
}

impl Layer {
    /// Opens a folder and looks whose it is. All names are then looked up in what was opened:
    /// whatever becomes of its path, it is this folder.
    pub(super) fn open(
        files: Arc<dyn FileSystem>,
        path: &Path,
        owners: Owners,
    ) -> Result<Self, Refusal> {
        let path = path.to_owned();
        let folder = match files.open_folder(&path) {
            Ok(folder) => folder,
            // Linux says of a link to a folder that it is no folder.
            Err(Errno::LOOP | Errno::NOTDIR) if path.is_symlink() => {
                return Err(Refusal::Link { path });
            }
            Err(Errno::NOTDIR) => return Err(Refusal::WrongType { path }),
            Err(error) => return Err(failed("open", path, error)),
        };
        let found = files.attributes(folder.as_fd());
        let found = found.map_err(|error| failed("fstat", path.clone(), error))?;
        trust(&path, &found, owners)?;
        Ok(Self {
            files,
            folder,
            path,
            owners,
        })
    }

    pub(super) fn files(&self) -> &dyn FileSystem {
        &*self.files
    }

    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an open file still has this name.
    pub(super) fn is_named(&self, file: BorrowedFd<'_>, name: &str) -> rustix::io::Result<bool> {
        let held = self.files().attributes(file)?;
        match self.files().attributes_at(self.folder(), name) {
            Ok(named) => Ok((named.device, named.inode) == (held.device, held.inode)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A refusal that names a file of this folder.
    pub(super) fn failed(&self, call: &'static str, name: &str, error: Errno) -> Refusal {
        failed(call, self.path.join(name), error)
    }

    /// Looks for the entry of a key. No more is read than an entry can have.
    pub(super) fn look(&self, key: &Key) -> Look {
        let name = Name::entry(key);
        match self.try_look(&name, key) {
            // The file was replaced on another host since its name was looked up here.
            Look::Refused(Refusal::Failed { error, .. }) if is_stale(&error) => {
                self.try_look(&name, key)
            }
            other => other,
        }
    }

    fn try_look(&self, name: &str, key: &Key) -> Look {
        let files = self.files();
        let failed = |call, error| Look::Refused(self.failed(call, name, error));
        let path = || self.path.join(name);
        let file = match files.open(self.folder(), name) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Look::Absent,
            Err(Errno::LOOP) => return Look::Refused(Refusal::Link { path: path() }),
            Err(error) => return failed("open", error),
        };
        let attributes = match files.attributes(file.as_fd()) {
            Ok(found) => found,
            Err(error) => return failed("fstat", error),
        };
        if !attributes.is_file {
            return Look::Refused(Refusal::WrongType { path: path() });
        }
        if let Err(refusal) = trust(&path(), &attributes, self.owners) {
            return Look::Refused(refusal);
        }
        if attributes.size > format::MOST_BYTES {
            return Look::Corrupt(FormatError::Length);
        }
        let mut bytes = Vec::new();
        if let Err(error) = files.read(file.as_fd(), PREFIX as u64, &mut bytes) {
            return failed("read", error);
        }
        // Room is made for what is an entry by its first bytes.
        let length = bytes
            .first_chunk()
            .ok_or(FormatError::Length)
            .and_then(format::length);
        match length {
            Ok(length) if length == attributes.size => {}
            Ok(_) => return Look::Corrupt(FormatError::Length),
            Err(error) => return Look::Corrupt(error),
        }
        let rest = attributes.size.saturating_sub(PREFIX as u64);
        bytes.reserve(usize::try_from(rest).unwrap_or(0));
        if let Err(error) = files.read(file.as_fd(), rest, &mut bytes) {
            return failed("read", error);
        }
        match Entry::decode(&bytes, key) {
            Ok(entry) => Look::Found(Found {
                entry,
                file,
                attributes,
            }),
            Err(error) => Look::Corrupt(error),
        }
    }
}

/// Refuses what others own or may write to.
fn trust(path: &Path, found: &Attributes, owners: Owners) -> Result<(), Refusal> {
    let path = path.to_owned();
    if !owners.has(found.owner) && !mutant!("disk_trusts_foreign_owners") {
        let owner = found.owner;
        return Err(Refusal::ForeignOwner { path, owner });
    }
    if found.permissions & OTHERS_WRITE != 0 && !mutant!("disk_trusts_writable_files") {
        let permissions = found.permissions;
        return Err(Refusal::Writable { path, permissions });
    }
    Ok(())
}

fn failed(call: &'static str, path: PathBuf, error: Errno) -> Refusal {
    let error = error.into();
    Refusal::Failed { call, path, error }
}

fn is_stale(error: &std::io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::STALE)
}

//! `Manifest`: the files that a compile depended on, and whether they still are what they were.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;

use super::digest::Digest;

/// The largest file that is read: a header is none of this size.
const MOST_BYTES: u64 = 256 << 20;

/// A file that was written less than this before it was recorded has no [`Stamp`]: one more write
/// within a tick of the file system's clock would not show, and clocks of hosts differ.
const LATELY: i64 = 60_000_000_000;

/// What a file's contents are known by without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) size: u64,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// Nanoseconds since 1970: when the contents changed.
    pub(super) modified: i64,
    /// As that: when anything about the file changed. Nothing sets it back.
    pub(super) changed: i64,
}

impl Stamp {
    /// That of the file that is at this path now.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|found| Self::of(&found))
    }

    fn of(found: &Metadata) -> Self {
        let time =
            |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            size: found.len(),
            device: found.dev(),
            inode: found.ino(),
            modified: time(found.mtime(), found.mtime_nsec()),
            changed: time(found.ctime(), found.ctime_nsec()),
        }
    }

    /// Whether a later change of the file would show in its stamp.
    fn is_settled(&self) -> bool {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let latest = self.modified.max(self.changed);
        latest.saturating_add(LATELY) < now || mutant!("manifest_trusts_new_files")
    }
}

/// One file, and how it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    path: PathBuf,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No file: the compile went on to the next folder.
    Absent,
    /// A file of this content. The stamp, where there is one, spares reading it again.
    Present {
        digest: Digest,
        stamp: Option<Stamp>,
    },
    /// A file of this stamp, which was not read: too large for that.
    Stamped(Stamp),
}

impl Dependency {
    pub(super) fn new(path: PathBuf, state: State) -> Self {
        Self { path, state }
    }

    /// Where the file is, or would be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was there.
    #[must_use]
    pub fn is_present(&self) -> bool {
        !matches!(self.state, State::Absent)
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Whether the file is as it was. What cannot be found out is no.
    fn holds(&self) -> bool {
        let found = fs::metadata(&self.path);
        match (&self.state, found) {
            (State::Absent, _) if mutant!("manifest_without_absent_files") => true,
            (State::Absent, Err(error)) => is_absence(&error),
            (State::Absent, Ok(_)) | (State::Present { .. } | State::Stamped(_), Err(_)) => false,
            (State::Stamped(_), Ok(_)) if mutant!("manifest_trusts_paths") => true,
            (State::Stamped(stamp), Ok(found)) => *stamp == Stamp::of(&found),
            (State::Present { digest, stamp }, Ok(found)) => {
                *stamp == Some(Stamp::of(&found))
                    || read(&self.path).is_ok_and(|it| it.digest() == *digest)
            }
        }
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// A file's contents, and how the file was when they were read.
struct Contents {
    bytes: Vec<u8>,
    stamp: Stamp,
}

impl Contents {
    fn digest(&self) -> Digest {
        Digest::of(&self.bytes)
    }
}

fn read(path: &Path) -> io::Result<Contents> {
    // A named pipe would wait for a writer.
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut options = OpenOptions::new();
    let file: File = options
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let before = file.metadata()?;
    if !before.is_file() || before.len() > MOST_BYTES {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "not a file of at most 256 MiB",
        ));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&file).take(MOST_BYTES).read_to_end(&mut bytes)?;
    let stamp = Stamp::of(&file.metadata()?);
    if stamp != Stamp::of(&before) || stamp.size != bytes.len() as u64 {
        return Err(io::Error::new(
            ErrorKind::Interrupted,
            "the file changed while it was read",
        ));
    }
    Ok(Contents { bytes, stamp })
}

/// The files that a compile read, or would have read had they been there.
///
/// A compile records a file when it reads it, or before: a change afterwards is then a change. The
/// cache looks at the manifest once more before it keeps an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    files: Vec<Dependency>,
    /// There may be others that are not known.
    is_incomplete: bool,
}

impl Manifest {
    /// Of no file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a file and records what was read, or that there is none: then `None` is returned.
    ///
    /// # Errors
    /// The file is there and cannot be read, or changed meanwhile. The compile must not be kept.
    pub fn read(&mut self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let path = std::path::absolute(path)?;
        match read(&path) {
            Ok(contents) => {
                let digest = contents.digest();
                let stamp = Some(contents.stamp).filter(Stamp::is_settled);
                self.files
                    .push(Dependency::new(path, State::Present { digest, stamp }));
                Ok(Some(contents.bytes))
            }
            Err(error) if is_absence(&error) => {
                self.files.push(Dependency::new(path, State::Absent));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Records a file by its stamp alone, unread, or that there is none; whether it is there. One that was
    /// written or replaced so lately that a further change would not show makes the manifest one that never
    /// holds.
    ///
    /// # Errors
    /// What is there cannot be told. Nothing must be kept then.
    pub(crate) fn stamp(&mut self, path: &Path) -> io::Result<bool> {
        let path = std::path::absolute(path)?;
        let (state, is_present) = match fs::metadata(&path) {
            Ok(found) => {
                let stamp = Stamp::of(&found);
                if !stamp.is_settled() {
                    self.note_unknown();
                }
                (State::Stamped(stamp), true)
            }
            Err(error) if is_absence(&error) => (State::Absent, false),
            Err(error) => return Err(error),
        };
        self.files.push(Dependency::new(path, state));
        Ok(is_present)
    }

    pub(super) fn from_files(files: Vec<Dependency>) -> Self {
        Self {
            files,
            is_incomplete: false,
        }
    }

    /// Notes that there may be files which are not known: it never holds, and nothing is kept with it.
    pub fn note_unknown(&mut self) {
        self.is_incomplete = true;
    }

    /// Every file.
    #[must_use]
    pub fn files(&self) -> &[Dependency] {
        &self.files
    }

    /// Whether every file is known and as it was: by its stamp, or else by its digest.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.is_incomplete && self.files.iter().all(Dependency::holds)
    }
}

#[cfg(test)]
mod tests;

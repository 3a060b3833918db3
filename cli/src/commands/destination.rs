//! Files that a command writes when its work is done.
//!
//! A name that nothing can be written to is said before the work. Until all of the new file is
//! there, what it takes the place of stays: it is written beside it and renamed. No file takes the
//! place of one that the same command reads or writes. Devices, pipes
//! and what the shell has opened are written to as they are.

mod place;

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::exit::Failure;
use super::output::unless_closed;
use place::Place;
pub(crate) use place::apart;

/// Where something will be written.
pub(crate) struct Destination {
    path: PathBuf,
    way: Way,
}

enum Way {
    /// A new file takes this place; with the permissions of the one that is there, if any.
    Replace(PathBuf, Option<Permissions>),
    /// A regular file whose place no other can take: it is written over.
    Over(File),
    /// A device, a pipe, or a file that the shell has opened.
    Stream(File),
    /// Standard output or error by another name. Who closed it does not want to know.
    Standard(File),
}

impl Destination {
    /// Finds out whether `path` can be written to, and changes nothing.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        let way = way(path).map_err(|error| Failure::file(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            way,
        })
    }

    /// [`new`](Self::new) for what an option names, if it does.
    pub(crate) fn named(path: Option<&PathBuf>) -> Result<Option<Self>, Failure> {
        path.map(|path| Self::new(path)).transpose()
    }

    /// The file of this name with another extension; `None` where this one is no regular file.
    pub(crate) fn beside(&self, extension: &str) -> Result<Option<Self>, Failure> {
        match self.way {
            Way::Replace(..) | Way::Over(_) => {
                Self::new(&self.path.with_extension(extension)).map(Some)
            }
            Way::Stream(_) | Way::Standard(_) => Ok(None),
        }
    }

    /// Which regular file it is; `None` for what is written to as it is.
    fn place(&self) -> Option<Place> {
        match &self.way {
            Way::Replace(place, _) => Some(Place::of(place)),
            Way::Over(_) => Some(Place::of(&self.path)),
            Way::Stream(_) | Way::Standard(_) => None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what `content` writes: all of it, or nothing to a file whose place the new one takes.
    /// A regular file that is written over has what came before an error.
    pub(crate) fn write(
        &self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let done = match &self.way {
            Way::Replace(place, permissions) => replace(place, permissions.as_ref(), content),
            Way::Over(file) => file.set_len(0).and_then(|()| fill(file, content)),
            Way::Stream(file) => fill(file, content),
            Way::Standard(file) => unless_closed(fill(file, content)),
        };
        done.map_err(|error| Failure::file(&self.path, error))
    }

    /// Writes `value` as JSON.
    pub(crate) fn write_json(&self, value: &impl serde::Serialize) -> Result<(), Failure> {
        self.write(|to| {
            serde_json::to_writer_pretty(&mut *to, value)?;
            writeln!(to)
        })
    }
}

fn way(path: &Path) -> io::Result<Way> {
    let old = match fs::metadata(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let place = end_of_links(path);
            // A folder that is not there is what `a/` and the empty name are of.
            let name = path.as_os_str().as_encoded_bytes();
            if place.file_name().is_none() || name.ends_with(b"/") {
                return Err(error);
            }
            drop(fresh(&place)?);
            return Ok(Way::Replace(place, None));
        }
        Err(error) => return Err(error),
    };
    if let Some(file) = standard(&old) {
        return Ok(Way::Standard(file));
    }
    // Not emptied, and kept: the reader of a pipe sees its end when no writer has it open.
    let file = OpenOptions::new().append(true).open(path)?;
    if !old.is_file() || is_descriptor(path) {
        return Ok(Way::Stream(file));
    }
    let place = path.canonicalize()?;
    Ok(
        match fresh(&place).and_then(|new| new.as_file().metadata()) {
            Ok(new) if is_like(&old, &new) => Way::Replace(place, Some(old.permissions())),
            _ => Way::Over(file),
        },
    )
}

/// Where a file is made that `path` names: links that lead to nothing are followed.
fn end_of_links(path: &Path) -> PathBuf {
    let mut place = path.to_owned();
    // As many as systems follow; a ring is refused before.
    for _ in 0..40 {
        match (fs::read_link(&place), place.parent()) {
            (Ok(next), Some(folder)) => place = folder.join(next),
            _ => break,
        }
    }
    place
}

/// An empty file beside `place`, with the permissions that any new file gets.
fn fresh(place: &Path) -> io::Result<NamedTempFile> {
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::metadata(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cupola-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Less what the user's mask takes away.
        builder.permissions(Permissions::from_mode(0o666));
    }
    // The whole error has the temporary name, which says nothing to a user.
    let made = builder.tempfile_in(folder);
    made.map_err(|error| error.kind().into())
}

fn replace(
    place: &Path,
    permissions: Option<&Permissions>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let new = fresh(place)?;
    fill(new.as_file(), content)?;
    if let Some(permissions) = permissions {
        new.as_file().set_permissions(permissions.clone())?;
    }
    new.persist(place).map_err(|error| error.error)?;
    Ok(())
}

fn fill(file: &File, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut to = BufWriter::new(file);
    content(&mut to)?;
    to.flush()
}

/// Whether a new file in the place of `old` is what people call the same file: they would not if
/// it had another owner, or if other names stayed with the old one.
#[cfg(unix)]
fn is_like(old: &Metadata, new: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (old.uid(), old.gid(), old.nlink()) == (new.uid(), new.gid(), 1)
}

#[cfg(not(unix))]
fn is_like(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Standard output or error, if that is what `found` is of: whatever it is, it has a position
/// that only its own descriptor knows.
#[cfg(unix)]
fn standard(found: &Metadata) -> Option<File> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let own = [
        io::stdout().as_fd().try_clone_to_owned(),
        io::stderr().as_fd().try_clone_to_owned(),
    ];
    own.into_iter().flatten().map(File::from).find(|file| {
        let is = file.metadata();
        is.is_ok_and(|is| (is.dev(), is.ino()) == (found.dev(), found.ino()))
    })
}

#[cfg(not(unix))]
fn standard(_: &Metadata) -> Option<File> {
    None
}

/// Whether `path` is an open file by its number (`/dev/fd/3`): one that takes its place would not
/// be what the shell has open.
fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.is_some_and(|folder| folder.starts_with("/proc"))
}

#[cfg(all(test, unix))]
mod tests;

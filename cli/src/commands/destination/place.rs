//! Whether two names are of one file.

use std::path::{Path, PathBuf};

use super::{Destination, end_of_links};
use crate::commands::exit::{Exit, Failure};

/// Where a regular file is, or will be.
pub(super) struct Place {
    /// Without links and dots.
    path: PathBuf,
    /// Device and number, which all names of one file have in common.
    inode: Option<(u64, u64)>,
}

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        let end = end_of_links(path);
        let whole = end.canonicalize().ok().or_else(|| {
            // Not there yet, but its folder is.
            let folder = match end.parent()? {
                folder if folder.as_os_str().is_empty() => Path::new("."),
                folder => folder,
            };
            Some(folder.canonicalize().ok()?.join(end.file_name()?))
        });
        Self {
            path: whole.unwrap_or(end),
            inode: inode(path),
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path || self.inode.is_some() && self.inode == other.inode
    }
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Refuses a command that would put a file over one that it reads, or over another one that it
/// writes. Each has the option that names it.
pub(crate) fn apart(
    read: &[(&str, &Path)],
    written: &[(&str, Option<&Destination>)],
) -> Result<(), Failure> {
    let inputs = read.iter().map(|(option, path)| (*option, Place::of(path)));
    let mut known: Vec<_> = inputs.collect();
    for (option, destination) in written {
        let Some((destination, place)) = destination.and_then(|one| Some((one, one.place()?)))
        else {
            continue;
        };
        if let Some((other, _)) = known.iter().find(|(_, known)| known.is(&place)) {
            let path = destination.path().display();
            let problem = format!("{path}: {option} would take the place of {other}");
            return Err(Failure::new(Exit::Usage, problem));
        }
        known.push((option, place));
    }
    Ok(())
}

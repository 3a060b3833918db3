//! `Refusal`: why a folder or a file is not used.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a folder or an entry is not used: what lies there could be another user's.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// A symbolic link, whose target could be anywhere.
    Link {
        /// Of the link.
        path: PathBuf,
    },
    /// It belongs to another user.
    ForeignOwner {
        /// Of what was found.
        path: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
    },
    /// Other users may write to it.
    Writable {
        /// Of what was found.
        path: PathBuf,
        /// Its permissions.
        permissions: u32,
    },
    /// Neither a folder nor a regular file, where it should be one.
    WrongType {
        /// Of what was found.
        path: PathBuf,
    },
    /// The file system failed.
    Failed {
        /// What was called.
        call: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl Refusal {
    /// Whether the folder is not there, and nothing else is wrong.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Failed { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link { path } => {
                write!(
                    f,
                    "{} is a symbolic link: name its target instead",
                    path.display()
                )
            }
            Self::ForeignOwner { path, owner } => write!(
                f,
                "{} belongs to user {owner}: name a folder of your own in CUPOLA_CACHE_DIR",
                path.display()
            ),
            Self::Writable { path, permissions } => write!(
                f,
                "other users may write to {} (permissions {permissions:o}): take that from them with \
                 `chmod go-w`, or name another folder in CUPOLA_CACHE_DIR",
                path.display()
            ),
            Self::WrongType { path } => {
                write!(
                    f,
                    "{} is neither a folder nor a regular file, as it should be",
                    path.display()
                )
            }
            Self::Failed { call, path, error } => write!(f, "{}: {call}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed { error, .. } => Some(error),
            _ => None,
        }
    }
}

//! [`Place`]: a path where a header may be, and what is there.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// A path where a header may be, and what was there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path, absolute, with links and `..` as they were written.
    pub path: PathBuf,
    /// What was there.
    pub state: PlaceState,
}

impl Place {
    /// Whether the same is there now.
    #[must_use]
    pub fn is_current(&self) -> bool {
        PlaceState::read(&self.path).0 == self.state
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceState {
    /// No file that can be read.
    NoFile,
    /// A file.
    File {
        /// The SHA-256 of what is in it.
        sha256: [u8; 32],
    },
}

impl PlaceState {
    /// What is at the path now, with the bytes of a file.
    #[must_use]
    pub fn read(path: &Path) -> (Self, Option<Vec<u8>>) {
        match read_file(path) {
            Some(text) => {
                let sha256 = Sha256::digest(&text).into();
                (Self::File { sha256 }, Some(text))
            }
            None => (Self::NoFile, None),
        }
    }
}

/// The bytes of a regular file. Nothing else is opened: that of a pipe would wait.
fn read_file(path: &Path) -> Option<Vec<u8>> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.read_to_end(&mut text).ok()?;
    Some(text)
}

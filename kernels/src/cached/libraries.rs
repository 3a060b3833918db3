//! `Libraries`: which files the libraries of linkers are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::FileIdentity;

/// The libraries that were looked at: each once, as they are loaded once.
#[derive(Debug, Default)]
pub(super) struct Libraries(Mutex<HashMap<PathBuf, FileIdentity>>);

impl Libraries {
    /// Which file the library at this path is; `None` where it cannot be read.
    pub(super) fn identify(&self, path: &Path) -> Option<FileIdentity> {
        let mut known = self.known();
        if let Some(identity) = known.get(path) {
            return Some(identity.clone());
        }
        match FileIdentity::of(path) {
            Ok(identity) => {
                known.insert(path.to_owned(), identity.clone());
                Some(identity)
            }
            Err(error) => {
                let library = path.display();
                tracing::warn!(%library, %error, "the linker's library cannot be read: nothing is kept");
                None
            }
        }
    }

    /// Says which file was there when the library was loaded, or noted.
    pub(super) fn tell(&self, path: &Path, identity: &FileIdentity) {
        self.known().insert(path.to_owned(), identity.clone());
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, FileIdentity>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

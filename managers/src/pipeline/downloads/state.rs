//! `DownloadState`: where the download of a slot's item is.

use std::mem;

use crate::error::Error;

/// Where the download of a slot's item is.
pub(in crate::pipeline) enum DownloadState {
    /// On its stream, or there is none.
    OnStream,
    /// With the thread that puts downloads.
    Handed,
    /// That thread could not put it.
    Failed(Error),
}

impl DownloadState {
    pub(in crate::pipeline) fn is_handed(&self) -> bool {
        matches!(self, Self::Handed)
    }

    pub(in crate::pipeline) fn has_failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Why it could not be put, if so; it is told once.
    pub(in crate::pipeline) fn take_failure(&mut self) -> Option<Error> {
        match mem::replace(self, Self::OnStream) {
            Self::Failed(error) => Some(error),
            state => {
                *self = state;
                None
            }
        }
    }
}

//! `Search`: one search for memory, from its beginning to its end.

use crate::error::Error;

/// What a search was told, and what it has found out about the memory that is to be had. It is a
/// value of the search: nothing of it is left for the next one.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The driver's error when it had no memory left.
    pub(crate) full: Option<Error>,
    /// The device has less left than the limit would grant, and too little for this search.
    pub(crate) lacking: bool,
    /// No completion can give this search its memory: only frees of live blocks can.
    pub(crate) hopeless: bool,
    /// No other pool could give memory up for this search.
    pub(crate) alone: bool,
}

impl Search {
    /// Whether the device has less than the limits would grant.
    pub(crate) fn is_device_full(&self) -> bool {
        self.full.is_some() || self.lacking
    }
}

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
    /// The request would rather wait for pages than take a worse place.
    pub(crate) patient: bool,
    /// So it was worth it: the best place can have all its pages when work that is under way has
    /// completed.
    pub(crate) soon: bool,
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

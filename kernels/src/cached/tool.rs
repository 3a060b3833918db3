//! [`Tool`]: a compiler or a linker, as far as a [note](super::note) of it is concerned.

use std::fmt::Debug;
use std::path::PathBuf;

use crate::cache::format::Reader;
use crate::cache::{EntryKind, FormatError};
use crate::places::{Evidence, Places};

/// What makes code, and is found in places that tell which one it is without its being loaded.
pub(super) trait Tool: Debug + Sized {
    /// Which one is looked for.
    type Wanted: Copy + Debug;
    /// What a process is told of one that it has not loaded.
    type Description: Describe;
    /// Why it cannot be loaded.
    type Error;

    /// What notes of it are in a cache.
    const NOTE: EntryKind;

    /// Where [`load`](Self::load) looks, as the environment is now.
    fn places(wanted: Self::Wanted) -> Places;

    /// Loads it.
    fn load(wanted: Self::Wanted) -> Result<Self, Self::Error>;

    /// Its name and version, as keys have them.
    fn name(&self) -> String;

    /// The files that it is made of; none where they are not known.
    fn files(&self) -> Vec<PathBuf>;

    /// What is told of it; `None` where it does not tell.
    fn describe(&self) -> Option<Self::Description>;

    /// The evidence that it was found in one of these places; `None` where its files do not tell it.
    fn evidence<'p>(&self, places: &'p Places) -> Option<Evidence<'p>>;

    /// Whether its files are read again at each use: then they may have been replaced meanwhile.
    fn is_started_anew(&self) -> bool;
}

/// What is told of a tool, as a note has it.
pub(super) trait Describe: Debug + PartialEq + Sized {
    /// As [`Tool::name`] of the tool.
    fn name(&self) -> String;

    /// Its bytes, which [`read`](Self::read) ends at.
    fn write(&self, to: &mut Vec<u8>);

    /// What these bytes describe.
    fn read(from: &mut Reader<'_>) -> Result<Self, FormatError>;
}

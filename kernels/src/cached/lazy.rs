//! `Lazy`: a compiler or a linker that is loaded when it has something to do.

use std::sync::OnceLock;

use super::identity::Identity;
use super::note::Note;
use super::tool::Tool;
use crate::cache::{Cache, Failure, Stamp};

/// A tool, or what an earlier process noted of it.
#[derive(Debug)]
pub(super) enum Lazy<T: Tool> {
    /// It was loaded.
    Loaded(LoadedTool<T>),
    /// It is loaded when it is needed.
    Noted {
        wanted: T::Wanted,
        note: Note<T::Description>,
        loaded: OnceLock<LoadedTool<T>>,
    },
}

/// A tool and what it is.
#[derive(Debug)]
pub(super) struct LoadedTool<T> {
    pub(super) tool: T,
    pub(super) identity: Identity,
    /// Of its files, from before the identity was made.
    stamps: Vec<Option<Stamp>>,
}

impl<T: Tool> LoadedTool<T> {
    pub(super) fn new(tool: T) -> Self {
        let stamps = stamps(&tool);
        Self {
            identity: Identity::of(&tool),
            tool,
            stamps,
        }
    }

    /// Whether what is used now is what has this identity. A library stays what was loaded; a program is
    /// read again each time that it is started, and may have been replaced.
    pub(super) fn is_as_it_was(&self) -> bool {
        !self.tool.is_started_anew() || stamps(&self.tool) == self.stamps
    }
}

fn stamps(tool: &impl Tool) -> Vec<Option<Stamp>> {
    let files = tool.files();
    files.iter().map(|file| Stamp::at(file).ok()).collect()
}

impl<T: Tool> Lazy<T> {
    /// The tool as the cache has a note of it; else it is loaded, and noted for the next process.
    ///
    /// # Errors
    /// Those of [`Tool::load`].
    pub(super) fn find<E: Failure>(cache: &Cache<E>, wanted: T::Wanted) -> Result<Self, T::Error> {
        // Before it is looked for: what appears meanwhile was not passed over.
        let places = T::places(wanted);
        if let Some(note) = Note::find(cache, &places) {
            let loaded = OnceLock::new();
            return Ok(Self::Noted {
                wanted,
                note,
                loaded,
            });
        }
        let loaded = LoadedTool::new(T::load(wanted)?);
        if loaded.identity.is_known() {
            Note::keep(cache, &places, &loaded.tool, &loaded.identity);
        }
        Ok(Self::Loaded(loaded))
    }

    /// The tool, if it is loaded.
    pub(super) fn loaded(&self) -> Result<&LoadedTool<T>, &Note<T::Description>> {
        match self {
            Self::Loaded(loaded) => Ok(loaded),
            Self::Noted { note, loaded, .. } => loaded.get().ok_or(note),
        }
    }

    /// The tool, which is loaded now if it was not yet.
    ///
    /// # Errors
    /// Those of [`Tool::load`].
    pub(super) fn load(&self) -> Result<&LoadedTool<T>, T::Error> {
        match self {
            Self::Loaded(loaded) => Ok(loaded),
            Self::Noted { wanted, loaded, .. } => match loaded.get() {
                Some(loaded) => Ok(loaded),
                None => {
                    // Two threads may load the same: the one that comes first stays.
                    let tool = LoadedTool::new(T::load(*wanted)?);
                    Ok(loaded.get_or_init(|| tool))
                }
            },
        }
    }

    /// Which tool it is: as noted, until it is loaded.
    pub(super) fn identity(&self) -> &Identity {
        match self.loaded() {
            Ok(loaded) => &loaded.identity,
            Err(note) => &note.identity,
        }
    }
}

//! `Entry`: what a compile made.

use std::fmt;

use super::manifest::Manifest;
use super::recipe::Recipe;
use crate::compile::{ImageKind, LoweredName};

/// What the bytes of an entry are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// Code, as a compiler or a linker made it.
    Image(ImageKind),
    /// No code: which candidate won a measurement (`tune`).
    Tuning,
    /// No code: which compiler some files are, so that it need not be loaded to be told.
    Compiler,
    /// The same of a linker.
    Linker,
}

impl EntryKind {
    const TUNING: u8 = 5;
    const COMPILER: u8 = 6;
    const LINKER: u8 = 7;

    /// Its number in files, which stays: that of code is the code's.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Image(kind) => kind.code(),
            Self::Tuning => Self::TUNING,
            Self::Compiler => Self::COMPILER,
            Self::Linker => Self::LINKER,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        match code {
            Self::TUNING => Some(Self::Tuning),
            Self::COMPILER => Some(Self::Compiler),
            Self::LINKER => Some(Self::Linker),
            _ => ImageKind::from_code(code).map(Self::Image),
        }
    }
}

impl From<ImageKind> for EntryKind {
    fn from(kind: ImageKind) -> Self {
        Self::Image(kind)
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(kind) => kind.fmt(f),
            Self::Tuning => f.write_str("a tuning"),
            Self::Compiler => f.write_str("a compiler's identity"),
            Self::Linker => f.write_str("a linker's identity"),
        }
    }
}

/// What a compile made. Names and log stay with the bytes: a hit tells the same as the compile did.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// What `payload` is.
    pub kind: EntryKind,
    /// The binary or text, as the driver or a linker takes it.
    pub payload: Vec<u8>,
    /// The lowered name of each expression that was asked for.
    pub names: Vec<LoweredName>,
    /// What the compiler said, warnings above all.
    pub log: String,
    /// The files that the compile depended on.
    pub manifest: Manifest,
    /// What it was made of, if that is kept: for people who compare ([`recompile`](crate::CachedCompiler::recompile)), not for hits.
    pub recipe: Option<Recipe>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("kind", &self.kind)
            .field("bytes", &self.payload.len())
            .field("names", &self.names)
            .field("log", &self.log)
            .field("manifest", &self.manifest)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// About how many bytes it takes in memory.
    pub(super) fn bytes(&self) -> u64 {
        let names = self.names.iter();
        let names: usize = names.map(|it| it.expression.len() + it.symbol.len()).sum();
        let files: usize = self
            .manifest
            .files()
            .iter()
            .map(|file| file.path().as_os_str().len())
            .sum();
        let recipe = self.recipe.as_ref().map_or(0, |it| it.request.len());
        (size_of::<Self>() + self.payload.len() + names + self.log.len() + files + recipe) as u64
    }
}

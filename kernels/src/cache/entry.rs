//! `Entry`: what a compile made.

use std::fmt;

use super::manifest::Manifest;
use crate::compile::{ImageKind, LoweredName};

/// What the bytes of an entry are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A binary for one architecture.
    Cubin,
    /// PTX, which the driver compiles.
    Ptx,
    /// NVIDIA's intermediate code for the linker.
    LtoIr,
    /// Several of those for several architectures.
    Fatbin,
    /// No code: which candidate won a measurement (`tune`).
    Tuning,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Cubin,
        Self::Ptx,
        Self::LtoIr,
        Self::Fatbin,
        Self::Tuning,
    ];

    /// Its number in files and keys, which stays.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Cubin => 1,
            Self::Ptx => 2,
            Self::LtoIr => 3,
            Self::Fatbin => 4,
            Self::Tuning => 5,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// What people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubin => "CUBIN",
            Self::Ptx => "PTX",
            Self::LtoIr => "LTO-IR",
            Self::Fatbin => "fatbin",
            Self::Tuning => "tuning",
        }
    }
}

impl From<ImageKind> for Kind {
    fn from(kind: ImageKind) -> Self {
        match kind {
            ImageKind::Cubin => Self::Cubin,
            ImageKind::Ptx => Self::Ptx,
            ImageKind::LtoIr => Self::LtoIr,
        }
    }
}

/// What a compile made. Names and log stay with the bytes: a hit tells the same as the compile did.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// What `payload` is.
    pub kind: Kind,
    /// The binary or text, as the driver or a linker takes it.
    pub payload: Vec<u8>,
    /// The lowered name of each expression that was asked for.
    pub names: Vec<LoweredName>,
    /// What the compiler said, warnings above all.
    pub log: String,
    /// The files that the compile depended on.
    pub manifest: Manifest,
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
        (size_of::<Self>() + self.payload.len() + names + self.log.len() + files) as u64
    }
}

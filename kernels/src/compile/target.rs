//! [`Target`]: what a compile makes.

use std::ffi::OsString;
use std::fmt;

use super::TargetArchitecture;

/// The kinds of device code. Compilers and linkers make each but [`Fatbin`](Self::Fatbin), which other
/// tools make of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageKind {
    /// A binary for one architecture, which a driver loads without compiling.
    Cubin,
    /// Assembly text, which a driver compiles for its device when it is loaded.
    Ptx,
    /// Intermediate code, which a linker optimises together with other such code.
    LtoIr,
    /// Several of these for several architectures, of which a driver takes the one that fits.
    Fatbin,
}

#[cfg(unix)]
impl ImageKind {
    const ALL: [Self; 4] = [Self::Cubin, Self::Ptx, Self::LtoIr, Self::Fatbin];

    /// Its number in files and keys, which stays.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Cubin => 1,
            Self::Ptx => 2,
            Self::LtoIr => 3,
            Self::Fatbin => 4,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cubin => "CUBIN",
            Self::Ptx => "PTX",
            Self::LtoIr => "LTO-IR",
            Self::Fatbin => "a fat binary",
        })
    }
}

/// What a compile makes, and for which architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A binary for exactly this architecture. No driver compiles it again, and every driver of the
    /// compiler's major version of CUDA loads it.
    Cubin(TargetArchitecture),
    /// PTX for this architecture and later ones. A driver that is older than the compiler may
    /// refuse it, see [`PtxVersion`](super::PtxVersion).
    Ptx(TargetArchitecture),
    /// LTO-IR, for a [linker](crate::link) that is at least as new as the compiler.
    LtoIr(TargetArchitecture),
}

impl Target {
    /// What is made.
    #[must_use]
    pub const fn kind(self) -> ImageKind {
        match self {
            Self::Cubin(_) => ImageKind::Cubin,
            Self::Ptx(_) => ImageKind::Ptx,
            Self::LtoIr(_) => ImageKind::LtoIr,
        }
    }

    /// For which architecture.
    #[must_use]
    pub const fn architecture(self) -> TargetArchitecture {
        let (Self::Cubin(architecture) | Self::Ptx(architecture) | Self::LtoIr(architecture)) =
            self;
        architecture
    }

    /// What NVRTC is told.
    pub(super) fn arguments(self) -> Vec<OsString> {
        let name = match self {
            Self::Cubin(architecture) => architecture.real_name(),
            Self::Ptx(architecture) | Self::LtoIr(architecture) => architecture.virtual_name(),
        };
        let mut arguments = vec![format!("--gpu-architecture={name}").into()];
        if let Self::LtoIr(_) = self {
            arguments.push("--dlink-time-opt".into());
        }
        arguments
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.kind(), self.architecture())
    }
}

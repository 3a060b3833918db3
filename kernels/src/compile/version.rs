//! [`CompilerVersion`]: which compiler made device code.

use std::fmt;

use cupola_sys::Version;

/// Which compiler made device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompilerVersion {
    /// NVRTC of this CUDA.
    Nvrtc(Version),
    /// clang.
    Clang(ClangVersion),
}

impl CompilerVersion {
    /// The CUDA that the compiler belongs to; `None` for clang, which belongs to none.
    #[must_use]
    pub const fn cuda(self) -> Option<Version> {
        match self {
            Self::Nvrtc(version) => Some(version),
            Self::Clang(_) => None,
        }
    }
}

impl fmt::Display for CompilerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nvrtc(version) => write!(f, "NVRTC of CUDA {version}"),
            Self::Clang(version) => write!(f, "clang {version}"),
        }
    }
}

/// A version of clang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClangVersion {
    /// Its major number.
    pub major: u32,
    /// Its minor number.
    pub minor: u32,
    /// Its patch level.
    pub patch: u32,
}

impl ClangVersion {
    /// What `clang --version` says: `Debian clang version 14.0.6`, `clang version 20.0.0git`.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("clang version ")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let mut numbers = rest[..end.unwrap_or(rest.len())]
            .split('.')
            .map(|number| number.parse().ok());
        Some(Self {
            major: numbers.next()??,
            minor: numbers.next().flatten().unwrap_or(0),
            patch: numbers.next().flatten().unwrap_or(0),
        })
    }
}

impl fmt::Display for ClangVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a clang that is too old, or a program that is none, could be taken.
    #[test]
    fn distributions_write_their_names_around_the_version() {
        let of = |text| ClangVersion::of_text(text).map(|it| it.to_string());
        for (text, version) in [
            ("Debian clang version 14.0.6\nTarget: x", Some("14.0.6")),
            ("clang version 20.0.0git (https://x)", Some("20.0.0")),
            ("Apple clang version 15.0.0 (clang-1500.1)", Some("15.0.0")),
            ("clang version 9", Some("9.0.0")),
            ("gcc (Debian 12.2.0) 12.2.0", None),
            ("clang version ", None),
            ("clang version 99999999999", None),
        ] {
            assert_eq!(of(text).as_deref(), version, "{text}");
        }
    }
}

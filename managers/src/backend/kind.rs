//! Kinds of backend, and what their sources return.

use std::fmt;

/// What a backend's devices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackendKind {
    /// Devices of their own.
    Real,
    /// Devices that the host's processor plays.
    Software,
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Real => "real",
            Self::Software => "software",
        })
    }
}

/// What a source may fail with: any error.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

//! Kinds of backend, and the errors of their sources.

use std::fmt;

/// The kind of a backend's devices.
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

/// The error of a source: any error.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

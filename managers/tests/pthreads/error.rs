//! The errors that the object pool returns.

use std::fmt;

pub(crate) type Result<T, E = Error> = core::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Error {
    Full { kind: &'static str },
    ShutDown { kind: &'static str },
    StaleHandle { kind: &'static str, bits: u64 },
}

impl Error {
    pub(crate) fn stale(kind: &'static str, bits: u64) -> Self {
        Self::StaleHandle { kind, bits }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

//! Errors of the cache. A file system is in none of them: what fails there costs a compile.

use std::fmt;
use std::sync::Arc;

use super::digest::Digest;
use super::key::Key;
use super::manifest::Manifest;

/// Where the fault of a failed compile lies, which says who is told and for how long.
#[derive(Debug)]
pub enum Fault<'e> {
    /// In the inputs: the same compile fails again as long as these files are as they are.
    Inputs(&'e Manifest),
    /// In the machine, such as a lack of memory: threads that wait are told, and nothing is kept.
    Machine,
    /// The caller gave up: threads that wait for it compile themselves.
    GivenUp,
}

/// What a failed compile says.
pub trait Failure: std::error::Error {
    /// Where its fault lies.
    fn fault(&self) -> Fault<'_>;
}

/// Why there is no entry.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError<E> {
    /// The compile failed, now or when it was last tried.
    Compile(Arc<E>),
    /// What was compiled is not listed by the [`LoadPolicy`](super::LoadPolicy).
    NotListed {
        /// Of the compile.
        key: Key,
        /// Of what it made.
        digest: Digest,
    },
}

impl<E> Clone for CacheError<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Compile(error) => Self::Compile(Arc::clone(error)),
            Self::NotListed { key, digest } => Self::NotListed {
                key: *key,
                digest: *digest,
            },
        }
    }
}

impl<E: fmt::Display> fmt::Display for CacheError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(error) => error.fmt(f),
            Self::NotListed { key, digest } => write!(
                f,
                "the binary with SHA-256 {digest}, made for key {key}, is not in the list of what \
                 may be loaded: add it, or load with another policy"
            ),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for CacheError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its text is this error's own.
            Self::Compile(error) => error.source(),
            Self::NotListed { .. } => None,
        }
    }
}

/// The driver rejected what was compiled anew after it had rejected what was kept: the fault lies in
/// the compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedTwice {
    /// Of the compile.
    pub key: Key,
}

impl fmt::Display for RejectedTwice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the driver rejected what key {} names, and what was compiled anew for it: look at its \
             architecture and at the driver's version",
            self.key
        )
    }
}

impl std::error::Error for RejectedTwice {}

//! `LoadPolicy`: which binaries may be loaded.

use std::collections::HashSet;

use super::digest::Digest;
use super::entry::Entry;

/// Which binaries may be loaded, whether they come from a cache or from the compiler.
#[derive(Clone, Debug, Default)]
pub enum LoadPolicy {
    /// All.
    #[default]
    Any,
    /// Those whose payload has one of these SHA-256.
    Listed(HashSet<Digest>),
}

impl LoadPolicy {
    /// Whether the entry may be loaded; else the digest that is not listed.
    pub(super) fn check(&self, entry: &Entry) -> Result<(), Digest> {
        match self {
            Self::Any => Ok(()),
            Self::Listed(listed) => {
                let digest = Digest::of(&entry.payload);
                listed.contains(&digest).then_some(()).ok_or(digest)
            }
        }
    }
}

//! `Recipe`: what an entry was made of, so that it can be made again.

use std::path::PathBuf;

/// What an entry was made of. The cache keeps it and does not read it: a caller that makes entries
/// knows what its bytes mean; those of a compile are written by [`of`](Self::of).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The compiler, as the key has it.
    pub compiler: String,
    /// The folder that relative names start from, as the key has it.
    pub folder: Option<PathBuf>,
    /// What was asked.
    pub request: Vec<u8>,
}

impl Recipe {
    /// The most bytes of a request that are kept in an entry: each hit reads and hashes them.
    pub const MOST_BYTES: usize = 256 << 10;
}

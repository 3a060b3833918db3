//! How bulk copies are cut.

use crate::error::{Error, Result};

/// How a [`CopyScheduler`](super::CopyScheduler) cuts bulk copies.
///
/// Another copy of the same direction waits for at most one chunk of each bulk copy that is at work: with
/// the defaults 16 MiB, which PCIe 5 does in 0.3 ms. Smaller chunks cost bandwidth, because the engine
/// begins each anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyConfig {
    /// Bytes of a chunk; 16 MiB by default. A chunk has at least one element.
    pub chunk: usize,
    /// Copies of more bytes are cut, 32 MiB by default; others are put in one call.
    pub threshold: usize,
}

impl Default for CopyConfig {
    fn default() -> Self {
        Self {
            chunk: 16 << 20,
            threshold: 32 << 20,
        }
    }
}

impl CopyConfig {
    /// The same, with chunks of so many bytes.
    #[must_use]
    pub const fn chunk(self, chunk: usize) -> Self {
        Self { chunk, ..self }
    }

    /// The same, with copies of more bytes than these cut.
    #[must_use]
    pub const fn threshold(self, threshold: usize) -> Self {
        Self { threshold, ..self }
    }

    pub(super) fn check(self) -> Result<Self> {
        match self.chunk {
            0 => Err(Error::invalid(
                "copies.chunk",
                "it is 0, so no chunk could be put",
            )),
            _ => Ok(self),
        }
    }
}

//! How bulk copies are cut.

use crate::error::{Error, Result};

/// How a [`CopyScheduler`](super::CopyScheduler) cuts bulk copies.
///
/// Another copy of the same direction waits for at most [`window`](Self::window) chunks: with the
/// defaults 16 MiB, which PCIe 5 does in 0.3 ms. Smaller chunks cost bandwidth, because the engine
/// begins each anew, and more of the host's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyConfig {
    /// Bytes of a chunk; 8 MiB by default. A chunk has at least one element.
    pub chunk: usize,
    /// The most chunks of all bulk copies of a direction that are with the device at a time; 2 by
    /// default, so that the engine has the next one when it ends one. With 1 it is idle in between.
    pub window: usize,
    /// Copies of more bytes are cut, 16 MiB by default; others are put in one call.
    pub threshold: usize,
}

impl Default for CopyConfig {
    fn default() -> Self {
        Self {
            chunk: 8 << 20,
            window: 2,
            threshold: 16 << 20,
        }
    }
}

impl CopyConfig {
    /// The same, with chunks of so many bytes.
    #[must_use]
    pub const fn chunk(self, chunk: usize) -> Self {
        Self { chunk, ..self }
    }

    /// The same, with so many chunks at a time.
    #[must_use]
    pub const fn window(self, window: usize) -> Self {
        Self { window, ..self }
    }

    /// The same, with copies of more bytes than these cut.
    #[must_use]
    pub const fn threshold(self, threshold: usize) -> Self {
        Self { threshold, ..self }
    }

    pub(super) fn check(self) -> Result<Self> {
        let none = |field| Err(Error::invalid(field, "it is 0, so no chunk could be put"));
        match self {
            Self { chunk: 0, .. } => none("copies.chunk"),
            Self { window: 0, .. } => none("copies.window"),
            _ => Ok(self),
        }
    }
}

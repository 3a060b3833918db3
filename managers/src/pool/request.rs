//! `AllocRequest`: a caller's request of a pool.

use std::time::{Duration, Instant};

use crate::pool::heap::block_name::Name;
use crate::stream::Stream;

/// How long a request may wait for memory that work still uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// As the pool's configuration says.
    AsConfigured,
    /// Not at all, for other threads as little as for the device.
    Never,
    Until(Instant),
}

impl Wait {
    /// Until when, if it begins now and the configuration says so long; `None` for no end.
    pub(crate) fn end(self, configured: Duration) -> Option<Instant> {
        match self {
            Self::AsConfigured => Instant::now().checked_add(configured),
            Self::Never => Some(Instant::now()),
            Self::Until(end) => Some(end),
        }
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocRequest {
    pub(crate) bytes: u64,
    /// A power of two.
    pub(crate) align: u64,
    pub(crate) name: Name,
    /// Whether it is for a buffer.
    pub(crate) buffer: bool,
    pub(crate) wait: Wait,
}

impl AllocRequest {
    /// The number by which a header keeps the stream, and whether it is a buffer's.
    #[inline]
    pub(crate) fn stream(self, stream: &Stream) -> (u64, bool) {
        let stream = if self.buffer {
            stream.handle().to_bits()
        } else {
            stream.serial()
        };
        (stream, self.buffer)
    }
}

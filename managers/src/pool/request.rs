//! `AllocRequest`: a caller's request of a pool.

use crate::pool::alloc::patience::Wait;
use crate::pool::heap::block_name::Name;
use crate::stream::Stream;

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

//! `StreamStock`: leases of a stream that a thread has in stock.

use std::sync::Weak;

use cupola_core::tag;

use super::Stream;
use super::raw::RawStream;
use crate::object_pool::{LeaseHolder, LeaseStock};

/// Leases of a stream for one thread at a time; see [`LeaseStock`].
pub(crate) struct StreamStock(LeaseStock<RawStream, tag::Stream>);

impl StreamStock {
    pub(crate) const EMPTY: Self = Self(LeaseStock::EMPTY);

    /// A lease of this stream.
    #[inline(always)]
    pub(crate) fn take(&mut self, stream: &Stream) -> Option<Stream> {
        self.0.take(&stream.0).map(Stream)
    }

    /// Takes a lease in; gives it back where it has no room for it.
    #[inline(always)]
    pub(crate) fn put(&mut self, stream: Stream) -> Option<Stream> {
        self.0.put(stream.0).map(Stream)
    }

    /// Whether [`grow`](Self::grow) is worth a try.
    #[inline]
    pub(crate) fn wants_more(&self) -> bool {
        self.0.wants_more()
    }

    /// Takes more leases of this stream, which knows the stock by its holder.
    pub(crate) fn grow(&mut self, stream: &Stream, holder: Weak<dyn LeaseHolder>) {
        self.0.grow(&stream.0, holder);
    }

    /// Gives all leases up but one, which is the caller's to end, outside of locks. With `barred`
    /// it has none any more in this life of the stream.
    #[must_use]
    pub(crate) fn drain(&mut self, barred: bool) -> Option<Stream> {
        self.0.drain(barred).map(Stream)
    }
}

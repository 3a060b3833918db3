//! `Requester`: the stream that a search is for.

use crate::pool::streams::free_stamp::{Stamp, StreamIndex};

/// The stream that a search for memory is for, and what it may have before that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requester {
    stream: StreamIndex,
    /// `READY` for none.
    granted: Stamp,
    /// Has streams asked how far they are before it begins a page, if that is due.
    is_asking: bool,
}

impl Requester {
    /// A request of no stream: it may have what is complete, and nothing else.
    pub(crate) const NONE: Self = Self::new(0);

    /// A request of a stream.
    #[inline]
    pub(crate) const fn new(stream: StreamIndex) -> Self {
        Self {
            stream,
            granted: Stamp::READY,
            is_asking: false,
        }
    }

    /// A request that begins a page only after the streams were asked how far they are, if that is
    /// due: one that searches again when they were.
    #[inline]
    pub(crate) const fn asking(self) -> Self {
        Self {
            is_asking: true,
            ..self
        }
    }

    /// Whether this request has the streams asked.
    pub(crate) fn is_asking(self) -> bool {
        self.is_asking
    }

    /// A request of a stream that is made to wait for another's work, up to a ticket, before it
    /// uses what it gets: that work need not be complete.
    pub(crate) const fn behind(self, granted: Stamp) -> Self {
        Self { granted, ..self }
    }

    /// Whether the stream itself has freed the memory with this stamp.
    #[inline]
    pub(crate) fn has_freed(self, stamp: Stamp) -> bool {
        stamp.stream() == self.stream
    }

    /// Whether the stream may use memory with this stamp, complete or not.
    #[inline]
    pub(crate) fn is_granted(self, stamp: Stamp) -> bool {
        let is_covered = || stamp.ticket() <= self.granted.ticket();
        self.has_freed(stamp) || (stamp.stream() == self.granted.stream() && is_covered())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a search could hand out memory that another stream's work still uses: that of a
    // stream whose wait was granted from a later ticket on, or of one without a wait.
    #[test]
    fn a_wait_grants_what_it_covers_and_no_more() {
        let own = Requester::new(1);
        let granted = own.behind(Stamp::new(2, 7));
        for (stamp, alone, behind) in [
            (Stamp::new(1, 9), true, true),
            (Stamp::new(2, 7), false, true),
            (Stamp::new(2, 8), false, false),
            (Stamp::new(3, 1), false, false),
        ] {
            assert_eq!(own.is_granted(stamp), alone, "{stamp:?}");
            assert_eq!(granted.is_granted(stamp), behind, "{stamp:?}");
        }
        assert!(!Requester::NONE.is_granted(Stamp::new(1, 1)));
    }
}

//! `Mark`: the work that a wait on the host for a whole stream completes.

use super::Stream;
use crate::error;
use crate::stream::timeline::Timeline;

/// The work that is on a stream at a time.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    launches: error::Mark,
    /// The last ticket of memory that was freed by then.
    freed: Option<u64>,
}

impl Stream {
    /// Marks the work on the stream, before a wait on the host for all of it;
    /// [`complete`](Self::complete) comes after.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            launches: self.launches().mark(),
            freed: self.0.used_timeline().map(Timeline::mark),
        }
    }

    /// Notes that the work at the mark has completed.
    #[inline]
    pub(crate) fn complete(&self, mark: Mark) {
        self.launches().complete(mark.launches);
        if let (Some(timeline), Some(ticket)) = (self.0.used_timeline(), mark.freed) {
            timeline.complete(if mutant!("timeline_wait_covers_all") {
                timeline.mark()
            } else {
                ticket
            });
        }
    }
}

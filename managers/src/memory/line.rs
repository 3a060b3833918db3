//! `Line`: one stream as its pool sees it.

use std::sync::Arc;

use super::clock::{EVERY, StreamClock};
use super::depot::Depot;
use super::stamp::{Stamp, StreamIndex};

/// A stream's place in a pool: what it freed is stamped by its clock, and what threads have
/// too much of waits in its depot.
pub(crate) struct Line {
    pub(crate) index: StreamIndex,
    pub(crate) clock: Arc<StreamClock>,
    pub(crate) depot: Depot,
}

impl Line {
    pub(crate) fn new(index: StreamIndex, clock: &Arc<StreamClock>) -> Self {
        Self {
            index,
            clock: Arc::clone(clock),
            depot: Depot::new(),
        }
    }

    /// The number of the driver's stream.
    #[inline]
    pub(crate) fn serial(&self) -> u64 {
        self.clock.serial()
    }

    /// The stream is gone, and nothing of what was put on it runs.
    pub(super) fn is_over(&self) -> bool {
        self.clock.done() == EVERY
    }

    /// For what is freed on the stream now.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.index, self.clock.stamp())
    }
}

//! `Line`: one stream as its pool sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::depot::Depot;
use super::flow::Flow;
use super::stamp::{Stamp, StreamIndex};
use crate::stream::timeline::{EVERY, Timeline};

/// A stream's place in a pool: what it freed is stamped by its clock, and what threads have
/// too much of waits in its depot.
pub(crate) struct Line {
    pub(crate) index: StreamIndex,
    pub(crate) clock: Arc<Timeline>,
    pub(crate) depot: Depot,
    /// What ever came into its lanes that are gone. These are changed under the lock of the lanes.
    came_before: AtomicU64,
    /// What had come into its lanes at the last look, and the ticket that all of it has.
    looked: [AtomicU64; 2],
}

impl Line {
    pub(crate) fn new(index: StreamIndex, clock: &Arc<Timeline>) -> Self {
        Self {
            index,
            clock: Arc::clone(clock),
            depot: Depot::new(),
            came_before: AtomicU64::new(0),
            looked: Default::default(),
        }
    }

    /// What ever came into its lanes that are gone.
    pub(super) fn came_before(&self) -> u64 {
        self.came_before.load(Ordering::Relaxed)
    }

    /// A lane goes, whose owner writes no more. Under the lock of the lanes.
    pub(super) fn note_gone(&self, flow: &Flow) {
        let before = self.came_before();
        let came = before.wrapping_add(flow.came());
        self.came_before.store(came, Ordering::Relaxed);
    }

    /// A ticket of all that lanes and the depot keep, when so much has ever come in. Under the
    /// lock of the lanes, with all of them seized.
    pub(super) fn ticket_of(&self, came: u64) -> u64 {
        let [seen, ticket] = &self.looked;
        if seen.load(Ordering::Relaxed) != came {
            seen.store(came, Ordering::Relaxed);
            // After the revocations: whoever put something in has its work on the stream by now.
            ticket.store(self.clock.stamp(), Ordering::Relaxed);
        }
        ticket.load(Ordering::Relaxed)
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

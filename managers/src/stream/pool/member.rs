//! `Member`: a stream of a pool, and what is known of its work.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::driver::ContextCore;
use crate::error::Result;
use crate::stream::Stream;

pub(super) struct Member {
    stream: Stream,
    /// Leases that have not ended.
    leases: usize,
    /// Tickets of leases that have ended, the oldest first.
    ended: VecDeque<u64>,
    /// Number of the lease of the pool that was its last.
    begun: u64,
}

/// Tickets that are kept: of more leases the oldest are not counted.
const MOST_ENDED: usize = 64;

impl Member {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            leases: 0,
            ended: VecDeque::new(),
            begun: 0,
        }
    }

    /// Leases that have not ended, or whose work is not known to be done.
    pub(super) fn load(&self) -> usize {
        self.leases + self.ended.len()
    }

    /// Number of the lease of the pool that was its last.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Begins the lease of this number.
    pub(super) fn begin_lease(&mut self, number: u64) -> Stream {
        self.leases += 1;
        self.begun = number;
        self.stream.clone()
    }

    /// Ends a lease, whose work counts until it is done.
    pub(super) fn end_lease(&mut self) {
        self.leases -= 1;
        if self.ended.len() == MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(self.stream.timeline().stamp());
    }

    /// Forgets the leases whose work is known to be done.
    pub(super) fn forget_done(&mut self) {
        let done = self.stream.timeline().done();
        while self.ended.front().is_some_and(|&ticket| ticket <= done) {
            self.ended.pop_front();
        }
    }

    /// Asks the driver what is done (`cuEventQuery`), for which an event is recorded if need be. What is
    /// on a stream that is captured stays outstanding.
    #[track_caller]
    pub(super) fn ask(&mut self, core: &Arc<ContextCore>) -> Result<()> {
        if let Some(&newest) = self.ended.back() {
            let timeline = self.stream.timeline();
            timeline.close(core, newest)?;
            timeline.poll(core)?;
        }
        Ok(())
    }
}

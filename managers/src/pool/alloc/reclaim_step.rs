//! `ReclaimStep`: what a request tries when no memory is ready, as a list.
//!
//! [`REQUEST`] is the order; `Pool::take_step` is what each does.
//! A step can be left out, to measure what it buys: docs/measurements says what each does.

use std::sync::atomic::{AtomicU32, Ordering};

/// One thing that a request at the limit does for memory.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ReclaimStep {
    /// See which batches of frees have completed.
    Poll,
    /// Memory that other streams have freed, if that is complete by now.
    Completed,
    /// Map pages within the limit.
    Map,
    /// Threads keep nothing of exact sizes from now on.
    PauseCaching,
    /// Close the open batches, look for mapped pages anywhere within a larger free piece, and map
    /// pages again that nothing uses.
    Remap,
    /// Of [`Remap`](Self::Remap): any place that misses fewer pages, where the best one is too dear.
    Cheapest,
    /// Of [`Remap`](Self::Remap): unmap idle handles of several pages, which may lie in the place.
    LargeHandles,
    /// Drain the caches of threads and the transfer caches.
    Drain,
    /// Make the request's stream wait for the work before another stream's frees.
    Borrow,
    /// Ask the pools that share the limit, and on a full device those of the context.
    OtherPools,
    /// Join pieces that only this stream may use yet with those that all streams may.
    Join,
    /// Wait on the host until work that uses freed memory completes.
    Wait,
}

/// The steps of one search for memory, in order. The search ends with the first that finds some.
pub(crate) const REQUEST: [ReclaimStep; 10] = [
    ReclaimStep::Poll,
    ReclaimStep::Completed,
    ReclaimStep::Map,
    ReclaimStep::PauseCaching,
    ReclaimStep::Remap,
    ReclaimStep::Drain,
    ReclaimStep::Borrow,
    ReclaimStep::OtherPools,
    ReclaimStep::Join,
    // Between two searches.
    ReclaimStep::Wait,
];

impl ReclaimStep {
    /// Every step, parts of steps too.
    pub const ALL: [Self; 12] = [
        Self::Poll,
        Self::Completed,
        Self::Map,
        Self::PauseCaching,
        Self::Remap,
        Self::Cheapest,
        Self::LargeHandles,
        Self::Drain,
        Self::Borrow,
        Self::OtherPools,
        Self::Join,
        Self::Wait,
    ];

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The steps that a pool leaves out: none, but where they are measured.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(AtomicU32);

impl LeftOut {
    pub(crate) fn leave_out(&self, step: ReclaimStep) {
        self.0.fetch_or(step.bit(), Ordering::Relaxed);
    }

    pub(crate) fn has(&self, step: ReclaimStep) -> bool {
        self.0.load(Ordering::Relaxed) & step.bit() != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the figure of a step could be that of another one, or one have no figure.
    #[test]
    fn each_step_is_left_out_by_itself() {
        for step in ReclaimStep::ALL {
            let out = LeftOut::default();
            out.leave_out(step);
            let is_out = |other: &ReclaimStep| out.has(*other);
            assert_eq!(ReclaimStep::ALL.iter().filter(|it| is_out(it)).count(), 1);
            assert!(out.has(step));
        }
        assert!(REQUEST.iter().all(|step| ReclaimStep::ALL.contains(step)));
    }
}

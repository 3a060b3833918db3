//! How full a pool is.

use cupola_core::Pressure;

use crate::lists;
use crate::pool::state::Pool;

impl Pool {
    /// How full the tighter limit is, without the memory that is ready for reuse.
    pub(crate) fn pressure(&self) -> Pressure {
        if self.core.not_forked().is_err() {
            // Another thread may have left a lock taken.
            return Pressure::of(self.budget.used(), self.budget.limit());
        }
        // Errors of the context are for callers that use it.
        let device_free = self.pages.free_memory().map_or(u64::MAX, |(free, _)| free);
        self.pressure_with(self.reusable_now(), device_free)
    }

    /// Bytes that a request may have without anything more from the driver. Errors of the context
    /// are for callers that use it.
    pub(crate) fn reusable_now(&self) -> u64 {
        self.gauges().0.reusable()
    }

    /// How full the tighter limit is, with so many bytes ready for reuse, and so many that the
    /// device has left.
    pub(crate) fn pressure_with(&self, reusable: u64, device_free: u64) -> Pressure {
        // A device that others fill grants less than the limit.
        let granted = |used: u64, limit: u64| limit.min(used.saturating_add(device_free));
        let used = self.budget.used();
        let limit = granted(used, self.budget.limit());
        let own = self
            .observer
            .levels()
            .look_at_own(used.saturating_sub(reusable), limit);
        let Some(shared) = &self.config.within else {
            return own;
        };
        // Other pools give up the memory that they keep for reuse when a request asks for it.
        let theirs = lists::sum(self.others(), |other| other.reusable());
        let tighter = shared.budget().tighter();
        let limit = granted(tighter.used, tighter.limit);
        let used = tighter.used.saturating_sub(theirs + reusable);
        own.max(self.observer.levels().look_at_shared(used, limit))
    }
}

//! The controls of a pool: its limit, trimming, the callback that is asked before a refusal.

use std::cell::Cell;

use crate::error::{Error, Result};
use crate::lists::sort_by_number;
use crate::pool::NamedUsage;
use crate::pool::alloc::poll::MOMENT;
use crate::pool::inspect::counters::Happened;
use crate::pool::inspect::observer::Callback;
use crate::pool::state::Pool;

thread_local! {
    static IS_ASKING: Cell<bool> = const { Cell::new(false) };
}

/// A callback runs on this thread.
struct Asking(());

impl Asking {
    /// `None` when one does already.
    fn begin() -> Option<Self> {
        (!IS_ASKING.replace(true)).then_some(Self(()))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        IS_ASKING.set(false);
    }
}

impl Pool {
    /// Does nothing in a fork, where requests are refused without a callback, and another thread
    /// may have left the lock taken.
    pub(crate) fn set_callback(&self, callback: Callback) {
        if self.core.not_forked().is_err() && !mutant!("control_takes_a_lock_in_a_fork") {
            return;
        }
        self.observer.set_callback(callback);
    }

    /// Whether the callback has made room. It is not asked about refusals of its own requests.
    pub(crate) fn ask_user(&self, refusal: &Error) -> bool {
        let Some(_asking) = Asking::begin() else {
            return false;
        };
        // A graph's memory has no callback of its own.
        let pool = self.parent.as_deref().unwrap_or(self);
        let callback = pool.observer.callback();
        callback.is_some_and(|callback| callback(refusal))
    }

    #[track_caller]
    pub(crate) fn available(&self) -> Result<u64> {
        self.core.not_forked()?;
        let (gauges, looked) = self.gauges();
        looked?;
        let (device_free, _) = self.pages.free_memory()?;
        let growth = (self.available_pages() * self.pages.page()).min(device_free);
        Ok(growth + gauges.reusable())
    }

    #[track_caller]
    pub(crate) fn set_limit(&self, bytes: u64) -> Result<()> {
        self.core.not_forked()?;
        self.budget.set_limit(bytes);
        self.observer.progress().note_room();
        self.keep_limit(self.pages.lock(), MOMENT)
    }

    #[track_caller]
    pub(crate) fn trim(&self) -> Result<u64> {
        self.core.healthy()?;
        self.observer.note(Happened::Trimmed);
        let mut mapper = self.pages.lock();
        let before = self.budget.used();
        self.drain();
        self.close_and_poll_soon()?;
        self.retire_streams();
        self.unmap_idle(&mut mapper, usize::MAX)?;
        self.pages.release_cache(self, &mut mapper, 0)?;
        self.release_chunks(&mut mapper, u64::MAX)?;
        Ok(before.saturating_sub(self.budget.used()))
    }

    pub(crate) fn named(&self) -> Vec<(&'static str, NamedUsage)> {
        // Sorted by name, of which there are few: each is kept for ever.
        let mut names: Vec<(&'static str, NamedUsage)> = Vec::new();
        // In a fork another thread may have left the lock taken.
        if self.core.not_forked().is_ok() {
            self.with_headers(|header| {
                if let (Some(bytes), Some(name)) = (header.requested(), header.name()) {
                    let place = names.binary_search_by_key(&name, |known| known.0);
                    let at = place.unwrap_or_else(|at| {
                        names.insert(at, (name, NamedUsage::default()));
                        at
                    });
                    names[at].1.blocks += 1;
                    names[at].1.bytes += bytes;
                }
            });
        }
        // Stable: names with the same number of bytes stay sorted.
        sort_by_number(&mut names, |(_, usage)| !usage.bytes);
        names
    }
}

//! What the mapper's memory is charged to: the pool's limit, the one that it shares, and who is told
//! when something goes back.

use crate::pool::inspect::counters::Happened;
use crate::pool::limit::budget;
use crate::pool::limit::device_limit::DeviceLimit;
use crate::pool::limit::limit_budget::{LimitBudget, Refusal};
use crate::pool::limit_use::LimitUse;
use crate::pool::pages::handle_size::{Device, HandleSizes};
use crate::pool::pages::page_mapper::Charges;
use crate::pool::state::Pool;

impl Pool {
    /// Pages that the limits would let the pool have more.
    pub(crate) fn available_pages(&self) -> u64 {
        let shared = self.shared().map_or(u64::MAX, LimitBudget::available);
        self.budget.available().min(shared) / self.pages.page()
    }

    /// The same for a request that lacks so many: where the account of all processes has fewer left,
    /// after the bytes of processes that have ended were taken back.
    pub(crate) fn available_pages_for(&self, lacking: u64) -> u64 {
        let outer = self.shared().map_or(u64::MAX, LimitBudget::outer_room);
        if outer / self.pages.page() < lacking {
            self.reclaim_shared();
        }
        self.available_pages()
    }

    /// Takes back what processes that have ended have charged to the shared limit's account. Whether there
    /// was anything.
    fn reclaim_shared(&self) -> bool {
        let shared = self.config.within.as_ref();
        shared.is_some_and(DeviceLimit::reclaim)
    }

    /// How large handles may be when so many more pages are mapped.
    pub(crate) fn handle_sizes(&self, pages: u64, device: Device) -> HandleSizes {
        let own = LimitUse::of(&self.budget);
        let limits = [Some(own), self.shared().map(LimitBudget::tighter)];
        let limits: Vec<_> = limits.into_iter().flatten().collect();
        HandleSizes::new(
            pages,
            self.pages.page(),
            self.available_pages(),
            device,
            &limits,
        )
    }

    /// The limit that it shares with other pools.
    pub(crate) fn shared(&self) -> Option<&LimitBudget> {
        self.config.within.as_ref().map(DeviceLimit::budget)
    }
}

impl Charges for Pool {
    fn charge(&self, bytes: u64) -> bool {
        // Where there is nothing to take back, another process may have just done so.
        let mut is_last = false;
        loop {
            match budget::charge(&self.budget, self.shared(), bytes) {
                Ok(()) => return true,
                Err(Refusal::Outer) if !is_last => is_last = !self.reclaim_shared(),
                Err(Refusal::Own | Refusal::Outer) => return false,
            }
        }
    }

    fn note_mapped(&self) {
        let pool = self.parent.as_deref().unwrap_or(self);
        pool.observer.counters().note_mapped(self.budget.used());
    }

    fn release_charge(&self, bytes: u64) {
        budget::release(&self.budget, self.shared(), bytes);
        self.observer.progress().note_room();
        if let Some(parent) = &self.parent {
            parent.observer.progress().note_room();
        }
        if let Some(shared) = &self.config.within {
            shared.note_room();
        }
    }

    fn undo_charge(&self, bytes: u64) {
        budget::release(&self.budget, self.shared(), bytes);
        self.observer.progress().note_undone();
        if let Some(parent) = &self.parent {
            parent.observer.progress().note_room();
        }
    }

    fn note_moved(&self, pages: u64) {
        self.observer.counters().note_times(Happened::Moved, pages);
    }
}

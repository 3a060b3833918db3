//! What the mapper's memory is charged to: the pool's limit, the one that it shares, and who is told
//! when something goes back.

use cupola_core::Budget;

use crate::pool::inspect::counters::Happened;
use crate::pool::limit::budget;
use crate::pool::limit::device_limit::DeviceLimit;
use crate::pool::pages::handle_size::{Device, HandleSizes};
use crate::pool::pages::page_mapper::Charges;
use crate::pool::state::Pool;

impl Pool {
    /// Pages that the limits would let the pool have more.
    pub(crate) fn available_pages(&self) -> u64 {
        let shared = self.shared().map_or(u64::MAX, Budget::available);
        self.budget.available().min(shared) / self.pages.page()
    }

    /// How large handles may be when so many more pages are mapped.
    pub(crate) fn handle_sizes(&self, pages: u64, device: Device) -> HandleSizes {
        let limits = [Some(&**self.budget), self.shared()];
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
    pub(crate) fn shared(&self) -> Option<&Budget> {
        self.config.within.as_ref().map(DeviceLimit::budget)
    }
}

impl Charges for Pool {
    fn charge(&self, bytes: u64) -> bool {
        budget::charge(&self.budget, self.shared(), bytes)
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

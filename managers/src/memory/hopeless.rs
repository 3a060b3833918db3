//! What no completion can give: requests that what is alive leaves no room for, or that could be had
//! only if blocks moved. They are refused without a wait.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::central::Central;
use super::flow::Flow;
use super::ladder::Request;
use super::pool::Pool;

impl Pool {
    /// Whether what is alive leaves no room for so many bytes, whatever completes. For who has the
    /// mapper.
    pub(super) fn is_full_of_live(&self, bytes: u64) -> bool {
        let most = self.most().max(self.budget.used());
        let is_over = |held: u64| held.checked_add(bytes).is_none_or(|sum| sum > most);
        let held = self.central.lock().held();
        // No more than that is alive.
        is_over(held) && is_over(self.alive())
    }

    /// The same of the limit that pools have in common, as far as it is certain: pools are asked one
    /// after the other, and what is alive may go from one to another meanwhile.
    pub(super) fn is_full_in_common(&self, bytes: u64) -> bool {
        let Some(shared) = self.shared() else {
            return false;
        };
        let most = shared.limit().max(shared.used());
        let is_over = |held: u64| held.checked_add(bytes).is_none_or(|sum| sum > most);
        if !is_over(shared.used()) {
            return false;
        }
        // First what has ever gone out, then what has ever come in: the difference is never more
        // than what was alive all the time between.
        let out: HashMap<_, _> = self.flows(|flow| &flow.bytes_out).collect();
        fence(Ordering::Acquire);
        let alive = self
            .flows(|flow| &flow.bytes_in)
            .filter_map(|(pool, back)| {
                let out = out.get(&pool)?;
                Some(out.saturating_sub(back))
            });
        is_over(alive.sum())
    }

    /// What went through this pool, and through those that share its limit: their numbers, and one
    /// figure of each.
    fn flows(&self, of: fn(&Flow) -> &AtomicU64) -> impl Iterator<Item = (u64, u64)> {
        let read = move |pool: &Self| (pool.number, of(&pool.flow()).load(Ordering::Relaxed));
        let others = self.others().map(move |other| read(&other));
        std::iter::once(read(self)).chain(others)
    }

    /// Whether the request could be had when all work is complete that uses what was freed.
    pub(super) fn could_hold(&self, central: &Central, request: Request) -> bool {
        let (bytes, align) = (request.want.bytes, request.want.align);
        if self.vmm.is_none() {
            // A chunk goes as a whole: here the bytes that are alive must do.
            return true;
        }
        if request.slot.is_small() && central.slabs.has_free(request.slot) {
            return true;
        }
        let most = self.most() / self.page;
        central.heap.could_hold(bytes, align, (most, self.page))
    }
}

//! Requests that no completion can serve: live blocks leave no room for them, or they could be had
//! only if blocks moved. They are refused without a wait.

use std::sync::atomic::{Ordering, fence};

use crate::pool::alloc::slow_path::SlowRequest;
use crate::pool::heap::central::Central;
use crate::pool::member::Member;
use crate::pool::state::Pool;

impl Pool {
    /// Whether live blocks leave no room for so many bytes, whatever completes. For a caller that
    /// has the mapper.
    pub(crate) fn is_full_of_live(&self, bytes: u64) -> bool {
        let most = self.most().max(self.budget.used());
        let is_over = |held: u64| held.checked_add(bytes).is_none_or(|sum| sum > most);
        let held = self.central.lock().held();
        // No more than that is alive.
        is_over(held) && is_over(self.alive())
    }

    /// The same of the limit that pools have in common, as far as it is certain: pools are asked
    /// one after the other, and live bytes may go from one to another meanwhile.
    pub(crate) fn is_full_in_common(&self, bytes: u64) -> bool {
        let Some(shared) = self.shared() else {
            return false;
        };
        let most = shared.limit().max(shared.used());
        let is_over = |held: u64| held.checked_add(bytes).is_none_or(|sum| sum > most);
        if !is_over(shared.used()) {
            return false;
        }
        // First the bytes that have ever gone out, then those that have ever come in: where stores
        // are seen in the order in which they were made, the difference is never more than the
        // bytes that were alive all the time between. Elsewhere it may be for a moment, and then a
        // request is refused that would have been served a moment later.
        let out = self.flows(|pool| pool.bytes_out());
        fence(Ordering::Acquire);
        let mut alive = 0;
        for (pool, back) in self.flows(|pool| pool.bytes_in()) {
            if let Some((_, out)) = out.iter().find(|(other, _)| *other == pool) {
                alive += out.saturating_sub(back);
            }
        }
        is_over(alive)
    }

    /// The numbers of this pool and of those that share its limit, and one figure of each.
    fn flows(&self, of: fn(&dyn Member) -> u64) -> Vec<(u64, u64)> {
        let mut flows = vec![(self.number, of(self))];
        for other in self.others() {
            flows.push((other.number(), of(&*other)));
        }
        flows
    }

    /// Whether the request could be had of `most` bytes when all work that uses freed memory is
    /// complete. For a caller that has drained the caches of threads.
    pub(crate) fn could_hold(&self, central: &Central, request: SlowRequest, most: u64) -> bool {
        let (bytes, align) = (request.want.bytes, request.want.align);
        if self.pages.vmm().is_none() {
            // A chunk goes as a whole: here the bytes that are alive must do.
            return true;
        }
        let (slot, leaving) = (request.slot, central.leaving());
        let is_free = || central.slabs().has_free(slot) || central.waiting().has(slot);
        if slot.is_small() && is_free() {
            return true;
        }
        let (heap, page) = (central.heap(), self.pages.page());
        heap.could_hold(bytes, align, (most / page, page), |block| {
            leaving.contains(&block.offset())
        })
    }
}

//! `Gauges`: the bytes of a pool by their state, at one moment.
//!
//! Free memory in the heap and the slabs is stamped. Pieces in caches and transfer caches are not,
//! because a hit would pay for that: all that is known is that their stream freed them before now.
//! So there is one ticket for all that a stream's caches and transfer cache keep, taken while
//! nothing goes in or out, and an event closes it: until that is reached all of it is pending,
//! pieces that were freed long ago too. As long as nothing more comes in the next look asks for the
//! same ticket.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::lists;
use crate::pool::cache::counters::CacheCounters;
use crate::pool::cache::thread_cache::{RevokedCache, ThreadCache};
use crate::pool::heap::central::Central;
use crate::pool::pages::page_table::PageState;
use crate::pool::pages::vmm::is_out_of_memory;
use crate::pool::state::Pool;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::timeline::Closed;

/// How long figures wait for the events of streams with nothing to do.
const MOMENT: Duration = Duration::from_micros(50);

/// Bytes of a pool, at one moment. Pieces on their way to a user are nowhere.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// The figures of blocks that went through all caches, and past them.
    pub(crate) counters: CacheCounters,
    /// From the driver.
    pub(crate) mapped: u64,
    /// Mapped nowhere, and ready to be.
    pub(crate) unmapped: u64,
    /// Free in the heap and in slabs, on mapped pages, and used by nothing that runs.
    pub(crate) loose: u64,
    /// The largest stretch of these.
    pub(crate) largest: u64,
    /// In caches and transfer caches, and used by nothing that runs.
    pub(crate) kept: u64,
    /// Freed, wherever it is, and perhaps in use.
    pub(crate) pending: u64,
}

impl Gauges {
    /// Free on mapped pages, for any request.
    pub(crate) fn ready(&self) -> u64 {
        self.loose + self.kept
    }

    /// Bytes that a request may have without anything more from the driver.
    pub(crate) fn reusable(&self) -> u64 {
        self.ready() + self.unmapped
    }
}

/// The memory that the caches and the transfer cache of a stream keep.
struct Kept {
    state: Arc<StreamState>,
    bytes: u64,
    /// How often pieces came into the caches.
    came: u64,
    /// When this is complete, nothing that runs uses them.
    ticket: u64,
}

impl Pool {
    /// The gauges after a poll of all batches, and that poll's error. Not for a caller that has the
    /// mapper.
    #[track_caller]
    pub(crate) fn gauges(&self) -> (Gauges, Result<()>) {
        let looked = self.close_and_poll();
        let (mut gauges, kept) = {
            let mapper = self.pages.lock();
            let (mut gauges, kept) = self.stand_still();
            gauges.unmapped = mapper.cached() * self.pages.page();
            (gauges, kept)
        };
        let asked = self.sort_out(&mut gauges, &kept);
        (gauges, looked.and(asked))
    }

    /// The gauges without the unmapped memory in the mapper's cache: a caller that has the mapper
    /// may ask too.
    #[track_caller]
    pub(crate) fn mapped_gauges(&self) -> Gauges {
        // Errors of the context are for callers that use it.
        let _ = self.close_and_poll();
        let (mut gauges, kept) = self.stand_still();
        let _ = self.sort_out(&mut gauges, &kept);
        gauges
    }

    /// Bytes of the pieces that users have, as they are rounded up: all that is out of the heap, but
    /// for what caches, transfer caches and slabs keep, or what waits for other streams. For a caller
    /// that has the mapper: else memory that a search takes for a moment counts.
    pub(crate) fn alive(&self) -> u64 {
        // First the caches: no thread makes one of a stream that is not among the states then.
        let caches = self.caches.lock();
        let states = self.all_states();
        let seized = ThreadCache::revoke_all(&caches);
        let central = self.central.lock();
        let in_slabs = central.slabs().free_bytes(central.rules());
        let in_caches = lists::sum(&seized, RevokedCache::kept);
        // SAFETY: `kept` needs that no batch goes in or out. A thread that moves one is inside a
        // cache or the central lock's section: the caches are revoked, and the lock is held.
        let in_transfer_caches =
            lists::sum(&states, |state| unsafe { state.transfer_cache().kept() });
        let kept = in_caches + in_transfer_caches + in_slabs.0 + in_slabs.1;
        // Pieces that wait for other streams, or for the thread of their arena, are out of the heap,
        // and have no user.
        let in_mail = central.mail_bytes();
        let on_their_way = central.waiting().bytes() + in_mail.0 + in_mail.1;
        central.held().saturating_sub(kept + on_their_way)
    }

    /// All figures that are read while nothing moves, and the content of caches and transfer
    /// caches.
    fn stand_still(&self) -> (Gauges, Vec<Kept>) {
        let mut gauges = Gauges::default();
        if self.core.not_forked().is_err() {
            // Another thread may have left a lock taken.
            gauges.mapped = self.budget.used();
            return (gauges, Vec::new());
        }
        // First the caches: no thread makes one of a stream that is not among the states then.
        let caches = self.caches.lock();
        let states = self.all_states();
        let seized = ThreadCache::revoke_all(&caches);
        let central = self.central.lock();
        gauges.mapped = self.budget.used();
        gauges.counters.absorb(self.caches.past());
        let mut kept: HashMap<*const StreamState, Kept> = HashMap::new();
        let states = states
            .iter()
            .chain(caches.iter().map(|cache| cache.state()));
        for state in states {
            kept.entry(Arc::as_ptr(state)).or_insert_with(|| Kept {
                state: Arc::clone(state),
                // SAFETY: `kept` needs that no batch goes in or out. A thread that moves one is
                // inside a cache or the central lock's section: the caches are revoked, and the
                // lock is held.
                bytes: unsafe { state.transfer_cache().kept() },
                came: state.came_before(),
                ticket: 0,
            });
        }
        for (cache, seized) in caches.iter().zip(&seized) {
            gauges.counters.absorb(cache.counters());
            if let Some(kept) = kept.get_mut(&Arc::as_ptr(cache.state())) {
                kept.bytes += seized.kept();
                kept.came = kept.came.wrapping_add(cache.counters().came());
            }
        }
        let mut found = Vec::new();
        for mut kept in kept.into_values() {
            if kept.bytes > 0 {
                kept.ticket = kept.state.ticket_of(kept.came);
                found.push(kept);
            }
        }
        // From here on only the heap has to stand still.
        drop(seized);
        drop(caches);
        gauges.add_heap(&central);
        (gauges, found)
    }

    /// Finds out how much of the kept memory is complete, and polls for a moment where it was not
    /// asked before.
    #[track_caller]
    fn sort_out(&self, gauges: &mut Gauges, kept: &[Kept]) -> Result<()> {
        let asked = self.ask_for(kept);
        for kept in kept {
            if kept.state.timeline().is_done(kept.ticket) {
                gauges.kept += kept.bytes;
            } else {
                gauges.pending += kept.bytes;
            }
        }
        asked
    }

    #[track_caller]
    fn ask_for(&self, kept: &[Kept]) -> Result<()> {
        let mut new = Vec::new();
        for Kept { state, ticket, .. } in kept {
            let is_new = state.timeline().covered() < *ticket;
            match state.timeline().close(&self.core, *ticket) {
                // A full device has no events either: it stays pending.
                refused if is_out_of_memory(&refused) => {}
                closed => {
                    if closed? == Closed::Covered && is_new {
                        new.push((state, *ticket));
                        continue;
                    }
                }
            }
            // A request asks only for tickets that the heap waits for.
            if !state.timeline().is_done(*ticket) {
                state.timeline().poll(&self.core)?;
            }
        }
        let until = Instant::now() + MOMENT;
        while !new.is_empty() {
            for (state, _) in &new {
                state.timeline().poll(&self.core)?;
            }
            lists::retain(&mut new, |(state, ticket)| {
                !state.timeline().is_done(*ticket)
            });
            if Instant::now() >= until {
                break;
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}

impl Gauges {
    /// Adds the free memory of the heap and the slabs on mapped pages.
    fn add_heap(&mut self, central: &Central) {
        let rules = central.rules();
        for piece in central.heap().pieces() {
            let Some(region) = rules.region(piece.offset) else {
                continue;
            };
            let (first, end) = region.touched(piece.offset, piece.size);
            let done = rules.is_done(piece.data);
            let mut run = 0;
            for page in first..end.min(region.len()) {
                if region.state(page) != PageState::Mapped {
                    run = 0;
                    continue;
                }
                let from = region.address(page).max(piece.offset);
                let to = (region.address(page) + region.page()).min(piece.offset + piece.size);
                let bytes = to - from;
                if done {
                    self.loose += bytes;
                    run += bytes;
                    self.largest = self.largest.max(run);
                } else {
                    self.pending += bytes;
                }
            }
        }
        let (ready, pending) = central.slabs().free_bytes(rules);
        let in_mail = central.mail_bytes();
        self.loose += ready + in_mail.0;
        self.pending += pending + central.waiting().bytes() + in_mail.1;
    }
}

//! The steps that a request tries when no memory is ready, with a search after each.
//!
//! Magazines, transfer caches and mapped memory were looked through before. From here on a request
//! walks the list of [`REQUEST`]: [`reclaim_step`](super::reclaim_step) says what each step is.
//! Where all found nothing, it waits on the host for a bounded time until work that uses freed
//! memory completes and searches again; then the user is asked; then it is refused, with the whole
//! account.
//!
//! The context is never synchronised: other streams' work goes on.
//!
//! Waiting can only give memory that is not alive. A request that live blocks leave no room for is
//! refused without a wait, before caches are drained; and so is one, after they were, that could
//! be had only if live blocks moved. How often they are drained, and how long the waits are, is in
//! [`patience`](super::patience).

use std::ptr::NonNull;

use crate::error::{Error, Result};
use crate::pool::alloc::patience::Patience;
use crate::pool::alloc::reclaim_step::{REQUEST, ReclaimStep};
use crate::pool::cache::size_class::Slot;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::heap::central::HeapRequest;
use crate::pool::inspect::counters::Happened;
use crate::pool::pages::mapper::{Found, From};
use crate::pool::pages::mapper_guard::MapperGuard;
use crate::pool::pages::search::Search;
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::Stream;

/// How often a request asks the user: an answer that frees nothing, again and again, must not keep
/// it from its refusal.
const ANSWERS: u32 = 64;

/// A request on the slow path.
#[derive(Clone, Copy)]
pub(crate) struct SlowRequest<'a> {
    pub(crate) want: HeapRequest,
    /// Bytes asked for.
    pub(crate) requested: u64,
    /// Of a small size: a slot of the slabs will do as well as a block.
    pub(crate) slot: Slot,
    pub(crate) state: &'a StreamState,
    pub(crate) stream: &'a Stream,
    pub(crate) wait: Wait,
    /// Drains the caches of threads.
    pub(crate) drains: bool,
}

/// The findings of a search that has found no memory.
struct Nothing {
    /// The driver's error, if it was the driver that had no memory.
    full: Option<Error>,
    /// Nothing that completes could change that.
    hopeless: bool,
}

/// A search on its way through the steps.
struct Walk<'p> {
    /// `None` only while other pools are asked.
    mapper: Option<MapperGuard<'p>>,
    search: Search,
    /// Bytes that a full device has left.
    left: u64,
}

/// The memory that a request gets.
pub(crate) enum Served {
    Block(Found),
    Slot(NonNull<BlockHeader>),
}

impl Pool {
    /// A block if the limit has room for it: the steps up to [`ReclaimStep::Map`]. For a request that can do without.
    /// `place` gets the block before others search again, so that no thread misses it. Whether
    /// there was one.
    #[track_caller]
    pub(crate) fn grow(
        &self,
        want: HeapRequest,
        wait: Wait,
        place: impl FnOnce(Found),
    ) -> Result<bool> {
        let mut mapper = self.pages.lock_within(wait)?;
        self.poll_streams()?;
        let mut found = self.try_others(want)?;
        if found.is_none() {
            found = self.find(&mut mapper, &mut Search::default(), want, From::Limit)?;
        }
        let is_found = found.is_some();
        if let Some(found) = found {
            place(found);
        }
        Ok(is_found)
    }

    /// A block or a slot, by all means.
    #[track_caller]
    pub(crate) fn allocate_slow(&self, mut request: SlowRequest) -> Result<Served> {
        let mut patience = Patience::new(request.wait, self.config.wait);
        let mut asked = 0;
        loop {
            let mut full = None;
            if self.could_grant(request.want.bytes) {
                request.drains = patience.may_drain();
                // Before the search, so that nothing that it does not see goes unnoticed.
                let before = self.signs();
                let nothing = match self.search_all(request)? {
                    Ok(got) => return Ok(got),
                    Err(nothing) => nothing,
                };
                if !nothing.hopeless {
                    if request.drains {
                        patience.note_drained();
                    }
                    let may_wait = !self.left_out.has(ReclaimStep::Wait);
                    if may_wait && self.wait_for_more(&before, &mut patience)? {
                        continue;
                    }
                    if !request.drains {
                        patience.drain_once_more();
                        continue;
                    }
                }
                full = nothing.full;
            }
            // Other pools may have lost it when they were asked to give memory back.
            self.core.healthy()?;
            let refusal = self.refusal(request.requested, full);
            let may_ask = asked < ANSWERS && request.wait != Wait::Never;
            if !may_ask || !self.ask_user(&refusal) {
                return Err(self.counted(refusal));
            }
            asked += 1;
            patience.renew();
        }
    }

    /// Whether the limits are large enough for it.
    fn could_grant(&self, bytes: u64) -> bool {
        let whole = bytes.checked_next_multiple_of(self.pages.page());
        whole.is_some_and(|whole| whole <= self.most()) && !self.is_full_in_common(bytes)
    }

    /// The most bytes that this pool can have.
    pub(crate) fn most(&self) -> u64 {
        let shared = self.config.within.as_ref();
        let shared = shared.map_or(
            u64::MAX,
            crate::pool::limit::device_limit::DeviceLimit::limit,
        );
        self.budget.limit().min(shared)
    }

    /// One search: the steps of [`REQUEST`] in order, until one finds memory or ends it.
    #[track_caller]
    fn search_all(&self, request: SlowRequest) -> Result<Result<Served, Nothing>> {
        let mut walk = Walk {
            mapper: Some(self.pages.lock_within(request.wait)?),
            search: Search {
                alone: self.is_alone(),
                hopeless: self.is_full_of_live(request.want.bytes),
                ..Search::default()
            },
            left: u64::MAX,
        };
        for step in REQUEST {
            if walk.search.hopeless {
                break;
            }
            if self.left_out.has(step) {
                continue;
            }
            if let Some(served) = self.take_step(step, &mut walk, request)? {
                return Ok(Ok(served));
            }
        }
        let mut search = walk.search;
        Ok(Err(Nothing {
            full: self.full(&mut search)?,
            hopeless: search.hopeless,
        }))
    }

    /// One step of a search: the memory that it has found.
    #[track_caller]
    fn take_step<'p>(
        &'p self,
        step: ReclaimStep,
        walk: &mut Walk<'p>,
        request: SlowRequest,
    ) -> Result<Option<Served>> {
        let want = request.want;
        let block = match step {
            ReclaimStep::Poll => {
                self.poll_streams()?;
                None
            }
            ReclaimStep::Completed => self.try_others(want)?,
            ReclaimStep::Map => self.find_in(walk, want, From::Limit)?,
            ReclaimStep::PauseCaching => {
                self.pause_caching(walk)?;
                None
            }
            ReclaimStep::Remap => {
                self.close_batches()?;
                self.poll_streams()?;
                self.find_in(walk, want, self.idle(request))?
            }
            ReclaimStep::Drain if request.drains => return self.drain_step(walk, request),
            ReclaimStep::Borrow => self.borrow_from_others(request)?,
            ReclaimStep::OtherPools => self.ask_others(walk, request)?,
            ReclaimStep::Join => self.central.lock().in_joined_stretch(want),
            // Parts of other steps, and what comes between two searches.
            ReclaimStep::Drain
            | ReclaimStep::Cheapest
            | ReclaimStep::LargeHandles
            | ReclaimStep::Wait => None,
        };
        Ok(block.map(Served::Block))
    }

    /// [`find`](Self::find) of a walk, which has the mapper.
    #[track_caller]
    fn find_in(&self, walk: &mut Walk, want: HeapRequest, from: From) -> Result<Option<Found>> {
        match walk.mapper.as_deref_mut() {
            Some(mapper) => self.find(mapper, &mut walk.search, want, from),
            None => Ok(None),
        }
    }

    /// Threads keep nothing of exact sizes from now on, because the pool has no room.
    #[track_caller]
    fn pause_caching(&self, walk: &mut Walk) -> Result<()> {
        // The free memory of the device, where it has refused or will.
        if walk.search.is_device_full() {
            walk.left = self.pages.free_memory()?.0;
        }
        // The bytes that the pool could have by now: others may have the rest of a limit.
        let more = walk.left.min(self.available_pages() * self.pages.page());
        let could = self.budget.used() + more;
        self.central.lock().pause_exact_caching(could);
        Ok(())
    }

    /// Drains caches, and searches again. What is not to be had then, though all work were
    /// complete, is hopeless.
    #[track_caller]
    fn drain_step(&self, walk: &mut Walk, request: SlowRequest) -> Result<Option<Served>> {
        // On a full device the pool's memory and the free rest: unless another pool may come by
        // memory that it can give up.
        let most = match walk.search.alone {
            true => self
                .most()
                .min(self.budget.used().saturating_add(walk.left)),
            false => self.most(),
        };
        let could_hold = self.drain_and(|central| self.could_hold(central, request, most));
        self.close_and_poll()?;
        if let Some(piece) = self.free_slot(request) {
            return Ok(Some(Served::Slot(piece)));
        }
        if let Some(found) = self.find_in(walk, request.want, self.idle(request))? {
            return Ok(Some(Served::Block(found)));
        }
        walk.search.hopeless |= !could_hold;
        Ok(None)
    }

    /// Asks other pools, if this one lacks what they could give. The mapper stays held from then
    /// on: the page map must not change under what follows.
    #[track_caller]
    fn ask_others<'p>(
        &'p self,
        walk: &mut Walk<'p>,
        request: SlowRequest,
    ) -> Result<Option<Found>> {
        // A pool that works is drained no more often than the threads of this one are.
        let may_ask = request.wait != Wait::Never && request.drains;
        if !may_ask || !self.is_short_of_others(&walk.search) {
            return Ok(None);
        }
        let Some(mapper) = walk.mapper.take() else {
            return Ok(None);
        };
        let (found, mapper) = self.find_at_others(mapper, &mut walk.search, request)?;
        walk.mapper = Some(mapper);
        Ok(found)
    }

    /// The driver's error where the device has too little.
    #[track_caller]
    fn full(&self, search: &mut Search) -> Result<Option<Error>> {
        match search.full.take() {
            None if search.lacking => self.pages.device_refusal(),
            full => Ok(full),
        }
    }

    /// Whether no other pool of this crate could give memory up for this one on its device, as far
    /// as this one can tell.
    fn is_alone(&self) -> bool {
        self.config.within.is_none() && self.table.has_one_pool()
    }

    /// Where the memory for a request may come from at the limit. Giving a chunk back waits for all
    /// work of the context.
    pub(crate) fn idle(&self, request: SlowRequest) -> From {
        if request.wait == Wait::Never && self.pages.vmm().is_none() {
            From::Limit
        } else {
            From::Idle
        }
    }

    /// A slot of the slabs, for a small request: slots that others kept, or used until just now,
    /// are there by now.
    fn free_slot(&self, request: SlowRequest) -> Option<NonNull<BlockHeader>> {
        if !request.slot.is_small() {
            return None;
        }
        let mut found = None;
        let central = &mut *self.central.lock();
        let (slot, stream) = (request.slot, request.want.stream);
        if central.take_slots(slot, stream, 1, |piece| found = Some(piece)) == 0 {
            central.take_slots_of_others(slot, stream, 1, |piece| found = Some(piece));
        }
        found
    }

    /// Closes the batches of all streams that have freed something before pages are mapped that
    /// their memory could stand in for: it is every stream's as soon as it is complete. That is an
    /// event and two looks for captures for each of them, a microsecond or so, where a page costs
    /// tens.
    #[track_caller]
    fn try_others(&self, want: HeapRequest) -> Result<Option<Found>> {
        if self.central.lock().rules().is_single() {
            return Ok(None);
        }
        self.close_batches()?;
        self.poll_streams()?;
        Ok(self.central.lock().ready(want))
    }

    /// Uses memory that another stream has freed, behind its work: `cuStreamWaitEvent`.
    #[track_caller]
    fn borrow_from_others(&self, request: SlowRequest) -> Result<Option<Found>> {
        let states = self.all_states();
        let own = request.state.index();
        for other in states.iter().filter(|other| other.index() != own) {
            let granted = other.timeline().covered();
            let stamp = Stamp::new(other.index(), granted);
            let found = self.central.lock().ready_behind(request.want, stamp);
            let Some((block, was)) = found else {
                continue;
            };
            self.observer.note(Happened::WaitedOnDevice);
            let stream = request.stream;
            let waits = stream.wait_for_ticket(other.timeline(), &self.core, granted);
            if matches!(waits, Ok(true)) {
                return Ok(Some((block, was.stamp())));
            }
            // No user has seen the block.
            self.central.lock().undo(block, was);
            waits?;
        }
        Ok(None)
    }

    /// Why a request got nothing.
    fn refusal(&self, requested: u64, full: Option<Error>) -> Error {
        match full {
            Some(Error::Driver(cause)) => Error::OutOfMemory {
                cause: Box::new(cause),
                account: Box::new(self.account(requested)),
            },
            Some(other) => other,
            None => self.refuse(requested),
        }
    }

    /// A refusal that the caller gets.
    pub(crate) fn counted(&self, refusal: Error) -> Error {
        match refusal {
            Error::OverLimit(_) => self.observer.note(Happened::Refused),
            Error::OutOfMemory { .. } => self.observer.note(Happened::Exhausted),
            _ => {}
        }
        refusal
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

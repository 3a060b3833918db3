//! The steps that a request tries when no memory is ready, with a search after each.
//!
//! Magazines, transfer caches and mapped memory were looked through before. From here on:
//!
//! 1. see which batches of frees have completed;
//! 2. map pages within the limit;
//! 3. look for mapped pages within larger pieces; close the open batches, and map pages again
//!    that nothing uses. Where one stream uses the pool, and work is under way on it after which
//!    the best place can have all its pages, wait for that on the host first, for a bounded time:
//!    a worse place is worse for all that come later, and threads keep pieces for a reason;
//! 4. drain the caches of threads and the transfer caches;
//! 5. make the request's stream wait for the work before another stream's frees;
//! 6. ask the pools that share the limit, and on a full device those of the context;
//! 7. join pieces that only this stream may use yet with those that all streams may;
//! 8. wait on the host, for a bounded time, until work that uses freed memory completes;
//! 9. ask the user;
//! 10. refuse, with the whole account.
//!
//! The context is never synchronised: other streams' work goes on.
//!
//! Waiting can only give memory that is not alive. A request that live blocks leave no room for is
//! refused without a wait, before caches are drained; and so is one, after step 4, that could be
//! had only if live blocks moved. How often step 4 is taken, and how long the waits are, is in
//! [`patience`](super::patience).

use std::ptr::NonNull;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::pool::alloc::patience::Patience;
use crate::pool::cache::size_class::Slot;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::heap::central::{Central, HeapRequest};
use crate::pool::inspect::counters::Happened;
use crate::pool::pages::mapper::{Found, From, Mapper};
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::is_out_of_memory;
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::Stream;

/// How long a request waits at most for pages of the best place, when it could perhaps have another
/// one: a host may be seconds ahead of its device, and the device may wait for the host.
const PATIENCE: Duration = Duration::from_secs(5);

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
    /// Rather waits for the pages of the best place than takes a worse one: until it has waited.
    pub(crate) patient: bool,
    /// Drains the caches of threads.
    pub(crate) drains: bool,
}

/// The findings of a search that has found no memory.
struct Nothing {
    /// The driver's error, if it was the driver that had no memory.
    full: Option<Error>,
    /// It would rather wait for this ticket of its stream, and has not looked everywhere.
    soon: Option<u64>,
    /// Nothing that completes could change that.
    hopeless: bool,
}

/// The memory that a request gets.
pub(crate) enum Served {
    Block(Found),
    Slot(NonNull<BlockHeader>),
}

impl Pool {
    /// A block if the limit has room for it: steps 1 and 2. For a request that can do without.
    /// `place` gets the block before others search again, so that no thread misses it. Whether
    /// there was one.
    #[track_caller]
    pub(crate) fn grow(
        &self,
        want: HeapRequest,
        wait: Wait,
        place: impl FnOnce(&mut Central, Found),
    ) -> Result<bool> {
        let mut mapper = self.pages.lock_within(wait)?;
        self.poll_streams()?;
        let mut found = self.try_others(want)?;
        if found.is_none() {
            found = self.find(&mut mapper, &mut Search::default(), want, From::Limit)?;
        }
        let is_found = found.is_some();
        if let Some(found) = found {
            place(&mut self.central.lock(), found);
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
                request.patient &= patience.may_wait();
                // Before the search, so that nothing that it does not see goes unnoticed.
                let before = self.signs();
                let nothing = match self.search_all(request)? {
                    Ok(got) => return Ok(got),
                    Err(nothing) => nothing,
                };
                // A request that can do with less is not kept from the mapper meanwhile.
                if let Some(ticket) = nothing.soon {
                    self.wait_for_pages(request, ticket, &patience)?;
                    // Once: memory freed from now on may be others' again when it is complete.
                    request.patient = false;
                    continue;
                }
                if !nothing.hopeless {
                    if request.drains {
                        patience.note_drained();
                    }
                    if self.wait_for_more(&before, &mut patience)? {
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

    /// Steps 1 to 7.
    #[track_caller]
    fn search_all(&self, request: SlowRequest) -> Result<Result<Served, Nothing>> {
        let mut mapper = self.pages.lock_within(request.wait)?;
        let mut search = Search {
            alone: self.is_alone(),
            hopeless: self.is_full_of_live(request.want.bytes),
            ..Search::default()
        };
        if !search.hopeless
            && let Some(got) = self.search(&mut mapper, &mut search, request)?
        {
            return Ok(Ok(got));
        }
        if search.hopeless {
            return Ok(Err(Nothing {
                full: self.full(&mut search)?,
                soon: None,
                hopeless: true,
            }));
        }
        if search.soon {
            // All batches are closed.
            let ticket = self
                .central
                .lock()
                .rules()
                .last_freed(request.state.index());
            return Ok(Err(Nothing {
                full: None,
                soon: Some(ticket),
                hopeless: false,
            }));
        }
        // A pool that works is drained no more often than the threads of this one are.
        let may_ask = request.wait != Wait::Never && request.drains;
        // Held to the end: the page map must not change under what follows.
        let _mapper = if may_ask && self.is_short_of_others(&search) {
            let (found, mapper) = self.find_at_others(mapper, &mut search, request)?;
            if let Some(found) = found {
                return Ok(Ok(Served::Block(found)));
            }
            mapper
        } else {
            mapper
        };
        if let Some(found) = self.central.lock().in_joined_stretch(request.want) {
            return Ok(Ok(Served::Block(found)));
        }
        Ok(Err(Nothing {
            full: self.full(&mut search)?,
            soon: None,
            hopeless: false,
        }))
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

    /// Whether a request rather waits for pages than takes a worse place, or drains caches. Not
    /// where several streams use the pool: work on another one may take any time. Nor where others
    /// have waited in vain for work that is still under way.
    fn is_patient(&self, mapper: &Mapper, request: SlowRequest) -> bool {
        let may = request.patient && self.parent.is_none();
        may && self.is_waiting() && {
            let central = self.central.lock();
            let rules = central.rules();
            let done = rules.done(request.state.index()).unwrap_or(0);
            rules.is_single() && !mapper.is_vain(request.state.serial(), done)
        }
    }

    /// Waits on the host, for a while, until the frees up to this ticket are complete.
    #[track_caller]
    fn wait_for_pages(&self, request: SlowRequest, ticket: u64, patience: &Patience) -> Result<()> {
        let state = request.state;
        self.observer.note(Happened::WaitedOnHost);
        let until = patience.half(PATIENCE);
        let is_done = match state.timeline().wait_on_host(&self.core, ticket, until) {
            // A full device may have no event.
            refused if is_out_of_memory(&refused) => false,
            waited => waited?,
        };
        // A request by a deadline is not kept from it for the sake of others.
        if !is_done && let Ok(mut mapper) = self.pages.lock_within(request.wait) {
            mapper.note_vain(state.serial(), ticket);
        }
        Ok(())
    }

    /// Steps 1 to 5.
    #[track_caller]
    fn search(
        &self,
        mapper: &mut Mapper,
        search: &mut Search,
        request: SlowRequest,
    ) -> Result<Option<Served>> {
        let want = request.want;
        self.poll_streams()?;
        if let Some(piece) = self.free_slot(request) {
            return Ok(Some(Served::Slot(piece)));
        }
        if let Some(found) = self.try_others(want)? {
            return Ok(Some(Served::Block(found)));
        }
        if let Some(found) = self.find(mapper, search, want, From::Limit)? {
            return Ok(Some(Served::Block(found)));
        }
        // The free memory of the device, where it has refused or will.
        let is_full = search.is_device_full();
        let left = match is_full {
            true => self.pages.free_memory()?.0,
            false => u64::MAX,
        };
        {
            let mut central = self.central.lock();
            // The bytes that the pool could have by now: others may have the rest of a limit.
            central.pause_exact_caching(
                self.budget.used() + left.min(self.available_pages() * self.pages.page()),
            );
            if let Some(found) = central.in_mapped_stretch(want) {
                return Ok(Some(Served::Block(found)));
            }
        }
        self.close_batches()?;
        self.poll_streams()?;
        search.patient = self.is_patient(mapper, request);
        if let Some(found) = self.find(mapper, search, want, self.idle(request))? {
            return Ok(Some(Served::Block(found)));
        }
        if search.soon {
            return Ok(None);
        }
        if request.drains {
            // On a full device the pool's memory and the free rest: unless another pool may come by
            // memory that it can give up.
            let most = match search.alone {
                true => self.most().min(self.budget.used().saturating_add(left)),
                false => self.most(),
            };
            let could_hold = self.drain_and(|central| self.could_hold(central, request, most));
            self.close_and_poll()?;
            if let Some(piece) = self.free_slot(request) {
                return Ok(Some(Served::Slot(piece)));
            }
            if let Some(found) = self.find(mapper, search, want, self.idle(request))? {
                return Ok(Some(Served::Block(found)));
            }
            if !could_hold {
                search.hopeless = true;
                return Ok(None);
            }
        }
        Ok(self.borrow_from_others(request)?.map(Served::Block))
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

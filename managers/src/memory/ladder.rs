//! What a request tries when no memory is ready, rung by rung, with a search after each.
//!
//! Magazines, depots and mapped memory were looked through before. From here on:
//!
//! 1. see which batches of frees have completed;
//! 2. map pages within the limit;
//! 3. look for mapped pages within larger pieces; close the open batches, and map pages again
//!    that nothing uses. Where one stream uses the pool, and work is under way on it after which
//!    the best place can have all its pages, rung 8 comes before all others: a worse place is
//!    worse for all that come later, and what threads keep is kept for a reason;
//! 4. take back what threads and depots keep;
//! 5. make the request's stream wait for what another has freed;
//! 6. ask the pools that share the limit;
//! 7. put together what only this stream may use yet, and what everybody may;
//! 8. wait on the host, for a bounded time, until work completes that uses what was freed;
//! 9. ask the user;
//! 10. refuse, with the whole account.
//!
//! The context is never synchronised: other streams' work goes on.

use std::ptr::NonNull;

use super::central::{Central, Want};
use super::classes::Slot;
use super::header::Header;
use super::line::Line;
use super::mapper::{Found, From, Mapper};
use super::pool::{Pool, count};
use super::signs::Patience;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// How often a request asks the user: an answer that frees nothing, again and again, must not keep
/// it from its refusal.
const ANSWERS: u32 = 64;

/// A request that climbs.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) want: Want,
    /// Bytes asked for.
    pub(super) requested: u64,
    /// Of a small size: a slot of the slabs will do as well as a block.
    pub(super) slot: Slot,
    pub(super) line: &'a Line,
    pub(super) stream: &'a Stream,
    /// Rather waits for the pages of the best place than takes a worse one: at first, until it has
    /// waited in vain.
    pub(super) patient: bool,
}

/// What a search has found out that has found nothing.
struct Nothing {
    /// What the driver said, if it was that which had no memory.
    full: Option<Error>,
    /// It would rather have waited, and has not looked everywhere.
    soon: bool,
}

/// What a request gets.
pub(super) enum Got {
    Block(Found),
    Slot(NonNull<Header>),
}

impl Pool {
    /// A block if the limit has room for it: rungs 1 and 2. For what can do without. `place` gets
    /// it before others search again: it is in nobody's hands. Whether there was one.
    #[track_caller]
    pub(super) fn grow(&self, want: Want, place: impl FnOnce(&mut Central, Found)) -> Result<bool> {
        let mut mapper = self.mapper();
        (mapper.full, mapper.patient) = (None, false);
        self.look_around()?;
        let mut found = self.try_others(want)?;
        if found.is_none() {
            found = self.find(&mut mapper, want, From::Limit)?;
        }
        let is_found = found.is_some();
        if let Some(found) = found {
            place(&mut self.central.lock(), found);
        }
        Ok(is_found)
    }

    /// A block or a slot, by all means.
    #[track_caller]
    pub(super) fn climb(&self, mut request: Request) -> Result<Got> {
        let mut patience = Patience::new(self.config.wait);
        let mut asked = 0;
        loop {
            let mut full = None;
            if self.could_grant(request.want.bytes) {
                // Before the search, so that nothing that it does not see goes unnoticed.
                let before = self.signs();
                let nothing = match self.search_all(request)? {
                    Ok(got) => return Ok(got),
                    Err(nothing) => nothing,
                };
                // Whoever can do with less is not kept from the mapper meanwhile.
                if self.wait_for_more(&before, &mut patience)? {
                    continue;
                }
                if nothing.soon {
                    request.patient = false;
                    continue;
                }
                full = nothing.full;
            }
            // Others may have lost it when they were asked to give back what they keep.
            self.core.healthy()?;
            let refusal = self.refusal(request.requested, full);
            if asked == ANSWERS || !self.ask_user(&refusal) {
                return Err(self.counted(refusal));
            }
            asked += 1;
            patience.renew();
        }
    }

    /// Whether the limits are large enough for it.
    fn could_grant(&self, bytes: u64) -> bool {
        let whole = bytes.checked_next_multiple_of(self.page);
        whole.is_some_and(|whole| whole <= self.most())
    }

    /// The most bytes that this pool can have.
    fn most(&self) -> u64 {
        let shared = self.config.within.as_ref();
        let shared = shared.map_or(u64::MAX, super::config::DeviceLimit::limit);
        self.budget.limit().min(shared)
    }

    /// Rungs 1 to 7.
    #[track_caller]
    fn search_all(&self, request: Request) -> Result<Result<Got, Nothing>> {
        let mut mapper = self.mapper();
        (mapper.full, mapper.lacking) = (None, false);
        (mapper.patient, mapper.soon) = (false, false);
        if let Some(got) = self.search(&mut mapper, request)? {
            return Ok(Ok(got));
        }
        if self.is_short_of_others(&mapper) {
            // Theirs and ours at once could wait for each other.
            drop(mapper);
            for other in self.others() {
                // What is wrong with them is for those who use them.
                let _ = other.give_up_idle();
            }
            mapper = self.mapper();
            // What they had the driver has now.
            (mapper.full, mapper.lacking) = (None, false);
            mapper.patient = mapper.soon;
            if let Some(found) = self.find(&mut mapper, request.want, From::Idle)? {
                return Ok(Ok(Got::Block(found)));
            }
        }
        if let Some(found) = self.central.lock().in_joined_stretch(request.want) {
            return Ok(Ok(Got::Block(found)));
        }
        let mut full = mapper.full.take();
        if full.is_none() && mapper.lacking {
            full = self.device_refusal()?;
        }
        let soon = mapper.soon;
        Ok(Err(Nothing { full, soon }))
    }

    /// Whether a request rather waits for pages than takes a worse place, or what threads keep. Not
    /// where several streams use the pool: what is under way on another one may take any time.
    fn is_patient(&self, request: Request) -> bool {
        request.patient && self.central.lock().heap.rules().single && self.is_waiting()
    }

    /// Whether what other pools give up could be had: not where this one's own limit is in the way.
    fn is_short_of_others(&self, mapper: &Mapper) -> bool {
        let shared = self.config.within.as_ref();
        let left = shared.map_or(u64::MAX, |shared| shared.budget().available());
        let own = self.budget.available();
        self.parent.is_some() || mapper.full.is_some() || mapper.lacking || left < own
    }

    /// Rungs 1 to 5.
    #[track_caller]
    fn search(&self, mapper: &mut Mapper, request: Request) -> Result<Option<Got>> {
        let want = request.want;
        self.look_around()?;
        if let Some(piece) = self.free_slot(request) {
            return Ok(Some(Got::Slot(piece)));
        }
        if let Some(found) = self.try_others(want)? {
            return Ok(Some(Got::Block(found)));
        }
        if let Some(found) = self.find(mapper, want, From::Limit)? {
            return Ok(Some(Got::Block(found)));
        }
        {
            let mut central = self.central.lock();
            central.tighten();
            if let Some(found) = central.in_mapped_stretch(want) {
                return Ok(Some(Got::Block(found)));
            }
        }
        self.close_batches()?;
        self.look_around()?;
        mapper.patient = self.is_patient(request);
        if let Some(found) = self.find(mapper, want, From::Idle)? {
            return Ok(Some(Got::Block(found)));
        }
        if mapper.soon {
            return Ok(None);
        }
        self.drain();
        self.settle()?;
        if let Some(piece) = self.free_slot(request) {
            return Ok(Some(Got::Slot(piece)));
        }
        if let Some(found) = self.find(mapper, want, From::Idle)? {
            return Ok(Some(Got::Block(found)));
        }
        Ok(self.borrow_from_others(request)?.map(Got::Block))
    }

    /// A slot of the slabs, for a small request: what others kept, or used until just now, is
    /// there by now.
    fn free_slot(&self, request: Request) -> Option<NonNull<Header>> {
        if !request.slot.is_small() {
            return None;
        }
        let mut found = None;
        let central = &mut *self.central.lock();
        let (slabs, heap) = (&mut central.slabs, &central.heap);
        let (slot, stream) = (request.slot, request.want.stream);
        if slabs.take(heap, slot, stream, 1, |piece| found = Some(piece)) == 0 {
            slabs.take_from_others(heap, slot, stream, 1, |piece| found = Some(piece));
        }
        found
    }

    /// Closes the batches of all streams before pages are mapped that other streams' memory could
    /// stand in for: what they have freed is everybody's as soon as it is complete, and closing
    /// costs a hundredth of a mapping.
    #[track_caller]
    fn try_others(&self, want: Want) -> Result<Option<Found>> {
        if self.central.lock().heap.rules().single {
            return Ok(None);
        }
        self.close_batches()?;
        self.look_around()?;
        Ok(self.central.lock().ready(want))
    }

    /// Uses what another stream has freed, behind its work: `cuStreamWaitEvent`.
    #[track_caller]
    fn borrow_from_others(&self, request: Request) -> Result<Option<Found>> {
        let lines = self.all_lines();
        let own = request.line.index;
        for other in lines.iter().filter(|other| other.index != own) {
            let granted = other.clock.covered();
            let found = {
                let mut central = self.central.lock();
                let rules = central.heap.rules_mut();
                rules.granted = Some((other.index, granted));
                let found = central.ready(request.want);
                central.heap.rules_mut().granted = None;
                found.map(|(block, was)| (block, central.heap.lasting(was)))
            };
            let Some((block, was)) = found else {
                continue;
            };
            count(&self.counters.device_waits);
            let waits = other
                .clock
                .wait_on_device(&self.core, granted, request.stream);
            if matches!(waits, Ok(true)) {
                return Ok(Some((block, was.stamp())));
            }
            // Nobody has seen it.
            self.central.lock().heap.undo(block, was);
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
    pub(super) fn counted(&self, refusal: Error) -> Error {
        match refusal {
            Error::OverLimit(_) => count(&self.counters.refused),
            Error::OutOfMemory { .. } => count(&self.counters.exhausted),
            _ => {}
        }
        refusal
    }
}

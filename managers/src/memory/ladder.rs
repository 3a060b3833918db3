//! What a request tries when no memory is ready, rung by rung, with a search after each.
//!
//! Magazines, depots and mapped memory were looked through before. From here on:
//!
//! 1. see which batches of frees have completed;
//! 2. map pages within the limit;
//! 3. look for mapped pages within larger pieces; close the open batches, and map pages again
//!    that nothing uses;
//! 4. take back what threads and depots keep;
//! 5. make the request's stream wait for what another has freed;
//! 6. ask the pools that share the limit;
//! 7. wait on the host, for a bounded time, until work completes that uses what was freed;
//! 8. ask the user;
//! 9. refuse, with the whole account.
//!
//! The context is never synchronised: other streams' work goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::central::Want;
use super::line::Line;
use super::mapper::{Found, From, Mapper};
use super::pool::{Pool, count, lock};
use crate::error::{Error, Result};
use crate::stream::Stream;

/// An allocation waits as often as work completes, but no longer than so many waits together.
const MOST_WAITS: u32 = 16;
/// How long an event on a stream with nothing to do may take.
const MOMENT: Duration = Duration::from_micros(200);
/// Most searches that are made anew because something has come back meanwhile: others that
/// allocate and free all the time must not keep a request from its refusal.
const RETRIES: u32 = 64;

impl Pool {
    /// A block if the limit has room for it: rungs 1 and 2. For what can do without.
    #[track_caller]
    pub(super) fn grow(&self, want: Want, line: &Line, stream: &Stream) -> Result<Option<Found>> {
        let _ = (line, stream);
        let mut mapper = lock(&self.mapper);
        mapper.full = None;
        self.look_around()?;
        if let Some(found) = self.try_others(want)? {
            return Ok(Some(found));
        }
        self.find(&mut mapper, want, From::Limit)
    }

    /// A block, by all means.
    #[track_caller]
    pub(super) fn climb(
        &self,
        want: Want,
        requested: u64,
        line: &Line,
        stream: &Stream,
    ) -> Result<Found> {
        let pages = want.bytes.div_ceil(self.page);
        if pages
            .checked_mul(self.page)
            .is_none_or(|bytes| bytes > self.most())
        {
            count(&self.counters.refused);
            return Err(self.refuse(requested));
        }
        let mut mapper = lock(&self.mapper);
        (mapper.full, mapper.lacking) = (None, false);
        let (mut counted, last) = (false, Instant::now() + self.config.wait * MOST_WAITS);
        let (mut waited, mut retries) = (false, RETRIES);
        loop {
            let frees = self.frees();
            // Before the search, so that what completes during it is news.
            let pending = waited.then(|| self.pending_of_all());
            if let Some(found) = self.search(&mut mapper, want, line, stream)? {
                return Ok(found);
            }
            let others = self.others();
            if !others.is_empty() {
                // Theirs and ours at once could wait for each other.
                drop(mapper);
                for other in others {
                    // What is wrong with them is for those who use them.
                    let _ = other.give_up_idle();
                }
                mapper = lock(&self.mapper);
                if let Some(found) = self.find(&mut mapper, want, From::Idle)? {
                    return Ok(found);
                }
            }
            let mut full = mapper.full.take();
            if full.is_none() && mapper.lacking {
                full = self.device_refusal();
            }
            // Whoever can do with less is not kept from the mapper meanwhile.
            drop(mapper);
            let deadline = last.min(Instant::now() + self.config.wait);
            waited = true;
            let mut again = self.wait_for_any(deadline, pending, &mut counted)?;
            if !again && retries > 0 && self.frees() != frees {
                // What has come back since the search began may be free by now, and was pending
                // at no look.
                retries -= 1;
                again = true;
            }
            if again {
                mapper = lock(&self.mapper);
                (mapper.full, mapper.lacking) = (None, false);
                continue;
            }
            let refusal = self.refusal(requested, full);
            if !self.ask_user(&refusal) {
                return Err(refusal);
            }
            mapper = lock(&self.mapper);
            (mapper.full, mapper.lacking) = (None, false);
        }
    }

    /// The pools that share a limit with this one.
    fn others(&self) -> Vec<Arc<Self>> {
        let shared = self.config.within.as_ref();
        let mut others = shared.map_or_else(Vec::new, |shared| shared.others(self));
        if let Some(parent) = &self.parent
            && !others.iter().any(|other| Arc::ptr_eq(other, parent))
        {
            others.push(Arc::clone(parent));
        }
        others
    }

    /// The most bytes that this pool can have.
    fn most(&self) -> u64 {
        let shared = self.config.within.as_ref();
        let shared = shared.map_or(u64::MAX, super::config::DeviceLimit::limit);
        self.budget.limit().min(shared)
    }

    /// Rungs 1 to 5.
    #[track_caller]
    fn search(
        &self,
        mapper: &mut Mapper,
        want: Want,
        line: &Line,
        stream: &Stream,
    ) -> Result<Option<Found>> {
        self.look_around()?;
        if let Some(found) = self.try_others(want)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.find(mapper, want, From::Limit)? {
            return Ok(Some(found));
        }
        {
            let mut central = self.central.lock();
            central.tighten();
            if let Some(found) = central.in_mapped_stretch(want) {
                return Ok(Some(found));
            }
        }
        self.close_batches()?;
        self.look_around()?;
        if let Some(found) = self.find(mapper, want, From::Idle)? {
            return Ok(Some(found));
        }
        self.drain();
        self.settle()?;
        if let Some(found) = self.find(mapper, want, From::Idle)? {
            return Ok(Some(found));
        }
        self.borrow_from_others(want, line, stream)
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

    /// Asks the driver which of the batches that were closed have completed, and merges what
    /// has become free for all.
    #[track_caller]
    fn look_around(&self) -> Result<()> {
        let mut news = false;
        for line in self.all_lines() {
            let done = line.clock.poll(&self.core)?;
            news |= self
                .central
                .lock()
                .heap
                .rules_mut()
                .set_done(line.index, done);
        }
        if news {
            self.central.lock().heap.sweep();
        }
        Ok(())
    }

    /// Closes all batches, sees what has completed, and merges it.
    #[track_caller]
    pub(super) fn settle(&self) -> Result<()> {
        self.close_batches()?;
        self.look_around()?;
        self.central.lock().heap.sweep();
        Ok(())
    }

    /// As `settle`, with a moment's patience: the events that close batches are reached some
    /// microseconds after they were recorded, on streams with nothing to do too.
    #[track_caller]
    pub(super) fn settle_soon(&self) -> Result<()> {
        self.settle()?;
        let until = Instant::now() + MOMENT;
        let is_pending = || self.all_lines().iter().any(|line| line.clock.is_pending());
        while is_pending() && Instant::now() < until {
            std::hint::spin_loop();
            self.look_around()?;
        }
        Ok(())
    }

    /// Closes the open batch of every stream that has freed something since its last one.
    #[track_caller]
    fn close_batches(&self) -> Result<()> {
        for line in self.all_lines() {
            line.clock.close(&self.core, line.clock.stamp())?;
        }
        Ok(())
    }

    /// Uses what another stream has freed, behind its work: `cuStreamWaitEvent`.
    #[track_caller]
    fn borrow_from_others(
        &self,
        want: Want,
        line: &Line,
        stream: &Stream,
    ) -> Result<Option<Found>> {
        let lines = self.all_lines();
        for other in lines.iter().filter(|other| other.index != line.index) {
            let granted = other.clock.covered();
            let found = {
                let mut central = self.central.lock();
                let rules = central.heap.rules_mut();
                rules.granted = vec![0; usize::from(other.index) + 1];
                rules.granted[usize::from(other.index)] = granted;
                let found = central.ready(want);
                central.heap.rules_mut().granted = Vec::new();
                found
            };
            let Some((block, was)) = found else {
                continue;
            };
            count(&self.counters.device_waits);
            let waits = other.clock.wait_on_device(&self.core, granted, stream);
            if matches!(waits, Ok(true)) {
                return Ok(Some((block, was)));
            }
            // Nobody has seen it.
            self.central.lock().heap.undo(block, was);
            waits?;
        }
        Ok(None)
    }

    /// Waits on the host until work completes that uses what was freed, here or in a pool that
    /// shares the limit. False when none has by `deadline`, or nothing is under way.
    #[track_caller]
    fn wait_for_any(
        &self,
        deadline: Instant,
        before: Option<u64>,
        counted: &mut bool,
    ) -> Result<bool> {
        let others = self.others();
        let spin = Instant::now() + Duration::from_micros(20);
        let mut nap = Duration::from_micros(50);
        loop {
            let (mut news, mut pending) = self.look_for_news()?;
            for other in &others {
                // What is wrong with them is for those who use them.
                let (theirs, more) = other.look_for_news().unwrap_or_default();
                news |= theirs;
                pending |= more;
            }
            if news {
                // A search closes batches, which then complete, even if nothing was freed in
                // them: only what made memory ready is worth another one.
                let Some(before) = before else {
                    return Ok(true);
                };
                self.look_around()?;
                for other in &others {
                    let _ = other.look_around();
                }
                if self.pending_of_all() < before {
                    return Ok(true);
                }
            }
            let now = Instant::now();
            if !pending || now >= deadline {
                return Ok(false);
            }
            if !std::mem::replace(counted, true) {
                count(&self.counters.host_waits);
            }
            if now < spin {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(nap.min(deadline - now));
                nap = (nap * 2).min(Duration::from_millis(1));
            }
        }
    }

    /// Bytes that work may still use, here and in pools that share the limit.
    fn pending_of_all(&self) -> u64 {
        let others = self.others();
        let others: u64 = others.iter().map(|other| other.free_bytes().pending).sum();
        self.free_bytes().pending + others
    }

    /// Whether some stream has completed more than the pool knows of, and whether something is
    /// under way.
    #[track_caller]
    fn look_for_news(&self) -> Result<(bool, bool)> {
        let (mut news, mut pending) = (false, false);
        for line in self.all_lines() {
            let known = self.central.lock().heap.rules().done(line.index);
            news |= line.clock.poll(&self.core)? > known.unwrap_or(0);
            pending |= line.clock.is_pending();
        }
        Ok((news, pending))
    }

    /// Gives memory that nothing uses back to the driver: another pool needs it.
    #[track_caller]
    fn give_up_idle(&self) -> Result<()> {
        self.core.healthy()?;
        let mut mapper = lock(&self.mapper);
        self.drain();
        self.settle_soon()?;
        self.unmap_idle(&mut mapper, usize::MAX)?;
        self.release_cache(&mut mapper, 0)?;
        self.release_chunks(&mut mapper)
    }

    /// Why a request got nothing.
    fn refusal(&self, requested: u64, full: Option<Error>) -> Error {
        match full {
            Some(Error::Driver(cause)) => {
                count(&self.counters.exhausted);
                Error::OutOfMemory {
                    cause: Box::new(cause),
                    account: Box::new(self.account(requested)),
                }
            }
            Some(other) => other,
            None => {
                count(&self.counters.refused);
                self.refuse(requested)
            }
        }
    }
}

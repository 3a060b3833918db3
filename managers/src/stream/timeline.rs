//! `Timeline`: the tickets of one stream, which tell when work that was on it is done.
//!
//! A caller takes a ticket, without a driver call: the free of a block, the launch of a kernel.
//! Tickets of one batch have one number. The batch is closed, by an event recorded on the stream,
//! when another stream or the host wants to know whether a ticket is complete: when the event is
//! reached, all work is done that was on the stream at a ticket of the batch.
//!
//! The batch is closed for new tickets before the event is recorded. So a thread that still got a
//! ticket of it had put its work on the stream before the record, and the event covers that work.

use std::collections::VecDeque;
use std::ops::AddAssign;
use std::sync::atomic::AtomicU64 as Counter;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cupola_sys::driver::{CUresult, CUstream};

use super::calls::call_on;
use super::flags::Flags;
use crate::driver::{ContextCore, RelaxedCapture, SpinBudget, context_switches, is_capturing};
use crate::error::{ErrorClass, Result, Site};
use crate::event::{self, EventConfig, EventPool, LeasedEvent, RawEvent};
use crate::sync::deferred::DeferCallbacks;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use hint::Hint;
use waiters::Waiters;

mod hint;
mod on_done;
pub(super) mod waiters;

pub(crate) use on_done::OnDone;

/// The timeline of one driver stream, shared by all that take tickets of it. It keeps neither the
/// stream nor its context alive, but for the context of events that are not reached yet.
pub(crate) struct Timeline {
    serial: u64,
    /// The ticket of the open batch.
    open: AtomicU64,
    /// Every ticket up to this one is complete.
    done: AtomicU64,
    /// Locked behind `closing`, and declared before it, which holds the context of the flag.
    hint: StdMutex<Hint>,
    closing: Mutex<Closing>,
    waiters: Waiters,
    /// For futures of its tickets.
    spins: SpinBudget,
    made: Made,
}

/// Driver calls of a timeline: counters on which no decision rests.
#[derive(Default)]
struct Made {
    records: Counter,
    queries: Counter,
    waits: Counter,
    captures: Counter,
    modes: Counter,
    events: Counter,
    switches: Counter,
}

/// Counts how often a context is made current on this thread until it is dropped.
pub(crate) struct Switches<'a> {
    counter: &'a Counter,
    before: u64,
}

impl<'a> Switches<'a> {
    pub(crate) fn into(counter: &'a Counter) -> Self {
        let before = context_switches();
        Self { counter, before }
    }
}

impl Drop for Switches<'_> {
    fn drop(&mut self) {
        let made = context_switches().wrapping_sub(self.before);
        if made > 0 {
            self.counter.fetch_add(made, Ordering::Relaxed);
        }
    }
}

/// The state for closing batches.
struct Closing {
    /// Until the stream is destroyed.
    stream: Option<Recorder>,
    /// Every ticket up to this one is covered by an event, or was when it completed.
    covered: u64,
    /// Events that were not reached yet when they were last asked, with the last ticket that
    /// each covers; oldest first.
    events: VecDeque<(u64, LeasedEvent)>,
    /// At more events than this, some are given up.
    room: usize,
}

/// So many events a timeline keeps for tickets that no caller holds.
const ROOM: usize = 16;

impl Closing {
    /// Notes an event, and the last ticket that it covers. When there are many, every second one
    /// is given up of those that no [`Ticket`](super::Ticket) has: what an event covers is covered
    /// by the next one too. The host does not wait for the oldest instead, because the work before
    /// it may wait for the host.
    fn cover(&mut self, last: u64, event: LeasedEvent) {
        self.covered = last;
        if self.events.len() >= self.room {
            let (mut held, mut keep) = (0, false);
            self.events.retain(|(_, event)| {
                if !event.is_last() && !mutant!("timeline_gives_up_held_events") {
                    held += 1;
                    return true;
                }
                keep = !keep;
                keep
            });
            self.room = ROOM + 2 * held;
        }
        self.events.push_back((last, event));
    }

    /// Gives up the events of tickets that are known to be complete.
    fn forget_reached(&mut self, done: u64) {
        while self.events.front().is_some_and(|(last, _)| *last <= done) {
            self.events.pop_front();
        }
    }
}

/// The stream that events are recorded on. It keeps its context as long as this is there.
struct Recorder {
    raw: CUstream,
    events: Arc<EventPool>,
    flags: Arc<Flags>,
    core: Arc<ContextCore>,
}

// SAFETY: a CUstream may be used from any thread; the rest is Send and Sync.
unsafe impl Send for Recorder {}

/// The outcome of closing a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// An event covers the ticket, or it is complete.
    Covered,
    /// The stream is being captured: nothing was done.
    Capturing,
    /// The stream went, and no event tells when its work is done: the ticket never completes.
    Never,
}

/// The event by which a ticket completes, if one is needed.
pub(super) enum Cover {
    /// The ticket is complete.
    Complete,
    /// The ticket completes when this event is reached, and all tickets up to this one with it.
    Event(u64, LeasedEvent),
    /// There is none: the stream is being captured, or the ticket never completes.
    None,
}

/// Driver calls of a timeline so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimelineCalls {
    /// `cuEventRecord`.
    pub(crate) records: u64,
    /// `cuEventQuery`.
    pub(crate) queries: u64,
    /// `cuStreamWaitEvent`.
    pub(crate) waits: u64,
    /// `cuStreamIsCapturing`.
    pub(crate) captures: u64,
    /// `cuThreadExchangeStreamCaptureMode`.
    pub(crate) modes: u64,
    /// `cuEventCreate`.
    pub(crate) events: u64,
    /// `cuCtxSetCurrent`.
    pub(crate) switches: u64,
}

impl AddAssign for TimelineCalls {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        self.queries += other.queries;
        self.waits += other.waits;
        self.captures += other.captures;
        self.modes += other.modes;
        self.events += other.events;
        self.switches += other.switches;
    }
}

/// Later than every ticket that is given out. Only a stream that is gone completes it: no memory is
/// freed on it any more, and no work that was put on it runs.
pub(crate) const EVERY: u64 = u64::MAX;

fn count(counter: &Counter) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Timeline {
    /// # Safety
    /// `raw` is a stream of the context, and alive until [`retire`](Self::retire) or the timeline's
    /// end.
    pub(crate) unsafe fn new(
        serial: u64,
        raw: CUstream,
        events: &Arc<EventPool>,
        flags: &Arc<Flags>,
        core: &Arc<ContextCore>,
    ) -> Self {
        Self {
            serial,
            open: AtomicU64::new(1),
            done: AtomicU64::new(0),
            closing: Mutex::new(Closing {
                stream: Some(Recorder {
                    raw,
                    events: Arc::clone(events),
                    flags: Arc::clone(flags),
                    core: Arc::clone(core),
                }),
                covered: 0,
                events: VecDeque::new(),
                room: ROOM,
            }),
            waiters: Waiters::default(),
            spins: SpinBudget::default(),
            hint: StdMutex::default(),
            made: Made::default(),
        }
    }

    /// For futures of its tickets.
    pub(super) fn spins(&self) -> &SpinBudget {
        &self.spins
    }

    /// The stream's.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// A ticket, 1 or more. It completes when all work has that the caller, or a thread that it
    /// synchronised with, has put on the stream before this.
    #[inline]
    pub(crate) fn stamp(&self) -> u64 {
        if mutant!("timeline_stamp_is_a_load") {
            return self.open.load(Ordering::Relaxed);
        }
        // An exchange, so that it is before or after the one that closes the batch: before,
        // and the caller's work comes before the record; or after, and this is the next batch.
        self.open.fetch_add(0, Ordering::Release)
    }

    /// Every ticket up to this one is complete.
    #[inline]
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_done(&self, ticket: u64) -> bool {
        ticket <= self.done()
    }

    /// Whether there are events that were not reached when they were last asked.
    pub(crate) fn is_pending(&self) -> bool {
        let closing = self.lock();
        let newest = closing.events.back();
        newest.is_some_and(|(last, _)| !self.is_done(*last))
    }

    /// Every ticket up to this one is covered by an event, or complete.
    pub(crate) fn covered(&self) -> u64 {
        self.lock().covered.max(self.done())
    }

    /// Driver calls so far.
    pub(crate) fn calls(&self) -> TimelineCalls {
        let read = |counter: &Counter| counter.load(Ordering::Relaxed);
        TimelineCalls {
            records: read(&self.made.records),
            queries: read(&self.made.queries),
            waits: read(&self.made.waits),
            captures: read(&self.made.captures),
            modes: read(&self.made.modes),
            events: read(&self.made.events),
            switches: read(&self.made.switches),
        }
    }

    /// Sees to it that an event covers the ticket, which is one that was given out.
    ///
    /// # Errors
    /// What the driver returned; the next call tries again.
    #[track_caller]
    pub(crate) fn close(&self, core: &Arc<ContextCore>, ticket: u64) -> Result<Closed> {
        core.not_forked()?;
        let _defer = DeferCallbacks::new();
        self.close_in(&mut self.lock(), ticket)
    }

    #[track_caller]
    fn close_in(&self, closing: &mut Closing, ticket: u64) -> Result<Closed> {
        if ticket <= closing.covered || self.is_done(ticket) {
            return Ok(Closed::Covered);
        }
        let Some(stream) = &closing.stream else {
            return Ok(Closed::Never);
        };
        let _switches = Switches::into(&self.made.switches);
        if stream.is_capturing(&self.made)? {
            return Ok(Closed::Capturing);
        }
        let (config, note) = (EventConfig::default(), || count(&self.made.events));
        let event = event::acquire_noting(&stream.core, &stream.events, config, note)?;
        let mut last = 0;
        if !mutant!("timeline_closes_after_the_record") {
            last = self.end_batch();
        }
        count(&self.made.records);
        stream.record(&event)?;
        if mutant!("timeline_closes_after_the_record") {
            last = self.end_batch();
        }
        // A capture that began meanwhile has the event: it tells nothing about the stream, and a
        // stream that waits for it would be drawn into the capture.
        if stream.is_capturing(&self.made)? {
            return Ok(Closed::Capturing);
        }
        closing.forget_reached(self.done());
        closing.cover(last, event);
        Ok(Closed::Covered)
    }

    /// Opens the next batch. The ticket of the one before.
    fn end_batch(&self) -> u64 {
        // Acquire: pairs with the Release of each `stamp` of the batch.
        self.open.fetch_add(1, Ordering::Acquire)
    }

    /// Asks the events, from the oldest to the first that is not reached (`cuEventQuery`).
    /// Returns the new value of [`done`](Self::done).
    ///
    /// # Errors
    /// What the driver returned; the next call asks again.
    #[track_caller]
    pub(crate) fn poll(&self, core: &Arc<ContextCore>) -> Result<u64> {
        core.not_forked()?;
        let _defer = DeferCallbacks::new();
        let mut closing = self.lock();
        self.poll_in(&mut closing, core)?;
        Ok(self.done())
    }

    #[track_caller]
    fn poll_in(&self, closing: &mut Closing, core: &Arc<ContextCore>) -> Result<()> {
        // Events whose tickets a wait of the user's has completed.
        closing.forget_reached(self.done());
        if closing.events.is_empty() {
            return Ok(());
        }
        let _switches = Switches::into(&self.made.switches);
        core.healthy()?;
        let _relaxed = RelaxedCapture::enter(core.driver(), || count(&self.made.modes));
        while let Some((last, event)) = closing.events.front() {
            count(&self.made.queries);
            // SAFETY: the event is alive.
            match core.call(|driver| unsafe { driver.cuEventQuery(event.as_raw()) }) {
                Ok(()) => {
                    self.complete(*last);
                    closing.events.pop_front();
                }
                Err(call) if call.status() == Some(CUresult::CUDA_ERROR_NOT_READY) => break,
                // A capture began between the question and the record, and has the event now.
                Err(call) if call.class() == ErrorClass::Capture => {
                    closing.events.pop_front();
                    let newest = closing.events.back().map(|(last, _)| *last);
                    closing.covered = newest.unwrap_or_else(|| self.done());
                }
                Err(call) => return Err(core.failed(call)),
            }
        }
        Ok(())
    }

    /// An event that covers the ticket, which is one that was given out; it is recorded now if
    /// there is none yet.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(super) fn cover(&self, ticket: u64) -> Result<Cover> {
        let _defer = DeferCallbacks::new();
        let mut closing = self.lock();
        if self.close_in(&mut closing, ticket)? != Closed::Covered {
            return Ok(Cover::None);
        }
        let mut events = closing.events.iter();
        let event = events.find(|(last, _)| ticket <= *last);
        Ok(event.map_or(Cover::Complete, |(last, event)| {
            Cover::Event(*last, event.clone())
        }))
    }

    /// Counts a `cuStreamIsCapturing` that a stream asks because of a ticket, and the changes of
    /// the current context until the value is dropped.
    pub(super) fn count_capture_query(&self) -> Switches<'_> {
        count(&self.made.captures);
        Switches::into(&self.made.switches)
    }

    /// Counts a `cuStreamWaitEvent` for a ticket, and the changes of the current context until the
    /// value is dropped.
    pub(super) fn count_wait(&self) -> Switches<'_> {
        count(&self.made.waits);
        Switches::into(&self.made.switches)
    }

    /// Waits on the host until the ticket completes: true, or until `deadline`. False also
    /// when the stream is being captured, or the ticket never completes.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(crate) fn wait_on_host(
        &self,
        core: &Arc<ContextCore>,
        ticket: u64,
        deadline: Instant,
    ) -> Result<bool> {
        let spin = Instant::now() + Duration::from_micros(20);
        let mut nap = Duration::from_micros(50);
        while !self.is_done(ticket) {
            if self.close(core, ticket)? != Closed::Covered {
                return Ok(false);
            }
            if self.poll(core)? >= ticket {
                break;
            }
            let now = Instant::now();
            if now >= deadline {
                return Ok(false);
            }
            if now < spin {
                core::hint::spin_loop();
            } else {
                thread::sleep(nap.min(deadline - now));
                nap = (nap * 2).min(Duration::from_millis(1));
            }
        }
        Ok(true)
    }

    /// Ends the batch, for a caller that is about to wait on the host for all work on the stream, or
    /// to record an event of its own behind it, and [completes](Self::complete) the ticket that this
    /// returns after the wait.
    pub(crate) fn mark(&self) -> u64 {
        self.end_batch()
    }

    /// Notes that all work up to this ticket was waited for.
    pub(crate) fn complete(&self, ticket: u64) {
        // Release: the work that the caller saw completed comes before the next use of the memory.
        self.done.fetch_max(ticket, Ordering::Release);
        let done = self.done();
        self.waiters.tell(|ticket| ticket <= done, &Ok(()));
    }

    /// The stream is about to be destroyed: covers the tickets that are left by a last event, else
    /// waits for the stream on the host. If neither can be had, those tickets never complete: the
    /// context is lost, or a capture is open on the stream.
    #[track_caller]
    pub(crate) fn retire(&self, core: &Arc<ContextCore>) {
        if core.not_forked().is_err() {
            return;
        }
        let _defer = DeferCallbacks::new();
        let mut closing = self.lock();
        let closed = self.close_in(&mut closing, self.open.load(Ordering::Relaxed));
        let Some(stream) = closing.stream.take() else {
            return;
        };
        self.drop_flag();
        // No memory is freed on the stream any more, and memory that was, and only gets its ticket
        // from now on, is covered as well.
        if closed == Ok(Closed::Covered) && !mutant!("timeline_forgets_what_is_stamped_late") {
            match closing.events.back_mut() {
                Some((last, _)) => *last = EVERY,
                None => self.complete(EVERY),
            }
            closing.covered = EVERY;
        }
        // Waiting would break a capture, which may be other code's.
        if closed.is_err() && core.is_healthy() {
            // SAFETY: the stream is alive.
            let waited = stream.core.last_wait(Site::here(), |driver| unsafe {
                driver.cuStreamSynchronize(stream.raw)
            });
            if waited.is_ok() {
                self.complete(EVERY);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Closing> {
        self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder {
    #[track_caller]
    fn is_capturing(&self, made: &Made) -> Result<bool> {
        self.core.healthy()?;
        count(&made.captures);
        let asked = call_on(self.raw, &self.core, Site::here(), is_capturing)?;
        self.core.check(asked)
    }

    #[track_caller]
    fn record(&self, event: &RawEvent) -> Result<()> {
        event.note_recorded();
        // SAFETY: both are alive and of this context: the stream is taken out under the lock that the caller
        // holds, before it is destroyed.
        let recorded = call_on(self.raw, &self.core, Site::here(), |driver, raw| unsafe {
            driver.cuEventRecord(event.as_raw(), raw)
        })?;
        self.core.check(recorded)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

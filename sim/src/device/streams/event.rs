//! Events: marks in a stream's order.
//!
//! An event is a name for its latest record. A wait captures the record that is the
//! latest at the call, so recording the event again does not move waits that were made.

use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::contexts::health::{Fault, Health};
use crate::device::graphs::{Capture, CaptureSlot};
use crate::device::schedule::Time;
use crate::device::streams::stream::Stream;
use crate::device::strict::{Clock, Origin};
use crate::device::sync::{lock, wait, wait_timeout};

/// How often a stream that waits for another one looks whether its context has halted.
const LOOK: Duration = Duration::from_millis(20);

/// When a stream got to a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) enum Moment {
    /// In the host's time.
    Host(Instant),
    /// In the machine's virtual time.
    Virtual(Time),
}

impl Moment {
    pub(in crate::device) fn now() -> Self {
        Self::Host(Instant::now())
    }

    /// Seconds since `start`, which may be later. A machine has one kind of time.
    fn seconds_since(self, start: Self) -> Option<f64> {
        match (self, start) {
            (Self::Host(end), Self::Host(start)) => Some(match end.checked_duration_since(start) {
                Some(span) => span.as_secs_f64(),
                None => -start.duration_since(end).as_secs_f64(),
            }),
            (Self::Virtual(end), Self::Virtual(start)) => Some(end.seconds_since(start)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Queued,
    Done(Moment),
    /// Its stream stopped before it got there, with this code.
    Abandoned(CUresult),
}

/// One call of `cuEventRecord`.
#[derive(Debug)]
pub(in crate::device) struct Record {
    state: Mutex<State>,
    changed: Condvar,
    /// For strict mode: what comes before it.
    clock: OnceLock<Clock>,
    /// The stream it was queued in, and its number there.
    place: OnceLock<(Weak<Stream>, u64)>,
}

impl Record {
    pub(in crate::device) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Queued),
            changed: Condvar::new(),
            clock: OnceLock::new(),
            place: OnceLock::new(),
        })
    }

    /// Says what comes before it, once, when it is queued.
    pub(in crate::device) fn set_clock(&self, clock: Clock) {
        // A record is queued once.
        let _ = self.clock.set(clock);
    }

    /// Says where it is queued, once, when it is.
    pub(super) fn set_place(&self, stream: Weak<Stream>, number: u64) {
        // A record is queued once.
        let _ = self.place.set((stream, number));
    }

    pub(in crate::device) fn clock(&self) -> Option<&Clock> {
        self.clock.get()
    }

    /// The stream got here.
    pub(in crate::device) fn complete(&self, moment: Moment) {
        *lock(&self.state) = State::Done(moment);
        self.changed.notify_all();
    }

    /// The stream will not get here.
    pub(in crate::device) fn abandon(&self, code: CUresult) {
        *lock(&self.state) = State::Abandoned(code);
        self.changed.notify_all();
    }

    pub(in crate::device) fn is_settled(&self) -> bool {
        !matches!(*lock(&self.state), State::Queued)
    }

    /// Waits until the stream gets here or stops.
    pub(in crate::device) fn wait(&self) {
        let mut state = lock(&self.state);
        while matches!(*state, State::Queued) {
            state = wait(&self.changed, state);
        }
    }

    /// [`Record::wait`] for a call of the program, which executes what comes before if
    /// no other thread does. The caller must hold no lock.
    pub(in crate::device) fn help(&self) {
        let stream = self
            .place
            .get()
            .map(|(stream, number)| (stream.upgrade(), number));
        if let Some((Some(stream), &number)) = stream {
            stream.help(number);
        }
        self.wait();
    }

    /// [`Record::wait`] for another stream, which goes on too when its own context halts: a
    /// context that has faulted waits for no other.
    ///
    /// # Errors
    /// Those of [`Record::check`].
    pub(in crate::device) fn wait_within(&self, health: &Health) -> Result<(), Fault> {
        let mut state = lock(&self.state);
        while matches!(*state, State::Queued) && health.halted().is_none() {
            (state, _) = wait_timeout(&self.changed, state, LOOK);
        }
        drop(state);
        self.check(health)
    }

    /// Whether a stream that waits for the record may go on.
    ///
    /// # Errors
    /// The context of the record has faulted: what the waiting stream would use was never
    /// made, so its context faults with the same code.
    pub(in crate::device) fn check(&self, health: &Health) -> Result<(), Fault> {
        match *lock(&self.state) {
            State::Abandoned(code) if health.halted().is_none() => Err(Fault {
                code,
                text: "a stream waits for an event of a context that has faulted".into(),
            }),
            _ => Ok(()),
        }
    }

    /// When in virtual time the stream got here or stopped; `None` if it has not yet.
    pub(in crate::device) fn settled_at(&self) -> Option<Time> {
        match *lock(&self.state) {
            State::Done(Moment::Virtual(time)) => Some(time),
            State::Done(Moment::Host(_)) | State::Abandoned(_) => Some(Time::default()),
            State::Queued => None,
        }
    }

    fn time(&self) -> Option<Moment> {
        match *lock(&self.state) {
            State::Done(time) => Some(time),
            State::Queued | State::Abandoned(_) => None,
        }
    }
}

/// What a `CUevent` names.
#[derive(Debug)]
pub(in crate::device) struct Event {
    pub(in crate::device) context: u64,
    pub(in crate::device) health: Arc<Health>,
    pub(in crate::device) flags: u32,
    pub(in crate::device) made: Origin,
    latest: Mutex<Latest>,
}

/// What an event was last recorded in.
#[derive(Debug, Default)]
enum Latest {
    #[default]
    Nothing,
    Record(Arc<Record>),
    /// A capture, after these nodes of its graph.
    Captured(Arc<Capture>, Vec<u64>),
}

impl Event {
    pub(in crate::device) fn new(context: u64, health: Arc<Health>, flags: u32) -> Self {
        Self {
            context,
            health,
            flags,
            made: Origin::default(),
            latest: Mutex::default(),
        }
    }

    pub(in crate::device) fn latest(&self) -> Option<Arc<Record>> {
        match &*lock(&self.latest) {
            Latest::Record(record) => Some(Arc::clone(record)),
            Latest::Nothing | Latest::Captured(..) => None,
        }
    }

    /// The capture that it was last recorded in, and after which nodes.
    pub(in crate::device) fn captured(&self) -> Option<(Arc<Capture>, Vec<u64>)> {
        match &*lock(&self.latest) {
            Latest::Captured(capture, nodes) => Some((Arc::clone(capture), nodes.clone())),
            Latest::Nothing | Latest::Record(_) => None,
        }
    }

    /// Takes the place of a captured stream; false if the stream is not captured.
    pub(in crate::device) fn record_captured(&self, slot: &CaptureSlot) -> Reply<bool> {
        let Some(capture) = slot.capture() else {
            return Ok(false);
        };
        capture.check()?;
        let nodes = slot.frontier().unwrap_or_default();
        *lock(&self.latest) = Latest::Captured(capture, nodes);
        Ok(true)
    }

    /// Whether it stands for work of a stream, and not for nodes of a graph.
    pub(in crate::device) fn check_uncaptured(&self) -> Reply {
        match &*lock(&self.latest) {
            Latest::Captured(capture, _) if capture.has_ended() => {
                Err(CUresult::CUDA_ERROR_INVALID_VALUE)
            }
            Latest::Captured(..) => Err(CUresult::CUDA_ERROR_CAPTURED_EVENT),
            Latest::Nothing | Latest::Record(_) => Ok(()),
        }
    }

    /// Submits a new record. Of two threads that do so, the later one's record is the
    /// latest.
    pub(in crate::device) fn record<T>(
        &self,
        submit: impl FnOnce(Arc<Record>) -> Reply<T>,
    ) -> Reply<T> {
        let mut latest = lock(&self.latest);
        let record = Record::new();
        let submitted = submit(Arc::clone(&record))?;
        *latest = Latest::Record(record);
        Ok(submitted)
    }

    pub(in crate::device) fn has_timing(&self) -> bool {
        self.flags & 2 == 0
    }

    /// Milliseconds from `start` to this event.
    pub(in crate::device) fn elapsed_since(&self, start: &Self) -> Reply<f32> {
        if !self.has_timing() || !start.has_timing() {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        let (Some(first), Some(last)) = (start.latest(), self.latest()) else {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        };
        let (Some(first), Some(last)) = (first.time(), last.time()) else {
            return Err(CUresult::CUDA_ERROR_NOT_READY);
        };
        let seconds = last.seconds_since(first);
        let seconds = seconds.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        Ok((seconds * 1e3) as f32)
    }
}

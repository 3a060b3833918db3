//! Events: marks in a stream's order.
//!
//! An event is a name for its latest record. A wait captures the record that is the
//! latest at the call, so recording the event again does not move waits that were made.

use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use cupola_sys::driver::CUresult;

use super::args::Reply;
use super::health::{Fault, Health};
use super::schedule::Time;
use super::stream::Stream;
use super::strict::{Clock, Origin};
use super::sync::{lock, wait, wait_timeout};

/// How often a stream that waits for another one looks whether its context has halted.
const LOOK: Duration = Duration::from_millis(20);

/// When a stream got to a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    /// In the host's time.
    Host(Instant),
    /// In the machine's virtual time.
    Virtual(Time),
}

impl Moment {
    pub(super) fn now() -> Self {
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
pub(super) struct Record {
    state: Mutex<State>,
    changed: Condvar,
    /// For strict mode: what comes before it.
    clock: OnceLock<Clock>,
    /// The stream it was queued in, and its number there.
    place: OnceLock<(Weak<Stream>, u64)>,
}

impl Record {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Queued),
            changed: Condvar::new(),
            clock: OnceLock::new(),
            place: OnceLock::new(),
        })
    }

    /// Says what comes before it, once, when it is queued.
    pub(super) fn set_clock(&self, clock: Clock) {
        // A record is queued once.
        let _ = self.clock.set(clock);
    }

    /// Says where it is queued, once, when it is.
    pub(super) fn set_place(&self, stream: Weak<Stream>, number: u64) {
        // A record is queued once.
        let _ = self.place.set((stream, number));
    }

    pub(super) fn clock(&self) -> Option<&Clock> {
        self.clock.get()
    }

    /// The stream got here.
    pub(super) fn complete(&self, moment: Moment) {
        *lock(&self.state) = State::Done(moment);
        self.changed.notify_all();
    }

    /// The stream will not get here.
    pub(super) fn abandon(&self, code: CUresult) {
        *lock(&self.state) = State::Abandoned(code);
        self.changed.notify_all();
    }

    pub(super) fn is_settled(&self) -> bool {
        !matches!(*lock(&self.state), State::Queued)
    }

    /// Waits until the stream gets here or stops.
    pub(super) fn wait(&self) {
        let mut state = lock(&self.state);
        while matches!(*state, State::Queued) {
            state = wait(&self.changed, state);
        }
    }

    /// [`Record::wait`] for a call of the program, which executes what comes before if
    /// no other thread does. The caller must hold no lock.
    pub(super) fn help(&self) {
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
    pub(super) fn wait_within(&self, health: &Health) -> Result<(), Fault> {
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
    pub(super) fn check(&self, health: &Health) -> Result<(), Fault> {
        match *lock(&self.state) {
            State::Abandoned(code) if health.halted().is_none() => Err(Fault {
                code,
                text: "a stream waits for an event of a context that has faulted".into(),
            }),
            _ => Ok(()),
        }
    }

    /// When in virtual time the stream got here or stopped; `None` if it has not yet.
    pub(super) fn settled_at(&self) -> Option<Time> {
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
pub(super) struct Event {
    pub(super) context: u64,
    pub(super) health: Arc<Health>,
    pub(super) flags: u32,
    pub(super) made: Origin,
    latest: Mutex<Option<Arc<Record>>>,
}

impl Event {
    pub(super) fn new(context: u64, health: Arc<Health>, flags: u32) -> Self {
        Self {
            context,
            health,
            flags,
            made: Origin::default(),
            latest: Mutex::default(),
        }
    }

    pub(super) fn latest(&self) -> Option<Arc<Record>> {
        lock(&self.latest).clone()
    }

    /// Submits a new record. Of two threads that do so, the later one's record is the
    /// latest.
    pub(super) fn record<T>(&self, submit: impl FnOnce(Arc<Record>) -> Reply<T>) -> Reply<T> {
        let mut latest = lock(&self.latest);
        let record = Record::new();
        let submitted = submit(Arc::clone(&record))?;
        *latest = Some(record);
        Ok(submitted)
    }

    pub(super) fn has_timing(&self) -> bool {
        self.flags & 2 == 0
    }

    /// Milliseconds from `start` to this event.
    pub(super) fn elapsed_since(&self, start: &Self) -> Reply<f32> {
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

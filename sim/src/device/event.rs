//! Events: marks in a stream's order.
//!
//! An event is a name for its latest record. A wait captures the record that is the
//! latest at the call, so recording the event again does not move waits that were made.

use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Instant;

use cupola_sys::driver::CUresult;

use super::args::Reply;
use super::health::Health;
use super::strict::{Clock, Origin};
use super::sync::{lock, wait};

#[derive(Clone, Copy, Debug)]
enum State {
    Queued,
    Done(Instant),
    /// Its stream stopped before it got there.
    Abandoned,
}

/// One call of `cuEventRecord`.
#[derive(Debug)]
pub(super) struct Record {
    state: Mutex<State>,
    changed: Condvar,
    /// For strict mode: what comes before it.
    clock: OnceLock<Clock>,
}

impl Record {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Queued),
            changed: Condvar::new(),
            clock: OnceLock::new(),
        })
    }

    /// Says what comes before it, once, when it is queued.
    pub(super) fn set_clock(&self, clock: Clock) {
        // A record is queued once.
        let _ = self.clock.set(clock);
    }

    pub(super) fn clock(&self) -> Option<&Clock> {
        self.clock.get()
    }

    /// The stream got here.
    pub(super) fn complete(&self) {
        *lock(&self.state) = State::Done(Instant::now());
        self.changed.notify_all();
    }

    /// The stream will not get here.
    pub(super) fn abandon(&self) {
        *lock(&self.state) = State::Abandoned;
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

    fn time(&self) -> Option<Instant> {
        match *lock(&self.state) {
            State::Done(time) => Some(time),
            State::Queued | State::Abandoned => None,
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
    pub(super) fn record(&self, submit: impl FnOnce(Arc<Record>) -> Reply) -> Reply {
        let mut latest = lock(&self.latest);
        let record = Record::new();
        submit(Arc::clone(&record))?;
        *latest = Some(record);
        Ok(())
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
        let milliseconds = match last.checked_duration_since(first) {
            Some(span) => span.as_secs_f64() * 1e3,
            None => -first.duration_since(last).as_secs_f64() * 1e3,
        };
        Ok(milliseconds as f32)
    }
}

//! `ExecutionTimes`: where the time of an execution went.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cupola_managers::{Event, Result, ops};

use super::clock::PutMark;

/// Where the time of an execution went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionTimes {
    /// Its name: the [one it was given](super::Request::named), or its kernel's.
    pub label: Arc<str>,
    /// The [serial number](cupola_managers::Stream::serial) of its stream.
    pub stream: u64,
    /// When it was put, by the host's clock, since the executor was made.
    pub put: Duration,
    /// From then until it began, by the device's clock: behind other work on its stream, and those it
    /// comes after.
    pub queue_wait: Duration,
    /// How long the call took that put it, by the host's clock.
    pub launch: Duration,
    /// When it began, in the time of the host's clock, since the executor was made.
    pub begun: Duration,
    /// How long it ran, by the device's clock, whose steps are about half a microsecond.
    pub execute: Duration,
    /// `begun` is at most so far from the host's clock. (The other times do not depend on that.)
    pub uncertainty: Duration,
}

impl fmt::Display for ExecutionTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            label,
            queue_wait,
            launch,
            execute,
            ..
        } = self;
        write!(
            f,
            "{label}: waited {queue_wait:.1?}, was launched in {launch:.1?}, ran for {execute:.1?}"
        )
    }
}

/// The times of an execution, or the events that they are read from.
#[derive(Debug)]
pub(super) struct Timing {
    label: Arc<str>,
    stream: u64,
    launch: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
enum State {
    /// The events, of which no driver call is made while the lock is held.
    Unread(Arc<Marks>),
    Read(ExecutionTimes),
}

/// The events of an execution.
pub(super) struct Marks {
    pub(super) put: PutMark,
    pub(super) begin: Event,
    pub(super) end: Event,
}

impl Timing {
    pub(super) fn new(label: &str, stream: u64, launch: Duration, marks: Marks) -> Self {
        Self {
            label: label.into(),
            stream,
            launch,
            state: Mutex::new(State::Unread(Arc::new(marks))),
        }
    }

    /// The times, of an execution that has ended.
    #[track_caller]
    pub(super) fn read(&self) -> Result<ExecutionTimes> {
        let state = self.state().clone();
        let times = match state {
            State::Read(times) => return Ok(times),
            State::Unread(marks) => self.measure(&marks)?,
        };
        let before = mem::replace(&mut *self.state(), State::Read(times.clone()));
        // The events go back without the lock.
        drop(before);
        Ok(times)
    }

    /// The times, if the execution has ended and they can be read.
    pub(super) fn read_if_done(&self) -> Option<ExecutionTimes> {
        let state = self.state().clone();
        match state {
            State::Unread(marks) if !ops::query_event(&marks.end).ok()? => None,
            _ => self.read().ok(),
        }
    }

    #[track_caller]
    fn measure(&self, marks: &Marks) -> Result<ExecutionTimes> {
        let Marks { put, begin, end } = marks;
        // The device may be some microseconds late where the streams share a connection.
        ops::synchronize_event(&put.event)?;
        let since_anchor = milliseconds(ops::elapsed(&put.anchor.event, begin)?);
        Ok(ExecutionTimes {
            label: Arc::clone(&self.label),
            stream: self.stream,
            put: put.host,
            queue_wait: milliseconds(ops::elapsed(&put.event, begin)?),
            launch: self.launch,
            begun: put.anchor.host + since_anchor,
            execute: milliseconds(ops::elapsed(begin, end)?),
            uncertainty: put.anchor.uncertainty,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time of the device's. One that is negative is none: of two streams at the same moment.
pub(crate) fn milliseconds(time: f32) -> Duration {
    let seconds = f64::from(time.max(0.0)) / 1000.0;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries([&self.begin, &self.end]).finish()
    }
}

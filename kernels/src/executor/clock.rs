//! `Clock`: what time the device has, in the host's.
//!
//! The clock has a stream of its own, on which there is never anything to wait for: an event that is
//! recorded there takes the device's time of now. So the time from the put of an execution to its
//! beginning is between two events of one clock, whatever the host's says. An [`Anchor`] is such an
//! event whose time on the host is known too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cupola_managers::{Context, Event, EventConfig, Result, Stream, StreamConfig, ops};

/// Times count from an anchor of at most this age when they begin: the driver tells them in
/// milliseconds as `f32`, whose steps are 60 ns at one second.
const RENEWED: Duration = Duration::from_secs(1);

/// An anchor is the best of so many tries.
const TRIES: usize = 3;

pub(super) struct Clock {
    /// Where the host's times count from.
    origin: Instant,
    state: Mutex<Option<State>>,
}

/// Once something was timed.
#[derive(Clone)]
struct State {
    stream: Stream,
    anchor: Arc<Anchor>,
}

/// A moment in both times.
pub(super) struct Anchor {
    pub(super) event: Event,
    /// Since the clock's origin, by the host.
    pub(super) host: Duration,
    /// The moment on the host is at most so far from that.
    pub(super) uncertainty: Duration,
}

/// When an execution was put.
pub(super) struct PutMark {
    pub(super) anchor: Arc<Anchor>,
    pub(super) event: Event,
    /// Since the clock's origin, by the host.
    pub(super) host: Duration,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            origin: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// Marks the moment.
    #[track_caller]
    pub(super) fn mark_put(&self, context: &Context) -> Result<PutMark> {
        let State { stream, anchor } = self.renewed(context)?;
        let event = timing_event(context)?;
        let host = self.origin.elapsed();
        ops::record(&event, &stream)?;
        Ok(PutMark {
            anchor,
            event,
            host,
        })
    }

    /// The stream, and an anchor that is not too old. No lock is held while the driver is called, which
    /// may call back the program.
    #[track_caller]
    fn renewed(&self, context: &Context) -> Result<State> {
        let known = self.lock().clone();
        let stream = match known {
            Some(state) if self.origin.elapsed() < state.anchor.host + RENEWED => return Ok(state),
            Some(state) => state.stream,
            None => context.streams().create(StreamConfig::default())?,
        };
        let anchor = Arc::new(self.anchor(context, &stream)?);
        let state = State { stream, anchor };
        *self.lock() = Some(state.clone());
        Ok(state)
    }

    /// The best of some tries.
    #[track_caller]
    fn anchor(&self, context: &Context, stream: &Stream) -> Result<Anchor> {
        let mut best = self.try_anchor(context, stream)?;
        for _ in 1..TRIES {
            let next = self.try_anchor(context, stream)?;
            if next.uncertainty < best.uncertainty {
                best = next;
            }
        }
        Ok(best)
    }

    #[track_caller]
    fn try_anchor(&self, context: &Context, stream: &Stream) -> Result<Anchor> {
        let event = timing_event(context)?;
        let before = self.origin.elapsed();
        ops::record(&event, stream)?;
        ops::synchronize_event(&event)?;
        let uncertainty = (self.origin.elapsed() - before) / 2;
        Ok(Anchor {
            event,
            host: before + uncertainty,
            uncertainty,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event that takes the time.
#[track_caller]
pub(super) fn timing_event(context: &Context) -> Result<Event> {
    context.events().create(EventConfig::timing())
}

//! `Stepped`: a step that was submitted, whose telemetry is taken later.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use super::telemetry::Telemetry;
use crate::error::{Error, Result};
use crate::stream::Ticket;
use crate::sync;

/// A step that was submitted by [`ManagedContext::step`](super::ManagedContext::step): wait for its
/// telemetry, or await it. Dropped, its telemetry is dropped with it; the step runs all the same.
#[must_use = "its telemetry is dropped with it"]
pub struct Stepped<T> {
    index: u64,
    /// Of the download; `None` in synchronous mode, whose steps have arrived.
    ticket: Option<Ticket>,
    reply: Arc<Reply<T>>,
    from: Arc<dyn Deliver>,
}

/// Where the telemetry of a step goes.
pub(super) struct Reply<T>(Mutex<Answer<T>>);

enum Answer<T> {
    Pending,
    Arrived(Result<Telemetry<T>>),
    Reset,
    Taken,
}

impl<T> Reply<T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Answer::Pending)))
    }

    pub(super) fn answer(&self, found: Result<Telemetry<T>>) {
        *sync::lock(&self.0) = Answer::Arrived(found);
    }

    /// The step was dropped by a reset.
    pub(super) fn reset(&self) {
        *sync::lock(&self.0) = Answer::Reset;
    }

    fn take(&self) -> Option<Result<Telemetry<T>>> {
        let mut answer = sync::lock(&self.0);
        let gone = |problem| Some(Err(Error::invalid("managed step", problem)));
        match std::mem::replace(&mut *answer, Answer::Taken) {
            Answer::Pending => {
                *answer = Answer::Pending;
                None
            }
            Answer::Arrived(found) => Some(found),
            Answer::Reset => gone("its context was reset before it was taken"),
            Answer::Taken => gone("its telemetry was taken before"),
        }
    }

    fn has_answer(&self) -> bool {
        !matches!(*sync::lock(&self.0), Answer::Pending)
    }
}

/// The context of a step, which gives its oldest step's telemetry to where it belongs.
pub(super) trait Deliver: Send + Sync {
    /// Waits for the oldest step in flight, and delivers its telemetry.
    #[track_caller]
    fn deliver_oldest(&self) -> Result<()>;
}

impl<T> Stepped<T> {
    pub(super) fn new(
        index: u64,
        ticket: Option<Ticket>,
        reply: Arc<Reply<T>>,
        from: Arc<dyn Deliver>,
    ) -> Self {
        Self {
            index,
            ticket,
            reply,
            from,
        }
    }

    /// The number of the step.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Whether the telemetry is there (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// As [`Ticket::is_done`].
    #[track_caller]
    pub fn is_ready(&self) -> Result<bool> {
        match &self.ticket {
            Some(ticket) if !self.reply.has_answer() => ticket.is_done(),
            _ => Ok(true),
        }
    }

    /// Waits on the host for the telemetry.
    ///
    /// # Errors
    /// What the driver returned, the error of failed work among it, and [`Error::Poisoned`];
    /// [`Error::Invalid`] when the context was [reset](super::ManagedContext::reset) before.
    #[track_caller]
    pub fn wait(self) -> Result<Telemetry<T>> {
        if let Some(ticket) = &self.ticket
            && !self.reply.has_answer()
        {
            // Without the context's lock.
            ticket.wait()?;
        }
        self.take()
    }

    /// The telemetry, which has arrived.
    #[track_caller]
    fn take(&self) -> Result<Telemetry<T>> {
        loop {
            if let Some(answer) = self.reply.take() {
                return answer;
            }
            self.from.deliver_oldest()?;
        }
    }
}

impl<T> Future for Stepped<T> {
    type Output = Result<Telemetry<T>>;

    /// Ready when the telemetry has arrived, or with the error that the context was lost to. Takes no
    /// thread of the program's, as a [`Ticket`].
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(ticket) = &mut this.ticket
            && !this.reply.has_answer()
        {
            ready!(Pin::new(ticket).poll(context))?;
        }
        Poll::Ready(this.take())
    }
}

impl<T> fmt::Debug for Stepped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepped")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

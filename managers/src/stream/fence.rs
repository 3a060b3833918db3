//! `Fence`: an event behind work on a stream, and the ticket that completes with it.
//!
//! A ticket alone completes when an event is reached that is recorded at some time after it. An
//! owner whose memory work touches needs the end of that work and of no later one, which may wait
//! for the owner. So it has an event of its own, records it again and again, and sets the clock of
//! the stream when it has waited.

use std::sync::{Arc, Weak};

use super::Stream;
use super::submit;
#[cfg(feature = "futures")]
use super::ticket::Ticket;
use super::timeline::Timeline;
use crate::driver::ContextCore;
use crate::error::{Result, Site};
use crate::event::{self, EventConfig, EventPool, LeasedEvent};

/// The end of some work on a stream. It keeps neither the stream nor its clock.
#[derive(Clone)]
pub(crate) struct Fence {
    event: LeasedEvent,
    /// The serial number of the stream that the event was recorded on last, 0 for none: handles of
    /// two managers may be equal, and streams of several meet in one context.
    stream: u64,
    ticket: u64,
    timeline: Weak<Timeline>,
}

impl Fence {
    /// A fence behind no work.
    #[track_caller]
    pub(crate) fn new(core: &Arc<ContextCore>, events: &EventPool) -> Result<Self> {
        Ok(Self {
            event: event::acquire(core, events, EventConfig::default(), false)?,
            stream: 0,
            ticket: 0,
            timeline: Weak::new(),
        })
    }

    /// The fence of a ticket of the timeline, which completes with this event.
    pub(super) fn of_ticket(timeline: &Arc<Timeline>, ticket: u64, event: LeasedEvent) -> Self {
        Self {
            event,
            stream: timeline.serial(),
            ticket,
            timeline: Arc::downgrade(timeline),
        }
    }

    /// Puts it behind the work that is on the stream now (`cuEventRecord`); it is behind no other
    /// work any more. No capture is open on the stream.
    ///
    /// # Errors
    /// What the driver returned; the fence may be behind this work then, or that of before.
    #[track_caller]
    pub(crate) fn record(&mut self, stream: &Stream) -> Result<()> {
        self.record_at(stream, Site::here())
    }

    /// As [`record`](Self::record), for a caller at `site`.
    #[inline]
    pub(crate) fn record_at(&mut self, stream: &Stream, site: Site) -> Result<()> {
        let timeline = stream.timeline();
        let mut ticket = 0;
        // Before the record: a ticket of the next batch may be of work that the event does not
        // cover.
        if !mutant!("fence_ends_the_batch_late") {
            ticket = timeline.mark();
        }
        submit::record_at(&self.event, stream, site)?;
        if mutant!("fence_ends_the_batch_late") {
            ticket = timeline.mark();
        }
        self.note_recorded(stream, ticket);
        Ok(())
    }

    /// The event, for a graph that records it or waits for it.
    pub(crate) fn event(&self) -> &LeasedEvent {
        &self.event
    }

    /// Notes that work of the stream has recorded the event, and what was put there up to `ticket`: a
    /// graph that was launched.
    pub(crate) fn note_recorded(&mut self, stream: &Stream, ticket: u64) {
        if self.stream != stream.serial() {
            self.stream = stream.serial();
            self.timeline = Arc::downgrade(stream.timeline());
        }
        self.ticket = ticket;
    }

    /// A ticket of the work, which is on a stream that the caller keeps.
    #[cfg(feature = "futures")]
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        let timeline = self.timeline.upgrade()?;
        let fence = self.clone();
        Some(Ticket::of_fence(self.ticket, timeline, fence))
    }

    /// The context of its event.
    #[cfg(feature = "futures")]
    pub(super) fn core(&self) -> &Arc<ContextCore> {
        self.event.core()
    }

    /// Puts it behind no work, unless it was recorded after the other one, a clone, was waited for.
    pub(crate) fn forget(&mut self, reached: &Self) {
        if (self.stream, self.ticket) == (reached.stream, reached.ticket) {
            self.stream = 0;
        }
    }

    /// Whether the work is known to have completed, without a call.
    pub(crate) fn is_done(&self) -> bool {
        let timeline = || self.timeline.upgrade();
        self.stream == 0 || timeline().is_some_and(|timeline| timeline.is_done(self.ticket))
    }

    /// Whether later work on `stream` comes after the work, as far as is known without a call.
    pub(super) fn precedes(&self, stream: &Stream) -> bool {
        self.stream == stream.serial() || self.is_done()
    }

    /// Makes later work on `stream` wait for the work, on the device (`cuStreamWaitEvent`), unless it
    /// does so anyway.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(crate) fn wait_on(&self, stream: &Stream) -> Result<()> {
        if self.precedes(stream) {
            return Ok(());
        }
        submit::wait(stream, &self.event)
    }

    /// As [`wait_on`](Self::wait_on), for work that was put just now and a caller at `site`: whether
    /// it is done is not asked.
    #[inline]
    pub(crate) fn wait_on_new_at(&self, stream: &Stream, site: Site) -> Result<()> {
        if self.stream == stream.serial() {
            return Ok(());
        }
        submit::wait_at(stream, &self.event, site)
    }

    /// Whether the work has completed (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// What the driver returned.
    pub(crate) fn query(&self, site: Site) -> Result<bool> {
        let is_done = self.is_done() || self.event.query(site)?;
        if is_done {
            self.complete();
        }
        Ok(is_done)
    }

    /// Waits on the host until the work has completed (`cuEventSynchronize`, unless it is known).
    ///
    /// # Errors
    /// What the driver returned.
    pub(crate) fn synchronize(&self, site: Site) -> Result<()> {
        if !self.is_done() {
            self.event.synchronize(site)?;
            self.complete();
        }
        Ok(())
    }

    /// The same in a lost context too, and more than once. False when the end of the work is not
    /// known, see [`submit::settle`].
    pub(crate) fn settle(&self, site: Site) -> bool {
        let wait = || {
            // SAFETY: the event is alive.
            self.event.core().last_wait(site, |driver| unsafe {
                driver.cuEventSynchronize(self.event.as_raw())
            })
        };
        self.is_done() || submit::settled(wait)
    }

    /// Sets the stream's clock: the caller knows that the work has completed.
    pub(crate) fn complete(&self) {
        if let Some(timeline) = self.timeline.upgrade() {
            timeline.complete(self.ticket);
        }
    }
}

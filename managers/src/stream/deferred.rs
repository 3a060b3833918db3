//! `DeferredTicket`: the work that was on a stream at a time, without an event until it is asked for.

use std::fmt;
use std::sync::Arc;

use super::timeline::Timeline;
use super::{Stream, Ticket};
use crate::driver::ContextCore;
use crate::error::Result;

/// The work that was on a stream when this was taken, see [`Stream::deferred_ticket`]: a number,
/// which becomes a [`Ticket`] when the work is to be waited for.
///
/// It keeps neither the stream nor what the work uses.
#[derive(Clone)]
pub struct DeferredTicket {
    number: u64,
    timeline: Arc<Timeline>,
    core: Arc<ContextCore>,
}

impl Stream {
    /// The work that is on the stream now, without a call of the driver and without memory: for work
    /// that is often put and seldom waited for. The event that a [`ticket`](Self::ticket) records at
    /// once is recorded by [`DeferredTicket::ticket`], so that one covers what was put meanwhile too.
    ///
    /// ```
    /// use cupola_managers::{ExecutionManager, ops};
    ///
    /// # let driver = cupola_sim::Machine::builder().build().driver();
    /// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
    /// let stream = context.streams().create(Default::default())?;
    /// ops::host_function(&stream, || println!("done"))?;
    /// let work = stream.deferred_ticket();
    /// work.ticket()?.wait()?; // here an event is recorded
    /// assert!(work.is_known_done());
    /// # Ok::<_, cupola_managers::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn deferred_ticket(&self) -> DeferredTicket {
        DeferredTicket {
            number: self.timeline().stamp(),
            timeline: Arc::clone(self.timeline()),
            core: Arc::clone(self.core()),
        }
    }
}

impl DeferredTicket {
    /// Whether the work is known to have completed, by what any thread has asked or waited for: no
    /// call of the driver is made.
    #[must_use]
    #[inline]
    pub fn is_known_done(&self) -> bool {
        self.timeline.is_done(self.number)
    }

    /// Whether later work on `stream` comes after the work anyway, as far as is known without a call:
    /// it is the same stream, or the work has completed.
    #[must_use]
    pub fn precedes(&self, stream: &Stream) -> bool {
        self.timeline.serial() == stream.serial() || self.is_known_done()
    }

    /// A ticket that is done when the work has completed, and not before: with an event that was
    /// recorded since, else one that is recorded now (`cuEventRecord`), behind all that is on the stream
    /// by then.
    ///
    /// # Errors
    /// As [`Stream::ticket`].
    #[doc(alias = "cuEventRecord")]
    #[track_caller]
    pub fn ticket(&self) -> Result<Ticket> {
        if !self.is_known_done() {
            self.core.healthy()?;
        }
        Ticket::cover(&self.core, &self.timeline, self.number)
    }
}

impl fmt::Debug for DeferredTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredTicket")
            .field("stream", &self.timeline.serial())
            .field("number", &self.number)
            .field("done", &self.is_known_done())
            .finish_non_exhaustive()
    }
}

//! `Ticket`: the work that was on a stream at a time, to ask for, to wait for and to await.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::Stream;
use super::fence::Fence;
use super::outcome::Outcome;
use super::timeline::{Cover, OnDone, Timeline};
use crate::driver::ContextCore;
use crate::error::{Error, Result};

/// The work that was on a stream when this was taken, see [`Stream::ticket`]. A future that is
/// ready when that work has completed.
///
/// It keeps neither the stream nor what the work uses.
#[doc(alias = "fence")]
#[must_use = "a ticket that is dropped tells nothing"]
pub struct Ticket {
    number: u64,
    timeline: Arc<Timeline>,
    /// `None` when the work has completed. Its event is in the timeline too, which might otherwise
    /// give it up for a later one, whose work may wait for the program.
    fence: Option<Fence>,
    core: Arc<ContextCore>,
    /// Once it was polled as a future.
    waiting: Option<Waiting>,
}

/// A future that was polled. The subscription ends with it.
struct Waiting {
    outcome: Outcome,
    _subscription: OnDone,
}

/// A subscription to the completion of a [`Ticket`], see [`Ticket::on_done`]. Ends when it is
/// dropped; a call that runs just then is not waited for.
#[must_use = "dropping it ends the subscription"]
pub struct TicketWatch {
    _subscription: OnDone,
    /// As the ticket's.
    _fence: Option<Fence>,
}

impl Stream {
    /// A ticket of the work that is on the stream now (`cuEventRecord`): it is
    /// [done](Ticket::is_done) when all of that work has completed.
    ///
    /// Awaiting a ticket takes no thread of the program's: one thread of this crate for each
    /// device asks it, as long as there is a ticket that a program waits for so. The program is
    /// told late by about a hundredth of its wait, 3 ms at most, and of the loss of the
    /// context too.
    ///
    /// ```
    /// use std::future::Future;
    /// use std::pin::pin;
    /// use std::sync::Arc;
    /// use std::task::{Context, Poll, Wake, Waker};
    /// use std::thread::{self, Thread};
    ///
    /// use cupola_managers::{ExecutionManager, PoolConfig};
    ///
    /// /// Runs a future on this thread.
    /// fn block_on<F: Future>(future: F) -> F::Output {
    ///     struct Unpark(Thread);
    ///     impl Wake for Unpark {
    ///         fn wake(self: Arc<Self>) {
    ///             self.0.unpark();
    ///         }
    ///     }
    ///     let waker = Waker::from(Arc::new(Unpark(thread::current())));
    ///     let mut future = pin!(future);
    ///     loop {
    ///         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
    ///             Poll::Ready(value) => return value,
    ///             Poll::Pending => thread::park(),
    ///         }
    ///     }
    /// }
    ///
    /// # let driver = cupola_sim::Machine::builder().build().driver();
    /// let execution = ExecutionManager::new(driver)?;
    /// let context = execution.devices().get(0)?.primary()?;
    /// let stream = context.streams().create(Default::default())?;
    /// let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    /// block_on(async {
    ///     let zeros = pool.zeros::<f32>(1000, &stream)?;
    ///     stream.ticket()?.await?;
    ///     drop(zeros);
    ///     Ok::<_, cupola_managers::Error>(())
    /// })?;
    /// # Ok::<_, cupola_managers::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Capturing`] while a capture is open on the stream; [`Error::Full`] when there are
    /// too many events; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuEventRecord")]
    #[doc(alias = "cuStreamAddCallback")]
    #[track_caller]
    pub fn ticket(&self) -> Result<Ticket> {
        self.core().healthy()?;
        Ticket::cover(self.core(), self.timeline(), self.timeline().stamp())
    }
}

impl Ticket {
    /// Whether the work has completed (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// What the driver returned: the error of failed work among it, and that the event of the ticket
    /// became part of a capture that another thread began meanwhile. [`Error::Poisoned`],
    /// [`Error::Forked`].
    #[doc(alias = "cuEventQuery")]
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        match &self.fence {
            Some(fence) => fence.query(self.core.site()),
            None => Ok(true),
        }
    }

    /// Waits on the host until the work has completed (`cuEventSynchronize`, unless it is known).
    ///
    /// # Errors
    /// As [`is_done`](Self::is_done).
    #[doc(alias = "cuEventSynchronize")]
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        match &self.fence {
            Some(fence) => fence.synchronize(self.core.site()),
            None => Ok(()),
        }
    }

    /// Makes later work on `stream` wait for the work, on the device (`cuStreamWaitEvent`, unless
    /// it is known to have completed).
    ///
    /// # Errors
    /// [`Error::WrongContext`] when the stream is another driver's; [`Error::Capturing`] while a
    /// capture is open on it; as [`is_done`](Self::is_done).
    #[doc(alias = "cuStreamWaitEvent")]
    #[track_caller]
    pub fn wait_on(&self, stream: &Stream) -> Result<()> {
        if !self.core.shares_driver(stream.core()) {
            return Err(Error::WrongContext { what: "the ticket" });
        }
        stream.core().healthy()?;
        match &self.fence {
            Some(fence) if !fence.precedes(stream) => {
                stream.refuse_captured("wait for a ticket")?;
                fence.wait_on(stream)
            }
            _ => Ok(()),
        }
    }

    /// Calls `function` when the work has completed, or with the error that the context is lost to:
    /// once, and now if that is known, as long as the returned [`TicketWatch`] is there. An error
    /// that is not a loss is reported after the third attempt to ask the device; [`Error::Full`]
    /// at once, when the process can have no thread that would ask. A ticket whose event became part
    /// of a capture completes after the capture, or never, when the stream is destroyed then: that is
    /// [`Error::Invalid`].
    ///
    /// The function runs on the thread that learns of it: one of this crate's, or one that calls
    /// this crate just then, when the crate holds no lock. It may use the crate, and should be
    /// short. A panic ends in it.
    pub fn on_done(&self, function: impl FnOnce(Result<()>) + Send + 'static) -> TicketWatch {
        TicketWatch {
            _subscription: self.timeline.on_done(&self.core, self.number, function),
            _fence: self.fence.clone(),
        }
    }
}

impl Ticket {
    /// The ticket of this number, with an event that covers its work.
    ///
    /// # Errors
    /// As [`Stream::ticket`].
    #[track_caller]
    pub(super) fn cover(
        core: &Arc<ContextCore>,
        timeline: &Arc<Timeline>,
        number: u64,
    ) -> Result<Self> {
        let fence = match timeline.cover(number)? {
            Cover::Complete => None,
            Cover::Event(last, event) => Some(Fence::of_ticket(timeline, last, event)),
            // The stream is there, as long as its caller leases it.
            Cover::None => {
                return Err(Error::Capturing {
                    operation: "ticket",
                });
            }
        };
        Ok(Self {
            number,
            timeline: Arc::clone(timeline),
            fence,
            core: Arc::clone(core),
            waiting: None,
        })
    }

    /// The ticket of this number, whose work the fence is behind.
    #[cfg(feature = "futures")]
    pub(super) fn of_fence(number: u64, timeline: Arc<Timeline>, fence: Fence) -> Self {
        Self {
            number,
            timeline,
            core: Arc::clone(fence.core()),
            fence: Some(fence),
            waiting: None,
        }
    }

    pub(super) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// Asks for some microseconds, if such waits have been short.
    fn spin(&self) -> bool {
        let site = self.core.site();
        let asks = |fence: &Fence| self.timeline.spins().spin(|| fence.query(site));
        self.core.not_forked().is_ok() && self.fence.as_ref().is_none_or(asks)
    }
}

impl Future for Ticket {
    type Output = Result<()>;

    /// Ready with the error that the context was lost to, if it is lost before the work is known to
    /// have completed, and with the other errors of [`on_done`](Self::on_done).
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.waiting.is_none() {
            if this.timeline.is_done(this.number) || this.spin() {
                return Poll::Ready(Ok(()));
            }
            let (timeline, begin) = (Arc::clone(&this.timeline), Instant::now());
            let outcome = Outcome::new(context);
            let told = outcome.clone();
            let told = move |result: Result<()>| {
                if result.is_ok() {
                    timeline.spins().note(begin.elapsed());
                }
                told.tell(result);
            };
            let subscription = this.timeline.on_done(&this.core, this.number, told);
            this.waiting = Some(Waiting {
                outcome,
                _subscription: subscription,
            });
        }
        match &this.waiting {
            Some(waiting) => waiting.outcome.poll(context),
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("stream", &self.timeline.serial())
            .field("number", &self.number)
            .field("done", &self.timeline.is_done(self.number))
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TicketWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketWatch")
    }
}

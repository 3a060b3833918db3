//! `Completion`: the future of an event, or of the work on a stream.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use super::outcome::Outcome;
use super::timeline::waiters::{ATTEMPTS, Waiter};
use super::{Stream, Ticket};
use crate::driver::Watched;
use crate::error::{Error, Result};
use crate::event::Event;

/// A future that is ready when an event is reached, or the work on a stream done: what a `&Event`
/// or a `&Stream` is turned into by `.await`.
///
/// Awaiting a stream waits for the work that is on it at that moment, as a [`Ticket`] does, and
/// makes its call (`cuEventRecord`). Awaiting an event waits for the work that the event is behind,
/// which need not be all that is on a stream. An event that was never recorded is reached; of one
/// that is recorded again meanwhile the last record counts.
///
/// On its first poll the future asks the driver itself, for up to 20 us as long as such waits have
/// been short, else once; then it leaves that to the thread of which [`Stream::ticket`] tells. It may be
/// dropped at any time.
///
/// # Errors
/// It is ready with the error that the context is lost to, with an error of asking that came three
/// times in a row, or with [`Error::Full`] when the process can have no thread that would ask. Of a
/// stream also with what [`Stream::ticket`] returned, [`Error::Capturing`] among it.
/// [`Error::Forked`].
///
/// ```
/// # use std::future::Future;
/// # use std::pin::pin;
/// # use std::task::{Context, Poll, Waker};
/// use cupola_managers::{ExecutionManager, ops};
///
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let mut future = pin!(future);
/// #     loop {
/// #         match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
/// #             Poll::Ready(value) => return value,
/// #             Poll::Pending => std::thread::yield_now(),
/// #         }
/// #     }
/// # }
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let execution = ExecutionManager::new(driver)?;
/// let context = execution.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let event = context.events().create(Default::default())?;
/// block_on(async {
///     ops::host_function(&stream, || println!("first"))?;
///     ops::record(&event, &stream)?;
///     ops::host_function(&stream, || println!("second"))?;
///     (&event).await?; // the first is done
///     (&stream).await // both are
/// })?;
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct Completion(Awaited);

enum Awaited {
    /// Known at once, and told with the first poll.
    Failed(Error),
    Work(Ticket),
    Event(EventWait),
}

impl IntoFuture for &Stream {
    type Output = Result<()>;
    type IntoFuture = Completion;

    #[track_caller]
    fn into_future(self) -> Completion {
        Completion(match self.ticket() {
            Ok(ticket) => Awaited::Work(ticket),
            Err(error) => Awaited::Failed(error),
        })
    }
}

impl IntoFuture for &Event {
    type Output = Result<()>;
    type IntoFuture = Completion;

    fn into_future(self) -> Completion {
        Completion(Awaited::Event(EventWait {
            event: self.clone(),
            waiting: None,
        }))
    }
}

impl Future for Completion {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.get_mut().0 {
            Awaited::Failed(error) => Poll::Ready(Err(error.clone())),
            Awaited::Work(ticket) => Pin::new(ticket).poll(context),
            Awaited::Event(wait) => wait.poll(context),
        }
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut completion = f.debug_tuple("Completion");
        match &self.0 {
            Awaited::Failed(error) => completion.field(error),
            Awaited::Work(ticket) => completion.field(ticket),
            Awaited::Event(wait) => completion.field(&wait.event),
        }
        .finish()
    }
}

struct EventWait {
    event: Event,
    /// Once it was polled and the event was not reached.
    waiting: Option<(Outcome, Arc<EventWatch>)>,
}

/// An event that the reactor asks for.
struct EventWatch {
    event: Event,
    waiter: Arc<Waiter>,
    /// Failed questions, one after the other.
    failures: AtomicU32,
}

impl EventWait {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some((outcome, _)) = &self.waiting {
            return outcome.poll(context);
        }
        let core = self.event.core();
        if let Err(forked) = core.not_forked() {
            return Poll::Ready(Err(forked));
        }
        let reactor = core.reactor();
        let event = &self.event;
        if (reactor.event_waits()).spin(|| event.raw().query(core.site())) {
            return Poll::Ready(Ok(()));
        }
        let outcome = Outcome::new(context);
        let told = {
            let (outcome, reactor, begin) = (outcome.clone(), Arc::clone(&reactor), Instant::now());
            move |result: Result<()>| {
                if result.is_ok() {
                    reactor.event_waits().note(begin.elapsed());
                }
                outcome.tell(result);
            }
        };
        let waiter = Waiter::new(core, 0, told);
        let watch = Arc::new(EventWatch {
            event: event.clone(),
            waiter: Arc::clone(&waiter),
            failures: AtomicU32::new(0),
        });
        core.watch(waiter);
        let watched: Weak<EventWatch> = Arc::downgrade(&watch);
        if reactor.watch(watched).is_err() {
            watch.waiter.tell(Err(Error::Full {
                kind: "thread that waits for events",
            }));
        }
        let (outcome, _) = self.waiting.insert((outcome, watch));
        // It may have been told meanwhile, and the task woken.
        outcome.poll(context)
    }
}

impl Drop for EventWait {
    fn drop(&mut self) {
        if let Some((_, watch)) = &self.waiting {
            watch.waiter.cancel();
        }
    }
}

impl Watched for EventWatch {
    fn advance(&self, _: Instant) -> bool {
        if !self.waiter.is_waiting() {
            return false;
        }
        match self.event.raw().query(self.event.core().site()) {
            Ok(true) => self.waiter.tell(Ok(())),
            Ok(false) => {
                self.failures.store(0, Ordering::Relaxed);
                return true;
            }
            Err(error) => {
                if self.failures.fetch_add(1, Ordering::Relaxed) + 1 < ATTEMPTS {
                    return true;
                }
                self.waiter.tell(Err(error));
            }
        }
        false
    }
}

//! `ExecutionFuture`: the end of an execution, to await.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use cupola_managers::{Error, Result, Ticket};

/// The future of an [`Execution`](super::Execution), which `.await` makes of it: ready with its output
/// when the work has completed. How it is told is said at
/// [`Stream::ticket`](cupola_managers::Stream::ticket).
///
/// # Errors
/// It is ready with the error that the context is lost to, and with those of
/// [`Stream::ticket`](cupola_managers::Stream::ticket).
#[must_use = "a future does nothing unless it is polled"]
pub struct ExecutionFuture<R> {
    end: End,
    /// Until it is ready.
    output: Option<R>,
}

enum End {
    Reached,
    Awaited(Ticket),
    /// Known before the first poll, and told with it.
    Failed(Error),
}

impl<R> ExecutionFuture<R> {
    /// The future of work whose ticket this is, `None` where it has completed.
    pub(super) fn new(ticket: Result<Option<Ticket>>, output: R) -> Self {
        let end = match ticket {
            Ok(None) => End::Reached,
            Ok(Some(ticket)) => End::Awaited(ticket),
            Err(error) => End::Failed(error),
        };
        let output = Some(output);
        Self { end, output }
    }
}

/// The output is never pinned.
impl<R> Unpin for ExecutionFuture<R> {}

impl<R> Future for ExecutionFuture<R> {
    type Output = Result<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R>> {
        let ended = match &mut self.end {
            End::Reached => Ok(()),
            End::Failed(error) => Err(error.clone()),
            End::Awaited(ticket) => match Pin::new(ticket).poll(context) {
                Poll::Ready(ended) => ended,
                Poll::Pending => return Poll::Pending,
            },
        };
        match (ended, self.output.take()) {
            (Err(error), _) => Poll::Ready(Err(error)),
            (Ok(()), Some(output)) => Poll::Ready(Ok(output)),
            // It was ready before, and has nothing more to give.
            (Ok(()), None) => Poll::Pending,
        }
    }
}

impl<R> fmt::Debug for ExecutionFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut future = f.debug_tuple("ExecutionFuture");
        match &self.end {
            End::Reached => &mut future,
            End::Awaited(ticket) => future.field(ticket),
            End::Failed(error) => future.field(error),
        }
        .finish()
    }
}

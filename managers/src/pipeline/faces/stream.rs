//! Items by an asynchronous stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError, ItemStage};
use crate::pipeline::Pipeline;
use crate::pipeline::faces::flow::Flow;
use crate::pipeline::item::{Item, Step};
use crate::stream::Ticket;

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    /// A `Stream` of the outputs of these inputs, in order. It takes inputs as they come and slots are
    /// free; it waits for the oldest item by its [`Ticket`], so no thread of the program's waits, and
    /// the loss of the context is told. Each item costs one event more than in [`run`](Self::run).
    ///
    /// The closures are as for [`iter`](Self::iter), and run on the thread that polls. The stream ends
    /// after its first error. Dropped early it waits on the host for the items in flight, and drops
    /// them; the pipeline can be used again.
    pub fn stream<N: Stream + Unpin, R, E: From<Error>>(
        &mut self,
        inputs: N,
        fill: impl FnMut(N::Item, &mut [I]) -> Result<usize, E>,
        step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        take: impl FnMut(Item<'_, O>) -> Result<R, E>,
    ) -> impl Stream<Item = Result<R, ItemError<E>>> + Unpin {
        Outputs {
            in_flight: VecDeque::with_capacity(self.depth()),
            flow: Flow::new(&mut self.engine, fill, step, take),
            inputs: Some(inputs),
            has_begun: false,
        }
    }
}

struct Outputs<'p, I: DeviceCopy, O: DeviceCopy, N, F, S, T> {
    /// The oldest first.
    in_flight: VecDeque<Arrival>,
    flow: Flow<'p, I, O, F, S, T>,
    /// `None` when they have ended.
    inputs: Option<N>,
    has_begun: bool,
}

/// How an item in flight is waited for.
enum Arrival {
    /// By a ticket of its download.
    Ticket(Ticket),
    /// A thread of its own puts the download: the ticket comes after.
    Handed,
}

// Nothing in it is pinned: the closures are called by reference, and the inputs are `Unpin`.
impl<I: DeviceCopy, O: DeviceCopy, N: Unpin, F, S, T> Unpin for Outputs<'_, I, O, N, F, S, T> {}

impl<I, O, N, F, S, T> Outputs<'_, I, O, N, F, S, T>
where
    I: DeviceCopy,
    O: DeviceCopy,
    N: Stream + Unpin,
{
    /// Submits the inputs that have come, as long as slots are free.
    fn submit<E: From<Error>>(&mut self, context: &mut Context<'_>) -> Result<(), ItemError<E>>
    where
        F: FnMut(N::Item, &mut [I]) -> Result<usize, E>,
        S: FnMut(Step<'_, I, O>) -> Result<usize, E>,
    {
        if !self.has_begun {
            self.flow.begin()?;
            self.has_begun = true;
        }
        while self.flow.engine().has_room()
            && let Some(inputs) = &mut self.inputs
        {
            match Pin::new(inputs).poll_next(context) {
                Poll::Pending => break,
                Poll::Ready(None) => self.inputs = None,
                Poll::Ready(Some(input)) => {
                    let index = self.flow.engine().next();
                    self.flow.put(input)?;
                    let mut arrival = Arrival::Handed;
                    if !self.flow.engine_mut().is_last_handed() {
                        // Of the download and of nothing that is put later.
                        let ticket = self.flow.engine().download_stream().ticket();
                        let failed = |error| ItemError::new(index, ItemStage::Download, error);
                        arrival = Arrival::Ticket(ticket.map_err(failed)?);
                    }
                    self.in_flight.push_back(arrival);
                }
            }
        }
        Ok(())
    }

    /// What the program makes of the oldest item, when it has arrived; `None` after the last.
    fn poll_item<R, E: From<Error>>(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<R>, ItemError<E>>>
    where
        T: FnMut(Item<'_, O>) -> Result<R, E>,
    {
        let Some(oldest) = self.in_flight.front_mut() else {
            // The inputs have the waker.
            return match self.inputs {
                Some(_) => Poll::Pending,
                None => Poll::Ready(Ok(None)),
            };
        };
        let index = self.flow.engine().oldest_index();
        if let Arrival::Handed = oldest
            && let Some(ticket) = ready!(self.flow.engine_mut().poll_put(context.waker()))
        {
            *oldest = Arrival::Ticket(ticket);
        }
        if let Arrival::Ticket(ticket) = oldest {
            let arrived = ready!(Pin::new(ticket).poll(context));
            let failed = |error| ItemError::new(index, ItemStage::Download, error);
            arrived.map_err(failed)?;
        }
        self.in_flight.pop_front();
        Poll::Ready(self.flow.take())
    }
}

impl<I, O, N, F, S, T, R, E> Stream for Outputs<'_, I, O, N, F, S, T>
where
    I: DeviceCopy,
    O: DeviceCopy,
    N: Stream + Unpin,
    E: From<Error>,
    F: FnMut(N::Item, &mut [I]) -> Result<usize, E>,
    S: FnMut(Step<'_, I, O>) -> Result<usize, E>,
    T: FnMut(Item<'_, O>) -> Result<R, E>,
{
    type Item = Result<R, ItemError<E>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.flow.is_over() {
            return Poll::Ready(None);
        }
        let next = match this.submit(context) {
            Ok(()) => ready!(this.poll_item(context)).transpose(),
            Err(error) => Some(Err(error)),
        };
        if !matches!(next, Some(Ok(_))) {
            this.flow.end();
        }
        Poll::Ready(next)
    }
}

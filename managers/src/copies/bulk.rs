//! `BulkCopy`: a copy that is put chunk by chunk.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::CopyConfig;
use super::arbiter::Arbiter;
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedSlice, PinnedSliceMut};
use crate::error::Result;
use crate::ops;
use crate::stream::{Stream, Ticket, TicketWatch};

/// The memory of a copy, with its direction. The lengths are equal.
pub(super) enum Ends<'m, T: DeviceCopy> {
    Upload(PinnedSlice<'m, T>, DeviceSliceMut<'m, T>),
    Download(DeviceSlice<'m, T>, PinnedSliceMut<'m, T>),
}

impl<T: DeviceCopy> Ends<'_, T> {
    fn len(&self) -> usize {
        match self {
            Self::Upload(from, _) => from.len(),
            Self::Download(from, _) => from.len(),
        }
    }

    /// Puts a copy of the elements from `start` to `end` on the stream.
    #[track_caller]
    fn put(&mut self, start: usize, end: usize, stream: &Stream) -> Result<()> {
        match self {
            Self::Upload(from, to) => {
                let (from, to) = (from.slice(start..end)?, to.reborrow().slice(start..end)?);
                ops::copy_to_device(from, to, stream)
            }
            Self::Download(from, to) => {
                let (from, to) = (from.slice(start..end)?, to.reborrow().slice(start..end)?);
                ops::copy_to_host(from, to, stream)
            }
        }
    }
}

/// A copy of a [`CopyScheduler`](super::CopyScheduler) that is on its way. It goes on when the
/// program lets it: [`wait`](Self::wait) for it, await it, or [`advance`](Self::advance) it.
///
/// Until it is done, put no work on its stream: that would come between two chunks, and if it waits
/// for long, so do the other bulk copies of the direction.
///
/// Dropping it leaves out the chunks that were not put, and waits for nothing. The memory that is
/// written has some of the contents then. It may be dropped too: it is freed behind the chunks that
/// were put, as with any copy.
///
/// # Errors
/// Of each way to go on: as [`ops::copy_to_device`], as [`Stream::ticket`], and the error of failed
/// work before it on the stream. The copy is not done then; asked again, it goes on with the chunk
/// that it had come to.
#[must_use = "a bulk copy goes on when it is waited for, awaited or advanced"]
pub struct BulkCopy<'m, T: DeviceCopy> {
    ends: Ends<'m, T>,
    stream: &'m Stream,
    arbiter: &'m Arc<Arbiter>,
    config: CopyConfig,
    /// Elements that were put.
    put: usize,
    /// Behind the work that comes before the copy, until that is done.
    before: Option<Ticket>,
    /// Behind the newest chunk.
    newest: Option<Arc<Ticket>>,
    /// Of the task that awaits the copy.
    watch: Option<TicketWatch>,
}

/// What a copy waits for.
enum Wait<'t> {
    /// The work before it, or its last chunk.
    Own(&'t Ticket),
    /// The oldest chunk of all copies.
    Turn(Arc<Ticket>),
}

impl<'m, T: DeviceCopy> BulkCopy<'m, T> {
    #[track_caller]
    pub(super) fn begin(
        ends: Ends<'m, T>,
        stream: &'m Stream,
        arbiter: &'m Arc<Arbiter>,
        config: CopyConfig,
    ) -> Result<Self> {
        let mut copy = Self {
            ends,
            stream,
            arbiter,
            config,
            put: 0,
            before: None,
            newest: None,
            watch: None,
        };
        let len = copy.ends.len();
        if len * size_of::<T>() <= config.threshold {
            copy.ends.put(0, len, stream)?;
            copy.put = len;
            copy.newest = Some(Arc::new(stream.ticket()?));
            return Ok(copy);
        }
        // A chunk that waits for other work would keep its turn from the other copies, and that
        // work may wait for one of these.
        copy.before = Some(stream.ticket()?);
        copy.advance()?;
        Ok(copy)
    }

    /// Puts the chunks whose turn it is, and waits for nothing. Whether the copy is done.
    ///
    /// # Errors
    /// See [`BulkCopy`].
    #[track_caller]
    pub fn advance(&mut self) -> Result<bool> {
        Ok(self.go_on()?.is_none())
    }

    /// Goes on until the copy is done, and waits on the host in between (`cuEventSynchronize`).
    ///
    /// # Errors
    /// See [`BulkCopy`].
    #[track_caller]
    pub fn wait(&mut self) -> Result<()> {
        while let Some(wait) = self.go_on()? {
            match wait {
                Wait::Own(ticket) => ticket.wait()?,
                // If it is another copy's, that one is told of its error.
                Wait::Turn(ticket) => drop(ticket.wait()),
            }
        }
        Ok(())
    }

    /// Elements that were put on the stream so far.
    #[must_use]
    pub fn elements_put(&self) -> usize {
        self.put
    }

    /// Puts the chunks whose turn it is. What the copy waits for then; `None` when it is done.
    #[track_caller]
    fn go_on(&mut self) -> Result<Option<Wait<'_>>> {
        if let Some(before) = &self.before
            && before.is_done()?
        {
            self.before = None;
        }
        if self.before.is_some() && !mutant!("copies_chunk_before_its_turn_is_ready") {
            return Ok(self.before.as_ref().map(Wait::Own));
        }
        let len = self.ends.len();
        let chunk = (self.config.chunk / size_of::<T>().max(1)).max(1);
        if self.put < len {
            let mut turn = self.arbiter.turn(self.config.window);
            while self.put < len {
                if let Some(oldest) = turn.full() {
                    return Ok(Some(Wait::Turn(Arc::clone(oldest))));
                }
                let end = len.min(self.put + chunk);
                self.ends.put(self.put, end, self.stream)?;
                let ticket = Arc::new(self.stream.ticket()?);
                turn.put(Arc::clone(&ticket));
                (self.put, self.newest) = (end, Some(ticket));
            }
        }
        match &self.newest {
            Some(newest) if !newest.is_done()? => Ok(Some(Wait::Own(newest))),
            _ => Ok(None),
        }
    }
}

// Nothing in it is pinned in place.
impl<T: DeviceCopy> Unpin for BulkCopy<'_, T> {}

impl<T: DeviceCopy> Future for BulkCopy<'_, T> {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        let wait = match this.go_on() {
            Ok(Some(wait)) => wait,
            Ok(None) => return Poll::Ready(Ok(())),
            Err(error) => return Poll::Ready(Err(error)),
        };
        let waker = context.waker().clone();
        // An error of the wait is met again by the poll that it brings about.
        let told = move |_| waker.wake();
        let watch = match &wait {
            Wait::Own(ticket) => ticket.on_done(told),
            Wait::Turn(ticket) => ticket.on_done(told),
        };
        drop(wait);
        this.watch = Some(watch);
        Poll::Pending
    }
}

/// Sweeps an arbiter when it is dropped.
struct Sweep(Arc<Arbiter>);

impl Drop for Sweep {
    fn drop(&mut self) {
        self.0.sweep();
    }
}

impl<T: DeviceCopy> Drop for BulkCopy<'_, T> {
    fn drop(&mut self) {
        // In a fork another thread may have left the arbiter's lock taken.
        if self.stream.core().not_forked().is_err() {
            return;
        }
        let sweep = Sweep(Arc::clone(self.arbiter));
        match self.newest.take() {
            // Its chunks keep their turns until they end.
            Some(newest) if matches!(newest.is_done(), Ok(false)) => newest.keep(sweep),
            _ => drop(sweep),
        }
    }
}

impl<T: DeviceCopy> fmt::Debug for BulkCopy<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkCopy")
            .field("len", &self.ends.len())
            .field("put", &self.put)
            .field("newest", &self.newest)
            .finish_non_exhaustive()
    }
}

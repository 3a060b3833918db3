//! `DownloadThread`: a thread that puts the downloads of one pipeline on their stream.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};
use std::{io, ptr};

use super::job::Download;
use super::queue::JobQueue;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::stream::fence::Fence;
use crate::sync::deferred::DeferCallbacks;
use crate::sync::per_thread;

/// Downloads by the slots of their items, and the fence behind each that was put.
type Queue = JobQueue<Download, Result<Fence>>;

/// Ends, and is waited for, when it is dropped: the downloads that it was given are put before. In the
/// child of a fork, which has no such thread, it is left alone.
pub(in crate::pipeline) struct DownloadThread {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
    stream: Stream,
}

/// Tells the other side that the thread is gone, however it ends.
struct Leaving<'a>(&'a Queue);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl DownloadThread {
    /// Starts it, for a pipeline of at most so many slots.
    ///
    /// # Errors
    /// The process can have no more threads.
    pub(super) fn start(slots: usize, stream: &Stream) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(slots));
        let thread = thread::Builder::new().name("cupola-downloads".into());
        let (jobs, on) = (Arc::clone(&queue), stream.clone());
        let thread = thread.spawn(move || run(&jobs, &on))?;
        Ok(Self {
            queue,
            thread: Some(thread),
            stream: stream.clone(),
        })
    }

    /// Hands over the download of the item in a slot, which has no other.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub(in crate::pipeline) fn hand_over(&self, slot: usize, download: Download) -> Result<()> {
        self.queue()?.push(slot, download);
        Ok(())
    }

    /// Waits until the download of a slot's item is put; the fence behind it.
    ///
    /// # Errors
    /// What the driver returned; [`Error::Forked`].
    pub(in crate::pipeline) fn wait(&self, slot: usize) -> Result<Fence> {
        self.queue()?.wait(slot).unwrap_or_else(|| Err(self.gone()))
    }

    /// The same, if it is put; else `waker` is woken when it is.
    pub(in crate::pipeline) fn poll(
        &self,
        slot: usize,
        waker: Option<&Waker>,
    ) -> Poll<Result<Fence>> {
        match self.queue() {
            Ok(queue) => queue
                .poll(slot, waker)
                .map(|put| put.unwrap_or_else(|| Err(self.gone()))),
            Err(forked) => Poll::Ready(Err(forked)),
        }
    }

    /// Waits until all downloads that it was given are put.
    pub(in crate::pipeline) fn wait_until_idle(&self) {
        if let Ok(queue) = self.queue() {
            queue.wait_until_idle();
        }
    }

    /// Drops the downloads that are not begun, and waits for the one that is. What came of others is
    /// forgotten.
    pub(in crate::pipeline) fn clear(&self) {
        if let Ok(queue) = self.queue() {
            queue.clear();
        }
    }

    /// Why a download will not be put: the thread ends when the context is lost.
    fn gone(&self) -> Error {
        self.stream.core().poison().unwrap_or_else(|| {
            // In code of the program's: a driver of its own, or a subscriber of `tracing`.
            let problem = "the thread that puts its downloads has panicked";
            Error::invalid("pipeline", problem)
        })
    }

    /// Not for the child of a fork, in which the lock may be taken for ever.
    fn queue(&self) -> Result<&Queue> {
        self.stream.core().not_forked()?;
        Ok(&self.queue)
    }
}

impl Drop for DownloadThread {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        let Ok(queue) = self.queue() else {
            // Its handle names no thread of this process.
            let _ = ManuallyDrop::new(thread);
            return;
        };
        queue.close();
        if !is_thread_of(queue) {
            // A panic was told with the downloads that it left.
            let _ = thread.join();
        }
    }
}

per_thread! {
    /// The queue that this thread works for, by its address; 0 for none.
    static OF: Cell<usize> = Cell::new(0);
}

/// Whether the calling thread is that of the queue: a callback of the program's, which runs on it when
/// the context is lost, may drop the pipeline.
fn is_thread_of(queue: &Queue) -> bool {
    OF.try_with(Cell::get).unwrap_or(0) == ptr::from_ref(queue).addr()
}

fn run(queue: &Queue, stream: &Stream) {
    let _ = OF.try_with(|of| of.set(ptr::from_ref(queue).addr()));
    // Callbacks of the program's that become due because the context is lost run when no thread
    // waits for this one any more.
    let _defer = DeferCallbacks::new();
    let _leaving = Leaving(queue);
    while let Some((slot, download)) = queue.next() {
        queue.finish(slot, download.put(stream));
        if !stream.core().is_healthy() {
            break;
        }
    }
}

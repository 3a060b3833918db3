//! What a stream knows of the graph that its work is captured into, and what that graph keeps.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Stream;
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::lists;
use crate::stream::timeline::Timeline;
use crate::sync::{AtomicBool, Ordering};

/// What a graph uses, kept for as long as it may run: a launch runs at the addresses, and calls the
/// code, of the capture.
#[derive(Default)]
pub(crate) struct GraphResources {
    kept: Mutex<Kept>,
    after: Mutex<Vec<Allocated>>,
    /// Memory that it keeps as a whole.
    own: OnceLock<OwnMemory>,
}

#[derive(Default)]
struct Kept {
    owners: Vec<Box<dyn Send>>,
    /// The owners that were given under a key, of which one is enough.
    keys: HashSet<usize>,
    /// Owners of blocks of the graph's own memory that are kept while it is captured.
    captured: Option<Vec<Box<dyn Send>>>,
}

/// A pool that is a graph's, and the stream in whose order its blocks are used again in the capture.
struct OwnMemory {
    pool: u64,
    stream: u64,
}

/// Up to which ticket of a stream its work may have had memory that the graph uses.
#[derive(Clone)]
struct Allocated {
    timeline: Arc<Timeline>,
    core: Arc<ContextCore>,
    ticket: u64,
}

impl GraphResources {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn after(&self) -> MutexGuard<'_, Vec<Allocated>> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a value.
    pub(crate) fn keep(&self, owner: impl Send + 'static) {
        self.kept().owners.push(Box::new(owner));
    }

    /// Keeps one of the values that come with this key.
    pub(crate) fn keep_one<T: Send + Clone + 'static>(&self, key: usize, owner: &T) {
        let mut kept = self.kept();
        if kept.keys.insert(key) {
            kept.owners.push(Box::new(owner.clone()));
        }
    }

    /// The pool of this number is the graph's as a whole: a block that was used on `stream` alone is
    /// free for the graph when its owner drops it.
    pub(crate) fn own(&self, pool: u64, stream: &Stream) {
        let stream = stream.serial();
        self.kept().captured = Some(Vec::new());
        // A capture has one memory.
        let _ = self.own.set(OwnMemory { pool, stream });
    }

    /// Whether the pool of this number is the graph's as a whole.
    pub(crate) fn owns(&self, pool: u64) -> bool {
        self.own.get().is_some_and(|own| own.pool == pool)
    }

    /// Whether the blocks of this pool are used again in the order of `stream`, so that they need not be
    /// kept when it alone has used them.
    pub(crate) fn reuses(&self, pool: u64, stream: &Stream) -> bool {
        let is_it = |own: &OwnMemory| own.pool == pool && own.stream == stream.serial();
        self.own.get().is_some_and(is_it)
    }

    /// Keeps a block of this pool: one of the graph's own until the end of the capture. Gives it back
    /// when that is over: the graph needs no more than the pool.
    pub(crate) fn keep_block<T: Send + 'static>(&self, pool: u64, block: T) -> Result<(), T> {
        let mut kept = self.kept();
        let owners = match self.owns(pool) {
            true => kept.captured.as_mut(),
            false => Some(&mut kept.owners),
        };
        match owners {
            Some(owners) => owners.push(Box::new(block)),
            None => return Err(block),
        }
        Ok(())
    }

    /// The capture is over, and no work of it comes later any more: the blocks of the graph's own
    /// memory that were kept for that.
    #[must_use]
    pub(crate) fn end_capture(&self) -> Vec<Box<dyn Send>> {
        self.kept().captured.take().unwrap_or_default()
    }

    /// Keeps what another graph uses, whose work is part of this one's.
    pub(crate) fn absorb(&self, child: &Arc<Self>) {
        for allocated in &*child.after() {
            self.add_after(allocated.clone());
        }
        self.keep_one(Arc::as_ptr(child).addr(), child);
    }

    /// Launches come after the work that is on `stream` now.
    pub(crate) fn comes_after(&self, stream: &Stream) {
        let timeline = Arc::clone(stream.timeline());
        let (ticket, core) = (timeline.stamp(), Arc::clone(stream.core()));
        self.add_after(Allocated {
            timeline,
            core,
            ticket,
        });
    }

    /// Whether launches need not wait for anything.
    pub(crate) fn is_ordered(&self) -> bool {
        self.after().is_empty()
    }

    fn add_after(&self, new: Allocated) {
        let mut after = self.after();
        let is_known = |it: &&mut Allocated| it.timeline.serial() == new.timeline.serial();
        match after.iter_mut().find(is_known) {
            Some(known) => known.ticket = known.ticket.max(new.ticket),
            None => after.push(new),
        }
    }

    /// Makes later work on `stream` wait for the work that a launch comes after, where that is not
    /// known to be complete.
    ///
    /// # Errors
    /// What the driver returned; [`Error::Capturing`] while one of the streams is captured by calls
    /// that this crate does not see.
    #[inline]
    #[track_caller]
    pub(crate) fn order(&self, stream: &Stream) -> Result<()> {
        let pending = {
            let mut after = self.after();
            lists::retain(&mut after, |it| !it.timeline.is_done(it.ticket));
            if after.is_empty() {
                return Ok(());
            }
            after.clone()
        };
        // Without the lock: a failing call may run a policy of the user's.
        for Allocated {
            timeline,
            core,
            ticket,
        } in &pending
        {
            if !stream.wait_for_ticket(timeline, core, *ticket)? {
                let operation = "launch a graph";
                return Err(Error::Capturing { operation });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for GraphResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphResources").finish_non_exhaustive()
    }
}

/// A stream's mark while it is captured by this crate.
#[derive(Default)]
#[repr(C)]
pub(super) struct CaptureMark {
    is_open: AtomicBool,
    resources: Mutex<Option<Arc<GraphResources>>>,
}

impl CaptureMark {
    fn resources(&self) -> MutexGuard<'_, Option<Arc<GraphResources>>> {
        self.resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// Whether the stream's work is captured by [`Graph::capture`](crate::Graph::capture). A stream
    /// is marked before another thread has it, by its name too, and the mark goes after the capture's end: a thread
    /// that has the stream knows of the mark as long as its work would be captured.
    #[must_use]
    #[inline]
    pub fn is_captured(&self) -> bool {
        self.capture_mark().is_open.load(Ordering::Relaxed)
    }

    /// What the graph keeps that the stream's work is captured into; `None` also of a stream that is
    /// [reserved](Self::mark_reserved).
    #[inline]
    pub(crate) fn captured(&self) -> Option<Arc<GraphResources>> {
        // In a fork another thread may have left the lock taken.
        match self.is_captured() && self.core().not_forked().is_ok() {
            true => self.capture_mark().resources().clone(),
            false => None,
        }
    }

    /// Sets the mark, or takes it away.
    pub(crate) fn mark_captured(&self, resources: Option<Arc<GraphResources>>) {
        let mark = self.capture_mark();
        let is_open = resources.is_some();
        let before = std::mem::replace(&mut *mark.resources(), resources);
        mark.is_open.store(is_open, Ordering::Relaxed);
        drop(before);
    }

    /// Keeps the program's work off a stream that memory of graphs belongs to: until the mark is taken
    /// away it is refused as on a stream that is captured, but that there is no graph to go into.
    pub(crate) fn mark_reserved(&self) {
        self.capture_mark().is_open.store(true, Ordering::Relaxed);
    }

    /// Refuses the stream while it is captured by this crate.
    #[inline]
    pub(crate) fn refuse_marked(&self, operation: &'static str) -> Result<()> {
        match self.is_captured() {
            true => Err(Error::Capturing { operation }),
            false => Ok(()),
        }
    }
}

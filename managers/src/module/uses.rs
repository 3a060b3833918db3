//! `Uses`: where the code of a module may still run.
//!
//! `cuCtxSynchronize` would cover it, and the work of every other user of the context with it; and
//! while a stream of the context is being captured, by whatever thread, it fails and ends that
//! capture, in every mode. So a module remembers the streams that its kernels were launched on,
//! and waits for those.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::context::ContextCore;
use crate::error::{Result, Site};
use crate::memory::clock::{Closed, EVERY, StreamClock};
use crate::stream::Stream;
use crate::submit;

/// The streams that a module's kernels were launched on.
pub(crate) struct Uses {
    /// A number that no other module of the process has.
    serial: u64,
    clocks: Mutex<Vec<Arc<StreamClock>>>,
    /// Other code was given what it needs to launch from the module, on streams of its own.
    unknown: AtomicBool,
}

impl Uses {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            clocks: Mutex::new(Vec::new()),
            unknown: AtomicBool::new(false),
        }
    }

    /// A kernel of the module is about to be launched on the stream, by a caller that leases the
    /// module.
    ///
    /// The stream's mark may be of another thread. That one wrote the stream down before it made
    /// the mark, and has a lease too: who unloads the module, after the last lease, finds it.
    #[inline]
    pub(crate) fn note(&self, stream: &Stream) {
        if stream.newest_code().load(Ordering::Relaxed) != self.serial {
            self.note_new(stream);
        }
    }

    #[cold]
    fn note_new(&self, stream: &Stream) {
        let mut clocks = self.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        if !clocks.iter().any(|clock| clock.serial() == stream.serial()) {
            if clocks.len() == clocks.capacity() {
                // Streams that are gone, with all that was on them.
                clocks.retain(|clock| !clock.is_done(EVERY));
                let there = clocks.len();
                clocks.reserve(there.max(4));
            }
            clocks.push(Arc::clone(stream.clock()));
        }
        drop(clocks);
        stream.newest_code().store(self.serial, Ordering::Relaxed);
    }

    /// Other code may launch from the module from now on.
    pub(super) fn note_unknown(&self) {
        self.unknown.store(true, Ordering::Relaxed);
    }

    /// Waits until no kernel of the module runs any more. False when that is not known.
    pub(super) fn settle(&self, core: &Arc<ContextCore>, site: Site) -> bool {
        // In the child of a fork nothing is unloaded, and no lock is taken.
        if core.not_forked().is_err() {
            return false;
        }
        if self.unknown.load(Ordering::Relaxed) {
            return submit::settle_context(core, site);
        }
        let clocks =
            std::mem::take(&mut *self.clocks.lock().unwrap_or_else(PoisonError::into_inner));
        for clock in clocks {
            match settle_clock(&clock, core) {
                Ok(true) => {}
                Ok(false) => return false,
                // Events cannot be had, or not asked.
                Err(_) => return submit::settle_context(core, site),
            }
        }
        true
    }
}

/// Waits for what is on the stream; false when a capture is open there, or nothing tells.
#[track_caller]
fn settle_clock(clock: &StreamClock, core: &Arc<ContextCore>) -> Result<bool> {
    let ticket = clock.stamp();
    let mut closed = clock.close(core, ticket);
    for _ in 0..2 {
        if closed.is_err() {
            closed = clock.close(core, ticket);
        }
    }
    if closed? != Closed::Covered {
        return Ok(false);
    }
    let far = Duration::from_secs(1 << 30);
    while !clock.is_done(ticket) {
        clock.wait_on_host(core, ticket, Instant::now() + far)?;
    }
    Ok(true)
}

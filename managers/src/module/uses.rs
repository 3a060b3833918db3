//! `Uses`: where the code of a module may still run.
//!
//! `cuCtxSynchronize` would cover it, and the work of every other user of the context with it; and
//! while a stream of the context is being captured, by any thread, it fails and ends that capture,
//! in every mode. So a module remembers the streams that its kernels were launched on, and waits
//! for those.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::driver::ContextCore;
use crate::error::{ErrorClass, Result, Site};
use crate::lists;
use crate::stream::Stream;
use crate::stream::submit;
use crate::stream::timeline::{EVERY, Timeline};
use crate::sync::deferred::DeferCallbacks;

/// The streams that a module's kernels were launched on.
pub(crate) struct Uses {
    /// A number that no other module of the process has.
    serial: u64,
    streams: Mutex<Streams>,
    /// Other code was given a raw handle, by which it may launch from the module, on streams of its
    /// own.
    unknown: AtomicBool,
}

#[derive(Default)]
struct Streams {
    /// With the streams' serial numbers, by which they are sorted.
    timelines: Vec<(u64, Arc<Timeline>)>,
    /// At so many streams, those that are gone are looked for.
    room: usize,
}

impl Streams {
    /// The place of a stream, or the one where it belongs.
    fn find(&self, stream: &Stream) -> core::result::Result<usize, usize> {
        let serial = stream.serial();
        self.timelines
            .binary_search_by_key(&serial, |(serial, _)| *serial)
    }

    /// Forgets the streams that are gone and whose work is complete. Only this asks their last
    /// events: a request for memory that was freed on them may never come.
    #[cold]
    #[track_caller]
    fn forget_gone(&mut self, core: &Arc<ContextCore>) {
        for (_, timeline) in &self.timelines {
            if timeline.covered() == EVERY {
                // An error is that of the launch too, or passes.
                let _ = timeline.poll(core);
            }
        }
        lists::retain(&mut self.timelines, |(_, timeline)| {
            !timeline.is_done(EVERY)
        });
        self.room = (2 * self.timelines.len()).max(4);
    }
}

impl Uses {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            streams: Mutex::default(),
            unknown: AtomicBool::new(false),
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no other module of the process has.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Whether the newest launch on the stream is known to be of a kernel of the module of this number.
    ///
    /// The stream's mark may be of another thread. That one wrote the stream down before it made
    /// the mark, and has a lease too: the thread that unloads the module, after the last lease,
    /// finds it.
    #[inline]
    pub(super) fn is_noted(serial: u64, stream: &Stream) -> bool {
        stream.newest_code().load(Ordering::Relaxed) == serial
    }

    /// A kernel of the module is about to be launched on the stream, by a caller that leases the
    /// module.
    #[cold]
    #[track_caller]
    pub(super) fn note_new(&self, stream: &Stream) {
        if stream.core().not_forked().is_err() {
            // The launch refuses it. Another thread of the parent may have held the lock.
            return;
        }
        // A policy that a failing call sets off waits for the lock to be given back.
        let _defer = DeferCallbacks::new();
        let mut streams = self.streams();
        if streams.find(stream).is_err() {
            if streams.timelines.len() >= streams.room {
                streams.forget_gone(stream.core());
            }
            if let Err(at) = streams.find(stream) {
                let entry = (stream.serial(), Arc::clone(stream.timeline()));
                streams.timelines.insert(at, entry);
            }
        }
        drop(streams);
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
        let timelines = std::mem::take(&mut *self.streams()).timelines;
        for (_, timeline) in &timelines {
            match settle_timeline(timeline, core) {
                Ok(true) => {}
                Ok(false) => return false,
                // At the end of the process the driver has taken everything back.
                Err(ErrorClass::Shutdown) => {}
                // There is no capture left to be broken.
                Err(_) if !core.is_healthy() => return submit::settle_context(core, site),
                Err(_) => return false,
            }
        }
        true
    }
}

/// Waits for the work on the stream; false when a capture is open there, or no event tells of it.
/// After an error it is tried again, as code that is not unloaded stays for ever.
///
/// # Errors
/// The class of the last error: events cannot be had, or not asked.
#[track_caller]
fn settle_timeline(timeline: &Timeline, core: &Arc<ContextCore>) -> Result<bool, ErrorClass> {
    let ticket = timeline.stamp();
    let far = || Instant::now() + Duration::from_secs(1 << 30);
    let mut waited = timeline.wait_on_host(core, ticket, far());
    for _ in 0..2 {
        if waited.is_err() {
            waited = timeline.wait_on_host(core, ticket, far());
        }
    }
    waited.map_err(|error| error.class())
}

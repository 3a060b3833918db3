//! `RawStream`: a driver's stream and the timeline that ends with it.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use cupola_sys::driver::{CUstream, CUstream_flags, Driver};

use super::StreamConfig;
use super::captured::CaptureMark;
use super::flags::Flags;
use crate::driver::{ContextCore, Kind};
use crate::error::{Result, Rings, Site};
use crate::event::EventPool;
use crate::object_pool::{LeaseHolders, Reusable};
use crate::stream::timeline::Timeline;

/// What a launch reads comes first, so that it is in few cache lines.
#[repr(C)]
pub(crate) struct RawStream {
    /// Null once destroyed.
    raw: CUstream,
    /// The context's.
    driver: Driver,
    core: Arc<ContextCore>,
    launches: Arc<Rings>,
    /// The module that launched here last, by its number.
    newest_code: AtomicU64,
    /// The graph that its work is captured into.
    capture: CaptureMark,
    /// Made here, and destroyed here.
    owned: bool,
    config: StreamConfig,
    serial: u64,
    /// Made when memory is first freed here, or a kernel launched.
    timeline: OnceLock<Arc<Timeline>>,
    events: Arc<EventPool>,
    /// Dropped before the context: its page-locked memory is given back there.
    flags: ManuallyDrop<Arc<Flags>>,
    /// Those that have leases of this stream in stock.
    holders: LeaseHolders,
}

// SAFETY: a CUstream may be used from any thread; the rest is Send and Sync.
unsafe impl Send for RawStream {}
// SAFETY: a CUstream may be shared, because the driver does its own locking; the rest is Sync.
unsafe impl Sync for RawStream {}

/// A number for each stream of the process.
fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl RawStream {
    /// `cuStreamCreateWithPriority`; of a green context `cuGreenCtxStreamCreate` if it can be.
    pub(super) fn create(
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
        flags: &Arc<Flags>,
        config: StreamConfig,
        site: Site,
    ) -> Result<Self> {
        let kind = if config.blocking {
            CUstream_flags::CU_STREAM_DEFAULT
        } else {
            CUstream_flags::CU_STREAM_NON_BLOCKING
        };
        core.enter_at(site)?;
        let created = core.create_stream(kind, config.priority, site);
        let raw = core.check_at(created, site)?;
        core.ledger().add(Kind::Stream, 1);
        Ok(Self {
            raw,
            owned: true,
            config,
            serial: next_serial(),
            launches: core.launches().ring(),
            newest_code: AtomicU64::new(0),
            timeline: OnceLock::new(),
            events: Arc::clone(events),
            flags: ManuallyDrop::new(Arc::clone(flags)),
            driver: core.driver().clone(),
            capture: CaptureMark::default(),
            core: Arc::clone(core),
            holders: LeaseHolders::new(),
        })
    }

    /// A stream that other code owns.
    pub(super) fn borrowed(
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
        flags: &Arc<Flags>,
        raw: CUstream,
    ) -> Self {
        Self {
            raw,
            owned: false,
            config: StreamConfig::default(),
            serial: next_serial(),
            launches: core.launches().ring(),
            newest_code: AtomicU64::new(0),
            timeline: OnceLock::new(),
            events: Arc::clone(events),
            flags: ManuallyDrop::new(Arc::clone(flags)),
            driver: core.driver().clone(),
            capture: CaptureMark::default(),
            core: Arc::clone(core),
            holders: LeaseHolders::new(),
        }
    }

    pub(super) fn config(&self) -> StreamConfig {
        self.config
    }

    #[inline]
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    #[inline]
    pub(super) fn as_raw(&self) -> CUstream {
        self.raw
    }

    #[inline]
    pub(super) fn driver(&self) -> &Driver {
        &self.driver
    }

    #[inline]
    pub(super) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    #[inline]
    pub(super) fn launches(&self) -> &Rings {
        &self.launches
    }

    #[inline]
    pub(super) fn newest_code(&self) -> &AtomicU64 {
        &self.newest_code
    }

    /// The timeline, which tells when memory that was freed here is free.
    pub(super) fn timeline(&self) -> &Arc<Timeline> {
        self.timeline.get_or_init(|| {
            // SAFETY: the stream is of this context; before it is destroyed `end` retires the
            // timeline, or drops it.
            let timeline = unsafe {
                Timeline::new(self.serial, self.raw, &self.events, &self.flags, &self.core)
            };
            Arc::new(timeline)
        })
    }

    /// The timeline, if there is one.
    pub(super) fn used_timeline(&self) -> Option<&Timeline> {
        self.timeline.get().map(Arc::as_ref)
    }

    #[inline]
    pub(super) fn capture_mark(&self) -> &CaptureMark {
        &self.capture
    }

    pub(super) fn events(&self) -> &Arc<EventPool> {
        &self.events
    }

    #[track_caller]
    fn end(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        if let Some(timeline) = self.timeline.take()
            && Arc::strong_count(&timeline) > 1
        {
            // A pool has it, and memory that was freed here, or a module that launched here.
            timeline.retire(&self.core);
            // Else its last event would keep the context until it is asked.
            let _ = timeline.poll(&self.core);
        }
        if !self.owned {
            return Ok(());
        }
        // SAFETY: created by `create`, and this was the only copy.
        self.core.dispose(Kind::Stream, |driver| unsafe {
            driver.cuStreamDestroy_v2(raw)
        })
    }
}

impl Reusable for RawStream {
    #[inline]
    fn is_reusable(&self) -> bool {
        self.owned && self.core.is_healthy()
    }

    fn moved(&mut self) {
        // Launches that may still run keep the name under which they were made.
        self.launches.close();
        self.launches = self.core.launches().ring();
    }

    fn holders(&self) -> Option<&LeaseHolders> {
        // In a fork another thread may have left a lock taken.
        self.core.not_forked().is_ok().then_some(&self.holders)
    }

    #[track_caller]
    fn destroy(mut self) -> Result<()> {
        self.end()
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        self.launches.close();
        let _ = self.end();
        // SAFETY: the only place where it is dropped, and nothing uses it after.
        unsafe { ManuallyDrop::drop(&mut self.flags) };
    }
}

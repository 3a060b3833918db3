//! `RawEvent`: a driver's event, and the pool that such events come from.

use std::ptr;
use std::sync::Arc;

use cupola_core::tag;
use cupola_sys::driver::{CUevent, CUevent_flags, CUresult, DriverError};

use super::config::EventConfig;
use crate::driver::{ContextCore, Kind, RelaxedCapture};
use crate::error::{Result, Site};
use crate::object_pool::{ObjectPool, Reusable};
use crate::sync::{AtomicBool, Ordering};

/// The events of a context. It outlives the manager if there are streams that do: ordering
/// one behind another takes events.
pub(crate) type EventPool = ObjectPool<RawEvent, tag::Event>;

/// A driver event; destroyed with this value.
pub(crate) struct RawEvent {
    /// Null once destroyed.
    raw: CUevent,
    config: EventConfig,
    /// Whether it was recorded in this life, as far as is known.
    recorded: AtomicBool,
    core: Arc<ContextCore>,
}

// SAFETY: a CUevent may be used from any thread; the rest is Send and Sync.
unsafe impl Send for RawEvent {}
// SAFETY: a CUevent may be shared, because the driver does its own locking; the rest is Sync.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    /// `cuEventCreate`.
    pub(super) fn create(core: &Arc<ContextCore>, config: EventConfig, site: Site) -> Result<Self> {
        let mut flags = CUevent_flags::CU_EVENT_DEFAULT.0;
        if !config.timing {
            flags |= CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        }
        if config.blocking_sync {
            flags |= CUevent_flags::CU_EVENT_BLOCKING_SYNC.0;
        }
        let driver = core.enter_at(site)?;
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: `raw` outlives the call, and the context is current.
        let created = unsafe { driver.cuEventCreate(&raw mut raw, flags) };
        core.check_at(created, site)?;
        core.ledger().add(Kind::Event, 1);
        Ok(Self {
            raw,
            config,
            recorded: AtomicBool::new(false),
            core: Arc::clone(core),
        })
    }

    pub(super) fn config(&self) -> EventConfig {
        self.config
    }

    /// Whether it may have been recorded in this life.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Relaxed)
    }

    /// Notes that it was recorded, or may be by calls that this crate does not see.
    #[inline]
    pub(crate) fn note_recorded(&self) {
        self.recorded.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn as_raw(&self) -> CUevent {
        self.raw
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// Waits on the host until it is reached (`cuEventSynchronize`), for a caller at `site`. One that
    /// was not recorded is.
    pub(crate) fn synchronize(&self, site: Site) -> Result<()> {
        if !self.is_recorded() {
            return self.core.healthy();
        }
        self.core.healthy()?;
        let waited = {
            let _relaxed = RelaxedCapture::uncounted(self.core.driver());
            // SAFETY: the event is alive.
            (self.core).call(|driver| unsafe { driver.cuEventSynchronize(self.raw) })
        };
        self.core.check_at(waited, site)
    }

    /// Whether it is reached (`cuEventQuery`), for a caller at `site`.
    pub(crate) fn query(&self, site: Site) -> Result<bool> {
        if !self.is_recorded() {
            return self.core.healthy().map(|()| true);
        }
        self.core.healthy()?;
        let asked = {
            let _relaxed = RelaxedCapture::uncounted(self.core.driver());
            // SAFETY: the event is alive.
            (self.core).call(|driver| unsafe { driver.cuEventQuery(self.raw) })
        };
        self.core.check_at(ready(asked), site)
    }

    #[track_caller]
    fn end(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: created by `create`, and this was the only copy.
        self.core.dispose(Kind::Event, |driver| unsafe {
            driver.cuEventDestroy_v2(raw)
        })
    }
}

/// What the driver says of work that may not be complete.
pub(crate) fn ready(asked: Result<(), DriverError>) -> Result<bool, DriverError> {
    match asked {
        Ok(()) => Ok(true),
        Err(call) if call.status() == Some(CUresult::CUDA_ERROR_NOT_READY) => Ok(false),
        Err(call) => Err(call),
    }
}

impl Reusable for RawEvent {
    #[inline]
    fn is_reusable(&self) -> bool {
        self.core.is_healthy()
    }

    /// Forgets that the last user recorded it.
    #[inline]
    fn renew(&self) {
        if !mutant!("event_keeps_recorded") {
            self.recorded.store(false, Ordering::Relaxed);
        }
    }

    #[track_caller]
    fn destroy(mut self) -> Result<()> {
        self.end()
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

//! Events: marks in a stream that others wait for.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use cupola_core::{Handle, tag};
use cupola_sys::driver::{CUevent, CUevent_flags};

use crate::context::{ContextCore, Kind};
use crate::error::Result;
use crate::registry::Registry;

/// Names an event of an [`EventManager`].
pub type EventHandle = Handle<tag::Event>;

/// How an event is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventConfig {
    /// Whether it takes the time when it is reached. Off by default: recording is ten
    /// times cheaper without.
    pub timing: bool,
    /// Whether a host thread that waits for it sleeps instead of spinning.
    pub blocking_sync: bool,
}

impl EventConfig {
    /// An event that takes the time.
    #[must_use]
    pub const fn timing() -> Self {
        Self {
            timing: true,
            blocking_sync: false,
        }
    }
}

/// The events of one context.
#[derive(Debug)]
pub struct EventManager {
    events: Registry<EventInner, tag::Event>,
    core: Arc<ContextCore>,
}

pub(crate) struct EventInner {
    handle: EventHandle,
    config: EventConfig,
    raw: RawEvent,
}

/// A driver event; destroyed with this value.
pub(crate) struct RawEvent {
    /// Null once destroyed.
    raw: CUevent,
    core: Arc<ContextCore>,
}

// SAFETY: a CUevent may be used from any thread; the rest is Send and Sync.
unsafe impl Send for RawEvent {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for RawEvent {}

impl RawEvent {
    /// `cuEventCreate`.
    pub(crate) fn create(core: &Arc<ContextCore>, config: EventConfig) -> Result<Self> {
        let mut flags = CUevent_flags::CU_EVENT_DEFAULT.0;
        if !config.timing {
            flags |= CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        }
        if config.blocking_sync {
            flags |= CUevent_flags::CU_EVENT_BLOCKING_SYNC.0;
        }
        let driver = core.enter()?;
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: `raw` outlives the call, and the context is current.
        core.check(unsafe { driver.cuEventCreate(&raw mut raw, flags) })?;
        core.ledger().add(Kind::Event, 1);
        Ok(Self {
            raw,
            core: Arc::clone(core),
        })
    }

    pub(crate) fn as_raw(&self) -> CUevent {
        self.raw
    }

    fn destroy(&mut self) -> Result<()> {
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

impl Drop for RawEvent {
    fn drop(&mut self) {
        let _ = self.destroy();
    }
}

impl EventManager {
    pub(crate) fn new(core: &Arc<ContextCore>) -> Self {
        Self {
            events: Registry::new(),
            core: Arc::clone(core),
        }
    }

    /// Creates an event (`cuEventCreate`) and leases it. It counts as reached until it is
    /// recorded.
    ///
    /// # Errors
    /// What the driver returned, or the error that the context was lost to.
    pub fn create(&self, config: EventConfig) -> Result<Event> {
        let inner = self.events.insert_with(|handle| {
            Ok(EventInner {
                handle,
                config,
                raw: RawEvent::create(&self.core, config)?,
            })
        })?;
        Ok(Event(inner))
    }

    /// Leases the event that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle).
    pub fn lease(&self, handle: EventHandle) -> Result<Event> {
        self.events.lease(handle).map(Event)
    }

    /// Gives the event up: the handle is stale from now on. The driver's event is
    /// destroyed with the last lease.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle), or what the driver returned if it
    /// was destroyed here.
    pub fn release(&self, handle: EventHandle) -> Result<()> {
        match self.events.release(handle)? {
            Some(mut event) => event.raw.destroy(),
            None => Ok(()),
        }
    }

    /// Handles of the events that are held now.
    pub fn handles(&self) -> impl Iterator<Item = EventHandle> + '_ {
        self.events.handles()
    }

    /// Number of events that are held now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.events.live()
    }
}

/// A leased event. Clones are the same event.
///
/// Recording, waiting and timing are in [`ops`](crate::ops).
#[derive(Clone)]
pub struct Event(Arc<EventInner>);

impl Event {
    /// The event's handle in its manager.
    #[must_use]
    pub fn handle(&self) -> EventHandle {
        self.0.handle
    }

    /// How it was created.
    #[must_use]
    pub fn config(&self) -> EventConfig {
        self.0.config
    }

    /// The driver's event, for calls that this crate does not make. It is alive as long
    /// as this lease.
    #[must_use]
    pub fn as_raw(&self) -> CUevent {
        self.0.raw.as_raw()
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.0.raw.core
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.handle, f)
    }
}

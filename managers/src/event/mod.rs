//! Events: marks in a stream that others wait for. As streams, they are used again.

mod config;
mod raw;

use std::fmt;
use std::sync::Arc;

use cupola_core::tag;
use cupola_sys::driver::CUevent;

pub use config::{EventConfig, EventsConfig};
pub(crate) use raw::{EventPool, RawEvent, ready};

use crate::driver::ContextCore;
use crate::error::{Result, Site};
use crate::handle::ManagedHandle;
use crate::object_pool::Leased;
use crate::shutdown_report::ShutdownReport;
use crate::stats::{RecycleStats, State};

/// Names one life of an event of an [`EventManager`].
pub type EventHandle = ManagedHandle<tag::Event>;

/// The events of one context.
pub struct EventManager {
    events: EventPool,
    /// Events that the crate itself needs to order streams, and copies and frees behind them:
    /// these must not depend on the user's calls of the manager.
    own: Arc<EventPool>,
    core: Arc<ContextCore>,
}

impl EventManager {
    pub(crate) fn new(core: &Arc<ContextCore>, config: EventsConfig) -> Self {
        Self {
            events: EventPool::new(config.capacity),
            own: Arc::new(EventPool::new(EventsConfig::default().capacity)),
            core: Arc::clone(core),
        }
    }

    /// Where the crate's own events come from: a pool that is never shut down.
    pub(crate) fn pool(&self) -> &Arc<EventPool> {
        &self.own
    }

    /// Leases an event of this configuration: one that waits for its next life, else a new
    /// one (`cuEventCreate`). With the last lease it waits again. Its handle is good as long
    /// as there is a lease.
    ///
    /// It counts as reached until it is recorded, even if it was recorded in an earlier life.
    ///
    /// # Errors
    /// What the driver returned, or the error that the context was lost to;
    /// [`Error::Full`](crate::Error::Full), [`Error::ShutDown`](crate::Error::ShutDown),
    /// [`Error::Forked`](crate::Error::Forked).
    #[doc(alias = "cuEventCreate")]
    #[inline]
    #[track_caller]
    pub fn create(&self, config: EventConfig) -> Result<Event> {
        acquire(&self.core, &self.events, config, false).map(Event)
    }

    /// The same as [`create`](Self::create), under the name that says that an event which waits is
    /// used first.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[inline]
    #[track_caller]
    pub fn acquire(&self, config: EventConfig) -> Result<Event> {
        self.create(config)
    }

    /// Leases an event of this configuration, as [`create`](Self::create) does, which the manager
    /// keeps until [`release`](Self::release): the handle stays good without leases.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[track_caller]
    pub fn create_held(&self, config: EventConfig) -> Result<Event> {
        acquire(&self.core, &self.events, config, true).map(Event)
    }

    /// Leases the event that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle).
    pub fn lease(&self, handle: EventHandle) -> Result<Event> {
        self.events.lease(handle).map(Event)
    }

    /// Ends the handle, and the manager's hold on an event that was
    /// [kept](Self::create_held). The event waits for its next life from its last lease on.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle), [`Error::Forked`](crate::Error::Forked).
    #[track_caller]
    pub fn release(&self, handle: EventHandle) -> Result<()> {
        self.core.not_forked()?;
        self.events.release(handle)
    }

    /// Destroys events that wait, but for the `keep` used last of each configuration
    /// (`cuEventDestroy`).
    ///
    /// # Errors
    /// The first that the driver returned; the others are destroyed all the same.
    /// [`Error::Forked`](crate::Error::Forked), and nothing is destroyed.
    #[doc(alias = "cuEventDestroy")]
    #[track_caller]
    pub fn trim(&self, keep: usize) -> Result<()> {
        self.core.not_forked()?;
        self.events.trim(keep).and(self.own.trim(keep))
    }

    /// Whether `handle` names a life of an event now: it is leased or held, and was not
    /// released.
    #[must_use]
    pub fn is_alive(&self, handle: EventHandle) -> bool {
        self.events.is_alive(handle)
    }

    /// Handles of the events that are held now.
    pub fn handles(&self) -> impl Iterator<Item = EventHandle> + '_ {
        self.events.handles()
    }

    /// Number of events that are leased, or held by the manager, now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.events.live()
    }

    /// Figures so far.
    #[must_use]
    pub fn stats(&self) -> RecycleStats {
        self.events.stats()
    }

    /// Whether events can be had.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.events.is_shut())
    }

    /// Ends every handle and destroys every event without a lease; the others go with their last
    /// lease. Nothing is handed out until [`configure`](Self::configure).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        if let Err(forked) = self.core.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport::default();
        self.close(&mut report);
        self.drain(&mut report);
        report.locate(&self.core);
        report
    }

    #[track_caller]
    pub(crate) fn close(&self, report: &mut ShutdownReport) {
        self.events.close(report);
    }

    #[track_caller]
    pub(crate) fn drain(&self, report: &mut ShutdownReport) {
        self.events.drain(report);
        // Leased objects may still need events of the crate's own: events that wait go now, others
        // with the context.
        report.note(self.own.trim(0));
    }

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field;
    /// [`Error::Forked`](crate::Error::Forked).
    pub fn configure(&self, config: EventsConfig) -> Result<()> {
        self.core.not_forked()?;
        let config = config.check()?;
        self.events.set_capacity(config.capacity);
        self.events.open();
        Ok(())
    }

    /// Makes the manager small, and its slots wear out soon, for a test.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field, or when the manager has
    /// made an event already. Nothing is changed then.
    #[cfg(feature = "test-utils")]
    pub fn configure_for_test(&self, config: crate::testing::TestConfig) -> Result<()> {
        config.apply(&self.events)
    }

    /// Whether it was configured for a test.
    #[cfg(feature = "test-utils")]
    #[must_use]
    pub fn is_configured_for_test(&self) -> bool {
        self.events.is_limited_for_test()
    }

    /// Counts of its slots, by state.
    #[cfg(feature = "test-utils")]
    #[must_use]
    pub fn slot_counts(&self) -> crate::testing::SlotCounts {
        crate::testing::SlotCounts::of(&self.events)
    }
}

impl fmt::Debug for EventManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.handles()).finish()
    }
}

/// An event of the pool.
#[inline]
#[track_caller]
pub(crate) fn acquire(
    core: &Arc<ContextCore>,
    pool: &EventPool,
    config: EventConfig,
    held: bool,
) -> Result<LeasedEvent> {
    core.healthy()?;
    let site = Site::here();
    let create = || RawEvent::create(core, config, site);
    pool.acquire(config.class(), held, create)
}

/// An event of the pool, without a hold. Unlike [`acquire`] it calls `note` when a new event is
/// made, for a caller that counts the driver's calls.
#[track_caller]
pub(crate) fn acquire_noting(
    core: &Arc<ContextCore>,
    pool: &EventPool,
    config: EventConfig,
    note: impl Fn(),
) -> Result<LeasedEvent> {
    core.healthy()?;
    let site = Site::here();
    let create = || {
        note();
        RawEvent::create(core, config, site)
    };
    pool.acquire(config.class(), false, create)
}

/// A lease of an event, for the crate itself.
pub(crate) type LeasedEvent = Leased<RawEvent, tag::Event>;

/// A leased event. Clones are the same event.
///
/// Recording, waiting and timing are in [`ops`](crate::ops).
#[derive(Clone)]
pub struct Event(LeasedEvent);

impl Event {
    /// The handle of this life of the event in its manager.
    #[must_use]
    pub fn handle(&self) -> EventHandle {
        self.0.handle()
    }

    /// How it was created.
    #[must_use]
    pub fn config(&self) -> EventConfig {
        self.0.config()
    }

    /// How many lives the event's place has had, this one included.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.0.lives()
    }

    /// The driver's event, for calls that this crate does not make. It is alive as long
    /// as this lease. From now on it counts as recorded: the calls are not seen.
    #[must_use]
    pub fn as_raw(&self) -> CUevent {
        self.0.note_recorded();
        self.0.as_raw()
    }

    #[inline]
    pub(crate) fn raw(&self) -> &RawEvent {
        &self.0
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        self.0.core()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

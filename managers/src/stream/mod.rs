//! Streams: created when they are needed, leased to callers that order work on them, and used
//! again.
//!
//! A driver's stream costs microseconds to create and to destroy. So a stream whose last
//! lease has ended waits for its next life, under a new handle. Streams are told apart by the
//! handle, never by the driver's pointer, which comes again with another stream.

mod calls;
mod captured;
mod completion;
mod config;
mod deferred;
pub(crate) mod fence;
pub(crate) mod flags;
mod kept;
mod mark;
mod outcome;
mod pool;
mod raw;
mod stock;
pub(crate) mod submit;
mod ticket;
pub(crate) mod timeline;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cupola_core::tag;
use cupola_sys::driver::{CUstream, Driver};

use captured::CaptureMark;
pub(crate) use captured::GraphResources;
pub use completion::Completion;
use config::{Classes, UNCLASSED};
pub use config::{StreamConfig, StreamPurpose, StreamsConfig};
pub use deferred::DeferredTicket;
pub use flags::CompletionStats;
use flags::Flags;
pub use pool::{PooledStream, StreamPool, StreamPoolConfig};
use raw::RawStream;
pub(crate) use stock::StreamStock;
pub use ticket::{Ticket, TicketWatch};

use crate::driver::{ContextCore, ContextKind};
use crate::error::{Result, Rings, Site};
use crate::event::EventPool;
use crate::handle::ManagedHandle;
use crate::object_pool::{Leased, ObjectPool};
use crate::shutdown_report::ShutdownReport;
use crate::stats::{RecycleStats, State};
use crate::stream::timeline::Timeline;
use crate::sync;
use crate::sync::deferred::DeferCallbacks;

/// Names one life of a stream of a [`StreamManager`].
pub type StreamHandle = ManagedHandle<tag::Stream>;

/// The streams of one context.
pub struct StreamManager {
    streams: ObjectPool<RawStream, tag::Stream>,
    classes: Classes,
    /// The shared stream of each purpose, once it was asked for.
    purposes: Mutex<[Option<StreamHandle>; StreamPurpose::ALL.len()]>,
    /// The streams of other code by their addresses. A name is stale when there is no lease, so a
    /// stream that comes at the address of one that is gone is not taken for it.
    borrowed: Mutex<HashMap<usize, StreamHandle>>,
    priorities: OnceLock<(i32, i32)>,
    events: Arc<EventPool>,
    flags: Arc<Flags>,
    core: Arc<ContextCore>,
}

impl StreamManager {
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
        config: StreamsConfig,
    ) -> Self {
        Self {
            streams: ObjectPool::new(config.capacity),
            classes: Classes::default(),
            purposes: Mutex::new([None; StreamPurpose::ALL.len()]),
            borrowed: Mutex::default(),
            priorities: OnceLock::new(),
            events: Arc::clone(events),
            flags: Arc::new(Flags::new()),
            core: Arc::clone(core),
        }
    }

    /// Leases a stream of this configuration: one that waits for its next life, else a new
    /// one (`cuStreamCreateWithPriority`). With the last lease it waits again. Its handle is
    /// good as long as there is a lease.
    ///
    /// Work that its last user left on it is not waited for: work that the next one puts there runs
    /// after that. Give a stream back without a capture open on it.
    ///
    /// # Errors
    /// What the driver returned, or the error that the context was lost to;
    /// [`Error::Full`](crate::Error::Full), [`Error::ShutDown`](crate::Error::ShutDown),
    /// [`Error::Forked`](crate::Error::Forked).
    #[doc(alias = "cuStreamCreateWithPriority")]
    #[inline]
    #[track_caller]
    pub fn create(&self, config: StreamConfig) -> Result<Stream> {
        self.obtain(config, false)
    }

    /// A stream of which no other thread has a lease, [reserved](Stream::mark_reserved) for its caller: a thread
    /// that leases it by its name from now on finds the mark. The caller takes that away.
    #[track_caller]
    pub(crate) fn create_reserved(&self, config: StreamConfig) -> Result<Stream> {
        loop {
            let stream = self.create(config)?;
            stream.mark_reserved();
            if stream.is_last_lease() || mutant!("stream_reserved_with_a_lease") {
                return Ok(stream);
            }
            // A thread that has listed the names may have put work there, as on any other.
            stream.mark_captured(None);
        }
    }

    /// The same as [`create`](Self::create), under the name that says that a stream which waits is
    /// used first.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[inline]
    #[track_caller]
    pub fn acquire(&self, config: StreamConfig) -> Result<Stream> {
        self.create(config)
    }

    /// Leases a stream of this configuration, as [`create`](Self::create) does, which the manager
    /// keeps until [`release`](Self::release): the handle stays good without leases.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[track_caller]
    pub fn create_held(&self, config: StreamConfig) -> Result<Stream> {
        self.obtain(config, true)
    }

    #[inline]
    #[track_caller]
    fn obtain(&self, config: StreamConfig, held: bool) -> Result<Stream> {
        self.core.healthy()?;
        let site = Site::here();
        let class = self.classes.of(config);
        self.streams
            .acquire(class, held, || {
                RawStream::create(&self.core, &self.events, &self.flags, config, site)
            })
            .map(Stream)
    }

    /// The context's shared stream for a purpose: non-blocking, made at the first call, kept
    /// until it is [released](Self::release).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[track_caller]
    pub fn shared(&self, purpose: StreamPurpose) -> Result<Stream> {
        self.core.not_forked()?;
        let _defer = DeferCallbacks::new();
        let mut purposes = self.purposes.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &mut purposes[purpose.index()];
        if let Some(stream) = place.and_then(|handle| self.lease(handle).ok()) {
            return Ok(stream);
        }
        let stream = self.create_held(StreamConfig::default())?;
        *place = Some(stream.handle());
        Ok(stream)
    }

    /// The context's legacy default stream (`CU_STREAM_LEGACY`): it and blocking streams wait
    /// for each other. As a borrowed stream it is one as long as there is a lease.
    ///
    /// # Errors
    /// As [`borrow_raw`](Self::borrow_raw); [`Error::Invalid`](crate::Error::Invalid) for a green context, whose default stream has no
    /// name on a thread where it is not current.
    #[track_caller]
    pub fn legacy_default(&self) -> Result<Stream> {
        if self.core.kind() == ContextKind::Green {
            let problem = "a green context is never made current, so it has no default stream \
                           here; acquire one";
            return Err(crate::Error::invalid("stream", problem));
        }
        // SAFETY: the driver's constant, good in every context and for ever.
        unsafe { self.borrow_raw(calls::LEGACY) }
    }

    /// Leases a stream that other code made, to order work of this crate on it. It is not
    /// destroyed.
    ///
    /// As long as there is a lease of it, each further call for its address leases the same
    /// [`Stream`], with its handle, its [`serial`](Stream::serial) and its clock; the two addresses of
    /// the legacy default stream (null and `CU_STREAM_LEGACY`) are one. After the last lease, or
    /// after [`release`](Self::release), the next call begins a stream anew, so an address that the
    /// driver gives again is another stream. To two managers, of two execution managers that share a
    /// context, it is two streams, whose work on one buffer waits for each other by events.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) for `CU_STREAM_PER_THREAD`, which is another stream on
    /// each thread; the error that the context was lost to; [`Error::Full`](crate::Error::Full),
    /// [`Error::ShutDown`](crate::Error::ShutDown), [`Error::Forked`](crate::Error::Forked).
    ///
    /// # Safety
    /// - `stream` is of this context, and alive until the last lease has ended and every object
    ///   that was ever given a lease (a buffer that was allocated or used on it among them) is
    ///   gone.
    /// - It is not a default stream of a green context, which means the primary context's.
    #[track_caller]
    pub unsafe fn borrow_raw(&self, stream: CUstream) -> Result<Stream> {
        self.core.healthy()?;
        let stream = if stream.is_null() {
            calls::LEGACY
        } else {
            stream
        };
        if stream == calls::PER_THREAD {
            let problem =
                "it is another stream on each thread; acquire one, or borrow its own handle";
            return Err(crate::Error::invalid("stream", problem));
        }
        self.core.launches().note_unknown();
        let _defer = DeferCallbacks::new();
        let mut known = sync::lock(&self.borrowed);
        if let Some(&handle) = known.get(&stream.addr())
            && let Ok(lease) = self.lease(handle)
        {
            return Ok(lease);
        }
        known.retain(|_, &mut handle| self.is_alive(handle));
        let borrow = || {
            Ok(RawStream::borrowed(
                &self.core,
                &self.events,
                &self.flags,
                stream,
            ))
        };
        let lease = self.streams.acquire(UNCLASSED, false, borrow).map(Stream)?;
        known.insert(stream.addr(), lease.handle());
        Ok(lease)
    }

    /// Leases the stream that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle).
    pub fn lease(&self, handle: StreamHandle) -> Result<Stream> {
        self.streams.lease(handle).map(Stream)
    }

    /// Ends the handle, and the manager's hold on a stream that was
    /// [kept](Self::create_held). The stream waits for its next life from its last lease on.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle), [`Error::Forked`](crate::Error::Forked).
    #[track_caller]
    pub fn release(&self, handle: StreamHandle) -> Result<()> {
        self.core.not_forked()?;
        self.streams.release(handle)
    }

    /// Destroys streams that wait, but for the `keep` used last of each configuration
    /// (`cuStreamDestroy`; work that is still on them is completed).
    ///
    /// # Errors
    /// The first that the driver returned; the others are destroyed all the same.
    /// [`Error::Forked`](crate::Error::Forked), and nothing is destroyed.
    #[doc(alias = "cuStreamDestroy")]
    #[track_caller]
    pub fn trim(&self, keep: usize) -> Result<()> {
        self.core.not_forked()?;
        self.streams.trim(keep)
    }

    /// The least and the greatest priority that the device tells apart
    /// (`cuCtxGetStreamPriorityRange`), asked once. Both are 0 when it has one only.
    ///
    /// # Errors
    /// What the driver returned, or the error that the context was lost to;
    /// [`Error::Forked`](crate::Error::Forked).
    #[doc(alias = "cuCtxGetStreamPriorityRange")]
    #[track_caller]
    pub fn priorities(&self) -> Result<(i32, i32)> {
        if let Some(&range) = self.priorities.get() {
            return Ok(range);
        }
        let (mut least, mut greatest) = (0, 0);
        let driver = self.core.enter()?;
        // SAFETY: both outlive the call, and the context is current.
        let range =
            unsafe { driver.cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        self.core.check(range)?;
        Ok(*self.priorities.get_or_init(|| (least, greatest)))
    }

    /// Whether `handle` names a life of a stream now: it is leased or held, and was not
    /// released.
    #[must_use]
    pub fn is_alive(&self, handle: StreamHandle) -> bool {
        self.streams.is_alive(handle)
    }

    /// Handles of the streams that are held now.
    pub fn handles(&self) -> impl Iterator<Item = StreamHandle> + '_ {
        self.streams.handles()
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn flags(&self) -> &Arc<Flags> {
        &self.flags
    }

    /// Number of streams that are leased, or held by the manager, now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.streams.live()
    }

    /// Figures so far.
    #[must_use]
    pub fn stats(&self) -> RecycleStats {
        self.streams.stats()
    }

    /// How the ends of waits for tickets were found out so far, of waits that the program left to
    /// this crate ([`Ticket`] as a future, [`Ticket::on_done`]).
    #[must_use]
    pub fn completion_stats(&self) -> CompletionStats {
        self.flags.stats()
    }

    /// Whether streams can be had.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.streams.is_shut())
    }

    /// Ends every handle and destroys every stream without a lease; the others go with their last
    /// lease. Nothing is handed out until [`configure`](Self::configure).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        if let Err(forked) = self.core.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport::default();
        self.streams.shut(&mut report);
        report.locate(&self.core);
        report
    }

    #[track_caller]
    pub(crate) fn close(&self, report: &mut ShutdownReport) {
        self.streams.close(report);
    }

    #[track_caller]
    pub(crate) fn drain(&self, report: &mut ShutdownReport) {
        self.streams.drain(report);
    }

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field;
    /// [`Error::Forked`](crate::Error::Forked).
    pub fn configure(&self, config: StreamsConfig) -> Result<()> {
        self.core.not_forked()?;
        let config = config.check()?;
        self.streams.set_capacity(config.capacity);
        self.streams.open();
        Ok(())
    }

    /// Makes the manager small, and its slots wear out soon, for a test.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field, or when the manager has
    /// made a stream already. Nothing is changed then.
    #[cfg(feature = "test-utils")]
    pub fn configure_for_test(&self, config: crate::testing::TestConfig) -> Result<()> {
        config.apply(&self.streams)
    }

    /// Whether it was configured for a test.
    #[cfg(feature = "test-utils")]
    #[must_use]
    pub fn is_configured_for_test(&self) -> bool {
        self.streams.is_limited_for_test()
    }

    /// Counts of its slots, by state.
    #[cfg(feature = "test-utils")]
    #[must_use]
    pub fn slot_counts(&self) -> crate::testing::SlotCounts {
        crate::testing::SlotCounts::of(&self.streams)
    }
}

impl fmt::Debug for StreamManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.handles()).finish()
    }
}

/// A leased stream. Clones are the same stream.
///
/// The operations that order work on it are in [`ops`](crate::ops).
#[derive(Clone)]
pub struct Stream(Leased<RawStream, tag::Stream>);

impl Stream {
    /// The handle of this life of the stream in its manager.
    #[must_use]
    #[inline]
    pub fn handle(&self) -> StreamHandle {
        self.0.handle()
    }

    /// How it was created; of a stream that other code made, the default.
    #[must_use]
    pub fn config(&self) -> StreamConfig {
        self.0.config()
    }

    /// Whether it is the legacy default stream.
    pub(crate) fn is_legacy(&self) -> bool {
        self.raw() == calls::LEGACY
    }

    /// A number that no other stream of the process has: it tells driver streams apart that
    /// came after one another at the same address.
    #[must_use]
    #[inline]
    pub fn serial(&self) -> u64 {
        self.0.serial()
    }

    /// How many lives the stream's place has had, this one included.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.0.lives()
    }

    /// The driver's stream, for calls that this crate does not make. It is alive as long
    /// as this lease. Never use it as an identity: the driver gives it again to another
    /// stream. From now on no error is put down to one launch of the context for certain
    /// ([`Blame`](crate::Blame)): work of other code is not seen.
    #[must_use]
    #[inline]
    pub fn as_raw(&self) -> CUstream {
        self.core().launches().note_unknown();
        self.raw()
    }

    /// For calls of this crate, which remember their launches.
    #[inline]
    pub(crate) fn raw(&self) -> CUstream {
        self.0.as_raw()
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        self.0.core()
    }

    /// Its context's driver.
    #[inline]
    pub(crate) fn driver(&self) -> &Driver {
        self.0.driver()
    }

    /// Its newest launches.
    #[inline]
    pub(crate) fn launches(&self) -> &Rings {
        self.0.launches()
    }

    /// The module that launched here last, by its number.
    #[inline]
    pub(crate) fn newest_code(&self) -> &AtomicU64 {
        self.0.newest_code()
    }

    /// The timeline, which tells when memory that was freed here is free.
    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        self.0.timeline()
    }

    #[inline]
    fn capture_mark(&self) -> &CaptureMark {
        self.0.capture_mark()
    }

    /// Where events for this stream come from.
    pub(crate) fn events(&self) -> &Arc<EventPool> {
        self.0.events()
    }

    /// Whether this is the only lease of the stream: work that other leases put on it is there by
    /// now, and a thread that leases it by its name finds what this thread has done before.
    pub(crate) fn is_last_lease(&self) -> bool {
        self.0.is_last_by_name()
    }

    /// Whether both leases are of one stream.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }

    /// Whether objects made in this context may be used on the stream.
    #[inline]
    pub(crate) fn is_in(&self, core: &Arc<ContextCore>) -> bool {
        self.core().shares_objects(core)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

//! Streams: owned by their context's manager, leased to whoever orders work on them.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use cupola_core::{Handle, tag};
use cupola_sys::driver::{CUstream, CUstream_flags};

use crate::context::{ContextCore, Kind};
use crate::error::Result;
use crate::registry::Registry;

/// Names a stream of a [`StreamManager`].
pub type StreamHandle = Handle<tag::Stream>;

/// How a stream is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamConfig {
    /// Whether it waits for, and is waited for by, the legacy default stream. Off by
    /// default: such a stream overlaps with nothing that somebody puts there.
    pub blocking: bool,
    /// Lower numbers run first; 0 is the default. Clamped by the driver to
    /// [`StreamManager::priorities`].
    pub priority: i32,
}

/// The streams of one context.
#[derive(Debug)]
pub struct StreamManager {
    streams: Registry<StreamInner, tag::Stream>,
    core: Arc<ContextCore>,
}

pub(crate) struct StreamInner {
    handle: StreamHandle,
    /// Null once destroyed.
    raw: CUstream,
    config: StreamConfig,
    core: Arc<ContextCore>,
}

// SAFETY: a CUstream may be used from any thread; the rest is Send and Sync.
unsafe impl Send for StreamInner {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for StreamInner {}

impl StreamManager {
    pub(crate) fn new(core: &Arc<ContextCore>) -> Self {
        Self {
            streams: Registry::new(),
            core: Arc::clone(core),
        }
    }

    /// Creates a stream (`cuStreamCreateWithPriority`) and leases it.
    ///
    /// # Errors
    /// What the driver returned, or the error that the context was lost to.
    pub fn create(&self, config: StreamConfig) -> Result<Stream> {
        let driver = self.core.enter()?;
        let flags = if config.blocking {
            CUstream_flags::CU_STREAM_DEFAULT
        } else {
            CUstream_flags::CU_STREAM_NON_BLOCKING
        };
        let inner = self.streams.insert_with(|handle| {
            let mut raw: CUstream = ptr::null_mut();
            // SAFETY: `raw` outlives the call, and the context is current.
            let created = unsafe {
                driver.cuStreamCreateWithPriority(&raw mut raw, flags.0, config.priority)
            };
            self.core.check(created)?;
            self.core.ledger().add(Kind::Stream, 1);
            Ok(StreamInner {
                handle,
                raw,
                config,
                core: Arc::clone(&self.core),
            })
        })?;
        Ok(Stream(inner))
    }

    /// Leases the stream that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle).
    pub fn lease(&self, handle: StreamHandle) -> Result<Stream> {
        self.streams.lease(handle).map(Stream)
    }

    /// Gives the stream up: the handle is stale from now on. The driver's stream is
    /// destroyed with the last lease, without waiting: work on it is completed first.
    ///
    /// # Errors
    /// [`Error::StaleHandle`](crate::Error::StaleHandle), or what the driver returned if it
    /// was destroyed here.
    pub fn release(&self, handle: StreamHandle) -> Result<()> {
        match self.streams.release(handle)? {
            Some(mut stream) => stream.destroy(),
            None => Ok(()),
        }
    }

    /// The least and the greatest priority that the device tells apart
    /// (`cuCtxGetStreamPriorityRange`). Both are 0 when it has one only.
    ///
    /// # Errors
    /// What the driver returned.
    pub fn priorities(&self) -> Result<(i32, i32)> {
        let (mut least, mut greatest) = (0, 0);
        let driver = self.core.enter()?;
        // SAFETY: both outlive the call, and the context is current.
        let range =
            unsafe { driver.cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        self.core.check(range)?;
        Ok((least, greatest))
    }

    /// Handles of the streams that are held now.
    pub fn handles(&self) -> impl Iterator<Item = StreamHandle> + '_ {
        self.streams.handles()
    }

    /// Number of streams that are held now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.streams.live()
    }
}

impl StreamInner {
    fn destroy(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: created by the manager, and this was the only copy.
        self.core.dispose(Kind::Stream, |driver| unsafe {
            driver.cuStreamDestroy_v2(raw)
        })
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        let _ = self.destroy();
    }
}

/// A leased stream. Clones are the same stream.
///
/// What orders work on it is in [`ops`](crate::ops).
#[derive(Clone)]
pub struct Stream(Arc<StreamInner>);

impl Stream {
    /// The stream's handle in its manager.
    #[must_use]
    pub fn handle(&self) -> StreamHandle {
        self.0.handle
    }

    /// How it was created.
    #[must_use]
    pub fn config(&self) -> StreamConfig {
        self.0.config
    }

    /// The driver's stream, for calls that this crate does not make. It is alive as long
    /// as this lease.
    #[must_use]
    pub fn as_raw(&self) -> CUstream {
        self.0.raw
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.0.core
    }

    /// Whether both leases are of one stream.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the stream is of this context.
    pub(crate) fn is_in(&self, core: &Arc<ContextCore>) -> bool {
        Arc::ptr_eq(&self.0.core, core)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.handle, f)
    }
}

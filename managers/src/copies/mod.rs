//! Bulk copies that let other copies through.
//!
//! A copy engine does the copies of one direction one after the other, whatever the priorities of
//! their streams, and keeps to a stream as long as that has another copy ready. A copy of 4 GiB keeps
//! every other copy of its direction waiting for 75 ms. So a bulk copy is cut in chunks, each of which
//! waits on the device for the one before it, on another stream: in between the engine looks at the
//! other streams. `docs/design/copies.md` has the measurements that this stands on.

mod config;
mod lanes;
mod mode;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedSlice, PinnedSliceMut};
use crate::driver::ContextCore;
use crate::error::{Error, Result, Written};
use crate::event::EventManager;
use crate::ops::{self, same_len};
use crate::stream::{Stream, StreamManager};
use crate::sync;
pub use config::CopyConfig;
use lanes::{Bulk, Direction, Lanes};
pub use mode::CopyMode;
pub(crate) use mode::MEASURED_BYTES;

/// What a context knows of its bulk copies.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    config: Mutex<CopyConfig>,
    lanes: Lanes,
    /// Once it was measured.
    mode: OnceLock<CopyMode>,
}

impl Copies {
    /// What copies of pinned memory do on the device, if it was [measured](crate::Context::copy_mode).
    pub(crate) fn known_mode(&self) -> Option<CopyMode> {
        self.mode.get().copied()
    }

    /// Notes it; what was noted first counts.
    pub(crate) fn note_mode(&self, mode: CopyMode) -> CopyMode {
        *self.mode.get_or_init(|| mode)
    }
}

/// The bulk copies of a context.
///
/// ```
/// use cupola_managers::{ExecutionManager, PoolConfig};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let execution = ExecutionManager::new(driver)?;
/// let context = execution.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
/// let weights = context.buffers().pinned::<f32>(12 << 20)?;
/// let mut there = pool.allocate::<f32>(12 << 20, &stream)?;
/// // 48 MiB, in 3 chunks. Small copies on other streams wait for one of them at most.
/// context.copies().copy_to_device(&weights, &mut there, &stream)?;
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct CopyScheduler<'c> {
    copies: &'c Copies,
    streams: &'c StreamManager,
    events: &'c EventManager,
    core: &'c Arc<ContextCore>,
}

impl<'c> CopyScheduler<'c> {
    pub(crate) fn new(
        copies: &'c Copies,
        streams: &'c StreamManager,
        events: &'c EventManager,
        core: &'c Arc<ContextCore>,
    ) -> Self {
        Self {
            copies,
            streams,
            events,
            core,
        }
    }

    /// How copies are cut that are put now.
    #[must_use]
    pub fn config(&self) -> CopyConfig {
        *sync::lock(&self.copies.config)
    }

    /// Cuts copies that are put from now on like this.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field; nothing is changed then.
    pub fn configure(&self, config: CopyConfig) -> Result<()> {
        *sync::lock(&self.copies.config) = config.check()?;
        Ok(())
    }

    /// Copies pinned memory, or part of it, to the device in the order of `stream`, as
    /// [`ops::copy_to_device`](crate::ops::copy_to_device()) does; the lengths are equal. A copy of more
    /// than [`CopyConfig::threshold`] bytes is put in chunks: three calls of the driver for each, and
    /// none waits on the host.
    ///
    /// # Errors
    /// As [`ops::copy_to_device`](crate::ops::copy_to_device()); [`Error::WrongContext`] also when the
    /// stream is another context's, and [`Error::Full`] when there are too many streams for two more.
    /// When it fails half-way, the chunks that were put are waited for.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[track_caller]
    pub fn copy_to_device<'p, 'd, T: DeviceCopy>(
        &self,
        from: impl Into<PinnedSlice<'p, T>>,
        to: impl Into<DeviceSliceMut<'d, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        self.check_stream(stream)?;
        to.check_context(stream)?;
        from.check_context(stream)?;
        let Some(chunk) = self.chunk::<T>(from.len()) else {
            return ops::copy_to_device(from, to, stream);
        };
        let copied = self.put_to_device(from, &to, chunk, stream);
        to.end_write(stream, copied, || Written::All)
    }

    #[track_caller]
    fn put_to_device<T: DeviceCopy>(
        &self,
        from: PinnedSlice<'_, T>,
        to: &DeviceSliceMut<'_, T>,
        chunk: usize,
        stream: &Stream,
    ) -> Result<()> {
        stream.refuse_captured("copy_to_device")?;
        from.taint()?;
        to.join(stream)?;
        let copying = from.begin_copy(stream)?;
        let copy = Bulk {
            direction: Direction::ToDevice,
            host: from.as_ptr().cast(),
            device: to.as_raw(),
            bytes: from.len() * size_of::<T>(),
            chunk: chunk * size_of::<T>(),
        };
        // SAFETY: both ends have these bytes. The pinned buffer remembers the end of the copy, and the
        // device memory is freed after the work on the caller's stream.
        copying.end(unsafe { self.put(&copy, stream, |lane| to.tell_use(lane)) })
    }

    /// The same from the device to pinned memory, as
    /// [`ops::copy_to_host`](crate::ops::copy_to_host()) does.
    ///
    /// # Errors
    /// As [`copy_to_device`](Self::copy_to_device).
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[track_caller]
    pub fn copy_to_host<'d, 'p, T: DeviceCopy>(
        &self,
        from: impl Into<DeviceSlice<'d, T>>,
        to: impl Into<PinnedSliceMut<'p, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        self.check_stream(stream)?;
        from.check_context(stream)?;
        to.check_context(stream)?;
        let Some(chunk) = self.chunk::<T>(from.len()) else {
            return ops::copy_to_host(from, to, stream);
        };
        let copied = self.put_to_host(from, &to, chunk, stream);
        to.end_write(copied, || Written::All)
    }

    #[track_caller]
    fn put_to_host<T: DeviceCopy>(
        &self,
        from: DeviceSlice<'_, T>,
        to: &PinnedSliceMut<'_, T>,
        chunk: usize,
        stream: &Stream,
    ) -> Result<()> {
        stream.refuse_captured("copy_to_host")?;
        from.check_written(stream)?;
        from.join(stream)?;
        let copying = to.begin_copy(stream)?;
        let copy = Bulk {
            direction: Direction::ToHost,
            host: to.as_ptr().cast(),
            device: from.as_raw(),
            bytes: from.len() * size_of::<T>(),
            chunk: chunk * size_of::<T>(),
        };
        // SAFETY: as in `put_to_device`.
        copying.end(unsafe { self.put(&copy, stream, |lane| from.tell_use(lane)) })
    }

    /// Elements of a chunk of a copy of so many; `None` for one that is not cut.
    fn chunk<T>(&self, len: usize) -> Option<usize> {
        let config = self.config();
        let chunk = (config.chunk / size_of::<T>().max(1)).max(1);
        (len * size_of::<T>() > config.threshold && len > chunk).then_some(chunk)
    }

    /// # Safety
    /// Both ends of the copy are good until the work that is on `stream` after this call is done.
    #[track_caller]
    unsafe fn put(
        &self,
        copy: &Bulk,
        stream: &Stream,
        tell_use: impl FnMut(&Stream),
    ) -> Result<()> {
        let lanes = &self.copies.lanes;
        let mut lane = lanes.take(self.streams, self.events)?;
        lane.streams().iter().for_each(tell_use);
        // SAFETY: this function's condition.
        let put = unsafe { lane.put(copy, stream) };
        lanes.put_back(lane);
        put
    }

    #[track_caller]
    fn check_stream(&self, stream: &Stream) -> Result<()> {
        stream.core().not_forked()?;
        match stream.is_in(self.core) {
            true => Ok(()),
            false => Err(Error::WrongContext { what: "the stream" }),
        }
    }
}

impl fmt::Debug for CopyScheduler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CopyScheduler").field(self.copies).finish()
    }
}

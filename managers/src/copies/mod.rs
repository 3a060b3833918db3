//! Bulk copies that let other copies through.
//!
//! A copy engine does the copies of one direction one after the other, in the order in which they
//! are ready, whatever the priorities of their streams. A copy of 4 GiB keeps every other copy of
//! its direction waiting for 75 ms. So a bulk copy is cut in chunks, and one `Arbiter` for each
//! direction of a device lets few of them be with the device at a time. `docs/design/copies.md` says
//! why the host keeps the window.

mod arbiter;
mod bulk;
mod config;
mod mode;
#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::{Arc, Mutex, OnceLock};

use cupola_sys::driver::CUdevice;

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedSlice, PinnedSliceMut};
use crate::error::{Error, Result};
use crate::ops::same_len;
use crate::stream::Stream;
use crate::sync;
use arbiter::Arbiter;
pub use bulk::BulkCopy;
use bulk::Ends;
pub use config::CopyConfig;
pub use mode::CopyMode;
pub(crate) use mode::MEASURED_BYTES;

/// The bulk copies of a device, of all its contexts: each direction has its arbiter.
///
/// ```
/// use cupola_managers::{ExecutionManager, PoolConfig};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let execution = ExecutionManager::new(driver)?;
/// let context = execution.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
/// let weights = context.buffers().pinned::<f32>(8 << 20)?;
/// let mut there = pool.allocate::<f32>(8 << 20, &stream)?;
/// // 32 MiB, in 4 chunks. Small copies on other streams wait for two of them at most.
/// context.copies().copy_to_device(&weights, &mut there, &stream)?.wait()?;
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[derive(Debug)]
pub struct CopyScheduler {
    device: CUdevice,
    config: Mutex<CopyConfig>,
    uploads: Arc<Arbiter>,
    downloads: Arc<Arbiter>,
    /// Once it was measured.
    mode: OnceLock<CopyMode>,
}

impl CopyScheduler {
    pub(crate) fn new(device: CUdevice) -> Self {
        Self {
            device,
            config: Mutex::default(),
            uploads: Arc::default(),
            downloads: Arc::default(),
            mode: OnceLock::new(),
        }
    }

    /// How copies are cut that begin now.
    #[must_use]
    pub fn config(&self) -> CopyConfig {
        *sync::lock(&self.config)
    }

    /// Cuts copies that begin from now on like this.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field; nothing is changed then.
    pub fn configure(&self, config: CopyConfig) -> Result<()> {
        *sync::lock(&self.config) = config.check()?;
        Ok(())
    }

    /// Begins to copy pinned memory, or part of it, to the device, behind the work that is on
    /// `stream`, as [`ops::copy_to_device`](crate::ops::copy_to_device) does. The lengths are equal.
    /// A copy of no more than [`CopyConfig::threshold`] bytes is put in one call; one of more goes
    /// on chunk by chunk as the [`BulkCopy`] is waited for, and its first chunks are put when the
    /// stream has nothing else to do.
    ///
    /// # Errors
    /// As [`ops::copy_to_device`](crate::ops::copy_to_device), [`Error::Capturing`] among them: a
    /// capture takes a plain copy of [`Capture::upload`](crate::graph::Capture::upload).
    /// [`Error::WrongContext`] also when the stream is another device's.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[track_caller]
    pub fn copy_to_device<'m, T: DeviceCopy>(
        &'m self,
        from: impl Into<PinnedSlice<'m, T>>,
        to: impl Into<DeviceSliceMut<'m, T>>,
        stream: &'m Stream,
    ) -> Result<BulkCopy<'m, T>> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        self.check_device(stream)?;
        to.check_context(stream)?;
        from.check_context(stream)?;
        stream.refuse_captured("copy_to_device")?;
        let ends = Ends::Upload(from, to);
        BulkCopy::begin(ends, stream, &self.uploads, self.config())
    }

    /// The same from the device to pinned memory, as
    /// [`ops::copy_to_host`](crate::ops::copy_to_host) does.
    ///
    /// # Errors
    /// As [`copy_to_device`](Self::copy_to_device).
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[track_caller]
    pub fn copy_to_host<'m, T: DeviceCopy>(
        &'m self,
        from: impl Into<DeviceSlice<'m, T>>,
        to: impl Into<PinnedSliceMut<'m, T>>,
        stream: &'m Stream,
    ) -> Result<BulkCopy<'m, T>> {
        let (from, to) = (from.into(), to.into());
        same_len(from.len(), to.len())?;
        self.check_device(stream)?;
        from.check_context(stream)?;
        to.check_context(stream)?;
        stream.refuse_captured("copy_to_host")?;
        let ends = Ends::Download(from, to);
        BulkCopy::begin(ends, stream, &self.downloads, self.config())
    }

    /// What copies of pinned memory do on the device, if it was [measured](crate::Context::copy_mode).
    pub(crate) fn known_mode(&self) -> Option<CopyMode> {
        self.mode.get().copied()
    }

    /// Notes it; what was noted first counts.
    pub(crate) fn note_mode(&self, mode: CopyMode) -> CopyMode {
        *self.mode.get_or_init(|| mode)
    }

    fn check_device(&self, stream: &Stream) -> Result<()> {
        stream.core().not_forked()?;
        match stream.core().device() == self.device {
            true => Ok(()),
            false => Err(Error::WrongContext { what: "the stream" }),
        }
    }
}

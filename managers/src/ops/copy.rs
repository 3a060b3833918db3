//! Copies. Those between device and pinned memory overlap with everything; those from and
//! to ordinary slices wait, because nothing else would keep the slice safe.

use cupola_sys::driver::CUdeviceptr;

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedBuffer};
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::submit;

fn same_len(from: usize, to: usize) -> Result<()> {
    if from == to {
        return Ok(());
    }
    Err(Error::invalid(
        "copy",
        format!("{from} elements do not fill {to}"),
    ))
}

/// `cuMemcpyHtoDAsync`.
///
/// # Safety
/// `from` is `bytes` readable bytes, and `to` as many of the device, until the copy is done.
pub(crate) unsafe fn upload_raw(
    from: *const u8,
    to: CUdeviceptr,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let core = stream.core();
    let driver = core.enter()?;
    // SAFETY: the caller's promise; the stream is alive and its context current.
    core.check(unsafe { driver.cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream.as_raw()) })
}

/// `cuMemcpyDtoHAsync`.
///
/// # Safety
/// `from` is `bytes` bytes of the device, and `to` as many writable ones that nobody else
/// touches, until the copy is done.
pub(crate) unsafe fn download_raw(
    from: CUdeviceptr,
    to: *mut u8,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let core = stream.core();
    let driver = core.enter()?;
    // SAFETY: the caller's promise; the stream is alive and its context current.
    core.check(unsafe { driver.cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream.as_raw()) })
}

/// Copies pinned memory to the device (`cuMemcpyHtoDAsync`). The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
pub fn copy_to_device<'d, T: DeviceCopy>(
    from: &PinnedBuffer<T>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    same_len(from.len(), to.len())?;
    to.join(stream)?;
    from.copy(stream, || {
        let bytes = from.len() * size_of::<T>();
        // SAFETY: the pinned buffer remembers the copy and waits for it before anybody
        // writes or frees it; the device memory is freed after what is on the stream.
        unsafe { upload_raw(from.as_ptr().cast(), to.as_raw(), bytes, stream) }
    })
}

/// Copies from the device to pinned memory (`cuMemcpyDtoHAsync`). The lengths are equal.
/// Looking at the pinned memory waits for the copy.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
pub fn copy_to_host<'d, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: &mut PinnedBuffer<T>,
    stream: &Stream,
) -> Result<()> {
    let from = from.into();
    same_len(from.len(), to.len())?;
    from.join(stream)?;
    to.copy(stream, || {
        let bytes = to.len() * size_of::<T>();
        // SAFETY: the pinned buffer remembers the copy and waits for it before anybody
        // looks at it or frees it; the device memory is freed after what is on the stream.
        unsafe { download_raw(from.as_raw(), to.as_ptr().cast(), bytes, stream) }
    })
}

/// Copies within the device (`cuMemcpyDtoDAsync`). The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
pub fn copy<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    same_len(from.len(), to.len())?;
    from.join(stream)?;
    to.join(stream)?;
    let bytes = from.len() * size_of::<T>();
    if bytes == 0 {
        return Ok(());
    }
    let core = stream.core();
    let driver = core.enter()?;
    // SAFETY: both are `bytes` bytes, freed after what is on the stream.
    core.check(unsafe {
        driver.cuMemcpyDtoDAsync_v2(to.as_raw(), from.as_raw(), bytes, stream.as_raw())
    })
}

/// Copies a slice to the device, in the order of `stream`, and waits until that is done.
/// The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
///
/// # Aborts
/// When the driver refuses to wait for the copy three times over although the context is not
/// lost: the slice would no longer be safe to use. A stream that is being captured, by calls
/// that this crate does not make, is such a case.
pub fn write<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    from: &[T],
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    same_len(from.len(), to.len())?;
    to.join(stream)?;
    let bytes = size_of_val(from);
    // SAFETY: the slice is borrowed until the copy is done, see `finish`.
    finish(
        unsafe { upload_raw(from.as_ptr().cast(), to.as_raw(), bytes, stream) },
        bytes,
        stream,
    )
}

/// Copies from the device to a slice, in the order of `stream`, and waits until that is
/// done. The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned, and then the
/// contents of the slice are unspecified.
///
/// # Aborts
/// When the driver refuses to wait for the copy three times over although the context is not
/// lost: the slice would no longer be safe to use. A stream that is being captured, by calls
/// that this crate does not make, is such a case.
pub fn read<'d, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: &mut [T],
    stream: &Stream,
) -> Result<()> {
    let from = from.into();
    same_len(from.len(), to.len())?;
    from.join(stream)?;
    let bytes = size_of_val(to);
    // SAFETY: the slice is borrowed mutably until the copy is done, see `finish`.
    let copied = unsafe { download_raw(from.as_raw(), to.as_mut_ptr().cast(), bytes, stream) };
    finish(copied, bytes, stream)
}

/// Waits for a copy from or to memory that is only borrowed. Returning while the copy may
/// still run would be unsound, so a wait that failed for a reason other than the end of the
/// context is repeated, and the last resort is to end the process.
fn finish(copied: Result<()>, bytes: usize, stream: &Stream) -> Result<()> {
    if bytes == 0 {
        return copied;
    }
    let waited = copied.and_then(|()| super::synchronize(stream));
    if waited.is_err() && !submit::settle(stream) && !stream.core().ledger().is_forked() {
        tracing::error!("cannot wait for a copy to borrowed memory; aborting");
        std::process::abort();
    }
    waited
}

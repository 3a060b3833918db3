//! Copies. Those between device and pinned memory overlap with everything; those from and
//! to ordinary slices wait, because nothing else would keep the slice safe.

use cupola_sys::driver::{CUdeviceptr, id};

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedBuffer, repair};
use crate::error::{Error, Result, Site};
use crate::stream::Stream;
use crate::submit;

#[track_caller]
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
#[track_caller]
pub(crate) unsafe fn upload_raw(
    from: *const u8,
    to: CUdeviceptr,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise; the stream is alive and its context current.
    stream.submit(id::cuMemcpyHtoDAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, raw)
    })
}

/// `cuMemcpyDtoHAsync`.
///
/// # Safety
/// `from` is `bytes` bytes of the device, and `to` as many writable ones that nobody else
/// touches, until the copy is done.
#[track_caller]
pub(crate) unsafe fn download_raw(
    from: CUdeviceptr,
    to: *mut u8,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise; the stream is alive and its context current.
    stream.submit(id::cuMemcpyDtoHAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, raw)
    })
}

/// Copies pinned memory to the device (`cuMemcpyHtoDAsync`). The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
#[track_caller]
pub fn copy_to_device<'d, T: DeviceCopy>(
    from: &PinnedBuffer<T>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    same_len(from.len(), to.len())?;
    to.join(stream)?;
    let bytes = from.len() * size_of::<T>();
    let copying = from.begin_copy(stream)?;
    // SAFETY: the pinned buffer remembers the copy and waits for it before anybody
    // writes or frees it; the device memory is freed after what is on the stream.
    copying.end(unsafe { upload_raw(from.as_ptr().cast(), to.as_raw(), bytes, stream) })
}

/// Copies from the device to pinned memory (`cuMemcpyDtoHAsync`). The lengths are equal.
/// Looking at the pinned memory waits for the copy.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
#[track_caller]
pub fn copy_to_host<'d, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: &mut PinnedBuffer<T>,
    stream: &Stream,
) -> Result<()> {
    let from = from.into();
    same_len(from.len(), to.len())?;
    from.join(stream)?;
    let bytes = to.len() * size_of::<T>();
    let copying = to.begin_copy(stream)?;
    // SAFETY: the pinned buffer remembers the copy and waits for it before anybody
    // looks at it or frees it; the device memory is freed after what is on the stream.
    copying.end(unsafe { download_raw(from.as_raw(), to.as_ptr().cast(), bytes, stream) })
}

/// Copies within the device (`cuMemcpyDtoDAsync`). The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; what the driver returned.
#[track_caller]
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
    // SAFETY: both are `bytes` bytes, freed after what is on the stream.
    stream.submit(id::cuMemcpyDtoDAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpyDtoDAsync_v2(to.as_raw(), from.as_raw(), bytes, raw)
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
#[track_caller]
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
/// [`Error::Invalid`] when the lengths differ, and when the device has written bytes that are no
/// value of `T` (see [`DeviceCopy`]): these elements are zeros then. What the driver returned, and
/// then the contents of the slice are unspecified.
///
/// # Aborts
/// When the driver refuses to wait for the copy three times over although the context is not
/// lost: the slice would no longer be safe to use. A stream that is being captured, by calls
/// that this crate does not make, is such a case.
#[track_caller]
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
    let copied = finish(copied, bytes, stream);
    // Also after a failure: part of the elements may have been written.
    // SAFETY: the slice's elements, which were initialised before; `finish` waited for the copy.
    let valid = unsafe { repair(to.as_mut_ptr(), to.len()) };
    copied.and(valid)
}

/// Waits for a copy from or to memory that is only borrowed. Returning while the copy may
/// still run would be unsound, so a wait that failed for a reason other than the end of the
/// context is repeated, and the last resort is to end the process.
#[track_caller]
fn finish(copied: Result<()>, bytes: usize, stream: &Stream) -> Result<()> {
    if bytes == 0 {
        return copied;
    }
    let waited = match copied {
        Ok(()) => super::synchronize(stream),
        refused => refused,
    };
    if waited.is_err()
        && !submit::settle(stream, Site::here())
        && !stream.core().ledger().is_forked()
    {
        tracing::error!("cannot wait for a copy to borrowed memory; aborting");
        std::process::abort();
    }
    waited
}

//! Copies. A copy between device and pinned memory overlaps with all other work; a copy from or to
//! an ordinary slice waits, because nothing else would keep the slice safe.

use std::mem::ManuallyDrop;

use cupola_sys::driver::{CUdeviceptr, id};

use crate::buffer::{
    DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedSlice, PinnedSliceMut, check, repair,
};
use crate::error::{Error, Result, Site, Written};
use crate::stream::Stream;
use crate::stream::fence::Fence;
use crate::stream::submit;

#[track_caller]
pub(crate) fn same_len(from: usize, to: usize) -> Result<()> {
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
    // SAFETY: `from` and `to` are good for `bytes` until the copy is done, by this function's
    // condition; the stream is alive.
    stream.submit(id::cuMemcpyHtoDAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, raw)
    })
}

/// `cuMemcpyDtoHAsync`.
///
/// # Safety
/// `from` is `bytes` bytes of the device, and `to` as many writable ones that no other code
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
    // SAFETY: this function's condition is that of `download_raw_at`.
    unsafe { download_raw_at(from, to, bytes, stream, Site::here()) }?;
    stream.verify_after(id::cuMemcpyDtoHAsync_v2)
}

/// As [`download_raw`], for a caller at `site`. It is not waited for in checked mode.
///
/// # Safety
/// As [`download_raw`].
#[inline]
pub(crate) unsafe fn download_raw_at(
    from: CUdeviceptr,
    to: *mut u8,
    bytes: usize,
    stream: &Stream,
    site: Site,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: `from` and `to` are good for `bytes` until the copy is done, by this function's
    // condition; the stream is alive.
    stream.put_at(site, |driver, raw| unsafe {
        driver.cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, raw)
    })
}

/// `cuMemcpyDtoDAsync`.
///
/// # Safety
/// Both are `bytes` bytes of the device until the copy is done.
#[track_caller]
pub(super) unsafe fn copy_raw(
    from: CUdeviceptr,
    to: CUdeviceptr,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: `from` and `to` are good for `bytes` until the copy is done, by this function's
    // condition; the stream is alive.
    stream.submit(id::cuMemcpyDtoDAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpyDtoDAsync_v2(to, from, bytes, raw)
    })
}

/// Copies pinned memory, or [part](crate::PinnedBuffer::slice) of it, to the device
/// (`cuMemcpyHtoDAsync`). The lengths are equal. Copies of one pinned buffer run one after the
/// other, also those of different parts and on different streams.
///
/// # Errors
/// [`Error::Capturing`] when a capture is open on the stream: the pinned memory could not tell any more
/// when the copy is over. [`Error::Invalid`] when the lengths differ, or when an earlier copy may
/// still run because waiting for it failed; [`Error::WrongContext`] when the device memory or the
/// pinned memory is another context's; [`Error::Full`] when there are too many events for one more;
/// [`Error::Poisoned`], [`Error::Forked`]; in [checked mode](crate::Context::set_checked)
/// [`Error::Unverified`]; what the driver returned.
#[doc(alias = "cuMemcpyHtoDAsync")]
#[track_caller]
pub fn copy_to_device<'p, 'd, T: DeviceCopy>(
    from: impl Into<PinnedSlice<'p, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    same_len(from.len(), to.len())?;
    to.check_context(stream)?;
    from.check_context(stream)?;
    let copied = put_to_device(from, &to, stream);
    to.end_write(stream, copied, || Written::All)
}

#[track_caller]
fn put_to_device<T: DeviceCopy>(
    from: PinnedSlice<'_, T>,
    to: &DeviceSliceMut<'_, T>,
    stream: &Stream,
) -> Result<()> {
    stream.refuse_captured("copy_to_device")?;
    from.taint()?;
    to.join(stream)?;
    let bytes = from.len() * size_of::<T>();
    let copying = from.begin_copy(stream)?;
    // SAFETY: the pinned buffer remembers the copy and waits for it before a caller writes or frees
    // it; the device memory is freed after the work on the stream.
    copying.end(unsafe { upload_raw(from.as_ptr().cast(), to.as_raw(), bytes, stream) })
}

/// Copies from the device to pinned memory, or to [part](crate::PinnedBuffer::slice_mut) of it
/// (`cuMemcpyDtoHAsync`). The lengths are equal. Looking at the pinned memory waits for the copy.
///
/// # Errors
/// As [`copy_to_device`].
#[doc(alias = "cuMemcpyDtoHAsync")]
#[track_caller]
pub fn copy_to_host<'d, 'p, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: impl Into<PinnedSliceMut<'p, T>>,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    same_len(from.len(), to.len())?;
    from.check_context(stream)?;
    to.check_context(stream)?;
    let copied = put_to_host(from, &to, stream);
    to.end_write(copied, || Written::All)
}

#[track_caller]
fn put_to_host<T: DeviceCopy>(
    from: DeviceSlice<'_, T>,
    to: &PinnedSliceMut<'_, T>,
    stream: &Stream,
) -> Result<()> {
    stream.refuse_captured("copy_to_host")?;
    from.check_written(stream)?;
    from.join(stream)?;
    let bytes = to.len() * size_of::<T>();
    let copying = to.begin_copy(stream)?;
    // SAFETY: the pinned buffer remembers the copy and waits for it before a caller looks at it or
    // frees it; the device memory is freed after the work on the stream.
    copying.end(unsafe { download_raw(from.as_raw(), to.as_ptr().cast(), bytes, stream) })
}

/// Copies a slice to the device, in the order of `stream`, and waits until that is done. Work that
/// other threads put on the stream meanwhile is not waited for. The lengths are equal.
///
/// # Errors
/// [`Error::Capturing`] when a capture is open on the stream, [`Error::Invalid`] when the
/// lengths differ: nothing is put on the stream then. [`Error::WrongContext`] when the memory is
/// another context's; [`Error::Full`] when there are too many events for one more;
/// [`Error::Poisoned`], [`Error::Forked`]; in [checked mode](crate::Context::set_checked)
/// [`Error::Unverified`]; what the driver returned.
///
/// # Aborts
/// When the driver refuses to wait for the copy three times over although the context is not
/// lost: the slice would no longer be safe to use. A capture that another thread opens on the
/// stream during the call is such a case.
#[doc(alias = "cuMemcpyHtoD")]
#[track_caller]
pub fn write<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    from: &[T],
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    same_len(from.len(), to.len())?;
    to.check_context(stream)?;
    let written = put_slice(&to, from, stream);
    to.end_write(stream, written, || Written::All)
}

#[track_caller]
fn put_slice<T: DeviceCopy>(to: &DeviceSliceMut<'_, T>, from: &[T], stream: &Stream) -> Result<()> {
    let bytes = size_of_val(from);
    let end = Waited::new("write", bytes, stream)?;
    to.join(stream)?;
    // SAFETY: the slice is borrowed until the copy is done, see `Waited`.
    end.of(unsafe { upload_raw(from.as_ptr().cast(), to.as_raw(), bytes, stream) })
}

/// Copies from the device to a slice, in the order of `stream`, and waits until that is
/// done. Work that other threads put on the stream meanwhile is not waited for. The lengths are
/// equal.
///
/// # Errors
/// As [`write()`]; after an error of the driver the contents of the slice are unspecified. Also
/// [`Error::Invalid`] when the device has written bytes that are no value of `T` (see
/// [`DeviceCopy`]): these elements are zeros then.
///
/// # Aborts
/// As [`write()`].
#[doc(alias = "cuMemcpyDtoH")]
#[track_caller]
pub fn read<'d, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: &mut [T],
    stream: &Stream,
) -> Result<()> {
    let from = from.into();
    same_len(from.len(), to.len())?;
    let bytes = size_of_val(to);
    from.check_context(stream)?;
    from.check_written(stream)?;
    let end = Waited::new("read", bytes, stream)?;
    from.join(stream)?;
    // SAFETY: the slice is borrowed mutably until the copy is done, see `Waited`.
    let copied =
        end.of(unsafe { download_raw(from.as_raw(), to.as_mut_ptr().cast(), bytes, stream) });
    // Also after a failure: part of the elements may have been written.
    // SAFETY: the slice's elements, which were initialised before; the copy was waited for.
    let valid = unsafe { repair(to.as_mut_ptr(), to.len()) };
    copied.and(valid)
}

/// Copies from the device to a new vector, and waits as [`read`] does.
#[track_caller]
pub(super) fn read_new<T: DeviceCopy>(from: DeviceSlice<'_, T>, stream: &Stream) -> Result<Vec<T>> {
    let (len, bytes) = (from.len(), from.len() * size_of::<T>());
    from.check_context(stream)?;
    from.check_written(stream)?;
    let end = Waited::new("to_vec", bytes, stream)?;
    from.join(stream)?;
    let mut to = ManuallyDrop::new(Vec::<T>::with_capacity(len));
    // SAFETY: the vector's memory stays until the copy is done, see `Waited`; or for ever.
    let copied =
        end.of(unsafe { download_raw(from.as_raw(), to.as_mut_ptr().cast(), bytes, stream) });
    if let Err(error) = copied {
        // For all that is known of a lost context the copy may still run: the memory is left alone.
        if stream.core().is_healthy() {
            drop(ManuallyDrop::into_inner(to));
        }
        return Err(error);
    }
    let mut to = ManuallyDrop::into_inner(to);
    // SAFETY: the copy has written all bytes of `len` elements, none of which is looked at before
    // `check`: a vector looks at none.
    unsafe { check(to.as_ptr(), len) }?;
    // SAFETY: the copy has written all bytes of `len` elements, and `check` found them to be
    // values.
    unsafe { to.set_len(len) };
    Ok(to)
}

/// The end of a copy from or to memory that is only borrowed, which is waited for.
pub(super) struct Waited<'s> {
    stream: &'s Stream,
    /// `None` when there is nothing to copy.
    fence: Option<Fence>,
}

impl<'s> Waited<'s> {
    /// Before work is put on the stream: the copy can be waited for.
    #[track_caller]
    pub(super) fn new(operation: &'static str, bytes: usize, stream: &'s Stream) -> Result<Self> {
        let mut fence = None;
        if bytes > 0 {
            stream.refuse_captured(operation)?;
            fence = Some(Fence::new(stream.core(), stream.events())?);
        }
        Ok(Self { stream, fence })
    }

    /// Waits for the copy, which was put on the stream with this result. Returning while it may
    /// still run would be unsound, so a wait that failed is repeated, for the whole stream; the
    /// last resort is to end the process.
    ///
    /// In a lost context no wait succeeds. That its device writes no host memory any more when
    /// the host has been told of the loss is an assumption, which NVIDIA does not state; borrowed
    /// memory cannot be kept from its owner.
    #[track_caller]
    pub(super) fn of(self, copied: Result<()>) -> Result<()> {
        let Self { stream, fence } = self;
        let Some(mut fence) = fence else {
            return copied;
        };
        // No closure, which would not know this function's caller.
        let waited = match copied {
            Ok(()) => wait_behind(&mut fence, stream),
            refused => refused,
        };
        let core = stream.core();
        if waited.is_err()
            && !submit::settle(stream, Site::here())
            && core.poison().is_none()
            && !core.ledger().is_forked()
        {
            tracing::error!("cannot wait for a copy to borrowed memory; aborting");
            std::process::abort();
        }
        waited
    }
}

/// Waits on the host for the work that is on the stream now, by this fence.
#[track_caller]
fn wait_behind(fence: &mut Fence, stream: &Stream) -> Result<()> {
    let launches = stream.launches().mark();
    fence.record(stream)?;
    fence.synchronize(stream.site())?;
    stream.launches().complete(launches);
    Ok(())
}

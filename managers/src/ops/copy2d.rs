//! Copies of rectangles between the device and the host: rows that do not lie one behind the other.

use core::ffi::c_void;
use std::ptr;

use cupola_sys::driver::{CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype, id};

use super::copy::{Waited, copy_raw, download_raw, upload_raw};
use super::shape::{Extent, Rectangle};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedSlice, PinnedSliceMut, repair};
use crate::error::{Error, Result};
use crate::stream::Stream;

/// Where the first row begins.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Host(*mut c_void),
    Device(CUdeviceptr),
}

impl Side {
    fn parts(self) -> (CUmemorytype, *mut c_void, CUdeviceptr) {
        match self {
            Self::Host(at) => (CUmemorytype::CU_MEMORYTYPE_HOST, at, 0),
            Self::Device(at) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, ptr::null_mut(), at),
        }
    }
}

/// `cuMemcpy2DAsync`, or the copy of a row; the extent has one slice.
///
/// # Safety
/// The bytes at `from` are readable and those at `to` writable until the copy is done; no other
/// code touches bytes of the host until then.
#[track_caller]
pub(super) unsafe fn copy_rows(
    from: Side,
    to: Side,
    extent: Extent,
    stream: &Stream,
) -> Result<()> {
    if extent.width == 0 {
        return Ok(());
    }
    if extent.height == 1 {
        // SAFETY: needs one row, good at `from` and `to` until the copy is done, which this
        // function asks for of all rows.
        return unsafe {
            match (from, to) {
                (Side::Host(from), Side::Device(to)) => {
                    upload_raw(from.cast_const().cast(), to, extent.width, stream)
                }
                (Side::Device(from), Side::Host(to)) => {
                    download_raw(from, to.cast(), extent.width, stream)
                }
                (Side::Device(from), Side::Device(to)) => copy_raw(from, to, extent.width, stream),
                (Side::Host(_), Side::Host(_)) => Err(Error::invalid(
                    "rectangle",
                    "both of its sides are on the host",
                )),
            }
        };
    }
    let (from_kind, from_host, from_device) = from.parts();
    let (to_kind, to_host, to_device) = to.parts();
    let copy = CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from_kind,
        srcHost: from_host,
        srcDevice: from_device,
        srcArray: ptr::null_mut(),
        srcPitch: extent.from_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to_kind,
        dstHost: to_host,
        dstDevice: to_device,
        dstArray: ptr::null_mut(),
        dstPitch: extent.to_pitch,
        WidthInBytes: extent.width,
        Height: extent.height,
    };
    // SAFETY: `copy` outlives the call; its rows are good at `from` and `to` until the copy is
    // done, by this function's condition.
    stream.submit(id::cuMemcpy2DAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpy2DAsync_v2(&raw const copy, raw)
    })
}

/// Copies rows of pinned memory to the device (`cuMemcpy2DAsync`).
///
/// # Errors
/// As [`copy_2d`](super::copy_2d) and [`copy_to_device`](super::copy_to_device).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn copy_to_device_2d<'p, 'd, T: DeviceCopy>(
    from: impl Into<PinnedSlice<'p, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = rectangle.check::<T>(from.len(), to.len())?;
    to.check_context(stream)?;
    from.check_context(stream)?;
    let copied = put_rows_to_device(from, &to, extent, stream);
    to.end_write(stream, copied, || extent.written(to.as_raw(), to.bytes()))
}

#[track_caller]
fn put_rows_to_device<T: DeviceCopy>(
    from: PinnedSlice<'_, T>,
    to: &DeviceSliceMut<'_, T>,
    extent: Extent,
    stream: &Stream,
) -> Result<()> {
    stream.refuse_captured("copy_to_device_2d")?;
    from.taint()?;
    to.join(stream)?;
    let copying = from.begin_copy(stream)?;
    let (from, to) = (Side::Host(from.as_ptr().cast()), Side::Device(to.as_raw()));
    // SAFETY: the rows lie in the pinned buffer, which remembers the copy and waits for it before the
    // host writes or frees it, and in memory of the device that is freed after the work on the
    // stream.
    copying.end(unsafe { copy_rows(from, to, extent, stream) })
}

/// Copies rows from the device to pinned memory (`cuMemcpy2DAsync`). The bytes between the rows
/// stay as they are.
///
/// # Errors
/// As [`copy_2d`](super::copy_2d) and [`copy_to_host`](super::copy_to_host).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn copy_to_host_2d<'d, 'p, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: impl Into<PinnedSliceMut<'p, T>>,
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = rectangle.check::<T>(from.len(), to.len())?;
    from.check_context(stream)?;
    to.check_context(stream)?;
    let copied = put_rows_to_host(from, &to, extent, stream);
    to.end_write(copied, || extent.written(0, to.bytes()))
}

#[track_caller]
fn put_rows_to_host<T: DeviceCopy>(
    from: DeviceSlice<'_, T>,
    to: &PinnedSliceMut<'_, T>,
    extent: Extent,
    stream: &Stream,
) -> Result<()> {
    stream.refuse_captured("copy_to_host_2d")?;
    from.check_written(stream)?;
    from.join(stream)?;
    let copying = to.begin_copy(stream)?;
    let (from, to) = (Side::Device(from.as_raw()), Side::Host(to.as_ptr().cast()));
    // SAFETY: the rows lie in the pinned buffer, which remembers the copy and waits for it before
    // the host looks at them or frees it, and in memory of the device that is freed after the work
    // on the stream.
    copying.end(unsafe { copy_rows(from, to, extent, stream) })
}

/// Copies rows of a slice to the device (`cuMemcpy2DAsync`) and waits, as
/// [`write`](super::write()) does.
///
/// # Errors
/// As [`copy_2d`](super::copy_2d) and [`write`](super::write()).
///
/// # Aborts
/// As [`write`](super::write()).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn write_2d<'d, T: DeviceCopy>(
    to: impl Into<DeviceSliceMut<'d, T>>,
    from: &[T],
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let to = to.into();
    let extent = rectangle.check::<T>(from.len(), to.len())?;
    to.check_context(stream)?;
    let written = put_rows_of_slice(&to, from, extent, stream);
    to.end_write(stream, written, || extent.written(to.as_raw(), to.bytes()))
}

#[track_caller]
fn put_rows_of_slice<T: DeviceCopy>(
    to: &DeviceSliceMut<'_, T>,
    from: &[T],
    extent: Extent,
    stream: &Stream,
) -> Result<()> {
    let end = Waited::new("write_2d", extent.width, stream)?;
    to.join(stream)?;
    let from = Side::Host(from.as_ptr().cast_mut().cast());
    // SAFETY: the rows lie in the slice, which is borrowed until the copy is done, see `Waited`, and
    // read alone; and in memory of the device.
    end.of(unsafe { copy_rows(from, Side::Device(to.as_raw()), extent, stream) })
}

/// Copies rows from the device to those of a slice (`cuMemcpy2DAsync`) and waits, as
/// [`read`](super::read) does. The bytes between the rows stay as they are.
///
/// # Errors
/// As [`copy_2d`](super::copy_2d) and [`read`](super::read).
///
/// # Aborts
/// As [`write`](super::write()).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn read_2d<'d, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: &mut [T],
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let from = from.into();
    let extent = rectangle.check::<T>(from.len(), to.len())?;
    from.check_context(stream)?;
    from.check_written(stream)?;
    let end = Waited::new("read_2d", extent.width, stream)?;
    from.join(stream)?;
    let side = Side::Host(to.as_mut_ptr().cast());
    // SAFETY: the rows lie in the slice, which is borrowed mutably until the copy is done, and in
    // memory of the device.
    let copied = end.of(unsafe { copy_rows(Side::Device(from.as_raw()), side, extent, stream) });
    // Also after a failure: part of the elements may have been written.
    // SAFETY: the slice's elements, which were initialised before; the copy was waited for.
    let valid = unsafe { repair(to.as_mut_ptr(), to.len()) };
    copied.and(valid)
}

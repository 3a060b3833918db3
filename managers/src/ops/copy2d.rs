//! Copies of rectangles: rows that do not lie one behind the other.

use core::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr;

use cupola_sys::driver::{CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype, id};

use super::copy::{Waited, copy_raw, download_raw, upload_raw};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedSlice, PinnedSliceMut, repair};
use crate::error::{Error, Result, Written};
use crate::stream::Stream;

/// Which elements a copy of rows is of: `height` rows of `width` elements. On each side the first row
/// begins at the first element, and each other one the side's pitch behind the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Elements from the beginning of a row to that of the next where it is copied from.
    pub from_pitch: usize,
    /// The same where it is copied to.
    pub to_pitch: usize,
}

impl Rectangle {
    /// Rows without bytes between them, on both sides.
    #[must_use]
    pub const fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            from_pitch: width,
            to_pitch: width,
        }
    }

    /// With rows so many elements apart where they are copied from.
    #[must_use]
    pub const fn from_pitch(mut self, elements: usize) -> Self {
        self.from_pitch = elements;
        self
    }

    /// With rows so many elements apart where they are copied to.
    #[must_use]
    pub const fn to_pitch(mut self, elements: usize) -> Self {
        self.to_pitch = elements;
        self
    }

    /// The bytes of the rows, which lie in this many elements on each side; none if there is nothing to
    /// copy.
    #[track_caller]
    fn check<T>(&self, from: usize, to: usize) -> Result<Bytes> {
        let Self { width, height, .. } = *self;
        for (name, pitch, len) in [
            ("from_pitch", self.from_pitch, from),
            ("to_pitch", self.to_pitch, to),
        ] {
            if height > 1 && pitch < width {
                let problem = format!("rows of {width} elements that begin {pitch} apart overlap");
                return Err(Error::invalid(name, problem));
            }
            let end = height.checked_sub(1).map_or(Some(0), |before| {
                before.checked_mul(pitch)?.checked_add(width)
            });
            if end.is_none_or(|end| end > len) {
                let problem = format!(
                    "{height} rows of {width}, {pitch} apart, do not lie in {len} elements"
                );
                return Err(Error::invalid("rectangle", problem));
            }
        }
        let size = size_of::<T>();
        if height == 0 || width * size == 0 {
            return Ok(Bytes::default());
        }
        // No more than the memory has, and it has less than there are addresses.
        if height == 1 || (self.from_pitch == width && self.to_pitch == width) {
            return Ok(Bytes {
                width: width * height * size,
                height: 1,
                ..Bytes::default()
            });
        }
        Ok(Bytes {
            width: width * size,
            height,
            from_pitch: self.from_pitch * size,
            to_pitch: self.to_pitch * size,
        })
    }
}

/// A rectangle in bytes; of one row if all of its bytes lie behind one another on both sides.
#[derive(Clone, Copy, Default)]
struct Bytes {
    width: usize,
    height: usize,
    from_pitch: usize,
    to_pitch: usize,
}

impl Bytes {
    /// What a copy writes of a part of so many bytes, of which `first` tells apart where it begins.
    fn written(self, first: CUdeviceptr, all: u64) -> Written {
        if self.height == 1 && self.width as u64 == all {
            return Written::All;
        }
        let mut digest = DefaultHasher::new();
        (first, self.width, self.height, self.to_pitch).hash(&mut digest);
        Written::Some(digest.finish())
    }
}

/// Where the first row begins.
#[derive(Clone, Copy)]
enum Side {
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

/// `cuMemcpy2DAsync`, or the copy of a row.
///
/// # Safety
/// The bytes at `from` are readable and those at `to` writable until the copy is done; no other
/// code touches bytes of the host until then.
#[track_caller]
unsafe fn copy_rows(from: Side, to: Side, bytes: Bytes, stream: &Stream) -> Result<()> {
    if bytes.width == 0 {
        return Ok(());
    }
    if bytes.height == 1 {
        // SAFETY: needs one row, good at `from` and `to` until the copy is done, which this
        // function asks for of all rows.
        return unsafe {
            match (from, to) {
                (Side::Host(from), Side::Device(to)) => {
                    upload_raw(from.cast_const().cast(), to, bytes.width, stream)
                }
                (Side::Device(from), Side::Host(to)) => {
                    download_raw(from, to.cast(), bytes.width, stream)
                }
                (Side::Device(from), Side::Device(to)) => copy_raw(from, to, bytes.width, stream),
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
        srcPitch: bytes.from_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to_kind,
        dstHost: to_host,
        dstDevice: to_device,
        dstArray: ptr::null_mut(),
        dstPitch: bytes.to_pitch,
        WidthInBytes: bytes.width,
        Height: bytes.height,
    };
    // SAFETY: `copy` outlives the call; its rows are good at `from` and `to` until the copy is
    // done, by this function's condition.
    stream.submit(id::cuMemcpy2DAsync_v2, |driver, raw| unsafe {
        driver.cuMemcpy2DAsync_v2(&raw const copy, raw)
    })
}

/// Copies rows within the device (`cuMemcpy2DAsync`). The bytes between the rows stay as they are.
///
/// # Errors
/// [`Error::Invalid`] when the rows overlap or do not lie in the memory of their side. Else as
/// [`copy`](super::copy()); a driver refuses pitches beyond a limit of the device
/// (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`, 2 GiB on the usual ones).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn copy_2d<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let bytes = rectangle.check::<T>(from.len(), to.len())?;
    let copied = put_rows(from, &to, bytes, stream);
    to.end_write(stream, copied, || bytes.written(to.as_raw(), to.bytes()))
}

#[track_caller]
fn put_rows<T: DeviceCopy>(
    from: DeviceSlice<'_, T>,
    to: &DeviceSliceMut<'_, T>,
    bytes: Bytes,
    stream: &Stream,
) -> Result<()> {
    from.check_written(stream)?;
    from.join(stream)?;
    to.join(stream)?;
    let (from, to) = (Side::Device(from.as_raw()), Side::Device(to.as_raw()));
    // SAFETY: the rows lie in memory of the device that is freed after the work on the stream.
    unsafe { copy_rows(from, to, bytes, stream) }
}

/// Copies rows of pinned memory to the device (`cuMemcpy2DAsync`).
///
/// # Errors
/// As [`copy_2d`] and [`copy_to_device`](super::copy_to_device).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn copy_to_device_2d<'p, 'd, T: DeviceCopy>(
    from: impl Into<PinnedSlice<'p, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let bytes = rectangle.check::<T>(from.len(), to.len())?;
    to.check_context(stream)?;
    from.check_context(stream)?;
    let copied = put_rows_to_device(from, &to, bytes, stream);
    to.end_write(stream, copied, || bytes.written(to.as_raw(), to.bytes()))
}

#[track_caller]
fn put_rows_to_device<T: DeviceCopy>(
    from: PinnedSlice<'_, T>,
    to: &DeviceSliceMut<'_, T>,
    bytes: Bytes,
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
    copying.end(unsafe { copy_rows(from, to, bytes, stream) })
}

/// Copies rows from the device to pinned memory (`cuMemcpy2DAsync`). The bytes between the rows
/// stay as they are.
///
/// # Errors
/// As [`copy_2d`] and [`copy_to_host`](super::copy_to_host).
#[doc(alias = "cuMemcpy2DAsync")]
#[track_caller]
pub fn copy_to_host_2d<'d, 'p, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    to: impl Into<PinnedSliceMut<'p, T>>,
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let bytes = rectangle.check::<T>(from.len(), to.len())?;
    from.check_context(stream)?;
    to.check_context(stream)?;
    let copied = put_rows_to_host(from, &to, bytes, stream);
    to.end_write(copied, || bytes.written(0, to.bytes()))
}

#[track_caller]
fn put_rows_to_host<T: DeviceCopy>(
    from: DeviceSlice<'_, T>,
    to: &PinnedSliceMut<'_, T>,
    bytes: Bytes,
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
    copying.end(unsafe { copy_rows(from, to, bytes, stream) })
}

/// Copies rows of a slice to the device (`cuMemcpy2DAsync`) and waits, as
/// [`write`](super::write()) does.
///
/// # Errors
/// As [`copy_2d`] and [`write`](super::write()).
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
    let bytes = rectangle.check::<T>(from.len(), to.len())?;
    to.check_context(stream)?;
    let written = put_rows_of_slice(&to, from, bytes, stream);
    to.end_write(stream, written, || bytes.written(to.as_raw(), to.bytes()))
}

#[track_caller]
fn put_rows_of_slice<T: DeviceCopy>(
    to: &DeviceSliceMut<'_, T>,
    from: &[T],
    bytes: Bytes,
    stream: &Stream,
) -> Result<()> {
    let end = Waited::new("write_2d", bytes.width, stream)?;
    to.join(stream)?;
    let from = Side::Host(from.as_ptr().cast_mut().cast());
    // SAFETY: the rows lie in the slice, which is borrowed until the copy is done, see `Waited`, and
    // read alone; and in memory of the device.
    end.of(unsafe { copy_rows(from, Side::Device(to.as_raw()), bytes, stream) })
}

/// Copies rows from the device to those of a slice (`cuMemcpy2DAsync`) and waits, as
/// [`read`](super::read) does. The bytes between the rows stay as they are.
///
/// # Errors
/// As [`copy_2d`] and [`read`](super::read).
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
    let bytes = rectangle.check::<T>(from.len(), to.len())?;
    from.check_context(stream)?;
    from.check_written(stream)?;
    let end = Waited::new("read_2d", bytes.width, stream)?;
    from.join(stream)?;
    let side = Side::Host(to.as_mut_ptr().cast());
    // SAFETY: the rows lie in the slice, which is borrowed mutably until the copy is done, and in
    // memory of the device.
    let copied = end.of(unsafe { copy_rows(Side::Device(from.as_raw()), side, bytes, stream) });
    // Also after a failure: part of the elements may have been written.
    // SAFETY: the slice's elements, which were initialised before; the copy was waited for.
    let valid = unsafe { repair(to.as_mut_ptr(), to.len()) };
    copied.and(valid)
}

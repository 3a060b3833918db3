//! Copies between device memory: of one context, or of two contexts, on whichever devices.

use std::sync::Arc;

use cupola_sys::SymbolId;
use cupola_sys::driver::{
    CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUdeviceptr, CUmemorytype, DriverError, id,
};

use super::copy::same_len;
use super::copy2d::{Side, copy_rows};
use super::shape::{Cuboid, Extent, Rectangle};
use crate::buffer::{Block, DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::driver::{ContextCore, check_between};
use crate::error::{Error, Result};
use crate::peer::check_copies;
use crate::stream::Stream;

const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;

/// Copies within the device (`cuMemcpyDtoDAsync`). The lengths are equal.
///
/// # Errors
/// [`Error::Invalid`] when the lengths differ; [`Error::WrongContext`] when the memory is another
/// context's; [`Error::Full`] when there are too many events for one more, which memory of another
/// stream may need; [`Error::Poisoned`], [`Error::Forked`]; in
/// [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what the driver returned.
#[doc(alias = "cuMemcpyDtoDAsync")]
#[track_caller]
pub fn copy<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = whole(&from, &to)?;
    copy_extent(from, &to, extent, Naming::Stream, stream)
}

/// Copies rows within the device (`cuMemcpy2DAsync`). The bytes between the rows stay as they are.
///
/// # Errors
/// [`Error::Invalid`] when the rows overlap or do not lie in the memory of their side. Else as
/// [`copy`]; a driver refuses pitches beyond a limit of the device
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
    let extent = rectangle.check::<T>(from.len(), to.len())?;
    copy_extent(from, &to, extent, Naming::Stream, stream)
}

/// Copies slices of rows within the device (`cuMemcpy3DAsync`; `cuMemcpy2DAsync` where that is enough).
/// The bytes between the rows and slices stay as they are.
///
/// # Errors
/// [`Error::Invalid`] when rows or slices overlap or do not lie in the memory of their side. Else as
/// [`copy_2d`].
#[doc(alias = "cuMemcpy3DAsync")]
#[track_caller]
pub fn copy_3d<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    cuboid: Cuboid,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = cuboid.check::<T>(from.len(), to.len())?;
    copy_extent(from, &to, extent, Naming::Stream, stream)
}

/// Copies from memory of one context to memory of another, on whichever devices
/// (`cuMemcpyPeerAsync`). The lengths are equal. The stream is of either context, and the copy in its
/// order: streams of both sides that use the memory are put in order with it by the caller, with
/// [`ops::order`](crate::ops::order).
///
/// It needs no [access](crate::PeerAccess). With access of the stream's context to the other's memory
/// it is direct; without, the driver takes it through the host. Memory of a [pool](crate::pool) of
/// pages is accessed as [`MemoryPool::open_to`](crate::MemoryPool::open_to) says.
///
/// The first copy from one context to another device checks the way, see
/// [`PeerCheck`](crate::peer::PeerCheck).
///
/// # Errors
/// [`Error::Peer`] when the check has found wrong bytes; [`Error::Invalid`] when the lengths differ, or
/// one side is [`from_raw`](DeviceSlice::from_raw), whose context is not known:
/// [`copy_between_raw`]; [`Error::WrongContext`] when the stream is of neither context, or they are of
/// two drivers; [`Error::Capturing`] when a [capture](crate::Graph::capture) is open on the stream;
/// [`Error::Full`] when there are too many events for one more; [`Error::Poisoned`] when one of the
/// contexts is lost, [`Error::Forked`]; in [checked mode](crate::Context::set_checked)
/// [`Error::Unverified`]; what the driver returned, of the check too.
#[doc(alias = "cuMemcpyPeerAsync")]
#[doc(alias = "cuMemcpyPeer")]
#[track_caller]
pub fn copy_between<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = whole(&from, &to)?;
    let naming = Naming::Both {
        operation: "copy_between",
    };
    copy_extent(from, &to, extent, naming, stream)
}

/// Copies rows as [`copy_between`] copies all elements (`cuMemcpy3DPeerAsync`; `cuMemcpyPeerAsync` where
/// they lie behind one another). The bytes between the rows stay as they are.
///
/// # Errors
/// [`Error::Invalid`] when the rows overlap or do not lie in the memory of their side. Else as
/// [`copy_between`]; a driver refuses pitches beyond a limit of the device
/// (`CU_DEVICE_ATTRIBUTE_MAX_PITCH`, 2 GiB on the usual ones).
#[doc(alias = "cuMemcpy3DPeerAsync")]
#[track_caller]
pub fn copy_between_2d<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    rectangle: Rectangle,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = rectangle.check::<T>(from.len(), to.len())?;
    let naming = Naming::Both {
        operation: "copy_between_2d",
    };
    copy_extent(from, &to, extent, naming, stream)
}

/// Copies slices of rows as [`copy_between_2d`] copies rows (`cuMemcpy3DPeerAsync`). The bytes between the
/// rows and slices stay as they are.
///
/// # Errors
/// [`Error::Invalid`] when rows or slices overlap or do not lie in the memory of their side. Else as
/// [`copy_between_2d`].
#[doc(alias = "cuMemcpy3DPeerAsync")]
#[doc(alias = "cuMemcpy3DPeer")]
#[track_caller]
pub fn copy_between_3d<'s, 'd, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'s, T>>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    cuboid: Cuboid,
    stream: &Stream,
) -> Result<()> {
    let (from, to) = (from.into(), to.into());
    let extent = cuboid.check::<T>(from.len(), to.len())?;
    let naming = Naming::Both {
        operation: "copy_between_3d",
    };
    copy_extent(from, &to, extent, naming, stream)
}

/// Memory of a context by its address.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress<'c> {
    /// The context that the memory is of: it was allocated there, or mapped on its device.
    pub context: &'c Context,
    /// Its address.
    pub address: CUdeviceptr,
}

/// As [`copy_between`], of memory by its address.
///
/// # Errors
/// As [`copy_between`].
///
/// # Safety
/// Both are `bytes` bytes of memory of their contexts, until the copy is done; what is on other streams
/// and uses them is ordered with `stream`.
#[doc(alias = "cuMemcpyPeerAsync")]
#[track_caller]
pub unsafe fn copy_between_raw(
    from: PeerAddress<'_>,
    to: PeerAddress<'_>,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    let (source, target) = (from.context.core(), to.context.core());
    let ends = Ends::between(source, target, "copy_between_raw", stream)?;
    // SAFETY: both sides have the bytes until the copy is done, by this function's condition.
    unsafe { ends.put(from.address, to.address, Extent::row(bytes), stream) }
}

/// All elements of both sides, which are as many.
#[track_caller]
fn whole<T: DeviceCopy>(from: &DeviceSlice<'_, T>, to: &DeviceSliceMut<'_, T>) -> Result<Extent> {
    same_len(from.len(), to.len())?;
    Ok(Extent::row(from.len() * size_of::<T>()))
}

/// Which contexts the call of a copy names.
#[derive(Clone, Copy)]
enum Naming {
    /// The stream's alone: its work may use both sides.
    Stream,
    /// Those of both sides.
    Both { operation: &'static str },
}

/// A copy of this extent of both sides, in which it lies.
#[inline]
#[track_caller]
fn copy_extent<T: DeviceCopy>(
    from: DeviceSlice<'_, T>,
    to: &DeviceSliceMut<'_, T>,
    extent: Extent,
    naming: Naming,
    stream: &Stream,
) -> Result<()> {
    copy_bytes(from.as_bytes(), &to.as_bytes(), extent, naming, stream)
}

/// As [`copy_extent`], whatever the elements. What most copies between devices do is in line, in as few
/// instructions as can be: after a call of the driver none of them is in the processor's first caches.
#[inline(never)]
#[track_caller]
fn copy_bytes(
    from: DeviceSlice<'_, u8>,
    to: &DeviceSliceMut<'_, u8>,
    extent: Extent,
    naming: Naming,
    stream: &Stream,
) -> Result<()> {
    let copied = put(from, to, extent, naming, stream);
    to.end_write(stream, copied, || extent.written(to.as_raw(), to.bytes()))
}

#[inline(always)]
#[track_caller]
fn put(
    from: DeviceSlice<'_, u8>,
    to: &DeviceSliceMut<'_, u8>,
    extent: Extent,
    naming: Naming,
    stream: &Stream,
) -> Result<()> {
    let ends = match naming {
        Naming::Stream => Ends::OfStream,
        Naming::Both { operation } => {
            let source = context_of(from.owner(), "from")?;
            let target = context_of(to.as_slice().owner(), "to")?;
            Ends::between(source, target, operation, stream)?
        }
    };
    from.check_written(stream)?;
    match ends {
        Ends::OfStream => {
            from.join(stream)?;
            to.join(stream)?;
        }
        Ends::Of { .. } => {
            from.join_across(stream)?;
            to.join_across(stream)?;
        }
    }
    // SAFETY: the extent lies in memory of these contexts on both sides, which is freed after the work on
    // the stream.
    unsafe { ends.put(from.as_raw(), to.as_raw(), extent, stream) }
}

/// The context of a buffer's memory.
#[inline(always)]
fn context_of<'b>(owner: Option<&'b Block>, field: &'static str) -> Result<&'b Arc<ContextCore>> {
    let unknown = || {
        let problem =
            "its memory is of other code, and the context not known: use copy_between_raw";
        Error::invalid(field, problem)
    };
    owner.map(Block::core).ok_or_else(unknown)
}

/// The contexts of the memory on both sides of a copy.
#[derive(Clone, Copy)]
enum Ends<'c> {
    /// The stream's, or its work may use memory of the others.
    OfStream,
    /// Two contexts, of which one is the stream's.
    Of {
        source: &'c Arc<ContextCore>,
        target: &'c Arc<ContextCore>,
    },
}

impl<'c> Ends<'c> {
    /// Refuses contexts between which the stream cannot copy, and a pair of devices that is known to be
    /// broken.
    #[inline(always)]
    #[track_caller]
    fn between(
        source: &'c Arc<ContextCore>,
        target: &'c Arc<ContextCore>,
        operation: &'static str,
        stream: &Stream,
    ) -> Result<Self> {
        if Self::is_well(source, target, stream) {
            debug_assert!(source.device() != target.device());
            return Ok(Self::Of { source, target });
        }
        Self::check(source, target, operation, stream)
    }

    /// Whether the stream can copy between the contexts, which are of two devices: the way between them
    /// was checked.
    #[inline(always)]
    fn is_well(
        source: &'c Arc<ContextCore>,
        target: &'c Arc<ContextCore>,
        stream: &Stream,
    ) -> bool {
        source.shares_ledger(target)
            && (stream.is_in(source) || stream.is_in(target))
            && source.is_healthy()
            && target.is_healthy()
            && !stream.is_captured()
            && source.peers().copies_are_well(target.device())
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn check(
        source: &'c Arc<ContextCore>,
        target: &'c Arc<ContextCore>,
        operation: &'static str,
        stream: &Stream,
    ) -> Result<Self> {
        if !source.shares_driver(target) {
            return Err(Error::WrongContext {
                what: "the destination",
            });
        }
        if !stream.is_in(source) && !stream.is_in(target) {
            return Err(Error::WrongContext { what: "the stream" });
        }
        source.healthy()?;
        target.healthy()?;
        stream.refuse_marked(operation)?;
        if source.shares_objects(target) {
            return Ok(Self::OfStream);
        }
        if source.device() != target.device() {
            check_copies(source, target)?;
        }
        Ok(Self::Of { source, target })
    }

    /// Puts the copy on the stream, by the call that says the least.
    ///
    /// # Safety
    /// The extent lies in memory of these contexts from `from` and `to` on, which stays so until the copy is
    /// done.
    #[inline(always)]
    #[track_caller]
    unsafe fn put(
        self,
        from: CUdeviceptr,
        to: CUdeviceptr,
        extent: Extent,
        stream: &Stream,
    ) -> Result<()> {
        match self {
            Self::Of { source, target } if extent.height == 1 && extent.width > 0 => {
                // SAFETY: the condition is this function's own.
                unsafe { put_row_between(from, source, to, target, extent.width, stream) }
            }
            // SAFETY: the condition is this function's own.
            _ => unsafe { self.put_others(from, to, extent, stream) },
        }
    }

    /// # Safety
    /// As [`put`](Self::put).
    #[inline(never)]
    #[track_caller]
    unsafe fn put_others(
        self,
        from: CUdeviceptr,
        to: CUdeviceptr,
        extent: Extent,
        stream: &Stream,
    ) -> Result<()> {
        if extent.width == 0 {
            return Ok(());
        }
        match self {
            Self::OfStream if extent.depth == 1 => {
                let (from, to) = (Side::Device(from), Side::Device(to));
                // SAFETY: the rows are good on both sides until the copy is done, by this function's
                // condition.
                unsafe { copy_rows(from, to, extent, stream) }
            }
            Self::OfStream => {
                let copy = CUDA_MEMCPY3D {
                    srcMemoryType: DEVICE,
                    srcDevice: from,
                    srcPitch: extent.from_pitch,
                    srcHeight: extent.from_rows,
                    dstMemoryType: DEVICE,
                    dstDevice: to,
                    dstPitch: extent.to_pitch,
                    dstHeight: extent.to_rows,
                    WidthInBytes: extent.width,
                    Height: extent.height,
                    Depth: extent.depth,
                    ..CUDA_MEMCPY3D::default()
                };
                // SAFETY: `copy` outlives the call; its slices are good on both sides until the copy is
                // done, by this function's condition.
                stream.submit(id::cuMemcpy3DAsync_v2, |driver, raw| unsafe {
                    driver.cuMemcpy3DAsync_v2(&raw const copy, raw)
                })
            }
            // SAFETY: the condition is this function's own.
            Self::Of { source, target } => unsafe {
                put_rows_between(from, source, to, target, extent, stream)
            },
        }
    }
}

/// Puts a copy of one row.
///
/// # Safety
/// As [`Ends::put`].
#[inline(always)]
#[track_caller]
unsafe fn put_row_between(
    from: CUdeviceptr,
    source: &Arc<ContextCore>,
    to: CUdeviceptr,
    target: &Arc<ContextCore>,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    let (own, other) = (source.current_raw(), target.current_raw());
    // SAFETY: the row is good on both sides until the copy is done, by this function's condition; the
    // contexts are those of living objects.
    let put = stream.call(move |driver, raw| unsafe {
        driver.cuMemcpyPeerAsync(to, other, from, own, bytes, raw)
    })?;
    end_between(source, target, put, id::cuMemcpyPeerAsync, stream)
}

/// Puts a copy of several rows.
///
/// # Safety
/// As [`Ends::put`].
#[track_caller]
unsafe fn put_rows_between(
    from: CUdeviceptr,
    source: &Arc<ContextCore>,
    to: CUdeviceptr,
    target: &Arc<ContextCore>,
    extent: Extent,
    stream: &Stream,
) -> Result<()> {
    let copy = CUDA_MEMCPY3D_PEER {
        srcMemoryType: DEVICE,
        srcDevice: from,
        srcContext: source.current_raw(),
        srcPitch: extent.from_pitch,
        srcHeight: extent.from_rows,
        dstMemoryType: DEVICE,
        dstDevice: to,
        dstContext: target.current_raw(),
        dstPitch: extent.to_pitch,
        dstHeight: extent.to_rows,
        WidthInBytes: extent.width,
        Height: extent.height,
        Depth: extent.depth,
        ..CUDA_MEMCPY3D_PEER::default()
    };
    // SAFETY: `copy` outlives the call; its rows are good on both sides until the copy is done, by this
    // function's condition; the contexts are those of living objects.
    let put =
        stream.call(|driver, raw| unsafe { driver.cuMemcpy3DPeerAsync(&raw const copy, raw) })?;
    end_between(source, target, put, id::cuMemcpy3DPeerAsync, stream)
}

/// Ends the call of a copy, after which the context of either side may be lost.
#[inline(always)]
#[track_caller]
fn end_between(
    source: &Arc<ContextCore>,
    target: &Arc<ContextCore>,
    put: Result<(), DriverError>,
    call: SymbolId,
    stream: &Stream,
) -> Result<()> {
    if let Err(refused) = put {
        return failed_between(source, target, refused, stream);
    }
    stream.verify_after(call)
}

#[cold]
#[inline(never)]
#[track_caller]
fn failed_between(
    source: &Arc<ContextCore>,
    target: &Arc<ContextCore>,
    refused: DriverError,
    stream: &Stream,
) -> Result<()> {
    let (own, other) = match stream.is_in(source) {
        true => (source, target),
        false => (target, source),
    };
    match refused.class().is_sticky() {
        true => check_between(own, other, Err(refused)),
        false => stream.check(Err(refused)),
    }
}

//! Copies between contexts.

use std::sync::Arc;

use cupola_sys::driver::{CUdeviceptr, id};

use super::copy::{copy_raw, same_len};
use crate::buffer::{Block, DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::driver::{ContextCore, check_between};
use crate::error::{Error, Result, Written};
use crate::peer::check_copies;
use crate::stream::Stream;

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
    same_len(from.len(), to.len())?;
    let copied = put_between(from, &to, stream);
    to.end_write(stream, copied, || Written::All)
}

#[track_caller]
fn put_between<T: DeviceCopy>(
    from: DeviceSlice<'_, T>,
    to: &DeviceSliceMut<'_, T>,
    stream: &Stream,
) -> Result<()> {
    let source = context_of(from.owner(), "from")?;
    let target = context_of(to.as_slice().owner(), "to")?;
    check_ends(source, target, stream)?;
    from.check_written(stream)?;
    from.join_across(stream)?;
    to.join_across(stream)?;
    let bytes = from.len() * size_of::<T>();
    // SAFETY: both are `bytes` bytes of their contexts, freed after the work on the stream.
    unsafe { put_raw(from.as_raw(), source, to.as_raw(), target, bytes, stream) }
}

/// The context of a buffer's memory.
fn context_of<'b>(owner: Option<&'b Block>, field: &'static str) -> Result<&'b Arc<ContextCore>> {
    let unknown = || {
        let problem =
            "its memory is of other code, and the context not known: use copy_between_raw";
        Error::invalid(field, problem)
    };
    owner.map(Block::core).ok_or_else(unknown)
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
    check_ends(source, target, stream)?;
    // SAFETY: the conditions are this function's own.
    unsafe { put_raw(from.address, source, to.address, target, bytes, stream) }
}

/// Refuses ends between which the stream cannot copy, and a pair of devices that is known to be
/// broken.
#[track_caller]
fn check_ends(source: &Arc<ContextCore>, target: &Arc<ContextCore>, stream: &Stream) -> Result<()> {
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
    stream.refuse_marked("copy_between")?;
    match source.device() == target.device() {
        true => Ok(()),
        false => check_copies(source, target),
    }
}

/// # Safety
/// Both are `bytes` bytes of their contexts until the copy is done.
#[track_caller]
unsafe fn put_raw(
    from: CUdeviceptr,
    source: &Arc<ContextCore>,
    to: CUdeviceptr,
    target: &Arc<ContextCore>,
    bytes: usize,
    stream: &Stream,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    if source.shares_objects(target) {
        // SAFETY: the conditions are this function's own.
        return unsafe { copy_raw(from, to, bytes, stream) };
    }
    let (own, other) = match stream.is_in(source) {
        true => (source, target),
        false => (target, source),
    };
    let (source, target) = (source.current_raw(), target.current_raw());
    // SAFETY: `from` and `to` are good for `bytes` until the copy is done, by this function's
    // condition; the contexts are those of living objects.
    let put = stream.call(|driver, raw| unsafe {
        driver.cuMemcpyPeerAsync(to, target, from, source, bytes, raw)
    })?;
    match put {
        Err(call) if call.class().is_sticky() => check_between(own, other, Err(call)),
        put => stream.check(put),
    }?;
    stream.verify_after(id::cuMemcpyPeerAsync)
}

//! The ends of a copy as a call names them, and how the copy gets into its stream.
//!
//! Page-locked host memory is read and written when the stream gets to the copy.
//! Pageable memory cannot be: its bytes are taken at the call on the way up, and the call
//! waits on the way down, as with the real driver.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::driver::{CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype, CUresult};

use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::graphs::{CopyNode, NodeKind};
use crate::device::machine::OwnedStream;
use crate::device::memory::{self, Access, Accessor, Place, Pointer, Rows, Side, Space, Transfer};
use crate::device::operations::engine::Direction;
use crate::device::operations::op::Op;

/// One end of a copy.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) enum Endpoint {
    Device(CUdeviceptr),
    Host(*mut c_void),
}

/// An end whose memory was found at the call.
struct Found {
    side: Side,
    /// A synchronous copy between such ends does not wait for itself.
    may_return_early: bool,
}

impl Found {
    fn device(address: u64, place: Option<&Place>) -> Self {
        let may_return_early = match place {
            Some(Place::Device(block)) => {
                block.managed.is_none() && !block.sync_memops.load(Ordering::Acquire)
            }
            Some(Place::Pinned(_)) => false,
            Some(Place::Mapped(_)) => true,
            // Freed in stream order; the copy will fault when it runs.
            None => true,
        };
        Self {
            side: Side::Device(address),
            may_return_early,
        }
    }

    fn host(side: Side) -> Self {
        Self {
            side,
            may_return_early: false,
        }
    }
}

impl Endpoint {
    /// A host argument. Device memory passes too, as it does where addresses are unified,
    /// and is checked like any other.
    pub(super) fn host(pointer: *mut c_void) -> Self {
        let address = pointer.addr() as u64;
        if Space::is_device_address(address) {
            Self::Device(address)
        } else {
            Self::Host(pointer)
        }
    }

    /// An address of the unified space: host memory, unless it is in the device's range.
    pub(super) fn unified(address: CUdeviceptr) -> Self {
        if Space::is_device_address(address) {
            Self::Device(address)
        } else {
            Self::Host(std::ptr::with_exposed_provenance_mut(address as usize))
        }
    }

    fn is_device(self) -> bool {
        matches!(self, Self::Device(_))
    }

    /// The end `by` bytes further.
    ///
    /// # Errors
    /// The address would run over.
    pub(super) fn offset(self, by: u64) -> Reply<Self> {
        const OVER: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
        match self {
            Self::Device(address) => address.checked_add(by).map(Self::Device).ok_or(OVER),
            Self::Host(pointer) if pointer.is_null() => Ok(self),
            Self::Host(pointer) => {
                let by = usize::try_from(by).map_err(|_| OVER)?;
                pointer.addr().checked_add(by).ok_or(OVER)?;
                Ok(Self::Host(pointer.wrapping_byte_add(by)))
            }
        }
    }

    /// Checks the rows and says how a stream reaches them.
    fn find(self, call: &Call<'_>, rows: Rows) -> Reply<Found> {
        const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
        let space = &call.machine.space;
        match self {
            Self::Device(address) => {
                space.check_rows(address, rows)?;
                Ok(Found::device(address, space.find(address).as_ref()))
            }
            Self::Host(pointer) if pointer.is_null() => Err(BAD),
            Self::Host(pointer) => {
                let address = pointer.expose_provenance() as u64;
                address.checked_add(rows.span() - 1).ok_or(BAD)?;
                let place = space.find(address);
                Ok(
                    match place.filter(|place| place.holds(address, rows.span())) {
                        Some(Place::Pinned(range)) => Found::host(Side::Pinned(range, address)),
                        // Managed: no other device memory is at a host address.
                        Some(place) => Found::device(address, Some(&place)),
                        None => Found::host(Side::Caller(Pointer(pointer.cast()))),
                    },
                )
            }
        }
    }
}

/// A copy of at least one byte.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Plan {
    pub(super) to: (Endpoint, Rows),
    pub(super) from: (Endpoint, Rows),
    /// The devices of the contexts that the call names for its ends, the destination's first.
    pub(super) named: Option<[Option<usize>; 2]>,
}

impl Plan {
    /// A copy of one row; `None` if it is empty.
    pub(super) fn flat(to: Endpoint, from: Endpoint, len: usize) -> Option<Self> {
        let rows = Rows::one(len as u64);
        (len > 0).then_some(Self {
            to: (to, rows),
            from: (from, rows),
            named: None,
        })
    }

    /// What a program is told of the copy once it is a node of a graph.
    fn params(self) -> CUDA_MEMCPY3D {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let layout = |rows: Rows| {
            let (_, pitch, slice) = rows.shape();
            (size(pitch), size(slice.checked_div(pitch).unwrap_or(0)))
        };
        let ([width, height, depth], ..) = self.to.1.shape();
        let ((to_pitch, to_height), (pitch, slices)) = (layout(self.to.1), layout(self.from.1));
        let (host, device) = (
            CUmemorytype::CU_MEMORYTYPE_HOST,
            CUmemorytype::CU_MEMORYTYPE_DEVICE,
        );
        let place = |end| match end {
            Endpoint::Device(address) => (device, std::ptr::null_mut(), address),
            Endpoint::Host(pointer) => (host, pointer, 0),
        };
        let ((to_kind, to_host, to_device), (kind, from_host, from_device)) =
            (place(self.to.0), place(self.from.0));
        CUDA_MEMCPY3D {
            srcMemoryType: kind,
            srcHost: from_host,
            srcDevice: from_device,
            srcPitch: pitch,
            srcHeight: slices,
            dstMemoryType: to_kind,
            dstHost: to_host,
            dstDevice: to_device,
            dstPitch: to_pitch,
            dstHeight: to_height,
            WidthInBytes: size(width),
            Height: size(height),
            Depth: size(depth),
            ..CUDA_MEMCPY3D::default()
        }
    }

    /// Finds the memory of both ends.
    pub(super) fn prepare(self, call: &Call<'_>, context: &Context) -> Reply<Prepared> {
        if self.named.is_none() {
            let ends = [(self.to, Access::Write), (self.from, Access::Read)];
            for ((end, rows), wanted) in ends {
                if let Endpoint::Device(address) = end {
                    permit(call, context, address, rows, wanted)?;
                }
            }
        }
        let (to, from) = (
            self.to.0.find(call, self.to.1)?,
            self.from.0.find(call, self.from.1)?,
        );
        // As the call names them: page-locked memory under its device address is as good
        // as the device's own.
        let direction = match (self.to.0.is_device(), self.from.0.is_device()) {
            (true, false) => Some(Direction::Upload),
            (false, true) => Some(Direction::Download),
            _ => None,
        };
        Ok(Prepared {
            may_return_early: to.may_return_early && from.may_return_early,
            transfer: Transfer {
                to: memory::End {
                    side: to.side,
                    rows: self.to.1,
                },
                from: memory::End {
                    side: from.side,
                    rows: self.from.1,
                },
                direction,
                named: self.named,
            },
        })
    }

    /// The copy for a launch of a graph. Host memory is read and written when the copy runs, as
    /// far as it is not page-locked too: the program keeps it until then.
    pub(in crate::device) fn transfer(self, call: &Call<'_>, context: &Context) -> Reply<Transfer> {
        Ok(self.prepare(call, context)?.transfer)
    }

    /// Submits the copy to the default stream. The call returns when it is done, unless it
    /// stays on devices.
    pub(super) fn run(self, call: &Call<'_>, (context, stream): OwnedStream) -> Reply {
        let Prepared {
            transfer,
            may_return_early,
        } = self.prepare(call, &context)?;
        let op = Op::Copy(Box::new(transfer));
        if may_return_early {
            context.submit(&stream, op)
        } else {
            context.submit_and_wait(&stream, op)
        }
    }

    /// Submits the copy to the default stream and waits for it.
    pub(super) fn run_and_wait(self, call: &Call<'_>, (context, stream): OwnedStream) -> Reply {
        let op = Op::Copy(Box::new(self.prepare(call, &context)?.transfer));
        context.submit_and_wait(&stream, op)
    }

    /// Submits the copy. The call returns at once, unless the destination is pageable, or the
    /// device is of a kind that waits for every copy over the bus.
    pub(super) fn run_async(self, call: &Call<'_>, target: OwnedStream) -> Reply {
        let prepared = self.prepare(call, &target.0)?;
        let (context, stream) = &target;
        if stream.capture.is_taken() {
            let node = CopyNode {
                params: self.params(),
                plan: Some(self),
                context: context.handle,
            };
            return context.capture(stream, NodeKind::Copy(Box::new(node)));
        }
        prepared.submit(target)
    }
}

/// Whether the context may access mapped memory so. Unlike other memory's, a driver
/// looks at its rights when the call names it.
pub(in crate::device::api) fn permit(
    call: &Call<'_>,
    context: &Context,
    address: CUdeviceptr,
    rows: Rows,
    wanted: Access,
) -> Reply {
    let accessor = Accessor::new(&context.device, &context.health);
    let space = &call.machine.space;
    let checked = space.check_access(address, rows, accessor, wanted);
    checked.map_err(|why| {
        call.machine.messages.add(why);
        CUresult::CUDA_ERROR_INVALID_VALUE
    })
}

/// A copy whose addresses were found good.
pub(super) struct Prepared {
    transfer: Transfer,
    may_return_early: bool,
}

impl Prepared {
    /// Submits the copy, and returns when it has read its source: at once if that is the host's.
    pub(super) fn submit_and_read(mut self, (context, stream): OwnedStream) -> Reply {
        if let Side::Pinned(range, address) = &self.transfer.from.side {
            // Kept until its bytes are taken.
            let (range, address) = (Arc::clone(range), *address);
            self.transfer.from.side = Side::Caller(Pointer(range.host(address)));
            stage(&mut self.transfer.from)?;
        }
        match self.transfer.from.side {
            Side::Device(_) => {
                let op = Op::Copy(Box::new(self.transfer));
                context.submit_and_wait(&stream, op)
            }
            // Pageable memory is read at the call in any case.
            _ => self.submit((context, stream)),
        }
    }

    pub(super) fn submit(mut self, (context, stream): OwnedStream) -> Reply {
        let is_blocking =
            self.transfer.direction.is_some() && context.device.config.kind().copies_wait();
        let waits = is_blocking || matches!(self.transfer.to.side, Side::Caller(_));
        if !waits {
            stage(&mut self.transfer.from)?;
        }
        let op = Op::Copy(Box::new(self.transfer));
        if waits {
            context.submit_and_wait(&stream, op)
        } else {
            context.submit(&stream, op)
        }
    }
}

/// Takes a copy of pageable memory, which is good only until the call returns.
fn stage(from: &mut memory::End) -> Reply {
    let Side::Caller(pointer) = from.side else {
        return Ok(());
    };
    const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let len = |bytes: u64| usize::try_from(bytes).map_err(|_| MEMORY);
    let (width, total) = (len(from.rows.width)?, len(from.rows.bytes())?);
    let mut staged = Vec::new();
    staged.try_reserve_exact(total).map_err(|_| MEMORY)?;
    for offset in from.rows.offsets() {
        let row = pointer.0.wrapping_add(len(offset)?);
        // SAFETY: the caller gave rows of `width` readable bytes, and this call has not
        // returned.
        staged.extend_from_slice(unsafe { std::slice::from_raw_parts(row, width) });
    }
    from.side = Side::Staged(staged.into_boxed_slice());
    from.rows = from.rows.packed();
    Ok(())
}

/// Whether a memset of memory at the address must be done when its call returns: the host
/// reaches that memory too, or the program asked for it.
pub(super) fn fill_waits(call: &Call<'_>, address: CUdeviceptr) -> bool {
    match call.machine.space.find(address) {
        Some(place) => !Found::device(address, Some(&place)).may_return_early,
        None => false,
    }
}

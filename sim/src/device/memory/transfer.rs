//! Copies, as a stream executes them.

use std::sync::Arc;
use std::time::Instant;

use crate::device::contexts::health::{Fault, Health};
use crate::device::machine::Device;
use crate::device::memory::access::{Access, AccessRequest, Accessor, Peers};
use crate::device::memory::access_guard::AccessGuard;
use crate::device::memory::block::HostRange;
use crate::device::memory::rows::Rows;
use crate::device::operations::engine::Direction;

/// Where one end of a copy is.
#[derive(Clone, Debug)]
pub(in crate::device) enum Side {
    /// A device address, looked up when the copy runs.
    Device(u64),
    /// Page-locked memory, kept alive.
    Pinned(Arc<HostRange>, u64),
    /// Memory of a caller that waits until the copy is done.
    Caller(Pointer),
    /// The copy's own, filled when the copy was called.
    Staged(Box<[u8]>),
}

/// A pointer that goes to another thread.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Pointer(pub(in crate::device) *mut u8);

// SAFETY: a copy dereferences it under the contract of the call that it came with.
unsafe impl Send for Pointer {}
// SAFETY: a reference gives a copy of the pointer, and no more.
unsafe impl Sync for Pointer {}

/// One end of a copy: where its first row begins, and where the others are from there.
#[derive(Clone, Debug)]
pub(in crate::device) struct End {
    pub(in crate::device) side: Side,
    pub(in crate::device) rows: Rows,
}

/// A copy of rows. Both ends have as many rows, of the same width.
#[derive(Clone, Debug)]
pub(in crate::device) struct Transfer {
    pub(in crate::device) to: End,
    pub(in crate::device) from: End,
    /// Which way over the bus; `None` within devices or the host.
    pub(in crate::device) direction: Option<Direction>,
    /// The devices of the contexts that the call names for its ends, the destination's first: each end is reached
    /// from its own. `None` if the call names no contexts.
    pub(in crate::device) named: Option<[Option<usize>; 2]>,
}

impl Transfer {
    /// Moves the rows, holding the direction's copy engine as long as the configured
    /// bandwidth says. All memory is found before any of it is written.
    pub(in crate::device) fn run(mut self, device: &Device, health: &Health) -> Result<(), Fault> {
        let engines = &device.engines;
        let _engine = self.direction.map(|direction| engines.acquire(direction));
        let started = Instant::now();
        let no_peers = Peers::default();
        let accessor = |end: usize| match self.named {
            None => Some(Accessor::new(device, health)),
            Some(devices) => devices[end].map(|device| Accessor::of(device, &no_peers)),
        };
        let accessors = [accessor(0), accessor(1)];
        let find = |end: &mut End, accessor, access, what| {
            let request = AccessRequest {
                what,
                access,
                accessor,
                copies: true,
            };
            AccessGuard::find(&mut end.side, end.rows, &device.space, request)
        };
        let to = find(
            &mut self.to,
            accessors[0],
            Access::Write,
            "copy to device memory",
        )?;
        let from = find(
            &mut self.from,
            accessors[1],
            Access::Read,
            "copy from device memory",
        )?;
        let is_corrupt = match (from.device(), to.device()) {
            (Some(from), Some(to)) => device.corrupt.contains(&(from, to)),
            _ => false,
        };
        let width = usize::try_from(self.to.rows.width).unwrap_or(0);
        for (to, from) in to.rows().zip(from.rows()) {
            if is_corrupt {
                // SAFETY: the condition is that of the copy below.
                unsafe { copy_corrupt(from, to, width) };
                continue;
            }
            // SAFETY: both rows have `width` bytes: device and page-locked memory was found
            // in the table and is kept by the reaches; a caller's memory is good until its
            // call returns, which waits for this copy; staged bytes are the copy's own. The
            // rows may overlap. A program that lets other work write the same bytes at this
            // time races, here as on a GPU, on the bytes alone.
            unsafe { std::ptr::copy(from, to, width) };
        }
        if device.strict.keeps_shadows() {
            to.copied(&from);
        }
        if let Some(direction) = self.direction {
            health.pass(started, engines.time(direction, self.to.rows.bytes()));
        }
        Ok(())
    }
}

/// Copies a row over a link that loses bytes: the last 64 of each whole 64 KiB.
///
/// # Safety
/// Both have `width` bytes, the destination writable ones.
unsafe fn copy_corrupt(from: *const u8, to: *mut u8, width: usize) {
    const PART: usize = 64 << 10;
    for start in (0..width).step_by(PART) {
        let bytes = match width - start {
            rest if rest < PART => rest,
            _ => PART - 64,
        };
        // SAFETY: they lie in the row on both sides.
        unsafe { std::ptr::copy(from.add(start), to.add(start), bytes) };
    }
}

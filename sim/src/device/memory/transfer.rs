//! Copies and fills, as a stream executes them.

use std::sync::Arc;
use std::time::Instant;

use super::super::engine::{Direction, Engines};
use super::super::health::{Fault, Health};
use super::block::{Block, HostRange};
use super::space::{Place, Space};

/// One end of a copy.
#[derive(Debug)]
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

/// Keeps one end's memory while it is accessed. The fields are only held.
enum Held {
    Block(#[allow(dead_code)] Arc<Block>),
    Range(#[allow(dead_code)] Arc<HostRange>),
    Caller,
}

impl Side {
    fn locate(&mut self, len: u64, space: &Space, what: &str) -> Result<(*mut u8, Held), Fault> {
        Ok(match self {
            Self::Device(address) => match space.resolve(*address, len, what)? {
                Place::Device(block) => (block.host(*address), Held::Block(block)),
                Place::Pinned(range) => (range.host(*address), Held::Range(range)),
            },
            Self::Pinned(range, address) => (range.host(*address), Held::Range(Arc::clone(range))),
            Self::Caller(pointer) => (pointer.0, Held::Caller),
            Self::Staged(bytes) => (bytes.as_mut_ptr(), Held::Caller),
        })
    }
}

/// A copy of `len` bytes.
#[derive(Debug)]
pub(in crate::device) struct Transfer {
    pub(in crate::device) to: Side,
    pub(in crate::device) from: Side,
    pub(in crate::device) len: usize,
    /// Which way over the bus; `None` within the device or the host.
    pub(in crate::device) direction: Option<Direction>,
}

impl Transfer {
    /// Moves the bytes, holding the direction's copy engine as long as the configured
    /// bandwidth says.
    pub(in crate::device) fn run(
        mut self,
        space: &Space,
        engines: &Engines,
        health: &Health,
    ) -> Result<(), Fault> {
        let _engine = self.direction.map(|direction| engines.acquire(direction));
        let started = Instant::now();
        let len = self.len as u64;
        let (to, _to) = self.to.locate(len, space, "copy to device memory")?;
        let (from, _from) = self.from.locate(len, space, "copy from device memory")?;
        // SAFETY: both ends hold `len` bytes: device and page-locked ranges were found in
        // the table and are kept by the guards; a caller's memory is good until its call
        // returns, which waits for this copy; staged bytes are the copy's own. The ends
        // may overlap. A program that lets other work write the same bytes at this time
        // races, here as on a GPU, on the bytes alone.
        unsafe { std::ptr::copy(from, to, self.len) };
        if let Some(direction) = self.direction {
            health.pass(started, engines.time(direction, len));
        }
        Ok(())
    }
}

/// A memset of `count` values, each `width` bytes.
#[derive(Debug)]
pub(in crate::device) struct Fill {
    pub(in crate::device) address: u64,
    pub(in crate::device) value: u32,
    pub(in crate::device) width: usize,
    pub(in crate::device) count: usize,
}

impl Fill {
    pub(in crate::device) fn run(self, space: &Space) -> Result<(), Fault> {
        let len = self.count as u64 * self.width as u64;
        let mut side = Side::Device(self.address);
        let (start, _held) = side.locate(len, space, "memset")?;
        let bytes = self.value.to_le_bytes();
        // SAFETY: the range holds `count * width` bytes and is kept by the guard.
        // Unaligned stores serve every address.
        unsafe {
            match self.width {
                1 => start.write_bytes(bytes[0], self.count),
                2 => {
                    let value = u16::from_le_bytes([bytes[0], bytes[1]]);
                    (0..self.count).for_each(|i| start.cast::<u16>().add(i).write_unaligned(value));
                }
                _ => {
                    (0..self.count)
                        .for_each(|i| start.cast::<u32>().add(i).write_unaligned(self.value));
                }
            }
        }
        Ok(())
    }
}

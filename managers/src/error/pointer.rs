//! `PointerFault`: why an address was refused.

use core::fmt;
use core::panic::Location;

use cupola_sys::driver::CUdeviceptr;

/// Why the check of pointers refused an operation that was given an address
/// ([`Context::set_pointer_checks`](crate::Context::set_pointer_checks)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PointerFault {
    /// The address of the first element.
    pub address: CUdeviceptr,
    /// Bytes that the operation was given from there on.
    pub bytes: u64,
    /// What is wrong with it.
    pub problem: PointerProblem,
    /// What the pools of the context remember of the blocks at the address, oldest first.
    pub history: Vec<BlockEvent>,
}

/// What became of a block of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockEvent {
    /// What became of it.
    pub fate: BlockFate,
    /// Its first byte.
    pub address: CUdeviceptr,
    /// Its bytes, as they were asked for.
    pub bytes: u64,
    /// Its name, if it has one.
    pub name: Option<&'static str>,
    /// The source line that called this crate; `None` for a drop.
    pub site: Option<&'static Location<'static>>,
    /// The thread, as [`Event::thread`](crate::pool::history::Event::thread) numbers it.
    pub thread: u32,
}

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockFate {
    /// It was handed out.
    Allocated,
    /// It was taken back.
    Freed,
    /// It was given up, and its memory stays in use for ever.
    Abandoned,
}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PointerProblem {
    /// The memory there has fewer bytes.
    TooShort {
        /// Bytes from the address to the end of the memory.
        room: u64,
    },
    /// It is memory of a pool, and no buffer is there: it was freed, or never handed out.
    Free,
    /// There is no memory that the driver knows.
    NoMemory,
    /// The memory is of another context of the same device.
    OtherContext,
}

impl fmt::Display for PointerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bytes, .. } = self;
        write!(f, "an operation was given {bytes} bytes at {address:#x}, ")?;
        match self.problem {
            PointerProblem::TooShort { room } => write!(f, "and the memory there has {room}")?,
            PointerProblem::Free => f.write_str("and no buffer is there")?,
            PointerProblem::NoMemory => f.write_str("and no memory is there")?,
            PointerProblem::OtherContext => f.write_str("which is another context's memory")?,
        }
        for event in &self.history {
            let what = match event.fate {
                BlockFate::Allocated => "allocated",
                BlockFate::Freed => "freed",
                BlockFate::Abandoned => "given up",
            };
            write!(f, "; {} bytes at {:#x}", event.bytes, event.address)?;
            if let Some(name) = event.name {
                write!(f, " ({name})")?;
            }
            write!(f, " were {what}")?;
            match event.site {
                Some(site) => write!(f, " at {site}")?,
                None => f.write_str(" by a drop")?,
            }
            write!(f, " by thread {}", event.thread)?;
        }
        Ok(())
    }
}

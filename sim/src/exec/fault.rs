//! Why a kernel stopped.

use std::fmt;
use std::time::Duration;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// No memory at the address, or no right to access it so (error 700).
    IllegalAddress,
    /// The address is not a multiple of the access size (error 716).
    MisalignedAddress,
    /// An instruction cannot be executed (error 715).
    IllegalInstruction,
    /// An indirect branch or call went nowhere (error 718).
    InvalidPc,
    /// Calls nested too deep, or local memory ran out.
    StackOverflow,
    /// `trap` was executed (error 719).
    Trap,
    /// A device-side assertion failed (error 710); the text is its message.
    Assert(String),
    /// Every thread waits for another one; the text says which threads wait where.
    Deadlock(String),
    /// The launch was cancelled from outside.
    Cancelled,
    /// The instruction budget of the launch is used up.
    Budget,
    /// The launch took longer than this, its limit (error 702).
    TimeLimit(Duration),
    /// Device-side `free` of what was freed before (error 719).
    DoubleFree,
    /// Device-side `free` of what `malloc` did not give (error 719).
    InvalidFree,
}

/// Which memory an access went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultSpace {
    /// Device memory, or no memory at all.
    Global,
    /// Shared memory of that many bytes.
    Shared {
        /// Bytes that the block has.
        len: u64,
    },
    /// Local memory of that many bytes.
    Local {
        /// Bytes that the thread has.
        len: u64,
    },
}

/// An access that faulted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultAccess {
    /// Bytes of the access.
    pub bytes: u64,
    /// Whether it writes; an atomic operation does.
    pub write: bool,
    /// The memory that it went to.
    pub space: FaultSpace,
    /// The address within shared or local memory; the whole address elsewhere.
    pub offset: u64,
}

/// A kernel's end before its time: what, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Kernel that was launched.
    pub kernel: String,
    /// Function that was executing.
    pub function: String,
    /// Line of the PTX text.
    pub line: u32,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block; the lowest one if several faulted.
    pub thread: [u32; 3],
    /// The address, for memory faults.
    pub address: Option<u64>,
    /// The access, for memory faults.
    pub access: Option<FaultAccess>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::IllegalAddress => f.write_str("illegal address")?,
            FaultKind::MisalignedAddress => f.write_str("misaligned address")?,
            FaultKind::IllegalInstruction => f.write_str("illegal instruction")?,
            FaultKind::InvalidPc => f.write_str("branch or call to an invalid address")?,
            FaultKind::StackOverflow => f.write_str("stack overflow")?,
            FaultKind::Trap => f.write_str("trap instruction")?,
            FaultKind::Assert(text) => write!(f, "assertion failed: {text}")?,
            FaultKind::Deadlock(waits) => {
                write!(f, "deadlock: every thread waits for another: {waits},")?;
            }
            FaultKind::Cancelled => f.write_str("launch cancelled")?,
            FaultKind::Budget => f.write_str("instruction budget used up")?,
            FaultKind::TimeLimit(limit) => write!(f, "still running after the limit of {limit:?}")?,
            FaultKind::DoubleFree => f.write_str("second free of")?,
            FaultKind::InvalidFree => f.write_str("free of what malloc did not give,")?,
        }
        if let Some(address) = self.address {
            write!(f, " 0x{address:x}")?;
        }
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(
            f,
            " in kernel {} (function {}, PTX line {}), block ({bx},{by},{bz}), thread ({tx},{ty},{tz})",
            self.kernel, self.function, self.line
        )
    }
}

impl std::error::Error for Fault {}

/// A fault before it is known whose it is.
#[derive(Debug, Clone)]
pub(crate) struct LaneFault {
    pub(crate) kind: FaultKind,
    pub(crate) lane: u32,
    pub(crate) address: Option<u64>,
    pub(crate) access: Option<FaultAccess>,
}

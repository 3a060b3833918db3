//! A kernel that can be launched.

use super::inst::Func;
use super::pointers::Pointers;
use std::sync::Arc;

/// A kernel parameter's place in the parameter buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamInfo {
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// Why a kernel cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The module has no entry of that name.
    #[error("no kernel named {0}")]
    NotFound(String),
    /// Something in it, or in a function it calls, cannot be executed.
    #[error("kernel {kernel} cannot run: PTX line {line} in {function}: {opcode}: {reason}")]
    Unsupported {
        /// The kernel asked for.
        kernel: String,
        /// The function with the instruction.
        function: String,
        /// Line of the PTX text.
        line: u32,
        /// The opcode in full, or empty if a declaration is at fault.
        opcode: String,
        /// What is wrong.
        reason: String,
    },
}

/// A decoded entry, with everything it calls.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub(crate) funcs: Arc<Vec<Func>>,
    pub(crate) index: u32,
    /// Name of the entry.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the parameter buffer.
    pub param_bytes: u32,
    /// Bytes of shared memory that the code declares.
    pub static_shared: u32,
    /// Dynamic shared memory starts at a multiple of this: the largest `.align` of its
    /// `.extern .shared` variables, and at least 16.
    pub dynamic_align: u32,
    /// 32-bit registers per thread: those of the PTX, but no more than let the largest
    /// block that the kernel allows fit a multiprocessor (`.maxntid`, `.minnctapersm`,
    /// `.maxnreg`). A compiler for GPUs may need fewer.
    pub regs: u32,
    /// Bytes of local memory per thread, without those of called functions.
    pub local_bytes: u32,
    /// Most threads per block: `.maxntid`, `.reqntid`, or 1024.
    pub max_threads: u32,
    /// `.reqntid`: the only block shape that may be launched.
    pub required_block: Option<[u32; 3]>,
    /// Whether a function of its module calls `malloc` or `free`.
    pub uses_heap: bool,
    /// Which of its parameters may become addresses.
    pub(crate) pointers: Pointers,
}

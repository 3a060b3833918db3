//! What an allocator may tell a driver of the blocks that it cuts out of the driver's memory.
//!
//! No function of CUDA's. A driver that checks programs (the software device) listens, so that
//! its checks see blocks, and not the pages that they lie in; any other driver lacks the symbol
//! [`SYMBOL`], and is told nothing. `docs/design/sim/strict.md` says what is checked.

use core::ffi::{CStr, c_char, c_void};

use super::{CUcontext, CUdeviceptr, CUstream};

/// What a library exports: a [`GetMemoryHooks`].
pub const SYMBOL: &CStr = c"cupolaMemoryHooks";

/// The newest layout of [`MemoryHooks`] and [`MemoryRegion`]. A later one only adds fields.
pub const VERSION: u32 = 1;

/// The type of [`SYMBOL`]: the hooks of at most that version; null when nothing listens. They stay
/// as long as the library.
pub type GetMemoryHooks = unsafe extern "C" fn(version: u32) -> *const MemoryHooks;

/// A block of an allocator.
///
/// The strings are UTF-8 of a given length, need not outlive the call, and may be null.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryRegion {
    /// The first byte.
    pub address: CUdeviceptr,
    /// Bytes that its user may touch, which may be fewer than the allocator keeps for it.
    pub bytes: u64,
    /// The context that `stream` is of, if it is one of the default streams.
    pub context: CUcontext,
    /// The stream in whose order it begins or ends.
    pub stream: CUstream,
    /// The user's file.
    pub file: *const c_char,
    /// The length of that.
    pub file_len: usize,
    /// What the user calls the block.
    pub name: *const c_char,
    /// The length of that.
    pub name_len: usize,
    /// The user's line, or 0.
    pub line: u32,
}

/// What an allocator calls. All functions may be called on any thread, whatever context is
/// current, and return nothing: no checker changes what a program does.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryHooks {
    /// The version that is filled in.
    pub version: u32,
    /// The first argument of every function.
    pub listener: *const c_void,
    /// A block begins: no work has written its memory in this life, and it may be used by what comes on
    /// `stream` from now on. It makes the driver's allocation around it (what one
    /// `cuMemAddressReserve` or `cuMemAlloc` gave) a heap: nothing may touch what is in no region
    /// of that.
    pub region_register: unsafe extern "C" fn(*const c_void, *const MemoryRegion),
    /// The block at `address` ends: what is on `stream` by now may use it, and nothing else.
    pub region_unregister: unsafe extern "C" fn(*const c_void, *const MemoryRegion),
    /// What comes on `stream` from now on comes after the beginning of the block at `address`.
    pub region_share: unsafe extern "C" fn(*const c_void, *const MemoryRegion),
    /// The end of the block at `address`, which is told next by this thread, comes after what is on
    /// `stream` by now: the allocator gives the memory to no other user before that is over.
    pub region_behind: unsafe extern "C" fn(*const c_void, *const MemoryRegion),
    /// Until it is called with 0 again, waits for events that this thread puts on streams are the
    /// allocator's own: the program's work is not to count on the order that they bring.
    pub own_order: unsafe extern "C" fn(*const c_void, u32),
    /// The host is about to read page-locked memory (`region.address`, `region.bytes`), or to write
    /// it where the last argument is not 0.
    pub host_access: unsafe extern "C" fn(*const c_void, *const MemoryRegion, u32),
}

// SAFETY: the functions may be called on any thread, with a listener that is good there.
unsafe impl Send for MemoryHooks {}
// SAFETY: as above.
unsafe impl Sync for MemoryHooks {}

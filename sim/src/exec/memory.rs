//! What the engine asks of the device's memory, and the address windows that are
//! the engine's own.
//!
//! Generic addresses are 64 bits. Shared, local and parameter memory appear in
//! windows; everything else, above and below, is asked of [`GlobalMemory`], which
//! must not hand out addresses between [`WINDOWS_START`] and [`WINDOWS_END`].

// The windows are from 2^48 on, so that page-locked memory, which kernels see at its host
// address, is never inside. Processes end at 2^47 on x86-64 and at 2^48 on aarch64 at
// the latest, however their mappings are laid out. Where the hardware has more, Linux
// maps there only for a process that asks for such an address by its number. Addresses
// of GPUs have 49 bits, so these are as good as theirs.

/// First address that belongs to a window.
pub const WINDOWS_START: u64 = SHARED_WINDOW;
/// Generic address of byte 0 of the block's shared memory.
pub const SHARED_WINDOW: u64 = 0x1_00f0_0000_0000;
/// Generic address of byte 0 of the thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x1_00f1_0000_0000;
/// Generic address of byte 0 of the kernel's parameters.
pub const PARAM_WINDOW: u64 = 0x1_00f2_0000_0000;
/// Functions are numbered from here, 16 apart.
pub const CODE_WINDOW: u64 = 0x1_00f3_0000_0000;
/// Length of each window.
pub const WINDOW_SIZE: u64 = 1 << 32;
/// First address after the windows.
pub const WINDOWS_END: u64 = CODE_WINDOW + WINDOW_SIZE;

/// A run of device memory that is contiguous on both sides.
#[derive(Debug, Clone, Copy)]
pub struct MemRange {
    /// Device address of the first byte.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// Host address of the first byte; congruent to `base` modulo 16.
    pub host: *mut u8,
    /// Whether kernels may write.
    pub writable: bool,
}

impl MemRange {
    /// The range that contains nothing.
    pub(crate) const EMPTY: Self = Self {
        base: u64::MAX,
        len: 0,
        host: std::ptr::null_mut(),
        writable: false,
    };
}

/// Why device-side `free` refuses an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadFree {
    /// Nothing that `malloc` gave begins there.
    NotAllocated,
    /// It was freed before.
    Freed,
}

/// Device memory as seen by running kernels.
///
/// # Safety
/// Every byte of a returned range must stay mapped at `host` (readable, and
/// writable if it says so) until the launch that asked has returned, and
/// `host` must be congruent to `base` modulo 16. No code may hold a
/// Rust reference to those bytes meanwhile: kernels access them with relaxed atomics
/// of the access's size.
pub unsafe trait GlobalMemory: Sync {
    /// The allocation that contains `addr`, or `None` if none does.
    fn lookup(&self, addr: u64) -> Option<MemRange>;

    /// The memory around `addr`, for an access that [`lookup`](Self::lookup) gives nothing for,
    /// though it is to be made: the launch's watch is told of it. It is asked for each such access.
    fn stray(&self, addr: u64) -> Option<MemRange> {
        let _ = addr;
        None
    }

    /// Device-side `malloc`: the address of `bytes` bytes, a multiple of 16, or `None`, which
    /// kernels see as null. Memory without a heap has none to give.
    fn allocate(&self, bytes: u64) -> Option<u64> {
        let _ = bytes;
        None
    }

    /// Device-side `free` of an address that is not null. The bytes stay mapped, as those of
    /// any range that was looked up.
    ///
    /// # Errors
    /// Nothing allocated begins there.
    fn release(&self, address: u64) -> Result<(), BadFree> {
        let _ = address;
        Err(BadFree::NotAllocated)
    }
}

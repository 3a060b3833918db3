//! A pair of memory barriers, one of them all but free.
//!
//! Two threads that each write one variable and then read the other's must both have a full
//! barrier in between, or both may read what was there before. Where one of them does so
//! millions of times a second and the other hardly ever, Linux lets the second pay for both:
//! `membarrier(2)` has every running thread of the process pass a full barrier, and the first
//! need only keep the compiler from changing the order.

use std::sync::OnceLock;
use std::sync::atomic::compiler_fence;

use crate::sync::{Ordering, fence};

/// How the two sides are ordered in this process. Both must have the same value of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsymmetricFence {
    /// The kernel makes the barrier of the light side, when the heavy side asks.
    by_kernel: bool,
}

impl AsymmetricFence {
    /// What this process uses, decided at the first call and for good: a light side must never
    /// count on the kernel when a heavy side does not ask it. The first call may take
    /// milliseconds (the kernel waits for all processors).
    ///
    /// The child of a fork has its parent's registration with the kernel, as it has its memory.
    pub(crate) fn of_process() -> Self {
        static BY_KERNEL: OnceLock<bool> = OnceLock::new();
        Self {
            by_kernel: *BY_KERNEL.get_or_init(kernel::register),
        }
    }

    /// A full fence on both sides.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_fences() -> Self {
        Self { by_kernel: false }
    }

    /// Between the write and the read of the side that must be fast.
    #[inline(always)]
    pub(crate) fn light(self) {
        if self.by_kernel {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Between the write and the read of the other side: microseconds.
    pub(crate) fn heavy(self) {
        #[cfg(all(test, not(loom)))]
        tests::PAID.set(tests::PAID.get() + 1);
        if self.by_kernel {
            kernel::barrier();
        } else {
            fence(Ordering::SeqCst);
        }
    }
}

#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, miri))
))]
mod kernel {
    use std::ffi::{c_int, c_long};

    // The numbers of the kernel's interface, which never change. Not from the crate `libc`, which
    // a dependent would build for these few lines.
    #[cfg(target_arch = "x86_64")]
    pub(super) const MEMBARRIER: c_long = 324;
    #[cfg(target_arch = "aarch64")]
    pub(super) const MEMBARRIER: c_long = 283;
    pub(super) const PRIVATE_EXPEDITED: c_int = 8;
    pub(super) const REGISTER_PRIVATE_EXPEDITED: c_int = 16;

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
    }

    /// `membarrier(2)`, for which the C library has no function; whether the kernel did it.
    fn membarrier(command: c_int) -> bool {
        let (command, flags, processor) = (c_long::from(command), 0 as c_long, 0 as c_long);
        // SAFETY: needs the arguments that the kernel takes for this number: a command, and two
        // integers that these commands do not use. It reads and writes no memory.
        unsafe { syscall(MEMBARRIER, command, flags, processor) == 0 }
    }

    /// Registers the process; false where the kernel, or a filter before it, does not know the
    /// call.
    pub(super) fn register() -> bool {
        membarrier(REGISTER_PRIVATE_EXPEDITED) && try_barrier()
    }

    /// The barrier, if the process is registered.
    pub(super) fn try_barrier() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }

    /// Every running thread of the process passes a full barrier before this returns.
    pub(super) fn barrier() {
        if try_barrier() || register() {
            return;
        }
        // A filter that was set up since forbids it. The light sides have counted on it, and
        // nothing else can stand in: going on would be unsound.
        std::process::abort();
    }
}

/// Fences do it everywhere.
#[cfg(not(all(
    any(target_os = "linux", target_os = "android"),
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(loom, miri))
)))]
mod kernel {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn barrier() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests;

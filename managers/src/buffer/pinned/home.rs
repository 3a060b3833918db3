//! `Home`: where the memory of a pinned buffer goes when the buffer is dropped.

use std::any::Any;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use cupola_core::tlsf::Block;
use cupola_sys::driver::{Driver, DriverError};

use super::Copies;
use crate::driver::{Allocated, ContextCore, Grave, Kind, PageLocked, RelaxedCapture};

/// Whose blocks the memory of buffers is: gets each back when its buffer is dropped.
pub(crate) trait BlockOwner: Send + Sync {
    /// Takes a block back that no code touches any more, but perhaps copies as told. Waits for nothing.
    /// Called in the owner's process alone, not in a fork.
    fn release(&self, block: Block, copies: Copies);
}

/// Where the memory of a buffer goes when the buffer is dropped.
pub(crate) enum Home {
    /// The driver: it was allocated for this buffer alone (`cuMemHostAlloc`).
    Driver,
    /// The owner of a larger region.
    Block(Arc<dyn BlockOwner>, Block),
    /// It was registered for this buffer (`cuMemHostRegister`), and this owns it.
    Registered(Box<dyn Any + Send>),
    /// It was registered for this buffer, and is borrowed: it must not be used by the device any more
    /// when the buffer is gone.
    Borrowed,
}

impl Home {
    /// The memory at `start` goes home: no code touches it any more, but perhaps copies as told, which
    /// are waited for, unless an owner of blocks does that.
    ///
    /// # Aborts
    /// If it is borrowed, and the end of a copy cannot be waited for in a context that is not lost.
    #[track_caller]
    pub(super) fn take_back(self, start: *mut c_void, copies: Copies, core: &ContextCore) {
        if let Self::Block(owner, block) = self {
            core.ledger().remove(Kind::Pinned, 1);
            if core.not_forked().is_ok() {
                owner.release(block, copies);
            }
            return;
        }
        let is_idle = copies.settle(core.site());
        let is_borrowed = matches!(self, Self::Borrowed);
        if !is_idle && is_borrowed && core.poison().is_none() && core.not_forked().is_ok() {
            tracing::error!("cannot wait for a copy of borrowed memory; aborting");
            std::process::abort();
        }
        if is_idle {
            let _counted_as_abandoned = core.dispose(Kind::Pinned, |driver| {
                let _relaxed = RelaxedCapture::uncounted(driver);
                match self {
                    // SAFETY: no copy runs, and nothing refers to the memory, which was registered.
                    Self::Registered(memory) => unsafe {
                        Box::new(Registered { start, memory }).give_back(driver)
                    },
                    // SAFETY: as before.
                    Self::Borrowed => unsafe { driver.cuMemHostUnregister(start) },
                    // SAFETY: no copy runs, and nothing refers to the memory, which was allocated.
                    Self::Driver | Self::Block(..) => unsafe { driver.cuMemFreeHost(start) },
                }
            });
            return;
        }
        core.ledger().remove(Kind::Pinned, 1);
        let grave = match self {
            // SAFETY: of this context, and nothing refers to it.
            Self::Registered(memory) => unsafe { Grave::new(Registered { start, memory }, None) },
            // SAFETY: as before.
            Self::Borrowed => unsafe { Grave::new(Unowned(start), None) },
            // SAFETY: as before.
            Self::Driver | Self::Block(..) => unsafe { Grave::new(Allocated(start), None) },
        };
        core.bury(grave);
    }
}

/// Registered memory and its owner.
struct Registered {
    start: *mut c_void,
    memory: Box<dyn Any + Send>,
}

// SAFETY: the owner is Send, and the address is only given to the driver.
unsafe impl Send for Registered {}

impl PageLocked for Registered {
    unsafe fn give_back(self: Box<Self>, driver: &Driver) -> Result<(), DriverError> {
        let Self { start, memory } = *self;
        // SAFETY: needs that nothing touches the registered memory, which is this function's condition.
        let unregistered = unsafe { driver.cuMemHostUnregister(start) };
        if unregistered.is_err() && !mutant!("registered_memory_is_freed_registered") {
            // The device may still reach it.
            let _kept = ManuallyDrop::new(memory);
        }
        unregistered
    }
}

/// Registered memory of the caller's.
struct Unowned(*mut c_void);

// SAFETY: the address is only given to the driver.
unsafe impl Send for Unowned {}

impl PageLocked for Unowned {
    unsafe fn give_back(self: Box<Self>, driver: &Driver) -> Result<(), DriverError> {
        // SAFETY: needs that nothing touches the registered memory, which is this function's condition.
        unsafe { driver.cuMemHostUnregister(self.0) }
    }
}

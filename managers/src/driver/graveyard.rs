//! `Graveyard`: page-locked memory that is given back when its context ends.
//!
//! Freeing such memory may wait for all work of the device, and must not come before the last
//! access of the device. So memory that a stream may still write to is left here, and that of a lost
//! context, of which nothing says when the device has left it alone.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use cupola_sys::driver::{Driver, DriverError};

use crate::sync;

/// The memory of one context.
#[derive(Default)]
pub(super) struct Graveyard(Mutex<Vec<Grave>>);

impl Graveyard {
    pub(super) fn push(&self, grave: Grave) {
        sync::lock(&self.0).push(grave);
    }

    /// All that there is.
    pub(super) fn take(&mut self) -> Vec<Grave> {
        let graves = self.0.get_mut();
        std::mem::take(graves.unwrap_or_else(PoisonError::into_inner))
    }
}

/// Page-locked memory of a context, which is dropped when the context has ended if it was not given
/// back before.
pub(crate) trait PageLocked: Send {
    /// Makes the call that gives it back.
    ///
    /// # Errors
    /// What the driver returned.
    ///
    /// # Safety
    /// Neither the device nor any code touches the memory from now on.
    unsafe fn give_back(self: Box<Self>, driver: &Driver) -> Result<(), DriverError>;
}

/// Memory of `cuMemHostAlloc`.
pub(crate) struct Allocated(pub(crate) *mut c_void);

// SAFETY: the memory is no thread's, and is only given back.
unsafe impl Send for Allocated {}

impl PageLocked for Allocated {
    unsafe fn give_back(self: Box<Self>, driver: &Driver) -> Result<(), DriverError> {
        // SAFETY: needs that the memory was allocated so, and that nothing touches it any more: the
        // type and this function say that.
        unsafe { driver.cuMemFreeHost(self.0) }
    }
}

/// Memory that no code touches any more, but perhaps the device.
pub(crate) struct Grave {
    memory: Box<dyn PageLocked>,
    /// Whether the device does not touch it either; never known where there is none.
    is_idle: Option<Box<dyn Fn() -> bool + Send>>,
}

impl Grave {
    /// # Safety
    /// `memory` is of the context that it is buried with, and no code touches it from now on but
    /// `is_idle`, which says whether the device has left it alone.
    pub(crate) unsafe fn new(
        memory: impl PageLocked + 'static,
        is_idle: Option<Box<dyn Fn() -> bool + Send>>,
    ) -> Self {
        Self {
            memory: Box::new(memory),
            is_idle,
        }
    }

    /// Whether the device has left the memory alone; `None` when that is never known.
    pub(super) fn is_idle(&self) -> Option<bool> {
        self.is_idle.as_ref().map(|is_idle| is_idle())
    }

    pub(super) fn into_memory(self) -> Box<dyn PageLocked> {
        self.memory
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_sys::driver::{CUresult, id};

    use crate::context::Context;
    use crate::test_bench::{TestBench, hold};

    /// Loses the context while a copy runs whose pinned memory is dropped. What is left then: pinned
    /// buffers, graves and abandoned objects.
    fn faulted(bench: &TestBench, context: &Context) -> (u64, u64, u64) {
        let stream = context.streams().create(Default::default()).unwrap();
        let held = hold(&stream);
        let pinned = context.buffers().pinned::<u32>(100).unwrap();
        pinned.begin_copy(&stream).unwrap().end(Ok(())).unwrap();
        let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        (bench.faults).fail_from(id::cuEventSynchronize, 1, code);
        drop(pinned);
        bench.faults.reset();
        assert!(context.poison().is_some());
        drop(held);
        let live = bench.execution.live();
        (live.pinned, live.buried, live.abandoned)
    }

    // Without it each fault would take page-locked memory from the process for ever, although the
    // context that it was in is gone.
    #[test]
    fn pinned_memory_of_a_lost_context_ends_with_it() {
        let bench = TestBench::new();
        let device = bench.execution.devices().get(0).unwrap();
        for _ in 0..3 {
            let context = device.contexts().create(Default::default()).unwrap();
            assert_eq!(faulted(&bench, &context), (0, 1, 0));
            assert_eq!(bench.machine.usage().host_allocations, 1);
        }
        assert_eq!(bench.machine.usage().host_allocations, 0);
        drop(device);
        // Strict mode has found that the memory was left to the contexts.
        let watch = bench.execution.watch();
        drop((bench.context, bench.execution));
        assert!(watch.live().is_empty());
    }

    // Without it memory would be freed that the device may still write to, or a context of others
    // keep a promise that this crate cannot.
    #[test]
    fn that_of_a_primary_context_is_left_to_the_driver() {
        let bench = TestBench::new();
        assert_eq!(faulted(&bench, &bench.context), (0, 0, 1));
        assert_eq!(bench.faults.count(id::cuMemFreeHost), 0);
    }
}

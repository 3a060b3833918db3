//! `Graveyard`: page-locked memory that is given back when its context ends.
//!
//! Freeing such memory may wait for all work of the device, and must not come before the last
//! access of the device. So memory that a stream may still write to is left here, and that of a lost
//! context, of which nothing says when the device has left it alone.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cupola_sys::driver::DriverError;

use super::{ContextCore, Kind, RelaxedCapture};
use crate::error::Site;

/// The memory of one context.
#[derive(Default)]
pub(super) struct Graveyard(Mutex<Vec<Grave>>);

/// Memory that no code touches any more, but perhaps the device.
pub(crate) struct Grave {
    memory: *mut c_void,
    /// Whether the device does not touch it either; never known where there is none.
    is_idle: Option<Box<dyn Fn() -> bool + Send>>,
}

// SAFETY: the memory is no thread's, and is only given back.
unsafe impl Send for Grave {}

impl Grave {
    /// # Safety
    /// `memory` was allocated by `cuMemHostAlloc` in the context that it is buried with, and no code
    /// touches it from now on but `is_idle`, which says whether the device has left it alone.
    pub(crate) unsafe fn new(
        memory: *mut c_void,
        is_idle: Option<Box<dyn Fn() -> bool + Send>>,
    ) -> Self {
        Self { memory, is_idle }
    }

    /// Waits until the device leaves the memory alone: by looks for a moment, because what is left to
    /// come is one write, then for the whole context.
    fn settle(&self, core: &ContextCore, site: Site) -> bool {
        let Some(is_idle) = &self.is_idle else {
            return false;
        };
        let end = Instant::now() + Duration::from_millis(1);
        while !is_idle() {
            if Instant::now() > end {
                return core.synchronize(site).is_ok();
            }
            thread::yield_now();
        }
        true
    }

    fn give_back(self, core: &ContextCore, site: Site) -> bool {
        self.settle(core, site)
            && core.give_back(site, |driver| {
                let _relaxed = RelaxedCapture::uncounted(driver);
                // SAFETY: allocated so by `new`; neither the device nor any code touches it.
                unsafe { driver.cuMemFreeHost(self.memory) }
            }) == Ok(())
    }
}

impl ContextCore {
    /// Keeps memory until the context ends. Of a context that this crate has not created, memory of
    /// which it will never be known that it is idle is left to the driver at once.
    pub(crate) fn bury(&self, grave: Grave) {
        if grave.is_idle.is_none() && !self.ownership.ends_the_context() {
            self.ledger.add(Kind::Abandoned, 1);
            return;
        }
        self.ledger.add(Kind::Buried, 1);
        let mut graves = (self.graveyard.0.lock()).unwrap_or_else(PoisonError::into_inner);
        graves.push(grave);
    }

    /// The context is about to end: gives back the memory that the device leaves alone. Returns how
    /// many pieces are left that end with the context.
    pub(super) fn exhume(&mut self, site: Site) -> u64 {
        let graves = self.graveyard.0.get_mut();
        let graves = std::mem::take(graves.unwrap_or_else(PoisonError::into_inner));
        let ends_with_it = self.ownership.ends_the_context();
        let mut left = 0;
        for grave in graves {
            self.ledger.remove(Kind::Buried, 1);
            left += u64::from(!grave.give_back(self, site));
        }
        if !ends_with_it {
            self.ledger.add(Kind::Abandoned, left);
            return 0;
        }
        left
    }

    /// The context has ended, or was to, with so many pieces.
    pub(super) fn note_end_of_graves(&self, left: u64, ended: Result<(), DriverError>) {
        if ended.is_err() {
            self.ledger.add(Kind::Abandoned, left);
        }
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

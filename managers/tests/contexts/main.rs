//! Green contexts and contexts of other code: who keeps what, and what is left when a call
//! fails.

mod again;
mod borrowed;
mod current;
mod green;
mod left;
mod shutdown;
mod together;

use std::any::Any;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_managers::context::{ContextKind, GreenConfig};
use cupola_managers::stream::{StreamPool, StreamPoolConfig};
use cupola_managers::{Context, Device, Error, ExecutionManager, PoisonPolicy, PoolConfig, ops};
use cupola_sim::fault::FaultTable;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::{CUcontext, CUresult, Driver, id};
use cupola_sys::{SymbolId, Version};
use quickcheck::quickcheck;

/// 32 multiprocessors that can be parted in eights.
fn machine() -> Machine {
    let hopper = DeviceConfig::new()
        .compute_capability(9, 0)
        .multiprocessors(32);
    let builder = Machine::builder().device(hopper.clone());
    builder.add_device(hopper).worker_threads(1).build()
}

fn device(execution: &ExecutionManager) -> Device {
    execution.devices().get(0).unwrap()
}

/// A context that the driver's other user has made, and destroys with the last token.
struct Other {
    driver: Driver,
    raw: CUcontext,
    ended: Arc<AtomicUsize>,
}

// SAFETY: a context may be used from any thread.
unsafe impl Send for Other {}
// SAFETY: as above.
unsafe impl Sync for Other {}

impl Other {
    fn new(driver: &Driver, device: i32) -> (Arc<Self>, Arc<AtomicUsize>) {
        let (mut raw, mut popped) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the places outlive the calls.
        unsafe {
            driver.cuInit(0).unwrap();
            driver.cuCtxCreate_v2(&raw mut raw, 0, device).unwrap();
            driver.cuCtxPopCurrent_v2(&raw mut popped).unwrap();
        }
        let ended = Arc::new(AtomicUsize::new(0));
        let other = Self {
            driver: driver.clone(),
            raw,
            ended: Arc::clone(&ended),
        };
        (Arc::new(other), ended)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        // SAFETY: made in `new`, and no code uses it any more.
        let _ = unsafe { self.driver.cuCtxDestroy_v2(self.raw) };
    }
}

fn borrow(device: &Device, other: &Arc<Other>) -> Result<Context, Error> {
    let token: Arc<dyn Any + Send + Sync> = other.clone();
    // SAFETY: alive as long as the token.
    unsafe { device.contexts().borrow(other.raw, token) }
}

// Without it a child could end its parent's contexts, call what the parent gave, or wait for
// a lock that another thread had at the fork.
#[cfg(unix)]
#[test]
fn a_fork_leaves_contexts_to_its_parent() {
    use core::ffi::c_int;

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let (other, ended) = Other::new(&machine.driver(), 0);
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = device(&execution);
    let borrowed = borrow(&device, &other).unwrap();
    let green = device.contexts().green(GreenConfig::at_least(8)).unwrap();
    let raw = other.raw;
    let held = device.primary().unwrap();
    for context in [&borrowed, &green] {
        device.contexts().release(context.handle()).unwrap();
    }
    drop(other);
    table.reset();
    // SAFETY: the child calls nothing that takes a lock another thread may hold: it looks at
    // counters, and leaves without running anything else.
    let child = unsafe { fork() };
    if child == 0 {
        let split = device.contexts().green(GreenConfig::at_least(8)).map(drop);
        // SAFETY: never looked at.
        let again = unsafe { device.contexts().borrow(raw, Arc::new(())) }.map(drop);
        let (devices, contexts) = (execution.devices(), device.contexts());
        let refused = [
            split,
            again,
            contexts.release(held.handle()),
            contexts.configure(contexts.config()),
            contexts.primary_handle().map(drop),
            devices.release(device.handle()),
            devices.configure(Default::default()),
            devices.handle(0).map(drop),
            execution.configure(Default::default()),
        ];
        let refused = refused.iter().all(|it| *it == Err(Error::Forked));
        let reports = [
            held.shutdown(),
            contexts.shutdown(),
            devices.shutdown(),
            execution.shutdown(),
        ];
        let mut reports = reports
            .iter()
            .map(|report| (&report.errors, report.leased.len()));
        let refused = refused && reports.all(|it| it == (&vec![Error::Forked], 0));
        drop((borrowed, green, held));
        let silent = table.counts().is_empty() && ended.load(Ordering::Relaxed) == 0;
        // SAFETY: ends the child at once.
        unsafe { _exit(c_int::from(!refused) + 2 * c_int::from(!silent)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0));
    drop((borrowed, green, held, device, execution));
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    assert_eq!(machine.leaks(), None);
}

//! The fault table: wraps any driver, counts every call, and fails or delays the k-th
//! call of any function with any code.
//!
//! It is itself a driver: each of its functions decides, then calls the wrapped driver's. A call
//! made to fail with [`FaultTable::fail`] does not run: whatever it would have made does not
//! exist and whatever it would have destroyed still does. Calls are counted per function across
//! all threads; which thread makes the k-th one is up to the program.

mod plan;
mod thunks;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cupola_sys::driver::hooks::MemoryHooks;
use cupola_sys::driver::{CUresult, Driver, DriverError, ProcAddress, SYMBOLS};
use cupola_sys::{CallError, Symbol, SymbolId};

use plan::{Action, Plan};

/// A driver around another driver, with faults on demand. Clones share everything.
///
/// ```
/// use cupola_sim::{Machine, fault::FaultTable};
/// use cupola_sys::driver::{CUresult, id};
///
/// let machine = Machine::builder().build();
/// let faults = FaultTable::new(machine.driver());
/// let driver = faults.driver();
/// faults.fail(id::cuInit, 2, CUresult::CUDA_ERROR_NO_DEVICE);
/// // SAFETY: `cuInit` takes no pointers.
/// unsafe {
///     assert!(driver.cuInit(0).is_ok());
///     assert!(driver.cuInit(0).is_err());
///     assert!(driver.cuInit(0).is_ok());
/// }
/// assert_eq!(faults.count(id::cuInit), 3);
/// ```
#[derive(Clone)]
pub struct FaultTable {
    state: Arc<State>,
}

/// What the functions of one fault table share; found through the driver's scope.
struct State {
    wrapped: Driver,
    calls: Box<[AtomicU64]>,
    plan: Plan,
    watcher: OnceLock<Watcher>,
}

/// Is told of each call.
type Watcher = Box<dyn Fn(SymbolId) + Send + Sync>;

impl FaultTable {
    /// Wraps `driver`; no faults yet.
    #[must_use]
    pub fn new(driver: Driver) -> Self {
        let calls = SYMBOLS.iter().map(|_| AtomicU64::new(0)).collect();
        Self {
            state: Arc::new(State {
                wrapped: driver,
                calls,
                plan: Plan::default(),
                watcher: OnceLock::new(),
            }),
        }
    }

    /// A driver that goes through this table. It has the functions that the wrapped driver
    /// has, less those hidden before their first use.
    ///
    /// # Panics
    /// If `cuDriverGetVersion` is made to fail: the driver asks for it when it is made.
    #[must_use]
    pub fn driver(&self) -> Driver {
        self.try_driver().expect("cuDriverGetVersion answers")
    }

    /// Like [`driver`](Self::driver), with the error of `cuDriverGetVersion` as a value.
    ///
    /// # Errors
    /// What `cuDriverGetVersion` was made to return.
    pub fn try_driver(&self) -> Result<Driver, DriverError> {
        // SAFETY: `Source` hands out thunks of the right types only.
        unsafe { Driver::from_source(Box::new(Source(Arc::clone(&self.state)))) }
    }

    /// Makes the `k`-th call of `function`, counted from 1 since the last
    /// [`reset`](Self::reset), return `code` without running.
    pub fn fail(&self, function: SymbolId, k: u64, code: CUresult) {
        self.state.plan.add(function, k..=k, Action::Fail(code));
    }

    /// Makes the `k`-th call of `function` run, and return `code` if it succeeded: as a real
    /// driver does when it reports the error of earlier work through a later call.
    pub fn fail_after(&self, function: SymbolId, k: u64, code: CUresult) {
        self.state
            .plan
            .add(function, k..=k, Action::FailAfter(code));
    }

    /// Makes the `k`-th call of `function` and every later one return `code`.
    pub fn fail_from(&self, function: SymbolId, k: u64, code: CUresult) {
        self.state
            .plan
            .add(function, k..=u64::MAX, Action::Fail(code));
    }

    /// Makes the `k`-th call of `function` wait for `delay` before it runs.
    pub fn delay(&self, function: SymbolId, k: u64, delay: Duration) {
        self.state.plan.add(function, k..=k, Action::Delay(delay));
    }

    /// Calls `watcher` before each call from now on, those that are made to fail included, on the
    /// thread that makes it. It may call the wrapped driver, and must not call this one. There is
    /// one for good: false when the table has one already.
    pub fn watch(&self, watcher: impl Fn(SymbolId) + Send + Sync + 'static) -> bool {
        self.state.watcher.set(Box::new(watcher)).is_ok()
    }

    /// Makes `function` missing for drivers that have not used it yet.
    pub fn hide(&self, function: SymbolId) {
        self.state.plan.hide(function);
    }

    /// How often `function` was called since the last [`reset`](Self::reset), failed calls
    /// included.
    #[must_use]
    pub fn count(&self, function: SymbolId) -> u64 {
        self.state
            .calls
            .get(usize::from(function.0))
            .map_or(0, |calls| calls.load(Ordering::SeqCst))
    }

    /// Every function that was called since the last [`reset`](Self::reset), by position in
    /// the symbol table, with its number of calls.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<SymbolId, u64> {
        let ids = (0..).map(SymbolId::new);
        ids.zip(self.state.calls.iter())
            .map(|(id, calls)| (id, calls.load(Ordering::SeqCst)))
            .filter(|(_, calls)| *calls > 0)
            .collect()
    }

    /// Forgets all faults (hidden functions stay hidden) and counts from zero again.
    pub fn reset(&self) {
        self.state.plan.clear();
        for calls in &self.state.calls {
            calls.store(0, Ordering::SeqCst);
        }
    }
}

impl fmt::Debug for FaultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultTable({:?})", self.state.wrapped)
    }
}

impl State {
    /// Counts a call, and either answers it or passes it on.
    fn intercept(
        &self,
        function: SymbolId,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> CUresult {
        if let Some(watcher) = self.watcher.get() {
            watcher(function);
        }
        let k = self.calls[usize::from(function.0)].fetch_add(1, Ordering::SeqCst) + 1;
        let mut success = CUresult::CUDA_SUCCESS;
        match self.plan.action(function, k) {
            Some(Action::Fail(code)) => return code,
            Some(Action::FailAfter(code)) => success = code,
            Some(Action::Delay(delay)) => std::thread::sleep(delay),
            None => {}
        }
        match call(&self.wrapped) {
            Ok(()) => success,
            Err(CallError::Failed { code, .. }) => code,
            // Not reached: only functions that the wrapped driver has are handed out.
            Err(CallError::Missing { .. }) => CUresult::CUDA_ERROR_NOT_FOUND,
        }
    }
}

struct Source(Arc<State>);

// SAFETY: `thunks::address` returns the thunk of the symbol's own type; thunks are code of
// this program and always callable.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        let position = SYMBOLS.iter().position(|row| row == symbol);
        let Some(id) = position
            .and_then(|position| u16::try_from(position).ok())
            .map(SymbolId::new)
        else {
            return std::ptr::null();
        };
        if self.0.plan.is_hidden(id) || !self.0.wrapped.has(id) {
            return std::ptr::null();
        }
        thunks::ADDRESSES[usize::from(id.0)].0
    }

    fn scope(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    fn memory_hooks(&self) -> Option<MemoryHooks> {
        // The wrapped driver stays as long as this source.
        self.0.wrapped.memory_hooks()
    }

    fn describe(&self) -> String {
        format!("fault table over {}", self.0.wrapped.describe())
    }
}

#[cfg(test)]
mod tests;

//! A machine: devices, their contexts, and all handles that a program holds.

pub(super) mod config;
mod device;
mod inner;
pub(super) mod messages;
pub(super) mod profile;
pub(super) mod usage;
pub(super) mod visible;

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cupola_sys::Symbol;
use cupola_sys::driver::hooks::MemoryHooks;
use cupola_sys::driver::{Driver, ProcAddress, SYMBOLS};

use crate::device::machine::config::MachineBuilder;
use crate::device::machine::usage::Usage;
use crate::device::schedule::Trace;
use crate::device::strict::{self, Finding};

pub(super) use device::{Device, Primary};
pub(crate) use inner::MOST_DEVICES;
pub(super) use inner::{Inner, OwnedStream, get};

/// A software CUDA machine. Clones are the same machine; a process can have several.
///
/// The machine lives until its last clone and its last [`Driver`] are gone. Work that is
/// then still queued does not run. The last one waits for the work that runs, unless it
/// goes in a function that a stream or a kernel's output calls, which would wait for
/// itself.
#[derive(Clone)]
pub struct Machine {
    inner: Arc<Inner>,
}

impl Machine {
    /// Describes a machine: one device, driver version 13.0, no delays, unless told.
    #[must_use]
    pub fn builder() -> MachineBuilder {
        MachineBuilder::default()
    }

    /// A driver of this machine: the same functions and types as the real library's.
    ///
    /// # Panics
    /// Never: a machine always knows its version, the one thing that could fail.
    #[must_use]
    pub fn driver(&self) -> Driver {
        let source = Source(Arc::clone(&self.inner));
        // SAFETY: the functions of a machine are callable as soon as it exists.
        let driver = unsafe { Driver::from_source(Box::new(source)) };
        driver.expect("a machine knows its driver version")
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// What programs hold of this machine now.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::of(&self.inner)
    }

    /// What programs have not given back, as a report; `None` if there is nothing.
    #[must_use]
    pub fn leaks(&self) -> Option<String> {
        let usage = self.usage();
        (!usage.is_empty()).then(|| usage.to_string())
    }

    /// What error codes could not say, oldest first: faults with kernel, line, block and
    /// thread; images that have no PTX; kernels that cannot run. The last 256 are kept.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.inner.messages.since(0)
    }

    /// How many messages there have been, forgotten ones included.
    #[must_use]
    pub fn message_count(&self) -> u64 {
        self.inner.messages.count()
    }

    /// The messages after the first `count`, as far as they are kept.
    #[must_use]
    pub fn messages_since(&self, count: u64) -> Vec<String> {
        self.inner.messages.since(count)
    }

    /// What strict mode has found, oldest first. The last 1024 are kept.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.inner.strict.findings()
    }

    /// What strict mode has found since the last time, and forgets it.
    #[must_use]
    pub fn take_findings(&self) -> Vec<Finding> {
        self.inner.strict.take()
    }

    /// Everything that programs have not given back yet, as findings, which are not kept:
    /// what would be reported if the machine ended now.
    #[must_use]
    pub fn leak_report(&self) -> Vec<Finding> {
        strict::of_machine(&self.inner)
    }

    /// Reports everything that programs have not given back, as the machine's end does:
    /// for processes that end without it.
    pub fn report_leaks(&self) {
        strict::report_leaks(&self.inner);
    }

    /// What the machine has done, in order; `None` with
    /// [`Order::Threads`](crate::device::Order::Threads), whose order is not recorded.
    #[must_use]
    pub fn trace(&self) -> Option<Trace> {
        let schedule = self.inner.schedule.as_ref();
        schedule.map(|schedule| schedule.trace())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (devices, version) = (self.inner.devices.len(), self.inner.version);
        write!(f, "Machine({devices} devices, CUDA {version})")
    }
}

impl MachineBuilder {
    /// Makes the machine. More than 16 devices are cut to 16.
    #[must_use]
    pub fn build(self) -> Machine {
        Machine {
            inner: Inner::new(self),
        }
    }
}

struct Source(Arc<Inner>);

// SAFETY: `api::implemented` pairs each symbol with a function of the type that its row has
// (checked when it is compiled), and functions are code of this program.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        let position = SYMBOLS.iter().position(|row| row == symbol);
        position.map_or(std::ptr::null(), |position| self.0.function(position))
    }

    fn scope(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    fn memory_hooks(&self) -> Option<MemoryHooks> {
        self.0.memory_hooks()
    }

    fn describe(&self) -> String {
        format!("cupola software device, CUDA {}", self.0.version)
    }
}

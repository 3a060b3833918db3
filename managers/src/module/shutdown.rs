//! Shutting modules down, and the functions in them with them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use cupola_core::tag;

use super::function::FunctionInner;
use super::{FunctionHandle, ModuleHandle, ModuleInner, ModuleManager, ModulesConfig};
use crate::error::Result;
use crate::limits::check_capacity;
use crate::registry::part;
use crate::shutdown_report::{LeasedObject, ShutdownReport};
use crate::stats::{ManagerStats, State};

/// A module between the two phases of a shutdown.
pub(crate) struct ClosedModule {
    handle: ModuleHandle,
    module: Arc<ModuleInner>,
    functions: Vec<(FunctionHandle, Arc<FunctionInner>)>,
}

pub(crate) type ClosedModules = Vec<ClosedModule>;

impl ModuleManager {
    /// Figures so far.
    #[must_use]
    pub fn stats(&self) -> ManagerStats {
        self.modules.stats()
    }

    /// Whether modules can be had.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.modules.is_shut())
    }

    /// Ends every handle, of functions too, and unloads every module without a lease, after all
    /// work on the streams that its kernels were launched on, see [`Module`](super::Module). The
    /// others go with the last lease of them or their functions. Nothing is handed out until
    /// [`configure`](Self::configure).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        if let Err(forked) = self.core.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport::default();
        self.drain(self.close(), &mut report);
        report.locate(&self.core);
        report
    }

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field;
    /// [`Error::Forked`](crate::Error::Forked).
    pub fn configure(&self, config: ModulesConfig) -> Result<()> {
        self.core.not_forked()?;
        check_capacity("modules.capacity", config.capacity)?;
        check_capacity("modules.functions", config.functions)?;
        let _alone = self.door();
        self.functions.store(config.functions, Ordering::Relaxed);
        self.modules.open(config.capacity);
        Ok(())
    }

    fn door(&self) -> MutexGuard<'_, ()> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn close(&self) -> ClosedModules {
        let _alone = self.door();
        let mut closed = Vec::new();
        for (handle, module) in self.modules.shut() {
            closed.push(ClosedModule {
                handle,
                functions: module.functions.close(),
                module,
            });
        }
        closed
    }

    #[track_caller]
    #[expect(clippy::unused_self, reason = "it is one of several managers' steps")]
    pub(crate) fn drain(&self, closed: ClosedModules, report: &mut ShutdownReport) {
        for closed in closed {
            for (handle, function) in closed.functions {
                if let Err(leases) = part(function) {
                    report.leased.push(LeasedObject::new(handle, leases));
                }
            }
            match part(closed.module) {
                Ok(mut module) => report.ended(module.raw.unload()),
                Err(leases) => {
                    let module = LeasedObject::new::<tag::Module>(closed.handle, leases);
                    report.leased.push(module);
                }
            }
        }
    }
}

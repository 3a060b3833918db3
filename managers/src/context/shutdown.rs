//! Shutting contexts down, and what is in them with them: first everything refuses, then
//! what is idle goes, from the bottom up.

use std::sync::{Arc, PoisonError};

use cupola_core::tag;

use super::{Context, ContextHandle, ContextInner, ContextKind, ContextManager, ContextsConfig};
use crate::error::Result;
use crate::lifecycle::{LeasedObject, ManagerStats, ShutdownReport, State};
use crate::module::ClosedModules;

/// A context between the two phases of its shutdown.
pub(crate) struct ClosedContext {
    handle: ContextHandle,
    context: Arc<ContextInner>,
    modules: ClosedModules,
    buffers: Vec<LeasedObject>,
}

impl ContextInner {
    /// First phase, of the managers in the context: their handles end, and they refuse.
    #[track_caller]
    fn close(&self, report: &mut ShutdownReport) -> (ClosedModules, Vec<LeasedObject>) {
        self.streams.close(report);
        self.events.close(report);
        (self.modules.close(), self.buffers.close())
    }

    /// Second phase: what is idle goes.
    #[track_caller]
    fn drain(
        &self,
        modules: ClosedModules,
        buffers: Vec<LeasedObject>,
        report: &mut ShutdownReport,
    ) {
        self.modules.drain(modules, report);
        report.leased.extend(buffers);
        self.streams.drain(report);
        self.events.drain(report);
        report.locate(&self.core);
    }

    /// Ends the context unless something that was made in it is still there: then how many
    /// such things keep it.
    #[track_caller]
    pub(super) fn end(self) -> Result<Option<u64>> {
        let Self {
            streams,
            events,
            buffers,
            modules,
            core,
            ..
        } = self;
        drop((streams, buffers, modules, events));
        let keepers = Arc::strong_count(&core) as u64 - 1;
        match Arc::into_inner(core) {
            Some(core) => core.end().map(|()| None),
            None => Ok(Some(keepers.max(1))),
        }
    }
}

impl ContextManager {
    /// Whether contexts can be had.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.contexts.is_shut())
    }

    /// Figures so far.
    #[must_use]
    pub fn stats(&self) -> ManagerStats {
        self.contexts.stats()
    }

    /// How contexts are set up now.
    #[must_use]
    pub fn config(&self) -> ContextsConfig {
        *self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again. Contexts made from
    /// now on have managers set up like this; those that are there stay as they are.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field.
    pub fn configure(&self, config: ContextsConfig) -> Result<()> {
        let config = config.check()?;
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config;
        // Behind a shutdown that is about to end handles.
        let _primary = self.primary_name();
        self.contexts.open(config.capacity);
        Ok(())
    }

    /// Shuts down every context and the managers in it, in two phases: first all of them
    /// refuse and every handle is stale, then everything that nobody leases is destroyed,
    /// the contexts last. Leases stay good, and what they are of ends with the last. Nothing
    /// is handed out until [`configure`](Self::configure).
    ///
    /// Modules are unloaded after all work in their context (`cuCtxSynchronize`).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        let mut report = ShutdownReport::default();
        let closed = self.close(&mut report);
        self.drain(closed, &mut report);
        report
    }

    /// First phase of a shutdown.
    #[track_caller]
    pub(crate) fn close(&self, report: &mut ShutdownReport) -> Vec<ClosedContext> {
        let mut closed = Vec::new();
        // No closure, which would not know this function's caller.
        for (handle, context) in self.shut() {
            let (modules, buffers) = context.close(report);
            closed.push(ClosedContext {
                handle,
                context,
                modules,
                buffers,
            });
        }
        closed
    }

    /// Ends every handle, that of the primary context with them: nobody gives it a new one
    /// meanwhile, nor starts the manager again.
    fn shut(&self) -> Vec<(ContextHandle, Arc<ContextInner>)> {
        let mut primary = self.primary_name();
        *primary = None;
        self.contexts.shut()
    }

    /// Second phase.
    #[track_caller]
    pub(crate) fn drain(&self, mut closed: Vec<ClosedContext>, report: &mut ShutdownReport) {
        // Green contexts keep the primary one.
        closed.sort_by_key(|closed| closed.context.core.kind() == ContextKind::Primary);
        for closed in closed {
            let ClosedContext {
                handle,
                context,
                modules,
                buffers,
            } = closed;
            context.drain(modules, buffers, report);
            let leases = match self.contexts.part(handle, context) {
                Err(leases) => leases,
                Ok(context) => match context.end() {
                    Ok(Some(keepers)) => keepers,
                    ended => {
                        report.ended(ended.map(drop));
                        continue;
                    }
                },
            };
            report.leased.push(LeasedObject {
                device: Some(self.ordinal),
                context: Some(handle),
                ..LeasedObject::new::<tag::Context>(handle, leases)
            });
        }
    }

    /// Ends every handle, and makes no context from now on: those that there are go with
    /// their last leases, and what is in them stays as it is.
    #[track_caller]
    pub(crate) fn release_all(&self) {
        for (handle, context) in self.shut() {
            if let Ok(context) = self.contexts.part(handle, context) {
                // As with a drop: what the driver refuses is counted as abandoned.
                let _ = context.end();
            }
        }
    }
}

impl Context {
    /// Shuts down the managers in this context, as
    /// [`ContextManager::shutdown`] does, and leaves the context itself: its handle and its
    /// leases stay good. Each manager can be configured again.
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        let mut report = ShutdownReport::default();
        let (modules, buffers) = self.0.close(&mut report);
        self.0.drain(modules, buffers, &mut report);
        report
    }
}

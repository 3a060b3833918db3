//! Shutting contexts down, and what is in them with them: first everything refuses, then
//! what is idle goes, from the bottom up.

use std::sync::{Arc, PoisonError};

use cupola_core::tag;

use super::{
    Context, ContextCore, ContextHandle, ContextInner, ContextKind, ContextManager, ContextsConfig,
};
use crate::error::Result;
use crate::lifecycle::{LeasedObject, ManagerStats, ShutdownReport, State};
use crate::module::ClosedModules;
use crate::registry::part;

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

    /// Ends the managers: what is left is the context.
    fn dissolve(self) -> Arc<ContextCore> {
        let Self {
            streams,
            events,
            buffers,
            modules,
            core,
            ..
        } = self;
        drop((streams, buffers, modules, events));
        core
    }

    /// Ends the context, unless something that was made in it is still there: then with that.
    #[track_caller]
    pub(super) fn end(self) -> Result<()> {
        match Arc::into_inner(self.dissolve()) {
            Some(core) => core.end(),
            None => Ok(()),
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
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field;
    /// [`Error::Forked`](crate::Error::Forked).
    pub fn configure(&self, config: ContextsConfig) -> Result<()> {
        self.not_forked()?;
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
        if let Err(forked) = self.not_forked() {
            report.errors.push(forked);
            return report;
        }
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
        // The primary one last, here and where they end: green ones keep it.
        closed.sort_by_key(|closed| closed.context.core.kind() == ContextKind::Primary);
        let (mut leased, mut left) = (Vec::new(), Vec::new());
        for closed in closed {
            let ClosedContext {
                handle,
                context,
                modules,
                buffers,
            } = closed;
            context.drain(modules, buffers, report);
            let core = Arc::as_ptr(&context.core);
            match part(context) {
                Ok(context) => left.push((handle, context.dissolve())),
                Err(leases) => {
                    leased.push(core);
                    report.leased.push(self.leased(handle, leases));
                }
            }
        }
        // Those whose managers are gone, which something that was made in them still keeps.
        for core in self.ledger.contexts_of(self.device) {
            let is_known = leased.contains(&Arc::as_ptr(&core))
                || left.iter().any(|(_, known)| Arc::ptr_eq(known, &core));
            if let Some(handle) = core.handle_in(&self.contexts).filter(|_| !is_known) {
                left.push((handle, core));
            }
        }
        self.end_all(left, report);
    }

    /// Ends contexts that have no managers any more, or says what keeps them.
    #[track_caller]
    fn end_all(
        &self,
        mut left: Vec<(ContextHandle, Arc<ContextCore>)>,
        report: &mut ShutdownReport,
    ) {
        left.sort_by_key(|(_, core)| core.kind() == ContextKind::Primary);
        let mut left = left.into_iter();
        while let Some((handle, core)) = left.next() {
            // One that had two handles ends with the second.
            if left
                .as_slice()
                .iter()
                .any(|(_, other)| Arc::ptr_eq(other, &core))
            {
                continue;
            }
            // Another manager of this device may have taken it in meanwhile, and tells.
            let is_here = core.handle_in(&self.contexts).is_some();
            match part(core) {
                Ok(core) => report.ended(core.end()),
                Err(keepers) if is_here => report.leased.push(self.leased(handle, keepers)),
                Err(_) => {}
            }
        }
    }

    fn leased(&self, handle: ContextHandle, leases: u64) -> LeasedObject {
        LeasedObject {
            device: Some(self.ordinal),
            context: Some(handle),
            ..LeasedObject::new::<tag::Context>(handle, leases)
        }
    }

    /// Whether nothing is left of what was made here.
    pub(crate) fn is_empty(&self) -> bool {
        self.contexts.is_empty()
    }

    /// Ends every handle, and makes no context from now on: those that there are go with
    /// their last leases, and what is in them stays as it is.
    #[track_caller]
    pub(crate) fn release_all(&self) {
        for (_, context) in self.shut() {
            if let Ok(context) = part(context) {
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
        if let Err(forked) = self.0.core.not_forked() {
            report.errors.push(forked);
            return report;
        }
        let (modules, buffers) = self.0.close(&mut report);
        self.0.drain(modules, buffers, &mut report);
        report
    }
}

//! Shutting contexts down, with the objects in them: first all managers refuse, then idle objects
//! go, from the bottom up.

use std::sync::{Arc, PoisonError};

use cupola_core::tag;

use super::{Context, ContextInner, ContextManager, ContextsConfig};
use crate::driver::{ContextCore, ContextKind};
use crate::error::Result;
use crate::handle::ContextHandle;
use crate::module::ClosedModules;
use crate::registry::part;
use crate::shutdown_report::{LeasedObject, ShutdownReport};
use crate::stats::{ManagerStats, State};

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

    /// Second phase: idle objects go.
    #[track_caller]
    fn drain(
        &self,
        modules: ClosedModules,
        buffers: Vec<LeasedObject>,
        report: &mut ShutdownReport,
    ) {
        // A thread that just ends may hold its stream. A thread that comes later finds the stream's
        // name stale.
        self.thread_exit.wait();
        self.modules.drain(modules, report);
        report.leased.extend(buffers);
        self.streams.drain(report);
        self.events.drain(report);
        report.locate(&self.core);
    }

    /// Ends the managers: the context is left.
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

    /// The context itself if it has no lease, else how many leases it has: those of threads that
    /// just end do not count. Not for the child of a fork.
    pub(super) fn part(self: Arc<Self>) -> Result<Self, u64> {
        let thread_exit = self.thread_exit.clone();
        let _nobody_ends_here =
            (!mutant!("context_parts_from_who_goes")).then(|| thread_exit.lock());
        part(self)
    }

    /// Ends the context, unless an object that was made in it is still there: then with that.
    #[track_caller]
    pub(super) fn end(self) -> Result<()> {
        match Arc::into_inner(self.dissolve()) {
            Some(core) => core.end(),
            None => Ok(()),
        }
    }
}

fn leased(device: u32, context: ContextHandle, leases: u64) -> LeasedObject {
    LeasedObject {
        device: Some(device),
        context: Some(context),
        ..LeasedObject::new::<tag::Context>(context, leases)
    }
}

/// The last step of a shutdown, over the contexts of all managers that it is of: a context may
/// have had handles in several.
#[derive(Default)]
pub(crate) struct End {
    /// Contexts without managers, each under a handle that it had.
    left: Vec<(ContextHandle, Arc<ContextCore>)>,
    /// Contexts that are leased, which the report lists already.
    leased: Vec<*const ContextCore>,
}

impl End {
    /// Ends contexts, or reports the leases that keep them.
    #[track_caller]
    pub(crate) fn of_all(self, managers: &[&ContextManager], report: &mut ShutdownReport) {
        let (primary, mut left): (Vec<_>, Vec<_>) =
            (self.left.into_iter()).partition(|(_, core)| core.kind() == ContextKind::Primary);
        left.extend(primary);
        let mut left = left.into_iter();
        while let Some((handle, core)) = left.next() {
            // A context that had several handles ends with the last, or is listed once.
            let mut others = left.as_slice().iter();
            if self.leased.contains(&Arc::as_ptr(&core))
                || others.any(|(_, other)| Arc::ptr_eq(other, &core))
            {
                continue;
            }
            // Another manager of the device may have taken it in meanwhile, and tells.
            let is_here = (managers.iter())
                .any(|manager| core.handle_in(manager.contexts.capacity()).is_some());
            let device = core.ordinal();
            match part(core) {
                Ok(core) => report.ended(core.end()),
                Err(keepers) if is_here => report.leased.push(leased(device, handle, keepers)),
                Err(_) => {}
            }
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

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again. Contexts made from now on
    /// have managers set up like this; contexts that exist stay as they are.
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
    /// refuse and every handle is stale, then every object without a lease is destroyed, the
    /// contexts last. Leases stay good, and an object ends with its last one. Nothing is handed out
    /// until [`configure`](Self::configure).
    ///
    /// Modules are unloaded after all work on the streams that their kernels were launched on, see
    /// [`Module`](crate::Module).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        if let Err(forked) = self.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport::default();
        let closed = self.close(&mut report);
        let mut end = End::default();
        self.drain(closed, &mut end, &mut report);
        end.of_all(&[self], &mut report);
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

    /// Ends every handle, that of the primary context with them: no other thread gives it a new one
    /// meanwhile, nor starts the manager again.
    fn shut(&self) -> Vec<(ContextHandle, Arc<ContextInner>)> {
        let mut primary = self.primary_name();
        *primary = None;
        self.contexts.shut()
    }

    /// Second phase: the objects in the contexts end here, the contexts themselves with
    /// [`End::of_all`].
    #[track_caller]
    pub(crate) fn drain(
        &self,
        closed: Vec<ClosedContext>,
        end: &mut End,
        report: &mut ShutdownReport,
    ) {
        // The primary one last, here and where they end: green ones keep it.
        let (primary, mut closed): (Vec<_>, Vec<_>) = (closed.into_iter())
            .partition(|closed| closed.context.core.kind() == ContextKind::Primary);
        closed.extend(primary);
        for closed in closed {
            let ClosedContext {
                handle,
                context,
                modules,
                buffers,
            } = closed;
            context.drain(modules, buffers, report);
            let core = Arc::as_ptr(&context.core);
            match context.part() {
                Ok(context) => end.left.push((handle, context.dissolve())),
                Err(leases) => {
                    end.leased.push(core);
                    report.leased.push(leased(self.ordinal, handle, leases));
                }
            }
        }
        // Contexts whose managers are gone, which an object made in them still keeps; but not
        // contexts that were made since this manager was set up again.
        for core in self.ledger.contexts_of(self.device) {
            let handle = core.handle_in(self.contexts.capacity());
            if let Some(handle) = handle.filter(|handle| !self.is_alive(*handle)) {
                end.left.push((handle, core));
            }
        }
    }

    /// Whether no context that was made here is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.contexts.is_empty()
    }

    /// Ends every handle, and makes no context from now on: existing ones go with their last
    /// leases, and the objects in them stay as they are.
    #[track_caller]
    pub(crate) fn release_all(&self) {
        for (_, context) in self.shut() {
            if let Ok(context) = context.part() {
                // As with a drop: a context that the driver refuses to end is counted as abandoned.
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
        if let Err(forked) = self.0.core.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport::default();
        let (modules, buffers) = self.0.close(&mut report);
        self.0.drain(modules, buffers, &mut report);
        report
    }
}

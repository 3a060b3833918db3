//! What must not be current: a destroyed context, and a green context on two threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use crate::device::strict::Monitor;
use crate::device::strict::finding::{CallSite, Finding, FindingKind};
use crate::device::strict::options::Strict;
use crate::device::strict::site::{Here, Origin};
use crate::device::sync::lock;

/// The contexts that were destroyed, by handle: the calls that made and destroyed each. A
/// handle is never given twice.
#[derive(Debug, Default)]
pub(super) struct Ended(Mutex<HashMap<u64, (CallSite, CallSite)>>);

/// Says whether a thread is there: each has one for each machine, and drops it at its end.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Thread(Arc<()>);

/// The thread on which a green context is current.
#[derive(Debug, Default)]
pub(in crate::device) struct CurrentOn(Mutex<Weak<()>>);

impl CurrentOn {
    /// It becomes current on a thread. Whether it is current on another one.
    pub(in crate::device) fn enter(&self, thread: &Thread) -> bool {
        let before = std::mem::replace(&mut *lock(&self.0), Arc::downgrade(&thread.0));
        let before = before.upgrade();
        before.is_some_and(|other| !Arc::ptr_eq(&other, &thread.0))
    }

    /// It is current on this thread no more.
    pub(in crate::device) fn leave(&self, thread: &Thread) {
        let mut on = lock(&self.0);
        if std::ptr::eq(on.as_ptr(), Arc::as_ptr(&thread.0)) {
            *on = Weak::new();
        }
    }
}

impl Monitor {
    /// A call destroys a context that must not be named again. Not told of primary contexts,
    /// which come again under their handle.
    pub(in crate::device) fn context_destroyed(&self, handle: u64, made: &Origin) {
        if self.wants(Strict::CONTEXTS) {
            let sites = (made.site(), Here::now().site());
            lock(&self.ended.0).insert(handle, sites);
        }
    }

    /// The call refuses to make current what is no context, which may have been one.
    pub(in crate::device) fn no_context(&self, handle: u64) {
        if !self.wants(Strict::CONTEXTS) {
            return;
        }
        let Some((made, destroyed)) = lock(&self.ended.0).get(&handle).cloned() else {
            return;
        };
        let what = format!(
            "a destroyed context is made current, made by {made} and destroyed by {destroyed}"
        );
        self.report(Finding {
            call: Some(Here::now().site()),
            other: Some(destroyed),
            ..Finding::new(FindingKind::DestroyedContext, what)
        });
    }

    /// A green context became current while it is current on another thread.
    pub(in crate::device) fn green_on_two_threads(&self, made: &Origin) {
        if self.wants(Strict::CONTEXTS) {
            let made = made.site();
            let what = format!("a green context is current on another thread too, made by {made}");
            self.report(Finding {
                call: Some(Here::now().site()),
                other: Some(made),
                ..Finding::new(FindingKind::SharedGreenContext, what)
            });
        }
    }
}

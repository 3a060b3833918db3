//! Owners that are kept until the device is done with what they own.

use std::sync::{Arc, Mutex};
use std::thread;

use super::Ticket;
use crate::sync;

impl Ticket {
    /// Keeps `owner` until the work has completed, or it is known that it never will. It is dropped
    /// under no lock, and where its drop may wait for the device on a thread of its own, because the
    /// thread that learns of the end has other callers.
    pub(crate) fn keep(&self, owner: impl Send + 'static) {
        let place = Arc::new(Mutex::new(None));
        let (watch, core) = (Arc::clone(&place), Arc::clone(self.core()));
        let told = self.on_done(move |_| {
            let watch = sync::lock(&watch).take();
            if core.is_healthy() {
                let thread = thread::Builder::new().name("cupola-release".into());
                // Where there can be no thread the owner is dropped here.
                let _ended_or_here = thread.spawn(move || drop(owner));
            } else {
                drop(owner);
            }
            drop(watch);
        });
        // The function has the subscription to itself, so it ends with the call. If that was made
        // already, it ends here.
        *sync::lock(&place) = Some(told);
    }
}

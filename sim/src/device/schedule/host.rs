//! Functions of the program that an ordered machine calls.
//!
//! Each runs on a thread of its own while everything else stands still, so that its effects
//! have one place in the order. It may wait for another thread of the program, even for the
//! one whose driver call made it run: after a while the machine goes on without it, which
//! is a departure, and its stream stays where it is until the function returns.

use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::device::schedule::Schedule;
use crate::device::sync::{lock, wait_timeout};

/// How long the machine stands still for a function.
const PATIENCE: Duration = Duration::from_millis(200);

/// A call under way.
#[derive(Debug, Default)]
pub(super) struct Called {
    returned: Mutex<bool>,
    changed: Condvar,
}

impl Called {
    /// Runs `function` on a thread of its own, or on this one if the host gives none.
    pub(super) fn start(
        schedule: &Weak<Schedule>,
        function: impl FnOnce() + Send + 'static,
    ) -> Arc<Self> {
        let called = Arc::new(Self::default());
        let (here, schedule) = (Arc::clone(&called), schedule.clone());
        let function = Arc::new(Mutex::new(Some(function)));
        let theirs = Arc::clone(&function);
        let run = move || {
            if let Some(function) = lock(&theirs).take() {
                function();
            }
            here.end();
            if let Some(schedule) = schedule.upgrade() {
                schedule.function_returned();
            }
        };
        let thread = std::thread::Builder::new().name("cupola-host-fn".into());
        if thread.spawn(run).is_err() {
            if let Some(function) = lock(&function).take() {
                function();
            }
            called.end();
        }
        called
    }

    fn end(&self) {
        *lock(&self.returned) = true;
        self.changed.notify_all();
    }

    pub(super) fn has_returned(&self) -> bool {
        *lock(&self.returned)
    }

    /// Waits for the function, for a while; whether it has returned.
    pub(super) fn wait(&self) -> bool {
        let started = Instant::now();
        let mut returned = lock(&self.returned);
        while !*returned {
            let rest = PATIENCE.saturating_sub(started.elapsed());
            if rest.is_zero() {
                return false;
            }
            returned = wait_timeout(&self.changed, returned, rest).0;
        }
        true
    }
}

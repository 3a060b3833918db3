//! `Backend`: a name, a source, and the execution manager that came of it.

use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use cupola_sys::driver::Driver;

use super::kind::{BackendKind, SourceError};
use super::unavailable::{Cause, Unavailable, guarded};
use crate::driver::Origin;
use crate::error::Site;
use crate::execution::ExecutionManager;
use crate::stats;

type Source = Box<dyn Fn() -> Result<Driver, SourceError> + Send + Sync>;

thread_local! {
    /// How many sources this thread is in.
    static SOURCES: Cell<u32> = const { Cell::new(0) };
}

type Outcome = Result<Arc<ExecutionManager>, Unavailable>;

pub(super) struct Backend {
    name: String,
    kind: BackendKind,
    source: Source,
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Closed,
    /// A thread is at it.
    Opening(Arc<Attempt>),
    Open(Arc<ExecutionManager>),
}

/// One call of the source, for whose outcome other threads may wait.
struct Attempt {
    by: ThreadId,
    process: Origin,
    outcome: OnceLock<Outcome>,
}

impl Backend {
    pub(super) fn new(name: String, kind: BackendKind, source: Source) -> Self {
        Self {
            name,
            kind,
            source,
            state: Mutex::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn kind(&self) -> BackendKind {
        self.kind
    }

    /// The execution manager: the one that there is, or a new one, asked for at `site`.
    pub(super) fn open(&self, site: Site) -> Outcome {
        let attempt = {
            let mut state = self.state();
            match &*state {
                State::Open(execution) if execution.is_forked() => {
                    return Err(Unavailable::new(Cause::Forked));
                }
                // The program has shut it down, and may set it up again.
                State::Open(execution) if execution.state() == stats::State::ShutDown => {
                    return Err(Unavailable::new(Cause::ShutDown));
                }
                State::Open(execution) => return Ok(Arc::clone(execution)),
                // In a fork no thread is at it any more.
                State::Opening(attempt) if !attempt.process.is_elsewhere() => {
                    let attempt = Arc::clone(attempt);
                    drop(state);
                    if attempt.by == std::thread::current().id() {
                        return Err(Unavailable::new(Cause::OpensItself));
                    }
                    if SOURCES.try_with(Cell::get).is_ok_and(|sources| sources > 0) {
                        return Err(Unavailable::new(Cause::OpenedElsewhere));
                    }
                    return attempt.outcome.wait().clone();
                }
                State::Opening(_) | State::Closed => {
                    let attempt = Arc::new(Attempt {
                        by: std::thread::current().id(),
                        process: Origin::here(),
                        outcome: OnceLock::new(),
                    });
                    *state = State::Opening(Arc::clone(&attempt));
                    attempt
                }
            }
        };
        let outcome = self.attempt(site);
        // The state first: a thread that comes after those that wait finds it.
        *self.state() = match &outcome {
            Ok(execution) => State::Open(Arc::clone(execution)),
            Err(_) => State::Closed,
        };
        // Set by this thread alone, and once.
        let _ = attempt.outcome.set(outcome.clone());
        outcome
    }

    /// Forgets the execution manager; whether there was one. An attempt that runs goes on.
    pub(super) fn close(&self) -> bool {
        let mut state = self.state();
        if !matches!(*state, State::Open(_)) {
            return false;
        }
        let before = std::mem::take(&mut *state);
        drop(state);
        // Outside of the lock: it may be the last holder.
        drop(before);
        true
    }

    /// Never panics: no thread would ever end the wait for this attempt.
    fn attempt(&self, site: Site) -> Outcome {
        let enter = |by: u32| {
            let _ = SOURCES.try_with(|sources| sources.set(sources.get().wrapping_add(by)));
        };
        enter(1);
        let made = guarded(|| self.make(site)).and_then(|made| made);
        enter(u32::MAX);
        made
    }

    fn make(&self, site: Site) -> Outcome {
        let driver = (self.source)().map_err(Cause::source)?;
        let library = driver.describe();
        let execution = ExecutionManager::new_at(driver.clone(), Default::default(), site)
            .map_err(|error| Cause::start(&driver, error).from(&library))?;
        if execution.devices().count() == 0 {
            return Err(Unavailable::new(Cause::NoDevices).from(&library));
        }
        Ok(Arc::new(execution))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &*self.state() {
            State::Closed => "closed",
            State::Opening(_) => "opening",
            State::Open(_) => "open",
        };
        write!(f, "{} ({}, {state})", self.name, self.kind)
    }
}

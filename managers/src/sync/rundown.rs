//! Rundown protection: threads that borrow a value without owning it, and never drop it.
//!
//! The end of a value may take long, since it waits for work of the device. It belongs to a thread
//! that owns the value, not to a thread that only looked at it. [`Rundown::run_down`] refuses new
//! guards and waits until the present ones are dropped, so a guard's `Arc` is never the last one.
//!
//! A thread with a guard runs no callback of the user (they are [deferred](super::deferred)), has
//! one guard at a time, and waits for nothing but the locks of the guarded value: else two ends
//! could wait for each other.

use std::ops::Deref;
use std::sync::{Arc, PoisonError, Weak};

use crate::sync::deferred::DeferCallbacks;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// The count of a value's guards. Clones share it.
#[derive(Clone)]
pub(crate) struct Rundown(Arc<State>);

struct State {
    inside: Mutex<Inside>,
    left: Condvar,
}

#[derive(Default)]
struct Inside {
    count: usize,
    is_over: bool,
}

impl Rundown {
    pub(crate) fn new() -> Self {
        Self(Arc::new(State {
            inside: Mutex::new(Inside::default()),
            left: Condvar::new(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        let inside = &self.0.inside;
        inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses new guards, and returns when the last guard is dropped. The first call runs `first`
    /// before it refuses any. A thread with a guard would wait for itself, and the child of a fork
    /// for a thread that it does not have.
    pub(crate) fn run_down(&self, first: impl FnOnce()) {
        let mut inside = self.lock();
        if !inside.is_over {
            first();
            inside.is_over = true;
        }
        while inside.count > 0 && !mutant!("rundown_does_not_wait") {
            let left = self.0.left.wait(inside);
            inside = left.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`run_down`](Self::run_down) was called.
    pub(crate) fn has_begun(&self) -> bool {
        self.lock().is_over
    }
}

/// One guard in the count.
struct Protection(Rundown);

impl Protection {
    fn begin(rundown: &Rundown) -> Option<Self> {
        let mut inside = rundown.lock();
        if inside.is_over && !mutant!("rundown_gives_guards_after_the_end") {
            return None;
        }
        inside.count += 1;
        drop(inside);
        Some(Self(rundown.clone()))
    }
}

impl Drop for Protection {
    fn drop(&mut self) {
        self.0.lock().count -= 1;
        self.0.0.left.notify_all();
    }
}

/// A weak reference from which guards are acquired.
pub(crate) struct RundownWeak<T: ?Sized> {
    rundown: Rundown,
    it: Weak<T>,
}

impl<T: ?Sized> Clone for RundownWeak<T> {
    fn clone(&self) -> Self {
        Self::new(&self.rundown, Weak::clone(&self.it))
    }
}

impl<T: ?Sized> RundownWeak<T> {
    pub(crate) fn new(rundown: &Rundown, it: Weak<T>) -> Self {
        Self {
            rundown: rundown.clone(),
            it,
        }
    }

    /// Whether the value has an owner.
    pub(crate) fn is_alive(&self) -> bool {
        self.it.strong_count() > 0
    }

    /// Whether the value is at this address.
    pub(crate) fn points_to(&self, other: *const ()) -> bool {
        std::ptr::addr_eq(self.it.as_ptr(), other)
    }

    /// A guard; `None` when the value is run down or has no owner. Not for the child of a fork.
    pub(crate) fn acquire(&self) -> Option<RundownGuard<T>> {
        let defer = DeferCallbacks::new();
        // Before the upgrade: `run_down` then waits for this thread, so that the last owner drops
        // the value after it.
        let protection = Protection::begin(&self.rundown)?;
        let it = self.it.upgrade()?;
        Some(RundownGuard {
            it,
            _protection: protection,
            _defer: defer,
        })
    }
}

/// A borrowed value: it is whole, and is not dropped on this thread.
pub(crate) struct RundownGuard<T: ?Sized> {
    // Dropped in this order: a thread that waits in `run_down` has the last reference.
    it: Arc<T>,
    _protection: Protection,
    _defer: DeferCallbacks,
}

impl<T: ?Sized> Deref for RundownGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.it
    }
}

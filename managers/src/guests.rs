//! `Guests`: who borrows a thing that is not theirs, and is never the one that it ends with.
//!
//! An end may take long, and waits for work; so it is for those who let go last, not for somebody
//! who only looked. Whoever ends a thing waits until its guests have left, and no more come.
//!
//! A guest asks nothing of the user meanwhile (what is told of a lost context waits), visits one
//! thing at a time, and waits for nothing but the locks of that.

use std::ops::Deref;
use std::sync::{Arc, PoisonError, Weak};

use crate::error::Quiet;
use crate::sync::{Condvar, Mutex, MutexGuard};

#[derive(Clone)]
pub(crate) struct Guests(Arc<State>);

struct State {
    inside: Mutex<Inside>,
    left: Condvar,
}

#[derive(Default)]
struct Inside {
    count: usize,
    is_over: bool,
}

impl Guests {
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

    /// Nobody is there when this returns, nor will be. `first` is run by the first to call this,
    /// before anybody is turned away. Not for a guest, and not for the child of a fork.
    pub(crate) fn end(&self, first: impl FnOnce()) {
        let mut inside = self.lock();
        if !inside.is_over {
            first();
            inside.is_over = true;
        }
        while inside.count > 0 && !mutant!("guests_are_not_waited_for") {
            let left = self.0.left.wait(inside);
            inside = left.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the end has begun.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }
}

/// One who is counted.
struct Stay(Guests);

impl Stay {
    fn begin(guests: &Guests) -> Option<Self> {
        let mut inside = guests.lock();
        if inside.is_over && !mutant!("guests_come_after_the_end") {
            return None;
        }
        inside.count += 1;
        drop(inside);
        Some(Self(guests.clone()))
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.0.lock().count -= 1;
        self.0.0.left.notify_all();
    }
}

/// How a thing is found by its guests.
pub(crate) struct Host<T: ?Sized> {
    guests: Guests,
    it: Weak<T>,
}

impl<T: ?Sized> Clone for Host<T> {
    fn clone(&self) -> Self {
        Self::new(&self.guests, Weak::clone(&self.it))
    }
}

impl<T: ?Sized> Host<T> {
    pub(crate) fn new(guests: &Guests, it: Weak<T>) -> Self {
        Self {
            guests: guests.clone(),
            it,
        }
    }

    /// Whether it is not gone yet.
    pub(crate) fn is_there(&self) -> bool {
        self.it.strong_count() > 0
    }

    pub(crate) fn is(&self, other: *const T) -> bool {
        std::ptr::addr_eq(self.it.as_ptr(), other)
    }

    /// `None` when its end has begun. Not in the child of a fork.
    pub(crate) fn enter(&self) -> Option<Guest<T>> {
        let quiet = Quiet::new();
        // Before it is taken hold of: the last to let go may be about to.
        let stay = Stay::begin(&self.guests)?;
        let it = self.it.upgrade()?;
        Some(Guest {
            it,
            _stay: stay,
            _quiet: quiet,
        })
    }
}

/// A guest. The thing is there, and does not end on this thread.
pub(crate) struct Guest<T: ?Sized> {
    // In this order: whoever waits for the stay to be over is the last to have it.
    it: Arc<T>,
    _stay: Stay,
    _quiet: Quiet,
}

impl<T: ?Sized> Deref for Guest<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.it
    }
}

//! `OnceLock` for the models: loom has none. As the standard library's, a second setter waits
//! for the first, and a thread that finds a value finds all of it.

use std::fmt;

use loom::cell::UnsafeCell;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicBool, Ordering};

/// Empty, or a value for good.
pub(crate) struct OnceLock<T> {
    full: AtomicBool,
    setting: Mutex<()>,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, under the lock and before `full`, and only read after.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            full: AtomicBool::new(false),
            setting: Mutex::new(()),
            value: UnsafeCell::new(None),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if !self.full.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it is full, so no thread writes it any more.
        self.value.with(|value| unsafe { &*value }.as_ref())
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let _one = self.setting.lock();
        if self.full.load(Ordering::Relaxed) {
            return Err(value);
        }
        // SAFETY: it is not full, so no thread reads it, and we have the lock that setters take.
        self.value.with_mut(|place| unsafe { *place = Some(value) });
        self.full.store(true, Ordering::Release);
        Ok(())
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

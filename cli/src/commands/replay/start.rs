//! Where threads wait for each other before the first operation.

use std::sync::{Condvar, Mutex, PoisonError};

/// As a barrier that is passed once, and that can be opened when not all will come.
pub(super) struct Start {
    /// How many are still to come.
    missing: Mutex<usize>,
    all: Condvar,
}

impl Start {
    /// For so many threads.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            missing: Mutex::new(threads),
            all: Condvar::new(),
        }
    }

    /// Waits for the other threads.
    pub(super) fn wait(&self) {
        self.leave(|missing| missing.saturating_sub(1));
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.all.wait_while(missing, |missing| *missing > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// One thread will not come, so no thread waits any more.
    pub(super) fn open(&self) {
        self.leave(|_| 0);
    }

    fn leave(&self, left: impl FnOnce(usize) -> usize) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = left(*missing);
        if *missing == 0 {
            self.all.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Without it a thread could begin before the others are there, or wait for ever for one
    /// that the system has no room for.
    #[test]
    fn all_start_together_or_are_let_go() {
        let (start, here) = (Start::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    here.fetch_add(1, Ordering::SeqCst);
                    start.wait();
                    assert_eq!(here.load(Ordering::SeqCst), 3);
                });
            }
        });
        let start = Start::new(3);
        std::thread::scope(|scope| {
            scope.spawn(|| start.wait());
            scope.spawn(|| start.open());
        });
        start.wait();
    }
}

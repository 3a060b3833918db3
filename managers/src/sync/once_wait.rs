//! `OnceWait`: how a thread waits for an object that another thread is making.
//!
//! The driver takes up to hundreds of milliseconds for a context, so the waiting threads sleep.

use std::sync::PoisonError;

use cupola_core::Park;

use crate::sync::{Condvar, Mutex};

/// Puts a thread to sleep until the maker is done. There are a few parking lots, so that threads
/// that wait for different objects seldom wake each other.
#[derive(Debug)]
pub(crate) enum OnceWait {}

struct Lot {
    lock: Mutex<()>,
    changed: Condvar,
}

const LOTS: usize = if cfg!(loom) { 1 } else { 16 };

#[cfg(not(loom))]
static PARK: [Lot; LOTS] = [const {
    Lot {
        lock: Mutex::new(()),
        changed: Condvar::new(),
    }
}; LOTS];
#[cfg(loom)]
loom::lazy_static! {
    static ref PARK: [Lot; LOTS] = [Lot {
        lock: Mutex::new(()),
        changed: Condvar::new(),
    }];
}

/// The lot of a key, which is an address: its low bits say nothing.
fn lot(key: usize) -> &'static Lot {
    &PARK[(key >> 4) % LOTS]
}

impl Park for OnceWait {
    fn wait(key: usize, ready: &mut dyn FnMut() -> bool) {
        let lot = lot(key);
        let mut guard = lot.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !ready() {
            guard = lot
                .changed
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wake(key: usize) {
        let lot = lot(key);
        // Taken so that a thread between its look and its sleep is not missed.
        if !mutant!("once_wait_wakes_without_lock") {
            drop(lot.lock.lock().unwrap_or_else(PoisonError::into_inner));
        }
        lot.changed.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    // Without it a waiting thread could sleep for ever, or go on too early.
    #[test]
    fn a_waiting_thread_is_woken_when_the_object_is_ready() {
        static READY: AtomicBool = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for key in [16, 16 + 16 * LOTS] {
                scope.spawn(move || {
                    OnceWait::wait(key, &mut || READY.load(Ordering::Acquire));
                    assert!(READY.load(Ordering::Acquire));
                });
            }
            std::thread::sleep(Duration::from_millis(20));
            // Not ready: both sleep on.
            OnceWait::wake(16);
            READY.store(true, Ordering::Release);
            OnceWait::wake(16);
        });
    }
}

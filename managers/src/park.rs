//! `Sleep`: how a thread waits for an object that another thread is making.
//!
//! The driver takes up to hundreds of milliseconds for a context, so those who wait sleep.

use std::sync::PoisonError;

use cupola_core::Park;

use crate::sync::{Condvar, Mutex};

/// Puts a thread to sleep until the maker is done. A few lots, so that those who wait for
/// different objects seldom wake each other.
#[derive(Debug)]
pub(crate) enum Sleep {}

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

impl Park for Sleep {
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
        if !mutant!("park_wakes_without_lock") {
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

    // Without it one who waits could sleep for ever, or be let through too early.
    #[test]
    fn whoever_waits_is_woken_once_it_is_ready() {
        static READY: AtomicBool = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for key in [16, 16 + 16 * LOTS] {
                scope.spawn(move || {
                    Sleep::wait(key, &mut || READY.load(Ordering::Acquire));
                    assert!(READY.load(Ordering::Acquire));
                });
            }
            std::thread::sleep(Duration::from_millis(20));
            // Not ready: both sleep on.
            Sleep::wake(16);
            READY.store(true, Ordering::Release);
            Sleep::wake(16);
        });
    }
}

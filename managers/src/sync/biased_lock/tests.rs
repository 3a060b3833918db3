use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

/// Two numbers that only change together.
struct Shared {
    lock: BiasedLock,
    pair: UnsafeCell<(u64, u64)>,
}

// SAFETY: `pair` is used inside the lock alone.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(barrier: AsymmetricFence) -> Self {
        Self {
            lock: BiasedLock::with(barrier),
            pair: UnsafeCell::new((0, 0)),
        }
    }

    /// # Safety
    /// The caller is inside, or has a revocation.
    unsafe fn raise(&self) {
        let pair = self.pair.get();
        // SAFETY: no other thread is inside; volatile, so that each number is read and written.
        let now = unsafe { pair.read_volatile() };
        assert_eq!(now.0, now.1);
        // SAFETY: as above.
        unsafe { (&raw mut (*pair).0).write_volatile(now.0 + 1) };
        // SAFETY: as above.
        unsafe { (&raw mut (*pair).1).write_volatile(now.1 + 1) };
    }
}

// Without it the owner and a revoking thread could be inside together. That a missing
// barrier does so is seldom seen here: see the tests of `AsymmetricFence`.
#[test]
fn no_other_thread_is_inside_with_the_owner() {
    let rounds = if cfg!(miri) { 20 } else { 500 };
    for barrier in [AsymmetricFence::of_process(), AsymmetricFence::of_fences()] {
        let shared = Shared::new(barrier);
        let over = AtomicBool::new(false);
        let sections = thread::scope(|scope| {
            let owner = scope.spawn(|| {
                let mut sections = 0;
                while !over.load(Ordering::Relaxed) {
                    // SAFETY: this thread alone enters, and has left.
                    if unsafe { shared.lock.enter_as_owner() } {
                        // SAFETY: it is inside.
                        unsafe { shared.raise() };
                        // SAFETY: as above.
                        unsafe { shared.lock.leave_as_owner() };
                        sections += 1;
                    }
                }
                sections
            });
            let others = [(); 2].map(|()| {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let _revocation = shared.lock.revoke();
                        // SAFETY: the bias is revoked.
                        unsafe { shared.raise() };
                    }
                })
            });
            for other in others {
                other.join().unwrap();
            }
            over.store(true, Ordering::Relaxed);
            owner.join().unwrap()
        });
        let raised = shared.pair.into_inner();
        assert_eq!(raised, (sections + 2 * rounds, sections + 2 * rounds));
    }
}

// Without it the owner could go in while a bias is revoked or a flag set, or be kept out after.
#[test]
fn the_owner_is_out_while_the_bias_is_revoked_or_a_flag_is_set() {
    let lock = BiasedLock::new();
    // SAFETY: this thread is the owner, and leaves whenever it has entered.
    let enters = || unsafe {
        let inside = lock.enter_as_owner();
        if inside {
            lock.leave_as_owner();
        }
        inside
    };
    assert!(enters());
    let revocation = lock.revoke();
    assert!(!enters());
    revocation.set_flags(1);
    drop(revocation);
    assert!(!enters());
    lock.set_flags(2);
    assert_eq!(lock.flags(), 3);
    lock.clear_flags(1);
    assert!(!enters() && lock.flags() == 2);
    lock.clear_flags(2);
    assert!(enters());
}

// Without it an owner that a flag keeps out could touch the value of a revoking thread, or wait for ever
// for its own flag.
#[test]
fn an_owner_that_a_flag_keeps_out_holds_the_lock_against_others() {
    let lock = BiasedLock::new();
    lock.set_flags(1);
    // SAFETY: this thread is the owner, and not inside.
    let held = unsafe { lock.lock_as_owner() };
    let revoked = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _revocation = lock.revoke();
            revoked.store(true, Ordering::Relaxed);
        });
        thread::sleep(Duration::from_millis(20));
        assert!(!revoked.load(Ordering::Relaxed));
        drop(held);
    });
    assert!(revoked.load(Ordering::Relaxed));
}

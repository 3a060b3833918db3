use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::*;

/// Two numbers that only change together.
struct Shared {
    bias: Bias,
    pair: UnsafeCell<(u64, u64)>,
}

// SAFETY: `pair` is used inside the lock alone.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(barrier: Barrier) -> Self {
        Self {
            bias: Bias::with(barrier),
            pair: UnsafeCell::new((0, 0)),
        }
    }

    /// # Safety
    /// The caller is inside, or has a seizure.
    unsafe fn raise(&self) {
        let pair = self.pair.get();
        // SAFETY: nobody else is inside; volatile, so that each number is read and written.
        let now = unsafe { pair.read_volatile() };
        assert_eq!(now.0, now.1);
        // SAFETY: as above.
        unsafe { (&raw mut (*pair).0).write_volatile(now.0 + 1) };
        // SAFETY: as above.
        unsafe { (&raw mut (*pair).1).write_volatile(now.1 + 1) };
    }
}

// Without it the owner and who seizes could be inside together. That a missing
// barrier does so is seldom seen here: see the tests of `Barrier`.
#[test]
fn nobody_is_inside_beside_the_owner() {
    let rounds = if cfg!(miri) { 20 } else { 500 };
    for barrier in [Barrier::of_process(), Barrier::of_fences()] {
        let shared = Shared::new(barrier);
        let over = AtomicBool::new(false);
        let sections = thread::scope(|scope| {
            let owner = scope.spawn(|| {
                let mut sections = 0;
                while !over.load(Ordering::Relaxed) {
                    // SAFETY: this thread alone enters, and has left.
                    if unsafe { shared.bias.enter() } {
                        // SAFETY: it is inside.
                        unsafe { shared.raise() };
                        // SAFETY: as above.
                        unsafe { shared.bias.leave() };
                        sections += 1;
                    }
                }
                sections
            });
            let others = [(); 2].map(|()| {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let _seizure = shared.bias.seize();
                        // SAFETY: it is seized.
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

// Without it the owner could go in while a lock is seized or closed, or be kept out after.
#[test]
fn the_owner_is_out_while_the_lock_is_seized_or_has_a_flag() {
    let bias = Bias::new();
    // SAFETY: this thread is the owner, and leaves whenever it has entered.
    let enters = || unsafe {
        let inside = bias.enter();
        if inside {
            bias.leave();
        }
        inside
    };
    assert!(enters());
    let seizure = bias.seize();
    assert!(!enters());
    seizure.set_flags(1);
    drop(seizure);
    assert!(!enters());
    bias.set_flags(2);
    assert_eq!(bias.flags(), 3);
    bias.clear_flags(1);
    assert!(!enters() && bias.flags() == 2);
    bias.clear_flags(2);
    assert!(enters());
}

// Without it an owner that a flag keeps out could touch what a seizer touches, or wait for ever
// for its own flag.
#[test]
fn an_owner_that_a_flag_keeps_out_holds_the_lock_against_others() {
    let bias = Bias::new();
    bias.set_flags(1);
    // SAFETY: this thread is the owner, and not inside.
    let held = unsafe { bias.hold() };
    let seized = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _seizure = bias.seize();
            seized.store(true, Ordering::Relaxed);
        });
        thread::sleep(Duration::from_millis(20));
        assert!(!seized.load(Ordering::Relaxed));
        drop(held);
    });
    assert!(seized.load(Ordering::Relaxed));
}

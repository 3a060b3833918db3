//! The owner-biased lock: its owner is not inside beside a thread that has seized it.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::sync::biased_lock::BiasedLock;

/// The value that the lock guards: loom fails the model when two threads are at it, or one does not
/// see what another did there before.
struct Guarded {
    lock: BiasedLock,
    touched: UnsafeCell<u32>,
}

// SAFETY: that the cell is used by one at a time is what the models check.
unsafe impl Sync for Guarded {}
// SAFETY: the cell may move: that it is used by one thread at a time is what the models check.
unsafe impl Send for Guarded {}

fn guarded() -> Arc<Guarded> {
    Arc::new(Guarded {
        lock: BiasedLock::new(),
        touched: UnsafeCell::new(0),
    })
}

impl Guarded {
    /// How often it was touched before.
    fn touch(&self) -> u32 {
        self.touched.with_mut(|number| {
            // SAFETY: that the cell is used by one thread at a time is what the models check.
            let number = unsafe { &mut *number };
            *number += 1;
            *number - 1
        })
    }

    /// A section of the owner's: whether it came in.
    ///
    /// # Safety
    /// The caller is the only owner.
    unsafe fn section(&self) -> bool {
        // SAFETY: needs the one owner, which is not inside: this function's caller, and each
        // section leaves.
        let inside = unsafe { self.lock.enter_as_owner() };
        if inside {
            self.touch();
            // SAFETY: it is inside.
            unsafe { self.lock.leave_as_owner() };
        }
        inside
    }
}

// Without it the owner could enter a section that another thread has seized, or miss that thread's
// writes.
#[test]
fn an_owner_is_not_inside_a_revoked_lock() {
    model(&["both", "the first", "the second", "neither"], |seen| {
        let shared = guarded();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let _revocation = shared.lock.revoke();
                shared.touch();
            }
        });
        // SAFETY: this thread is the owner.
        let sections = [(); 2].map(|()| unsafe { shared.section() });
        other.join().unwrap();
        // SAFETY: this thread is the owner. No other thread wants the lock any more.
        assert!(unsafe { shared.section() });
        seen.note(match sections {
            [true, true] => "both",
            [true, false] => "the first",
            [false, true] => "the second",
            [false, false] => "neither",
        });
    });
}

// Without it two threads that seize could be inside together, or the first let the owner in beside
// the second.
#[test]
fn two_revocations_come_one_after_the_other() {
    model(&["entered", "kept out"], |seen| {
        let shared = guarded();
        let others = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || {
                let _revocation = shared.lock.revoke();
                shared.touch();
            })
        });
        // SAFETY: this thread is the owner.
        let entered = unsafe { shared.section() };
        for other in others {
            other.join().unwrap();
        }
        seen.note(if entered { "entered" } else { "kept out" });
        // SAFETY: every section and revocation has ended before.
        let touched = shared.touched.with(|number| unsafe { *number });
        assert_eq!(touched, 2 + u32::from(entered));
    });
}

// Without it the value behind a closed lock could be taken away under its owner.
#[test]
fn an_owner_is_out_for_good_when_a_flag_is_set() {
    model(&["both", "the first", "neither"], |seen| {
        let shared = guarded();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.lock.set_flags(1);
                // No revocation: the flag keeps the owner out.
                shared.touch();
            }
        });
        // SAFETY: this thread is the owner.
        let sections = [(); 2].map(|()| unsafe { shared.section() });
        other.join().unwrap();
        seen.note(match sections {
            [true, true] => "both",
            [true, false] => "the first",
            [false, false] => "neither",
            [false, true] => "the second",
        });
        // SAFETY: this thread is the owner.
        assert!(unsafe { !shared.section() });
        assert_eq!(shared.lock.flags(), 1);
    });
}

// Without it an owner that is let in again could miss the writes of threads that kept it out.
#[test]
fn an_owner_sees_what_was_done_before_a_flag_was_cleared() {
    model(&["entered", "kept out"], |seen| {
        let shared = guarded();
        shared.lock.set_flags(1);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.touch();
                shared.lock.clear_flags(1);
            }
        });
        // SAFETY: this thread is the owner.
        let entered = unsafe { shared.section() };
        seen.note(if entered { "entered" } else { "kept out" });
        other.join().unwrap();
    });
}

// Without it an owner that a flag keeps out could share the value that it touches with a seizer.
#[test]
fn an_owner_that_holds_the_lock_is_alone() {
    model(&["before", "after"], |seen| {
        let shared = guarded();
        shared.lock.set_flags(1);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let _revocation = shared.lock.revoke();
                shared.touch();
            }
        });
        let before = {
            // SAFETY: this thread is the owner, and never inside.
            let _held = unsafe { shared.lock.lock_as_owner() };
            shared.touch()
        };
        other.join().unwrap();
        seen.note(if before == 0 { "before" } else { "after" });
    });
}

// Without it one barrier for several locks could leave the owner inside one of them beside the
// thread that has seized all.
#[test]
fn an_owner_is_in_none_of_the_locks_that_are_revoked_together() {
    model(&["both", "the first", "the second", "neither"], |seen| {
        let shared = [guarded(), guarded()];
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let _revocations = BiasedLock::revoke_all(shared.iter().map(|shared| &shared.lock));
                for shared in &shared {
                    shared.touch();
                }
            }
        });
        // SAFETY: this thread is the owner of both.
        let sections = [&shared[1], &shared[0]].map(|shared| unsafe { shared.section() });
        other.join().unwrap();
        seen.note(match sections {
            [true, true] => "both",
            [true, false] => "the first",
            [false, true] => "the second",
            [false, false] => "neither",
        });
    });
}

// Without it a thread that ends could empty its cache beside a thread that has seized it.
#[test]
fn an_owner_that_closes_its_own_lock_is_alone() {
    model(&["before", "after"], |seen| {
        let shared = guarded();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let _revocation = shared.lock.revoke();
                shared.touch();
            }
        });
        // SAFETY: this thread is the owner.
        let entered = unsafe { shared.section() };
        let before = {
            // SAFETY: this thread is the owner, and not inside.
            let _held = unsafe { shared.lock.lock_as_owner() };
            shared.lock.set_own_flags(1);
            shared.touch() - u32::from(entered)
        };
        other.join().unwrap();
        seen.note(if before == 0 { "before" } else { "after" });
        // SAFETY: this thread is the owner.
        assert!(unsafe { !shared.section() });
        assert_eq!(shared.lock.flags(), 1);
    });
}

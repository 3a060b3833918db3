//! Threads that end, and the end of the managers that they give objects back to.

use std::sync::Arc as StdArc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use crate::models::model;
use crate::sync::thread_exit::ThreadExit;

/// An object that a destructor uses, and that then ends.
struct Place(UnsafeCell<u32>);

// SAFETY: loom fails the model when two touch it at once.
unsafe impl Send for Place {}
// SAFETY: loom fails the model when two touch it at once.
unsafe impl Sync for Place {}

// Without it a pool could end on a thread that its scope no longer waits for.
#[test]
fn no_destructor_uses_a_closed_object() {
    model(&["came before", "came late"], |seen| {
        let thread_exit = ThreadExit::new();
        let place = StdArc::new(Place(UnsafeCell::new(0)));
        let visitor = {
            let (thread_exit, place, seen) =
                (thread_exit.clone(), StdArc::clone(&place), seen.clone());
            thread::spawn(move || {
                let Some(_visit) = thread_exit.enter() else {
                    seen.note("came late");
                    return;
                };
                // SAFETY: loom checks that no other thread is there.
                place.0.with_mut(|place| unsafe { *place += 1 });
                seen.note("came before");
            })
        };
        thread_exit.close();
        // SAFETY: loom checks that no other thread is there.
        place.0.with_mut(|place| unsafe { *place += 1 });
        visitor.join().unwrap();
    });
}

/// An object of other code that ends with its last owner, and joins another thread that ends then.
struct Joins {
    thread_exit: ThreadExit,
    users: AtomicU32,
}

impl Drop for Joins {
    fn drop(&mut self) {
        // The other thread's exit, which this waits for.
        drop(self.thread_exit.enter());
    }
}

// Without it a thread that ends could wait for another one, which waits for its exit. (loom fails
// the model when they wait for each other.)
#[test]
fn an_object_that_ends_with_a_destructor_ends_after_the_lock() {
    model(&["the visitor", "its owner"], |seen| {
        let thread_exit = ThreadExit::new();
        let place = StdArc::new(Joins {
            thread_exit: thread_exit.clone(),
            users: AtomicU32::new(0),
        });
        let visitor = {
            let (thread_exit, place) = (thread_exit.clone(), StdArc::downgrade(&place));
            thread::spawn(move || {
                thread_exit.with(&place, |place| {
                    place.users.fetch_add(1, Ordering::Relaxed);
                });
            })
        };
        // This thread ends the object, as a release or a last lease does.
        place.users.fetch_add(1, Ordering::Relaxed);
        let last = StdArc::into_inner(place);
        seen.note(if last.is_some() {
            "its owner"
        } else {
            "the visitor"
        });
        drop(last);
        visitor.join().unwrap();
    });
}

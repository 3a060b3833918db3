//! The threads that may still be at an object when its end has begun.

use std::sync::{Arc as StdArc, Weak};

use loom::cell::UnsafeCell;
use loom::thread::{self, ThreadId};

use crate::models::model;
use crate::sync::rundown::{Rundown, RundownWeak};

/// An object that ends on one thread, after all others have left.
struct Place {
    touched: UnsafeCell<u32>,
    owner: ThreadId,
}

// SAFETY: loom fails the model when two touch it at once.
unsafe impl Send for Place {}
// SAFETY: loom fails the model when two threads touch it at once.
unsafe impl Sync for Place {}

impl Drop for Place {
    fn drop(&mut self) {
        assert_eq!(thread::current().id(), self.owner, "a guest ends it");
        // SAFETY: loom checks that no other thread is there.
        self.touched.with_mut(|touched| unsafe { *touched += 1 });
    }
}

// Without it an allocation, or a look at the figures, could end another thread's pool, and wait for
// its work.
#[test]
fn a_rundown_guard_is_never_the_last_owner() {
    model(&["came before", "came late"], |seen| {
        let rundown = Rundown::new();
        let place = StdArc::new(Place {
            touched: UnsafeCell::new(0),
            owner: thread::current().id(),
        });
        let weak: Weak<Place> = StdArc::downgrade(&place);
        let host = RundownWeak::new(&rundown, weak);
        let guest = {
            let seen = seen.clone();
            thread::spawn(move || {
                let Some(place) = host.acquire() else {
                    seen.note("came late");
                    return;
                };
                // SAFETY: loom checks that no other thread is there.
                place.touched.with_mut(|touched| unsafe { *touched += 1 });
                drop(place);
                seen.note("came before");
            })
        };
        let mut began = 0;
        rundown.run_down(|| began += 1);
        rundown.run_down(|| began += 1);
        assert_eq!(began, 1);
        // The thread with the rundown guard may come as late as this.
        assert!(rundown.has_begun());
        drop(place);
        guest.join().unwrap();
    });
}

//! Threads that end, and the end of what they give back to.

use std::sync::Arc as StdArc;

use loom::cell::UnsafeCell;
use loom::thread;

use super::model;
use crate::visits::Visits;

/// What is visited, and then ended.
struct Place(UnsafeCell<u32>);

// SAFETY: loom fails the model when two touch it at once.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

// Without it a pool could end on a thread that its scope no longer waits for.
#[test]
fn nobody_is_there_after_the_end() {
    model(&["came before", "came late"], |seen| {
        let visits = Visits::new();
        let place = StdArc::new(Place(UnsafeCell::new(0)));
        let visitor = {
            let (visits, place, seen) = (visits.clone(), StdArc::clone(&place), seen.clone());
            thread::spawn(move || {
                let Some(_visit) = visits.visit() else {
                    seen.note("came late");
                    return;
                };
                // SAFETY: loom checks that nobody else is there.
                place.0.with_mut(|place| unsafe { *place += 1 });
                seen.note("came before");
            })
        };
        visits.end();
        // SAFETY: as above.
        place.0.with_mut(|place| unsafe { *place += 1 });
        visitor.join().unwrap();
    });
}

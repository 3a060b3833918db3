//! A count of what has happened is seen after it.

use loom::sync::Arc;
use loom::thread;

use crate::models::model;
use crate::models::piece::Piece;
use crate::sync::event_count::EventCount;

/// Memory that another thread gives back before it `counts`: a thread that sees the count change may
/// use it.
fn counted(counts: fn(&EventCount)) {
    model(&["counted", "not yet"], move |seen| {
        let shared = Arc::new((EventCount::default(), Piece::new()));
        shared.0.note();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.touch();
                counts(&shared.0);
            }
        });
        seen.note(if shared.0.get() == 1 {
            "not yet"
        } else {
            shared.1.touch();
            "counted"
        });
        other.join().unwrap();
    });
}

// Without it a request that searches once more, because something has come back, could miss it.
#[test]
fn what_is_counted_is_there() {
    counted(EventCount::note);
}

// Without it a request could be refused for want of memory that is back.
#[test]
fn what_has_ended_is_over() {
    counted(EventCount::note_end);
}

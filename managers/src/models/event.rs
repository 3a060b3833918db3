//! The event manager itself, on the models' driver.

use loom::thread;

use crate::event::EventConfig;
use crate::models::managers::{close, managers};
use crate::models::model;
use crate::models::test_driver::device;

// Without it an event could tell its new user that its last user's record was reached.
#[test]
fn an_event_begins_unrecorded() {
    model(&["one event", "two events"], |seen| {
        let managers = managers();
        let first = managers.events.acquire(EventConfig::default()).unwrap();
        let other = thread::spawn({
            let managers = managers.clone();
            move || {
                let next = managers.events.acquire(EventConfig::default()).unwrap();
                assert!(!next.raw().is_recorded());
            }
        });
        first.raw().note_recorded();
        drop(first);
        other.join().unwrap();
        seen.note(["", "one event", "two events"][device().objects_made]);
        close(managers);
    });
}

// Without it a wait for an event could be left out, because its new user forgot a record that
// another thread had made by its name.
#[test]
fn what_is_recorded_by_name_is_not_forgotten() {
    model(&["recorded", "no name yet"], |seen| {
        let managers = managers();
        drop(managers.events.acquire(EventConfig::default()).unwrap());
        let other = thread::spawn({
            let managers = managers.clone();
            move || {
                let name = managers.events.handles().next()?;
                let event = managers.events.lease(name).ok()?;
                event.raw().note_recorded();
                Some(())
            }
        });
        let event = managers.events.acquire(EventConfig::default()).unwrap();
        let recorded = other.join().unwrap().is_some();
        assert_eq!(event.raw().is_recorded(), recorded);
        seen.note(if recorded { "recorded" } else { "no name yet" });
        drop(event);
        close(managers);
    });
}

//! The stream and event managers themselves, on the models' driver.

use std::sync::Arc;

use cupola_sys::driver::Driver;
use loom::thread;

use super::driver::{self, device};
use super::model;
use crate::driver::{ContextCore, Ledger};
use crate::event::{EventConfig, EventManager, EventsConfig};
use crate::stats::State;
use crate::stream::{StreamConfig, StreamManager, StreamsConfig};

pub(super) struct Managers {
    pub(super) streams: StreamManager,
    events: EventManager,
    pub(super) core: Arc<ContextCore>,
    pub(super) ledger: Arc<Ledger>,
}

pub(super) type Shared = loom::sync::Arc<Managers>;

pub(super) fn managers() -> Shared {
    let driver: Driver = driver::driver();
    let ledger = Arc::new(Ledger::new());
    let core = driver::context(&driver, &ledger);
    let events = EventManager::new(&core, EventsConfig::default());
    Shared::new(Managers {
        streams: StreamManager::new(&core, events.pool(), StreamsConfig::default()),
        events,
        core,
        ledger,
    })
}

/// The end of all managers.
pub(super) fn close(managers: Shared) {
    let ledger = managers.ledger.clone();
    drop(managers);
    device().check_empty();
    assert_eq!(ledger.live(), Default::default());
}

// Without it two users could have one stream, or a stream be made while one waits.
#[test]
fn a_stream_has_one_user_at_a_time() {
    model(&["one stream", "two streams"], |seen| {
        let managers = managers();
        drop(managers.streams.acquire(StreamConfig::default()).unwrap());
        let other = thread::spawn({
            let managers = managers.clone();
            move || managers.streams.acquire(StreamConfig::default()).unwrap()
        });
        let mine = managers.streams.acquire(StreamConfig::default()).unwrap();
        let (handle, raw, serial) = (mine.handle(), mine.as_raw(), mine.serial());
        assert!(managers.core.is_healthy());
        drop(mine);
        let others = other.join().unwrap();
        assert_ne!(others.handle(), handle);
        assert_eq!(others.as_raw() == raw, others.serial() == serial);
        assert!(managers.streams.lease(handle).is_err());
        seen.note(["", "one stream", "two streams"][device().objects_made]);
        drop(others);
        close(managers);
    });
}

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

// Without it a stream could stay behind, or be refused, when its manager is shut down and
// set up again while it is given back.
#[test]
fn a_stream_that_is_given_back_during_a_shutdown_is_destroyed() {
    model(&["leased", "destroyed"], |seen| {
        let managers = managers();
        let stream = managers
            .streams
            .create_held(StreamConfig::default())
            .unwrap();
        let handle = stream.handle();
        let other = thread::spawn(move || drop(stream));
        let report = managers.streams.shutdown();
        assert_eq!(managers.streams.state(), State::ShutDown);
        assert!(managers.streams.lease(handle).is_err());
        seen.note(if report.is_complete() {
            "destroyed"
        } else {
            "leased"
        });
        other.join().unwrap();
        assert_eq!(managers.ledger.live().streams, 0);
        managers
            .streams
            .configure(StreamsConfig::default())
            .unwrap();
        drop(managers.streams.acquire(StreamConfig::default()).unwrap());
        assert_eq!(managers.streams.stats().idle, 1);
        close(managers);
    });
}

// Without it an object that outlives its context's managers could be destroyed after the context.
#[test]
fn the_last_lease_of_a_context_ends_it() {
    model(&["ended"], |seen| {
        let managers = managers();
        let ledger = managers.ledger.clone();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let event = managers.events.create_held(EventConfig::default()).unwrap();
        let other = thread::spawn(move || drop((stream, event)));
        drop(managers);
        other.join().unwrap();
        device().check_empty();
        assert_eq!(ledger.live(), Default::default());
        seen.note("ended");
    });
}

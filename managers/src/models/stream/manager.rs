//! The stream manager itself, on the models' driver.

use loom::thread;

use crate::models::managers::{close, managers};
use crate::models::model;
use crate::models::test_driver::device;
use crate::stats::State;
use crate::stream::{StreamConfig, StreamsConfig};

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

// Without it work that another thread puts on a stream, as on any other, could be captured.
#[test]
fn a_reserved_stream_is_no_other_threads() {
    model(&["reserved", "another", "none"], |seen| {
        let managers = managers();
        let other = thread::spawn({
            let managers = managers.clone();
            move || {
                let name = managers.streams.handles().into_iter().next()?;
                let stream = managers.streams.lease(name).ok()?;
                let is_free = !stream.is_captured();
                Some((stream, is_free))
            }
        });
        let mine = managers.streams.create_reserved(StreamConfig::default());
        let mine = mine.unwrap();
        let others = other.join().unwrap();
        seen.note(match &others {
            Some((stream, true)) => {
                assert_ne!(stream.serial(), mine.serial());
                "another"
            }
            Some((_, false)) => "reserved",
            None => "none",
        });
        mine.mark_captured(None);
        drop((mine, others));
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

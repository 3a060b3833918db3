//! The timeline of a stream: a ticket completes after the work that was put before it.

use loom::thread;

use super::driver::{completed, device, put_work};
use super::managers::{close, managers};
use super::model;
use crate::ops;
use crate::stream::StreamConfig;
use crate::stream::timeline::{Closed, Timeline};

/// Puts work on the stream and frees memory behind it: the ticket, and the work that must be
/// complete when that is.
fn free(timeline: &Timeline) -> (u64, u64) {
    let work = put_work();
    (timeline.stamp(), work)
}

/// Whether the ticket is complete; if so, its work is.
fn is_done(timeline: &Timeline, (ticket, work): (u64, u64)) -> bool {
    let done = timeline.is_done(ticket);
    assert!(!done || completed() >= work, "memory is free too early");
    done
}

// Without it memory could be handed out while work that uses it runs.
#[test]
fn a_batch_is_closed_before_its_event_is_recorded() {
    model(&["in the batch", "in the next"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let timeline = stream.timeline().clone();
        let other = thread::spawn({
            let timeline = timeline.clone();
            move || free(&timeline)
        });
        let core = &managers.core;
        assert_eq!(timeline.close(core, 1), Ok(Closed::Covered));
        assert_eq!(timeline.poll(core), Ok(1));
        let freed = other.join().unwrap();
        seen.note(if is_done(&timeline, freed) {
            "in the batch"
        } else {
            "in the next"
        });
        assert_eq!(timeline.close(core, freed.0), Ok(Closed::Covered));
        timeline.poll(core).unwrap();
        assert!(is_done(&timeline, freed));
        drop((timeline, stream));
        close(managers);
    });
}

// Without it a wait of the user's could be taken to cover work that came after it began.
#[test]
fn a_wait_completes_what_was_freed_before_it() {
    model(&["before", "after"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let timeline = stream.timeline().clone();
        let other = thread::spawn({
            let timeline = timeline.clone();
            move || free(&timeline)
        });
        ops::synchronize(&stream).unwrap();
        let freed = other.join().unwrap();
        seen.note(if is_done(&timeline, freed) {
            "before"
        } else {
            "after"
        });
        drop((timeline, stream));
        close(managers);
    });
}

// Without it memory that was freed on a stream could complete never, or too early, when the stream
// is destroyed while another thread closes a batch; or a destroyed stream be recorded on.
#[test]
fn a_stream_that_ends_leaves_its_tickets_covered() {
    model(&["closed before", "closed by the end"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let timeline = stream.timeline().clone();
        let other = thread::spawn(move || {
            let freed = free(stream.timeline());
            drop(stream);
            freed
        });
        let end = thread::spawn({
            let managers = managers.clone();
            move || drop(managers.streams.shutdown())
        });
        let core = &managers.core;
        assert_eq!(timeline.close(core, 1), Ok(Closed::Covered));
        timeline.poll(core).unwrap();
        let freed = other.join().unwrap();
        is_done(&timeline, freed);
        end.join().unwrap();
        timeline.poll(core).unwrap();
        assert!(is_done(&timeline, freed));
        seen.note(match timeline.calls().records {
            1 => "closed by the end",
            _ => "closed before",
        });
        assert_eq!(managers.ledger.live().streams, 0);
        drop(timeline);
        close(managers);
        device().check_empty();
    });
}

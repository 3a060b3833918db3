//! The timeline of a stream: a ticket completes after the work that was put before it.

use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_sys::driver::{CUresult, DriverError, id};
use loom::thread;

use crate::driver::ContextCore;
use crate::error::Site;
use crate::models::managers::{Shared, close, managers};
use crate::models::model;
use crate::models::piece::Piece;
use crate::models::test_driver::{completed, device, put_work};
use crate::ops;
use crate::stream::StreamConfig;
use crate::stream::fence::Fence;
use crate::stream::timeline::{Closed, OnDone, Timeline};

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

// Without it a wait for a copy could be taken to cover work that came after its event.
#[test]
fn a_fence_completes_what_was_freed_before_it() {
    model(&["before", "after"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let timeline = stream.timeline().clone();
        let mut fence = Fence::new(&managers.core, stream.events()).unwrap();
        let other = thread::spawn({
            let timeline = timeline.clone();
            move || free(&timeline)
        });
        fence.record(&stream).unwrap();
        fence.synchronize(Site::here()).unwrap();
        assert!(fence.is_done());
        let freed = other.join().unwrap();
        seen.note(match is_done(&timeline, freed) {
            true => "before",
            false => "after",
        });
        drop((fence, timeline, stream));
        close(managers);
    });
}

// Without it a thread that waits for a copy could be taken to have waited for one that another
// thread orders meanwhile, with the same event.
#[test]
fn a_fence_is_waited_for_while_it_is_recorded_again() {
    model(&["the first", "both"], |seen| {
        let managers = managers();
        let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
        let timeline = stream.timeline().clone();
        let mut fence = Fence::new(&managers.core, stream.events()).unwrap();
        let first = put_work();
        fence.record(&stream).unwrap();
        let waiter = thread::spawn({
            let fence = fence.clone();
            move || {
                fence.synchronize(Site::here()).unwrap();
                assert!(fence.is_done() && completed() >= first);
            }
        });
        let second = put_work();
        fence.record(&stream).unwrap();
        seen.note(match completed() >= second {
            true => "both",
            false => "the first",
        });
        assert!(!fence.is_done(), "its own end was not waited for");
        waiter.join().unwrap();
        assert!(!fence.is_done());
        drop((fence, timeline, stream));
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

// Without it memory could be used again before what a thread did that waited for its last use.
#[test]
fn memory_is_used_again_after_the_wait_for_it() {
    model(&["used again", "in use"], |seen| {
        let managers = managers();
        let timeline = covered(&managers);
        let memory = std::sync::Arc::new(Piece::new());
        let other = thread::spawn({
            let (timeline, core) = (timeline.clone(), managers.core.clone());
            let memory = memory.clone();
            move || {
                memory.touch();
                timeline.poll(&core).unwrap();
            }
        });
        let next = thread::spawn(move || {
            let is_done = timeline.is_done(1);
            if is_done {
                memory.touch();
            }
            is_done
        });
        other.join().unwrap();
        seen.note(if next.join().unwrap() {
            "used again"
        } else {
            "in use"
        });
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

/// A caller's function: how often it was called with success, and with an error.
#[derive(Clone, Default)]
struct Told(std::sync::Arc<[AtomicUsize; 2]>);

impl Told {
    fn subscribe(&self, timeline: &std::sync::Arc<Timeline>, core: &Core) -> OnDone {
        let told = self.clone();
        timeline.on_done(core, 1, move |result| {
            told.0[usize::from(result.is_err())].fetch_add(1, Ordering::Relaxed);
        })
    }

    fn counts(&self) -> (usize, usize) {
        let count = |of: usize| self.0[of].load(Ordering::Relaxed);
        (count(0), count(1))
    }
}

type Core = std::sync::Arc<ContextCore>;

/// A timeline whose first ticket is covered and not known to be complete.
fn covered(managers: &Shared) -> std::sync::Arc<Timeline> {
    let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
    let timeline = stream.timeline().clone();
    assert_eq!(timeline.close(&managers.core, 1), Ok(Closed::Covered));
    timeline
}

fn lose(core: &ContextCore) {
    let (symbol, code) = (id::cuStreamQuery, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    core.failed(DriverError::Failed { symbol, code });
}

// Without it a caller that subscribes while its ticket completes could wait for ever, or be told
// twice.
#[test]
fn a_caller_is_told_once_of_a_completion() {
    model(&["it was complete", "it completes"], |seen| {
        let managers = managers();
        let (timeline, told) = (covered(&managers), Told::default());
        let poll = thread::spawn({
            let (timeline, core) = (timeline.clone(), managers.core.clone());
            move || timeline.poll(&core).unwrap()
        });
        let subscriber = thread::spawn({
            let (timeline, core, told) = (timeline.clone(), managers.core.clone(), told.clone());
            move || {
                let was_done = timeline.is_done(1);
                (was_done, told.subscribe(&timeline, &core))
            }
        });
        poll.join().unwrap();
        let (was_done, subscription) = subscriber.join().unwrap();
        assert_eq!(told.counts(), (1, 0));
        seen.note(match was_done {
            true => "it was complete",
            false => "it completes",
        });
        drop((subscription, timeline));
        close(managers);
    });
}

// Without it a caller could wait for ever for work of a context that is lost.
#[test]
fn a_caller_is_told_once_of_a_loss() {
    model(&["it was lost", "it is lost"], |seen| {
        let managers = managers();
        let (timeline, told) = (covered(&managers), Told::default());
        let loss = thread::spawn({
            let core = managers.core.clone();
            move || lose(&core)
        });
        let subscriber = thread::spawn({
            let (timeline, core, told) = (timeline.clone(), managers.core.clone(), told.clone());
            move || {
                let was_lost = !core.is_healthy();
                (was_lost, told.subscribe(&timeline, &core))
            }
        });
        loss.join().unwrap();
        let (was_lost, subscription) = subscriber.join().unwrap();
        assert_eq!(told.counts(), (0, 1));
        seen.note(if was_lost {
            "it was lost"
        } else {
            "it is lost"
        });
        drop((subscription, timeline));
        close(managers);
    });
}

// Without it a caller could be told of a completion and of a loss, or of neither.
#[test]
fn a_completion_and_a_loss_are_one_call() {
    model(&["complete", "lost"], |seen| {
        let managers = managers();
        let (timeline, told) = (covered(&managers), Told::default());
        let subscription = told.subscribe(&timeline, &managers.core);
        let loss = thread::spawn({
            let core = managers.core.clone();
            move || lose(&core)
        });
        let poll = thread::spawn({
            let (timeline, core) = (timeline.clone(), managers.core.clone());
            move || timeline.poll(&core).is_ok()
        });
        loss.join().unwrap();
        poll.join().unwrap();
        let (complete, lost) = told.counts();
        assert_eq!(complete + lost, 1);
        seen.note(if complete == 1 { "complete" } else { "lost" });
        drop((subscription, timeline));
        close(managers);
    });
}

// Without it a function could be called after its caller gave up and all that it has was freed, or
// be kept for ever.
#[test]
fn a_caller_that_gives_up_is_told_before_or_not_at_all() {
    model(&["told", "not told"], |seen| {
        let managers = managers();
        let (timeline, told) = (covered(&managers), Told::default());
        let subscription = told.subscribe(&timeline, &managers.core);
        let poll = thread::spawn({
            let (timeline, core) = (timeline.clone(), managers.core.clone());
            move || timeline.poll(&core).unwrap()
        });
        let end = thread::spawn(move || drop(subscription));
        end.join().unwrap();
        poll.join().unwrap();
        assert_eq!(std::sync::Arc::strong_count(&told.0), 1);
        seen.note(match told.counts() {
            (0, 0) => "not told",
            (1, 0) => "told",
            _ => panic!("told twice"),
        });
        drop(timeline);
        close(managers);
    });
}

use std::sync::mpsc;

use cupola_sys::SymbolId;
use cupola_sys::driver::id;

use super::*;
use crate::ops;
use crate::stream::Stream;
use crate::stream::fence::Fence;
use crate::test_bench::{TestBench, hold};

mod tickets;

/// A timeline and its stream, on a device where the work of a stream can be held up.
struct Bench {
    stream: Stream,
    timeline: Arc<Timeline>,
    base: TestBench,
}

impl Bench {
    fn new() -> Self {
        let base = TestBench::new();
        let stream = base.context.streams().create_held(Default::default());
        let stream = stream.unwrap();
        let timeline = Arc::clone(stream.timeline());
        base.faults.reset();
        Self {
            stream,
            timeline,
            base,
        }
    }

    fn core(&self) -> &Arc<ContextCore> {
        self.base.context.core()
    }

    /// Puts work on the stream that lasts until a message is sent, or the sender dropped.
    fn block(&self) -> mpsc::Sender<()> {
        hold(&self.stream)
    }

    fn close(&self, ticket: u64) -> Result<Closed> {
        self.timeline.close(self.core(), ticket)
    }

    fn poll(&self) -> u64 {
        self.timeline.poll(self.core()).unwrap()
    }

    fn wait(&self, ticket: u64, milliseconds: u64) -> Result<bool> {
        let deadline = Instant::now() + Duration::from_millis(milliseconds);
        self.timeline.wait_on_host(self.core(), ticket, deadline)
    }

    /// Gives the stream up: it is destroyed.
    fn end_stream(&mut self) {
        let spare = self
            .base
            .context
            .streams()
            .create_held(Default::default())
            .unwrap();
        let stream = std::mem::replace(&mut self.stream, spare);
        let handle = stream.handle();
        drop(stream);
        self.base.context.streams().release(handle).unwrap();
        self.base.context.streams().trim(0).unwrap();
        assert_eq!(self.base.faults.count(id::cuStreamDestroy_v2), 1);
    }

    /// Drops all fields, the timeline last: nothing is left. Returns the last ticket that was done
    /// by then.
    fn check_empty(self) -> u64 {
        drop(self.stream);
        let timeline = self.timeline;
        self.base.finish_after(move || timeline.done())
    }
}

// Without it memory could be handed out while work that was put before its free still runs.
#[test]
fn a_ticket_completes_when_the_work_before_it_has() {
    let bench = Bench::new();
    let release = bench.block();
    let first = bench.timeline.stamp();
    assert_eq!((first, bench.timeline.stamp()), (1, 1));
    assert_eq!(bench.base.faults.count(id::cuEventRecord), 0);
    assert_eq!(bench.close(first), Ok(Closed::Covered));
    assert_eq!(bench.close(first), Ok(Closed::Covered));
    assert_eq!(bench.base.faults.count(id::cuEventRecord), 1);
    let second = bench.timeline.stamp();
    assert_eq!(second, 2);
    assert_eq!(bench.poll(), 0);
    assert_eq!(bench.wait(first, 5), Ok(false));
    release.send(()).unwrap();
    assert_eq!(bench.wait(first, 10_000), Ok(true));
    assert!(bench.timeline.is_done(first) && !bench.timeline.is_done(second));
    assert_eq!(bench.wait(second, 10_000), Ok(true));
    let calls = bench.timeline.calls();
    assert_eq!((calls.records, calls.waits), (2, 0));
    assert_eq!(calls.queries, bench.base.faults.count(id::cuEventQuery));
    assert_eq!(bench.timeline.serial(), bench.stream.serial());
    bench.check_empty();
}

// Without it another stream could use memory before the stream that freed it is through, or
// streams that need not wait could be made to.
#[test]
fn another_stream_waits_on_the_device() {
    let bench = Bench::new();
    let other = bench
        .base
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    let wait = |by: &Stream, ticket| by.wait_for_ticket(&bench.timeline, bench.core(), ticket);
    let release = bench.block();
    let ticket = bench.timeline.stamp();
    assert_eq!(wait(&bench.stream, ticket), Ok(true));
    assert_eq!(bench.timeline.calls(), TimelineCalls::default());
    assert_eq!(wait(&other, ticket), Ok(true));
    assert_eq!(ops::query(&other), Ok(false), "it does not wait");
    release.send(()).unwrap();
    ops::synchronize(&other).unwrap();
    // The event was reached; that it was is known by a wait for all of its stream too.
    ops::synchronize(&bench.stream).unwrap();
    assert!(bench.timeline.is_done(ticket));
    assert_eq!(wait(&other, ticket), Ok(true));
    let calls = bench.timeline.calls();
    assert_eq!((calls.records, calls.queries, calls.waits), (1, 0, 1));
    drop(other);
    bench.check_empty();
}

// Without it every free would cost an event where the program waits for its stream anyway.
#[test]
fn a_wait_of_the_users_completes_tickets() {
    let bench = Bench::new();
    let ticket = bench.timeline.stamp();
    ops::synchronize(&bench.stream).unwrap();
    assert!(bench.timeline.is_done(ticket));
    let next = bench.timeline.stamp();
    assert!(next > ticket);
    let mark = bench.stream.mark();
    let late = bench.timeline.stamp();
    bench.stream.complete(mark);
    assert!(bench.timeline.is_done(next) && !bench.timeline.is_done(late));
    assert_eq!(bench.timeline.calls(), TimelineCalls::default());
    assert_eq!(bench.wait(late, 10_000), Ok(true));
    bench.check_empty();
}

// Without it an event could be recorded in a capture, which breaks it or becomes part of it.
#[test]
fn a_captured_stream_is_left_alone() {
    let bench = Bench::new();
    let other = bench
        .base
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    let captured = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    let ticket = bench.timeline.stamp();
    let forbid = || {
        bench.base.faults.reset();
        let asked = id::cuStreamIsCapturing;
        bench.base.faults.fail_from(asked, 1, captured);
    };
    forbid();
    assert_eq!(bench.close(ticket), Ok(Closed::Capturing));
    let wait = other.wait_for_ticket(&bench.timeline, bench.core(), ticket);
    assert_eq!(wait, Ok(false));
    assert_eq!(bench.wait(ticket, 10_000), Ok(false));
    let calls = bench.timeline.calls();
    assert_ne!(calls.captures, 0);
    let captures = calls.captures;
    let asked = TimelineCalls {
        captures,
        ..TimelineCalls::default()
    };
    assert_eq!(calls, asked);
    // The capture begins between the question and the record: the event covers nothing.
    bench.base.faults.reset();
    bench.base.faults.fail(id::cuStreamIsCapturing, 2, captured);
    assert_eq!(bench.close(ticket), Ok(Closed::Capturing));
    assert_eq!(bench.poll(), 0);
    // The capture begins there too, and the event's query reports it.
    bench.base.faults.reset();
    assert_eq!(bench.close(ticket), Ok(Closed::Covered));
    let captured_event = CUresult::CUDA_ERROR_CAPTURED_EVENT;
    bench.base.faults.fail(id::cuEventQuery, 1, captured_event);
    assert_eq!(bench.poll(), 0);
    assert_eq!(bench.wait(ticket, 10_000), Ok(true));
    assert_eq!(bench.timeline.calls().records, 3);
    drop(other);
    bench.check_empty();
}

// Without it one refused call could lose freed memory, or have it taken for complete.
#[test]
fn a_call_that_fails_leaves_the_clock_as_it_was() {
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let refused = |function: SymbolId, which: u64, polls: bool| {
        let bench = Bench::new();
        let ticket = bench.timeline.stamp();
        bench.base.faults.fail(function, which, code);
        if polls {
            assert_eq!(bench.close(ticket), Ok(Closed::Covered));
            let refused = bench.timeline.poll(bench.core()).unwrap_err();
            assert_eq!(refused.status(), Some(code));
        } else {
            assert_eq!(bench.close(ticket).unwrap_err().status(), Some(code));
            assert_eq!(bench.poll(), 0, "the record was refused");
        }
        assert!(!bench.timeline.is_done(ticket));
        let next = bench.timeline.stamp();
        assert_eq!(bench.wait(ticket, 10_000), Ok(true));
        assert_eq!(bench.wait(next, 10_000), Ok(true));
        bench.check_empty();
    };
    refused(id::cuStreamIsCapturing, 1, false);
    refused(id::cuEventCreate, 1, false);
    refused(id::cuEventRecord, 1, false);
    refused(id::cuStreamIsCapturing, 2, false);
    refused(id::cuEventQuery, 1, true);
    let bench = Bench::new();
    let other = bench
        .base
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    let ticket = bench.timeline.stamp();
    bench.base.faults.fail(id::cuStreamWaitEvent, 1, code);
    let wait = || other.wait_for_ticket(&bench.timeline, bench.core(), ticket);
    assert_eq!(wait().unwrap_err().status(), Some(code));
    assert_eq!(wait(), Ok(true));
    assert_eq!(bench.timeline.calls().records, 1);
    // The driver knows no capture modes.
    bench
        .base
        .faults
        .fail(id::cuThreadExchangeStreamCaptureMode, 1, code);
    assert_eq!(bench.wait(ticket, 10_000), Ok(true));
    drop(other);
    bench.check_empty();
}

// Without it memory that was freed on a stream that is gone would be lost.
#[test]
fn what_was_freed_on_a_stream_completes_after_its_end() {
    let mut bench = Bench::new();
    let release = bench.block();
    let ticket = bench.timeline.stamp();
    bench.end_stream();
    assert_eq!(bench.base.faults.count(id::cuStreamSynchronize), 0);
    assert_eq!((bench.timeline.calls().records, bench.poll()), (1, 0));
    release.send(()).unwrap();
    assert_eq!(bench.wait(ticket, 10_000), Ok(true));
    // Memory that a thread's cache keeps of it gets its ticket late, and is complete too.
    assert!(bench.timeline.is_done(bench.timeline.stamp()));
    assert_eq!(bench.close(bench.timeline.stamp()), Ok(Closed::Covered));
    bench.check_empty();

    // No event can be had: the stream is waited for.
    let mut bench = Bench::new();
    let ticket = bench.timeline.stamp();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.base.faults.fail_from(id::cuEventCreate, 1, code);
    bench.end_stream();
    assert_eq!(bench.base.faults.count(id::cuStreamSynchronize), 1);
    assert!(bench.timeline.is_done(ticket));
    bench.check_empty();

    // Nor can it be waited for: freed memory stays where it is.
    let mut bench = Bench::new();
    let ticket = bench.timeline.stamp();
    bench.base.faults.fail_from(id::cuEventRecord, 1, code);
    bench
        .base
        .faults
        .fail_from(id::cuStreamSynchronize, 1, code);
    bench.end_stream();
    bench.base.faults.reset();
    assert_eq!(bench.wait(ticket, 10_000), Ok(false));
    assert_eq!(bench.close(ticket), Ok(Closed::Never));
    assert_eq!(bench.poll(), 0);
    bench.check_empty();
}

// Without it the end of a stream whose timeline has no other user would cost an event.
#[test]
fn a_timeline_of_a_stream_alone_ends_with_it() {
    let mut bench = Bench::new();
    bench.timeline.stamp();
    let own = bench
        .base
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    bench.timeline = Arc::clone(own.timeline());
    bench.end_stream();
    assert_eq!(bench.base.faults.count(id::cuEventRecord), 0);
    drop(own);
    bench.check_empty();
}

// Without it the end of a stream would cost an event, or another manager's context stay, for pinned
// memory that was copied there once.
#[test]
fn a_fence_keeps_neither_the_stream_nor_its_timeline() {
    let mut bench = Bench::new();
    let own = bench
        .base
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    bench.timeline = Arc::clone(own.timeline());
    let mut fence = Fence::new(bench.core(), own.events()).unwrap();
    assert!(fence.is_done(), "there is no work before it");
    let release = bench.block();
    fence.record(&bench.stream).unwrap();
    bench.end_stream();
    assert_eq!(bench.base.faults.count(id::cuEventRecord), 1);
    assert!(!fence.is_done());
    fence.wait_on(&own).unwrap();
    assert_eq!(ops::query(&own), Ok(false), "it does not wait");
    release.send(()).unwrap();
    let waiting = fence.clone();
    waiting.synchronize(Site::here()).unwrap();
    assert!(!fence.is_done(), "no clock tells");
    fence.forget(&waiting);
    assert!(fence.is_done());
    ops::synchronize(&own).unwrap();
    drop((own, fence, waiting));
    bench.check_empty();
}

// Without it memory of a lost context could be taken for free, or its loss be hidden.
#[test]
fn nothing_completes_in_a_lost_context() {
    let bench = Bench::new();
    let first = bench.timeline.stamp();
    assert_eq!(bench.close(first), Ok(Closed::Covered));
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.base.faults.fail_from(id::cuEventQuery, 1, code);
    assert!(bench.timeline.poll(bench.core()).is_err());
    let second = bench.timeline.stamp();
    assert_eq!(bench.close(second), Err(bench.core().poison().unwrap()));
    assert!(bench.wait(first, 10_000).is_err());
    assert_eq!(bench.check_empty(), 0);
}

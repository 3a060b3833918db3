//! What the program is told of tickets when something is amiss.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context as Task, Poll, Waker};

use super::*;
use crate::error::{Error, ErrorClass};
use crate::stream::{Ticket, TicketWatch};

const LATE: Duration = Duration::from_secs(20);

fn subscribe(ticket: &Ticket) -> (TicketWatch, Receiver<Result<()>>) {
    let (told, results) = channel();
    let watch = ticket.on_done(move |result| told.send(result).unwrap());
    (watch, results)
}

fn asked(ticket: &mut Ticket) -> Poll<Result<()>> {
    Pin::new(ticket).poll(&mut Task::from_waker(Waker::noop()))
}

/// What the future is told in the end: one caller is told after the other.
fn told(ticket: &mut Ticket) -> Result<()> {
    let end = Instant::now() + LATE;
    loop {
        if let Poll::Ready(told) = asked(ticket) {
            return told;
        }
        assert!(Instant::now() < end, "it is told nothing");
        thread::sleep(Duration::from_millis(1));
    }
}

impl Bench {
    fn ticket(&self) -> Ticket {
        self.stream.ticket().unwrap()
    }

    /// A ticket whose event became part of a capture, as both the timeline and it are told.
    fn captured(&self) -> Ticket {
        let ticket = self.ticket();
        let code = CUresult::CUDA_ERROR_CAPTURED_EVENT;
        self.base.faults.reset();
        for call in [id::cuEventQuery, id::cuEventSynchronize] {
            self.base.faults.fail_from(call, 1, code);
        }
        for told in [ticket.is_done().map(drop), ticket.wait()] {
            let told = told.unwrap_err();
            assert_eq!(
                (told.status(), told.class()),
                (Some(code), ErrorClass::Capture)
            );
        }
        assert_eq!(self.poll(), 0);
        self.base.faults.reset();
        let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        self.base.faults.fail_from(id::cuStreamIsCapturing, 1, code);
        // A future asks its event.
        let code = CUresult::CUDA_ERROR_CAPTURED_EVENT;
        self.base.faults.fail_from(id::cuEventQuery, 1, code);
        ticket
    }

    /// As [`check_empty`](Self::check_empty), as soon as the reactor has let go.
    fn becomes_empty(self) {
        drop((self.stream, self.timeline));
        self.base.finish();
    }
}

// Without it a caller would wait for ever where the process can have no more threads.
#[test]
fn where_no_thread_can_be_had_each_caller_is_told() {
    let bench = Bench::new();
    let release = bench.block();
    let (mut ticket, mut other) = (bench.ticket(), bench.ticket());
    let stack = |bytes| bench.core().reactor().set_stack(bytes);
    stack(Some(1 << 60));
    let kind = "thread that waits for tickets";
    let full = Err(Error::Full { kind });
    for ticket in [&ticket, &other, &ticket] {
        let (watch, results) = subscribe(ticket);
        assert_eq!(results.try_recv(), Ok(full.clone()));
        // The function is gone, and its sender with it.
        assert!(results.recv_timeout(LATE).is_err());
        drop(watch);
    }
    assert_eq!(asked(&mut ticket), Poll::Ready(full));
    // Nor is anything left behind that keeps the next caller from its thread.
    stack(None);
    assert_eq!(asked(&mut other), Poll::Pending);
    let (watch, results) = subscribe(&ticket);
    release.send(()).unwrap();
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    assert_eq!(told(&mut other), Ok(()));
    assert_eq!((ticket.is_done(), ticket.wait()), (Ok(true), Ok(())));
    drop((watch, ticket, other));
    bench.becomes_empty();
}

// Without it a caller could wait for ever for work whose event is reached in no stream.
#[test]
fn what_a_capture_took_the_event_of_completes_after_the_capture() {
    let bench = Bench::new();
    let other = bench
        .base
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    let mut ticket = bench.captured();
    let (watch, results) = subscribe(&ticket);
    assert_eq!(asked(&mut ticket), Poll::Pending);
    let operation = "wait for a ticket";
    assert_eq!(ticket.wait_on(&other), Err(Error::Capturing { operation }));
    assert!(results.try_recv().is_err());
    assert_eq!(bench.base.faults.count(id::cuEventRecord), 0);
    // The capture ends.
    bench.base.faults.reset();
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    assert_eq!(told(&mut ticket), Ok(()));
    assert_eq!((ticket.is_done(), ticket.wait()), (Ok(true), Ok(())));
    assert_eq!(ticket.wait_on(&other), Ok(()));
    drop((watch, ticket, other));
    bench.becomes_empty();
}

// Without it a caller would wait for ever for a stream that was destroyed during a capture.
#[test]
fn of_a_ticket_that_never_completes_each_caller_is_told() {
    let mut bench = Bench::new();
    let mut ticket = bench.captured();
    let (early, results) = subscribe(&ticket);
    assert_eq!(asked(&mut ticket), Poll::Pending);
    bench.end_stream();
    let never = Err(Timeline::never());
    assert_eq!(results.recv_timeout(LATE), Ok(never.clone()));
    assert_eq!(told(&mut ticket), never);
    bench.base.faults.reset();
    let (late, results) = subscribe(&ticket);
    assert_eq!(results.recv_timeout(LATE), Ok(never));
    // The others ask the event.
    let code = CUresult::CUDA_ERROR_CAPTURED_EVENT;
    for call in [
        id::cuEventQuery,
        id::cuEventSynchronize,
        id::cuStreamWaitEvent,
    ] {
        bench.base.faults.fail_from(call, 1, code);
    }
    for told in [
        ticket.is_done().map(drop),
        ticket.wait(),
        ticket.wait_on(&bench.stream),
    ] {
        assert_eq!(told.unwrap_err().status(), Some(code));
    }
    bench.base.faults.reset();
    // Nor is there more to be told, or less to be freed.
    assert!(results.try_recv().is_err());
    drop((early, late, ticket));
    bench.becomes_empty();
}

// Without it tickets in a row that a program drops would take all events that there may be; or one
// that it keeps wait for later work, which may wait for the program.
#[test]
fn the_events_of_dropped_tickets_are_few_and_those_of_others_their_own() {
    let bench = Bench::new();
    let first = [(); 4].map(|()| bench.ticket());
    let release = bench.block();
    for _ in 0..20 * ROOM {
        drop(bench.ticket());
    }
    assert!(bench.base.execution.live().events <= ROOM as u64 + 9);
    let kept: Vec<_> = (0..3 * ROOM).map(|_| bench.ticket()).collect();
    // The first are told before the work behind them has ended.
    for ticket in &first {
        let (_watch, results) = subscribe(ticket);
        assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
        assert_eq!(ticket.wait(), Ok(()));
    }
    release.send(()).unwrap();
    for ticket in kept {
        assert_eq!(ticket.wait(), Ok(()));
    }
    assert_eq!(bench.poll(), bench.timeline.covered());
    drop(first);
    bench.becomes_empty();
}

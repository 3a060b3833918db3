//! Tickets: work on a stream that a program asks for, waits for and awaits.

mod common;

use std::future::{Future, IntoFuture};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Error, PoolConfig, Result, Ticket, TicketWatch, ops};
use cupola_sys::driver::{CUresult, id};

use common::{hold, open};

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;
const SOON: Duration = Duration::from_millis(20);
const LATE: Duration = Duration::from_secs(20);

/// The results that a subscriber is told.
fn subscribe(ticket: &Ticket) -> (TicketWatch, Receiver<Result<()>>) {
    let (told, results) = channel();
    let watch = ticket.on_done(move |result| told.send(result).unwrap());
    (watch, results)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Task::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park_timeout(LATE),
        }
    }
}

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

// Without it a program that only waits would never be told, or before its work is done, or twice.
#[test]
fn a_subscriber_is_told_once_without_a_call_of_the_programs() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let held = hold(&stream);
    let ticket = stream.ticket().unwrap();
    let panics = ticket.on_done(|_| panic!("in a subscriber"));
    let (first, results) = subscribe(&ticket);
    assert_eq!(results.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!(ticket.is_done(), Ok(false));
    drop(held);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    // The function is gone, and its sender with it.
    let gone = Err(RecvTimeoutError::Disconnected);
    assert_eq!(results.recv_timeout(LATE), gone);
    assert_eq!(ticket.is_done(), Ok(true));
    // Now, if it is known.
    let (second, results) = subscribe(&ticket);
    assert_eq!(results.try_recv(), Ok(Ok(())));
    drop((panics, first, second));
}

// Without it a future could sleep on when its work is done.
#[test]
fn a_future_that_waits_alone_is_woken() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    for _ in 0..3 {
        let held = hold(&stream);
        let ticket = stream.ticket().unwrap();
        let release = thread::spawn(move || {
            thread::sleep(SOON);
            drop(held);
        });
        assert_eq!(block_on(ticket), Ok(()));
        release.join().unwrap();
        // The reactor sleeps by then.
        thread::sleep(Duration::from_millis(60));
    }
    assert_eq!(block_on(stream.ticket().unwrap()), Ok(()));
}

// Without it a future that moved to another task would wake the one that it came from.
#[test]
fn a_future_wakes_the_task_that_asked_last() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let held = hold(&stream);
    let mut ticket = stream.ticket().unwrap();
    let tasks = [(); 2].map(|()| Arc::new(Count::default()));
    for task in &tasks {
        let waker = Waker::from(Arc::clone(task));
        let asked = Pin::new(&mut ticket).poll(&mut Task::from_waker(&waker));
        assert_eq!(asked, Poll::Pending);
    }
    drop(held);
    ticket.wait().unwrap();
    assert_eq!(block_on(&mut ticket), Ok(()));
    assert_eq!(block_on(&mut ticket), Ok(()), "asked once more");
    let woken = tasks.map(|task| task.0.load(Ordering::SeqCst));
    assert_eq!(woken[0], 0);
}

// Without it a future of a lost context would wait for ever, or a loss be taken for success.
#[test]
fn a_loss_ends_every_wait() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let other = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let sixes = pool.upload(&[6u32; 100], &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    let held = hold(&stream);
    ops::copy_to_host(&sixes, &mut pinned, &stream).unwrap();
    let mut ticket = stream.ticket().unwrap();
    let task = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&task));
    let asked = Pin::new(&mut ticket).poll(&mut Task::from_waker(&waker));
    assert_eq!(asked, Poll::Pending);
    let (watch, results) = subscribe(&ticket);
    // The reactor is the first to meet it.
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail_from(id::cuEventQuery, 1, code);
    let told = results.recv_timeout(LATE).unwrap().unwrap_err();
    let lost = context.poison().unwrap();
    assert_eq!(told, lost);
    assert_eq!(block_on(&mut ticket), Err(lost.clone()));
    assert_eq!(
        results.recv_timeout(LATE),
        Err(RecvTimeoutError::Disconnected)
    );
    // Nor is a caller left waiting that comes late.
    let (late, results) = subscribe(&ticket);
    assert_eq!(results.try_recv(), Ok(Err(lost.clone())));
    assert_eq!(ticket.is_done(), Err(lost.clone()));
    assert_eq!(ticket.wait(), Err(lost.clone()));
    assert_eq!(ticket.wait_on(&other), Err(lost.clone()));
    assert_eq!(pinned.as_slice().map(drop), Err(lost.clone()));
    let copied = ops::copy_to_host(&sixes, &mut pinned, &other);
    assert_eq!(copied, Err(lost.clone()));
    assert_eq!(stream.ticket().map(drop), Err(lost));
    drop((held, watch, late));
}

// Without it a question that fails once could end a wait early, or one that always fails never.
#[test]
fn a_device_that_cannot_be_asked_is_asked_three_times() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let ticket = stream.ticket().unwrap();
    table.reset();
    table.fail(id::cuEventQuery, 1, UNKNOWN);
    table.fail(id::cuEventQuery, 2, UNKNOWN);
    let (watch, results) = subscribe(&ticket);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    drop(watch);
    let ticket = stream.ticket().unwrap();
    table.reset();
    table.fail_from(id::cuEventQuery, 1, UNKNOWN);
    let (watch, results) = subscribe(&ticket);
    let told = results.recv_timeout(LATE).unwrap().unwrap_err();
    assert_eq!(told.status(), Some(UNKNOWN));
    table.reset();
    assert_eq!(ticket.wait(), Ok(()));
    drop(watch);
}

// Without it a function could be called after its caller gave up, or the device be asked for no
// caller until the work ends.
#[test]
fn a_subscription_ends_when_it_is_dropped() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let held = hold(&stream);
    let ticket = stream.ticket().unwrap();
    let (watch, results) = subscribe(&ticket);
    drop(watch);
    let gone = Err(RecvTimeoutError::Disconnected);
    assert_eq!(results.recv_timeout(LATE), gone);
    let asked = || table.count(id::cuEventQuery);
    let still = (0..1000).find(|_| {
        let before = asked();
        thread::sleep(SOON);
        asked() == before
    });
    assert!(still.is_some(), "the device is still asked");
    drop(held);
    ticket.wait().unwrap();
}

// Without it a caller could use the crate in its function only at the risk of a deadlock.
#[test]
fn a_function_may_use_the_crate() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let held = hold(&stream);
    let ticket = stream.ticket().unwrap();
    let (told, results) = channel();
    let next: Arc<Mutex<Option<TicketWatch>>> = Arc::default();
    let watch = ticket.on_done({
        let (stream, next) = (stream.clone(), Arc::clone(&next));
        move |_| {
            ops::synchronize(&stream).unwrap();
            let after = stream.ticket().unwrap();
            let watch = after.on_done(move |result| told.send(result).unwrap());
            *next.lock().unwrap() = Some(watch);
        }
    });
    drop(held);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    drop((watch, next));
}

// Without it a wait for a stream that is gone would never end, or a shutdown leave something.
#[test]
fn a_ticket_outlives_its_stream() {
    let (_table, _machine, execution, context) = open();
    let alive = execution.watch();
    let streams = context.streams();
    let stream = streams.create(Default::default()).unwrap();
    let held = hold(&stream);
    let ticket = stream.ticket().unwrap();
    let (watch, results) = subscribe(&ticket);
    drop(stream);
    streams.trim(0).unwrap();
    assert_eq!(execution.live().streams, 0);
    drop((context, execution.shutdown(), execution));
    assert_eq!(results.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
    drop(held);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    assert_eq!(ticket.wait(), Ok(()));
    drop((watch, ticket));
    let empty = (0..1000).find(|_| {
        thread::sleep(Duration::from_millis(1));
        alive.live().is_empty()
    });
    assert!(empty.is_some(), "{:?}", alive.live());
}

// Without it a stream could run ahead of the work that it is to wait for, or a wait on the host
// return early; or a wait for what is known to be done ask the driver.
#[test]
fn a_ticket_is_waited_for_on_the_device_and_on_the_host() {
    let (table, _machine, _execution, context) = open();
    let streams = context.streams();
    let (first, then) = (
        streams.create(Default::default()).unwrap(),
        streams.create(Default::default()).unwrap(),
    );
    let held = hold(&first);
    let ticket = first.ticket().unwrap();
    ticket.wait_on(&then).unwrap();
    assert_eq!(ops::query(&then), Ok(false));
    let release = thread::spawn(move || {
        thread::sleep(SOON);
        drop(held);
    });
    ticket.wait().unwrap();
    release.join().unwrap();
    ops::synchronize(&then).unwrap();
    table.reset();
    ticket.wait_on(&then).unwrap();
    ticket.wait().unwrap();
    assert_eq!((ticket.is_done(), block_on(ticket)), (Ok(true), Ok(())));
    assert!(table.counts().is_empty());
    // Of the first fault of each call the caller is told, and the next attempt works.
    let ticket = first.ticket().unwrap();
    for (call, which) in [
        (id::cuEventSynchronize, 0),
        (id::cuEventQuery, 1),
        (id::cuStreamWaitEvent, 2),
    ] {
        table.reset();
        table.fail(call, 1, UNKNOWN);
        let refused = match which {
            0 => ticket.wait(),
            1 => ticket.is_done().map(drop),
            _ => ticket.wait_on(&then),
        };
        assert_eq!(refused.unwrap_err().status(), Some(UNKNOWN));
    }
    table.reset();
    table.fail(id::cuEventRecord, 1, UNKNOWN);
    assert_eq!(first.ticket().unwrap_err().status(), Some(UNKNOWN));
    ticket.wait().unwrap();
    first.ticket().unwrap().wait().unwrap();
    // A capture takes no event of ours.
    table.reset();
    let captured = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    table.fail_from(id::cuStreamIsCapturing, 1, captured);
    let operation = "ticket";
    assert_eq!(
        first.ticket().map(drop),
        Err(Error::Capturing { operation })
    );
    assert_eq!(table.count(id::cuEventRecord), 0);
}

// Without it each kind of wait would have a clock of its own, and ask for what another one knows.
#[test]
fn all_waits_for_a_stream_set_one_clock() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut sixes = pool.upload(&[6u32; 100], &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    // Of pinned memory.
    let ticket = stream.ticket().unwrap();
    ops::copy_to_host(&sixes, &mut pinned, &stream).unwrap();
    let after = stream.ticket().unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [6; 100]);
    table.reset();
    assert_eq!(ticket.is_done(), Ok(true));
    assert!(table.counts().is_empty());
    after.is_done().unwrap();
    assert_eq!(table.count(id::cuEventQuery), 1, "it came later");
    // Of a read.
    let ticket = stream.ticket().unwrap();
    sixes.to_vec(&stream).unwrap();
    table.reset();
    assert_eq!(ticket.is_done(), Ok(true));
    // Of the program, for all of the stream, and for a ticket.
    for by_ticket in [false, true] {
        ops::copy_to_device(&pinned, &mut sixes, &stream).unwrap();
        match by_ticket {
            false => ops::synchronize(&stream).unwrap(),
            true => stream.ticket().unwrap().wait().unwrap(),
        }
        table.reset();
        assert_eq!(pinned.as_slice().unwrap(), [6; 100]);
    }
    assert!(table.counts().is_empty());
}

// Without it memory that a step frees on the stages' streams would be asked for, though the item
// that it was for has arrived.
#[test]
fn an_item_that_arrives_sets_the_clocks_of_all_stages() {
    let (table, _machine, _execution, context) = open();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config).unwrap();
    let tickets = Mutex::new(Vec::new());
    let mut left = 10;
    pipeline
        .run::<Error>(
            |input| {
                left -= 1;
                Ok((left > 0).then_some(input.len()))
            },
            |step| {
                ops::copy(step.input, step.output, step.stream)?;
                tickets.lock().unwrap().push(step.stream.ticket()?);
                Ok(100)
            },
            |item| {
                let asked = table.count(id::cuEventQuery);
                let tickets = tickets.lock().unwrap();
                assert_eq!(tickets[item.index as usize].is_done(), Ok(true));
                assert_eq!(table.count(id::cuEventQuery), asked);
                Ok(())
            },
        )
        .unwrap();
    assert_eq!(tickets.lock().unwrap().len(), 9);
}

/// Asks a future once, without a task to wake.
fn ask<F: Future<Output = Result<()>> + Unpin>(future: &mut F) -> Poll<Result<()>> {
    Pin::new(future).poll(&mut Task::from_waker(Waker::noop()))
}

// Without it the await of an event would wait for all that is on its stream, which may wait for the
// program.
#[test]
fn an_event_is_awaited_and_not_what_comes_behind_it() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let event = context.events().create(Default::default()).unwrap();
    let before = hold(&stream);
    ops::record(&event, &stream).unwrap();
    let behind = hold(&stream);
    let mut futures = [(&event).into_future(), (&event).into_future()];
    let mut all = (&stream).into_future();
    assert!(futures.iter_mut().all(|future| ask(future).is_pending()));
    assert!(ask(&mut all).is_pending());
    drop(before);
    for future in futures {
        assert_eq!(block_on(future), Ok(()));
    }
    assert_eq!(ops::query(&stream), Ok(false));
    assert!(ask(&mut all).is_pending());
    drop(behind);
    assert_eq!(block_on(all), Ok(()));
    assert_eq!(ops::query(&stream), Ok(true));
    // What is known needs no thread.
    assert_eq!(ask(&mut (&event).into_future()), Poll::Ready(Ok(())));
    let fresh = context.events().create(Default::default()).unwrap();
    assert_eq!(ask(&mut (&fresh).into_future()), Poll::Ready(Ok(())));
}

// Without it the future of a stream would wait for work that came after it, which may wait for the
// program.
#[test]
fn a_stream_is_awaited_as_it_is_then() {
    let (_table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    for _ in 0..3 {
        let before = hold(&stream);
        let mut future = (&stream).into_future();
        let behind = hold(&stream);
        assert!(ask(&mut future).is_pending());
        let later = (&stream).into_future();
        drop(before);
        assert_eq!(block_on(future), Ok(()));
        assert_eq!(ops::query(&stream), Ok(false));
        drop(behind);
        assert_eq!(block_on(later), Ok(()));
    }
}

// Without it the future of an event of a lost context would wait for ever; or one question that
// fails would end it, or all that do never.
#[test]
fn the_future_of_an_event_is_told_of_errors() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let event = context.events().create(Default::default()).unwrap();
    let held = hold(&stream);
    ops::record(&event, &stream).unwrap();
    let mut future = (&event).into_future();
    assert!(ask(&mut future).is_pending());
    table.fail(id::cuEventQuery, 1, UNKNOWN);
    thread::sleep(SOON);
    assert!(ask(&mut future).is_pending(), "one question failed");
    table.fail_from(id::cuEventQuery, 1, UNKNOWN);
    let told = block_on(&mut future).unwrap_err();
    assert_eq!(told.status(), Some(UNKNOWN));
    assert_eq!(context.poison(), None);
    table.reset();
    // One that is dropped is told nothing.
    let task = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&task));
    let mut dropped = (&event).into_future();
    let asked = Pin::new(&mut dropped).poll(&mut Task::from_waker(&waker));
    assert_eq!(asked, Poll::Pending);
    drop(dropped);
    let mut futures = [(&event).into_future(), (&stream).into_future()];
    assert!(futures.iter_mut().all(|future| ask(future).is_pending()));
    table.fail_from(id::cuEventQuery, 1, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let told = futures.map(block_on);
    let lost = context.poison().unwrap();
    assert_eq!(told, [Err(lost.clone()), Err(lost.clone())]);
    assert_eq!(task.0.load(Ordering::SeqCst), 0);
    let late = [(&event).into_future(), (&stream).into_future()];
    assert_eq!(late.map(block_on), [Err(lost.clone()), Err(lost)]);
    drop(held);
}

// Without it a deferred ticket could cost a call when it is taken, be told before its work is done, or need an
// event of its own where another wait knows.
#[test]
fn a_deferred_ticket_records_its_event_when_it_is_needed() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let other = context.streams().create(Default::default()).unwrap();
    let held = hold(&stream);
    table.reset();
    let first = stream.deferred_ticket();
    let second = stream.deferred_ticket();
    assert!(!first.is_known_done() && first.precedes(&stream) && !first.precedes(&other));
    assert!(table.counts().is_empty(), "{:?}", table.counts());
    let ticket = first.ticket().unwrap();
    assert!(!ticket.is_done().unwrap());
    assert_eq!(table.count(id::cuEventRecord), 1);
    ticket.wait_on(&other).unwrap();
    drop(held);
    ops::synchronize(&other).unwrap();
    assert!(!second.is_known_done(), "nothing was asked on its stream");
    ticket.wait().unwrap();
    assert!(first.is_known_done() && second.is_known_done() && second.precedes(&other));
    second.ticket().unwrap().wait().unwrap();
    assert_eq!(table.count(id::cuEventRecord), 1);
}

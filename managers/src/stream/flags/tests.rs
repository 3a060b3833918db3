//! Flags on the software device, and waits that go by them.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use cupola_sim::Machine;
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, id};

use super::words::WORDS;
use super::*;
use crate::ExecutionManager;
use crate::error::Result;
use crate::stream::{Stream, TicketWatch};
use crate::test_bench::{TestBench, hold};

const LATE: Duration = Duration::from_secs(20);

fn subscribe(stream: &Stream) -> (TicketWatch, Receiver<Result<()>>) {
    let (told, results) = channel();
    let ticket = stream.ticket().unwrap();
    let watch = ticket.on_done(move |result| told.send(result).unwrap());
    (watch, results)
}

fn raise(flag: &mut Flag, stream: &Stream) -> u32 {
    let driver = stream.core().enter().unwrap();
    // SAFETY: the stream is alive and of the flag's context, which is current.
    unsafe { flag.raise(driver, stream.raw()) }.unwrap();
    flag.put()
}

#[track_caller]
fn becomes(is: impl Fn() -> bool) {
    let end = Instant::now() + LATE;
    while !is() {
        assert!(Instant::now() < end, "it does not come to be");
        std::thread::yield_now();
    }
}

fn stats(bench: &TestBench) -> (u64, u64) {
    let stats = bench.context.streams().completion_stats();
    (stats.flagged, stats.polled)
}

// Without it the next owner of a word would take the last one's end for its own.
#[test]
fn a_word_that_a_stream_may_write_is_no_other_flags() {
    let bench = TestBench::new();
    let stream = bench.stream();
    let flags = Flags::new();
    let mut flag = flags.claim(bench.context.core()).unwrap();
    let held = hold(&stream);
    let first = raise(&mut flag, &stream);
    let second = raise(&mut flag, &stream);
    assert!(!flag.has_reached(first));
    drop(flag);
    let others: Vec<_> = std::iter::from_fn(|| flags.claim(bench.context.core())).collect();
    assert_eq!(others.len(), WORDS - 1);
    drop(held);
    becomes(|| flags.claim(bench.context.core()).is_some());
    let again = flags.claim(bench.context.core()).unwrap();
    assert_eq!(again.seen(), second, "the numbers go on");
    assert!(again.has_reached(second) && !again.has_reached(second + 1));
    drop((again, others, flags, stream));
    bench.finish();
}

// Without it the memory would be freed while a stream may write to it, or be lost with each future
// that is dropped early.
#[test]
fn the_page_waits_for_what_streams_write() {
    let bench = TestBench::new();
    let stream = bench.stream();
    let flags = Flags::new();
    let mut flag = flags.claim(bench.context.core()).unwrap();
    let held = hold(&stream);
    raise(&mut flag, &stream);
    drop((flag, flags));
    // Nor does the end of the flags wait for the stream.
    assert_eq!(bench.faults.count(id::cuMemFreeHost), 0);
    let live = bench.execution.live();
    assert_eq!((live.buried, live.abandoned), (1, 0));
    drop((held, stream));
    bench.finish();
}

// Without it a graph would write to memory of others.
#[test]
fn a_page_that_a_graph_may_write_to_is_never_freed() {
    let bench = TestBench::new();
    let flags = Flags::new();
    flags.claim(bench.context.core()).unwrap().note_captured();
    drop(flags);
    assert_eq!(bench.faults.count(id::cuMemFreeHost), 0);
    assert_eq!(bench.execution.live().abandoned, 1);
}

// Without it the reactor would ask the driver all the time that a kernel runs.
#[test]
fn while_no_flag_has_come_the_driver_is_asked_seldom() {
    let bench = TestBench::new();
    let stream = bench.stream();
    let held = hold(&stream);
    let (watch, results) = subscribe(&stream);
    let (begin, before) = (Instant::now(), bench.faults.count(id::cuEventQuery));
    std::thread::sleep(Duration::from_millis(50));
    let asked = bench.faults.count(id::cuEventQuery) - before;
    // Ten at most in the first millisecond, one for each tenth of the wait up to 20 ms.
    let most = 45 + begin.elapsed().as_millis() as u64 / 2;
    assert!(asked <= most, "{asked} of {most}");
    assert!(results.try_recv().is_err());
    drop(held);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    assert_eq!(stats(&bench), (1, 0));
    drop((watch, stream));
    bench.finish();
}

// Without it more streams than flags would be an error, or wait for ever, or no figure would say
// why a wait took more.
#[test]
fn without_a_flag_a_wait_is_told_all_the_same() {
    let bench = TestBench::new();
    let stream = bench.stream();
    let flags = Arc::clone(bench.context.streams().flags());
    let all: Vec<_> = std::iter::from_fn(|| flags.claim(bench.context.core())).collect();
    assert_eq!(all.len(), WORDS);
    let held = hold(&stream);
    let (watch, results) = subscribe(&stream);
    drop(held);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    assert_eq!(stats(&bench), (0, 1));
    assert_eq!(bench.faults.count(id::cuStreamWriteValue32_v2), 0);
    drop(all);
    let held = hold(&stream);
    let (again, results) = subscribe(&stream);
    drop(held);
    assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
    assert_eq!(stats(&bench), (1, 1));
    drop((watch, again, flags, stream));
    bench.finish();
}

// Without it a driver that cannot have a stream write, or does not, would hang or fail a wait.
#[test]
fn a_driver_without_the_write_is_asked() {
    let old = Machine::builder().worker_threads(1);
    let old = TestBench::on(old.driver_version(Version::new(11, 4)));
    let others = [
        (id::cuStreamWriteValue32_v2, CUresult::CUDA_ERROR_UNKNOWN),
        (id::cuMemHostAlloc, CUresult::CUDA_ERROR_OUT_OF_MEMORY),
        (id::cuMemHostAlloc, CUresult::CUDA_ERROR_NOT_SUPPORTED),
    ];
    let others = others.map(|(call, code)| {
        let bench = TestBench::new();
        bench.faults.fail_from(call, 1, code);
        bench
    });
    for bench in others.into_iter().chain([old]) {
        let stream = bench.stream();
        for _ in 0..2 {
            let held = hold(&stream);
            let (watch, results) = subscribe(&stream);
            drop(held);
            assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
            drop(watch);
        }
        assert_eq!(stats(&bench), (0, 2));
        bench.faults.reset();
        drop(stream);
        bench.finish();
    }
}

// Without it a stream that is given up would keep its flag, or its context.
#[test]
fn a_stream_gives_its_flag_back() {
    let bench = TestBench::new();
    let flags = Arc::clone(bench.context.streams().flags());
    for _ in 0..2 {
        let stream = bench.stream();
        let held = hold(&stream);
        let (watch, results) = subscribe(&stream);
        drop((held, stream));
        assert_eq!(results.recv_timeout(LATE), Ok(Ok(())));
        drop(watch);
        bench.context.streams().trim(0).unwrap();
    }
    becomes(|| {
        let all: Vec<_> = std::iter::from_fn(|| flags.claim(bench.context.core())).collect();
        all.len() == WORDS
    });
    drop(flags);
    bench.finish();
}

// Without it page-locked memory would stay where a stream is the last that has its context, and other code
// the primary context.
#[test]
fn the_words_end_with_the_last_stream() {
    let bench = TestBench::new();
    let elsewhere = ExecutionManager::new(bench.machine.driver()).unwrap();
    let others = elsewhere.devices().get(0).unwrap().primary().unwrap();
    let stream = bench.stream();
    let (watch, results) = subscribe(&stream);
    results.recv_timeout(LATE).unwrap().unwrap();
    drop(watch);
    let TestBench {
        machine,
        faults,
        context,
        execution,
        ..
    } = bench;
    assert_eq!(machine.usage().host_allocations, 1);
    drop(context);
    drop(execution);
    assert_eq!(machine.usage().host_allocations, 1);
    drop(stream);
    // The thread that told of the end may have the stream's timeline for a moment.
    becomes(|| machine.usage().host_allocations == 0);
    drop((others, faults));
}

//! The thread that looks after callers: each that comes is looked after, whether the thread sleeps,
//! falls asleep or looks just then.

use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicBool as Flag, Ordering::Relaxed};
use std::time::Instant;

use cupola_sys::driver::{CUresult, DriverError, id};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread::{self, Thread};

use crate::driver::{Reactor, Watched};
use crate::models::managers::{close, managers};
use crate::models::model;
use crate::stream::StreamConfig;

/// Work that is done, and the thread that sleeps until it is told so.
struct Done {
    told: AtomicBool,
    caller: Thread,
}

impl Watched for Done {
    fn advance(&self, _: Instant) -> bool {
        self.told.store(true, Ordering::Release);
        self.caller.unpark();
        false
    }
}

/// Has the thread look after work, and sleeps until it has.
fn wait(reactor: &Reactor) {
    let done = StdArc::new(Done {
        told: AtomicBool::new(false),
        caller: thread::current(),
    });
    let watched: std::sync::Weak<dyn Watched> = StdArc::downgrade(&done) as _;
    reactor.watch(watched).unwrap();
    while !done.told.load(Ordering::Acquire) {
        thread::park();
    }
}

// Without it a caller that comes while the thread falls asleep would wait for ever, and so would the
// end of a reactor whose thread does.
#[test]
fn a_caller_that_comes_as_it_falls_asleep_is_looked_after() {
    model(&["it slept", "it had not looked"], |seen| {
        let reactor = Reactor::default();
        let thread = reactor.start_in_model();
        reactor.hurry();
        seen.note(match reactor.looks() {
            0 => "it had not looked",
            _ => "it slept",
        });
        wait(&reactor);
        wait(&reactor);
        drop(reactor);
        thread.join().unwrap();
    });
}

// Without it one of two callers could be lost, or wake the thread for both.
#[test]
fn callers_of_two_threads_are_looked_after() {
    model(&["done"], |seen| {
        let reactor = Arc::new(Reactor::default());
        let thread = reactor.start_in_model();
        let other = thread::spawn({
            let reactor = reactor.clone();
            move || wait(&reactor)
        });
        wait(&reactor);
        other.join().unwrap();
        drop(reactor);
        thread.join().unwrap();
        seen.note("done");
    });
}

/// Work that is never done, and whether it was asked for.
struct Never(StdArc<Flag>);

impl Watched for Never {
    fn advance(&self, _: Instant) -> bool {
        self.0.store(true, Relaxed);
        true
    }
}

// Without it the thread would look for ever after what no caller waits for, and not end.
#[test]
fn a_caller_that_goes_lets_it_sleep() {
    model(&["it was asked for", "it was not"], |seen| {
        let reactor = Reactor::default();
        let thread = reactor.start_in_model();
        let asked = StdArc::new(Flag::new(false));
        let never = StdArc::new(Never(StdArc::clone(&asked)));
        let watched: std::sync::Weak<dyn Watched> = StdArc::downgrade(&never) as _;
        reactor.watch(watched).unwrap();
        reactor.hurry();
        drop(never);
        drop(reactor);
        thread.join().unwrap();
        seen.note(match asked.load(Relaxed) {
            true => "it was asked for",
            false => "it was not",
        });
    });
}

// Without it a caller could wait for ever for work of a context that is lost while the thread looks,
// or be told twice; or the thread would go on asking.
#[test]
fn a_loss_tells_every_caller_while_the_thread_looks() {
    model(&["all fail", "one fails", "none fails"], |seen| {
        let managers = managers();
        let reactor = managers.core.reactor();
        let thread = reactor.start_in_model();
        let told = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let counts = |told: &[AtomicUsize; 2]| {
            let [complete, failed] = told;
            (
                complete.load(Ordering::Acquire),
                failed.load(Ordering::Acquire),
            )
        };
        let (caller, mut subscriptions) = (thread::current(), Vec::new());
        for _ in 0..2 {
            let stream = managers.streams.acquire(StreamConfig::default()).unwrap();
            let timeline = stream.timeline().clone();
            let (told, caller) = (told.clone(), caller.clone());
            subscriptions.push(timeline.on_done(&managers.core, 1, move |result| {
                told[usize::from(result.is_err())].fetch_add(1, Ordering::Release);
                caller.unpark();
            }));
        }
        let (symbol, code) = (id::cuStreamQuery, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        managers.core.failed(DriverError::Failed { symbol, code });
        loop {
            let (complete, failed) = counts(&told);
            if complete + failed >= 2 {
                break;
            }
            thread::park();
        }
        // Before the managers: loom does not know what orders the last use of a `std::sync::Arc`, and
        // the thread may have one of the timelines in its hands.
        reactor.end();
        thread.join().unwrap();
        drop((subscriptions, reactor));
        close(managers);
        let (complete, failed) = counts(&told);
        assert_eq!(complete + failed, 2, "each is told once");
        seen.note(match failed {
            2 => "all fail",
            1 => "one fails",
            _ => "none fails",
        });
    });
}

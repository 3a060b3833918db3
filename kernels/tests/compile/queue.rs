//! Many compiles at a time, and cancelled ones.

use std::future::Future as _;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use cupola_kernels::compile::{Cancellation, CompileError, CompileQueue};

use super::{compiler, long_source, request};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

// Without it code could depend on what other threads compile.
#[test]
fn eight_threads_make_the_same_bytes() {
    let Some(compiler) = compiler() else { return };
    let request = request(&compiler, &long_source(2));
    let expected = compiler.compile(&request).unwrap().into_image();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..3 {
                    assert_eq!(compiler.compile(&request).unwrap().image(), expected);
                }
            });
        }
    });
}

// Without it a compile that is not wanted any more could hold its thread to the end, or give a
// result all the same.
#[test]
fn a_compile_is_cancelled_from_another_thread() {
    let Some(compiler) = compiler() else { return };
    let request = request(&compiler, &long_source(400));
    let before = Cancellation::new();
    before.cancel();
    let ended = compiler.compile_until(&request, &before);
    assert!(matches!(ended, Err(CompileError::Cancelled)));

    let during = Cancellation::new();
    thread::scope(|scope| {
        let compile = scope.spawn(|| compiler.compile_until(&request, &during));
        thread::sleep(std::time::Duration::from_millis(60));
        during.cancel();
        let ended = compile.join().unwrap();
        assert!(matches!(ended, Err(CompileError::Cancelled)), "{ended:?}");
    });
}

// Without it a task could never be woken, or get the result of another job.
#[test]
fn jobs_can_be_awaited_and_waited_for() {
    let Some(compiler) = compiler() else { return };
    let queue = CompileQueue::with_width(compiler.clone(), NonZeroUsize::MIN);
    let sources = [1, 2, 3].map(long_source);
    let jobs = sources
        .each_ref()
        .map(|source| queue.submit(request(&compiler, source)).unwrap());
    let expected = sources
        .each_ref()
        .map(|source| compiler.compile(&request(&compiler, source)).unwrap());
    let [first, second, third] = jobs;
    let mut first = pin!(first);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let made = loop {
        match first.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(made) => break made.unwrap(),
            Poll::Pending => thread::park(),
        }
    };
    assert_eq!(made.image(), expected[0].image());
    assert_eq!(third.wait().unwrap().image(), expected[2].image());
    assert!(second.is_done());
    assert_eq!(second.wait().unwrap().image(), expected[1].image());

    let wrong = queue.submit(request(&compiler, "wrong")).unwrap();
    assert!(matches!(wrong.wait(), Err(CompileError::Source { .. })));
}

// Without it work that is wanted by no caller could keep the ones behind it waiting, or a caller
// wait for ever for a queue that is gone.
#[test]
fn dropped_jobs_and_queues_leave_no_caller_waiting() {
    let Some(compiler) = compiler() else { return };
    let queue = CompileQueue::with_width(compiler.clone(), NonZeroUsize::MIN);
    let long = request(&compiler, &long_source(400));
    drop(queue.submit(long.clone()).unwrap());
    let short = queue.submit(request(&compiler, "")).unwrap();
    short.wait().unwrap();

    let running = queue.submit(long.clone()).unwrap();
    let waiting = queue.submit(long).unwrap();
    drop(queue);
    assert!(matches!(
        running.wait(),
        Err(CompileError::Cancelled | CompileError::QueueGone)
    ));
    assert!(matches!(waiting.wait(), Err(CompileError::QueueGone)));
}

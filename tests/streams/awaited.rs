//! A pipeline as an asynchronous stream.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use cupola_managers::pipeline::{CopyThreads, ItemError, ItemStage, Pipeline, PipelineConfig};
use cupola_managers::{Error, ops};
use futures_core::Stream;

use crate::common::Bench;

const LEN: usize = 1000;

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Numbers, each of which is late by one poll.
struct Late {
    next: u32,
    end: u32,
    is_late: bool,
}

impl Stream for Late {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        self.is_late = !self.is_late;
        if self.is_late {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.next == self.end {
            return Poll::Ready(None);
        }
        self.next += 1;
        Poll::Ready(Some(self.next - 1))
    }
}

/// What comes out of a stream over so many items, as long as `wanted` says, of which one may fail.
fn outputs(
    pipeline: &mut Pipeline<u32, u32>,
    items: u32,
    wanted: usize,
    fail: Option<(u32, ItemStage)>,
) -> Vec<Result<u32, ItemError<Error>>> {
    let failure = || Error::Full { kind: "test" };
    let inputs = Late {
        next: 0,
        end: items,
        is_late: false,
    };
    let mut outputs = pipeline.stream(
        inputs,
        |input, slot| {
            slot.fill(input);
            Ok(LEN)
        },
        |step| {
            if fail == Some((step.index as u32, ItemStage::Kernel(0))) {
                return Err(failure());
            }
            ops::copy(step.input, step.output, step.stream).map(|()| LEN)
        },
        |item| {
            assert_eq!(item.output.len(), LEN);
            match fail == Some((item.index as u32, ItemStage::Sink)) {
                true => Err(failure()),
                false => Ok(item.output[LEN - 1]),
            }
        },
    );
    let mut found = Vec::new();
    block_on(async {
        while found.len() < wanted
            && let Some(item) = poll_fn(|context| Pin::new(&mut outputs).poll_next(context)).await
        {
            found.push(item);
        }
    });
    found
}

// Without it a stream could sleep on when an item or an input has come, lose or repeat one, or go
// on after an error.
#[test]
fn every_output_is_awaited_in_order() {
    let bench = Bench::open();
    for (depth, threads) in [
        (1, CopyThreads::Never),
        (3, CopyThreads::Never),
        // Which wakes the task.
        (3, CopyThreads::Always),
    ] {
        let config = PipelineConfig::new(LEN, LEN).depth(depth);
        let config = config.copy_threads(threads);
        let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &bench.pool, config).unwrap();
        let all: Vec<_> = (0..50).map(Ok).collect();
        assert_eq!(outputs(&mut pipeline, 0, usize::MAX, None), []);
        assert_eq!(outputs(&mut pipeline, 50, usize::MAX, None), all);
        for stage in [ItemStage::Kernel(0), ItemStage::Sink] {
            for index in [0, 1, 20] {
                let fail = Some((index, stage));
                let mut found = outputs(&mut pipeline, 50, usize::MAX, fail);
                let error = found.pop().unwrap().unwrap_err();
                assert_eq!((error.index, error.stage), (u64::from(index), stage));
                assert_eq!(found, all[..found.len()]);
                assert_eq!(pipeline.in_flight(), 0);
            }
        }
        // Dropped early, it leaves nothing in flight.
        assert_eq!(outputs(&mut pipeline, 50, 5, None), all[..5]);
        assert_eq!(pipeline.in_flight(), 0);
        assert_eq!(outputs(&mut pipeline, 50, usize::MAX, None), all);
    }
    bench.finish_later();
}

// Without it an executor with several threads could not take the stream.
#[test]
fn a_stream_may_be_polled_on_another_thread() {
    let bench = Bench::open();
    let config = PipelineConfig::new(LEN, LEN);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &bench.pool, config).unwrap();
    thread::scope(|threads| {
        let pipeline = &mut pipeline;
        let polled = threads.spawn(move || outputs(pipeline, 20, usize::MAX, None));
        assert_eq!(polled.join().unwrap().len(), 20);
    });
    let stream = pipeline.stream(
        Late {
            next: 0,
            end: 1,
            is_late: false,
        },
        |_, _| Ok::<_, Error>(0),
        |_| Ok(0),
        |_| Ok(()),
    );
    fn is_send<T: Send>(_: &T) {}
    is_send(&stream);
    drop(stream);
    bench.finish_after(pipeline);
}

//! What handles promise, on any device.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use cupola_kernels::executor::CooperativeError;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Buffer, Error};
use serde_json::Value;

use super::common::Bench;
use super::{executor, hold};

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

// Without it a handle could say that work is done which is not, or never say so.
#[test]
fn an_execution_is_done_when_its_work_is() {
    let bench = Bench::open();
    let executor = executor(&bench, 2);
    let held = executor.execute(hold).unwrap();
    let free = executor.execute(|_| Ok(7)).unwrap();
    assert_eq!(free.join().unwrap(), 7, "it has a stream of its own");
    assert!(!held.is_done().unwrap());
    held.output().send(()).unwrap();
    held.wait().unwrap();
    assert!(held.is_done().unwrap());
    assert_eq!(held.times().unwrap(), None, "it was not timed");
    bench.finish_after((held, executor));
}

// Without it a kernel could read what the one before it has not written: the fences of other streams would
// be for nothing.
#[test]
fn executions_come_after_others_on_other_streams() {
    let bench = Bench::open();
    let executor = executor(&bench, 3);
    let scale = bench.kernel("cupola_scale");
    let config = LaunchConfig::linear(4, 256);
    for timed in [false, true] {
        let request = || match timed {
            true => executor.request().timed(),
            false => executor.request(),
        };
        let first = request()
            .execute(|stream| bench.pool.upload(&[1.0_f32; 1000], stream))
            .unwrap();
        let second = request()
            .after(&[first.fence()])
            .execute(|stream| {
                let mut doubled = bench.pool.allocate::<f32>(1000, stream)?;
                let arguments = (1000_u64, 2.0_f32, first.output(), &mut doubled);
                // SAFETY: the kernel reads and writes 1000 elements.
                unsafe { ops::launch(&scale, config, arguments, stream) }?;
                Ok(doubled)
            })
            .unwrap();
        let both = [first.fence(), second.fence()];
        let sum = request()
            .after(&both)
            .execute(|stream| {
                let mut quadrupled = bench.pool.allocate::<f32>(1000, stream)?;
                let arguments = (1000_u64, 2.0_f32, second.output(), &mut quadrupled);
                // SAFETY: the kernel reads and writes 1000 elements.
                unsafe { ops::launch(&scale, config, arguments, stream) }?;
                Ok(quadrupled)
            })
            .unwrap();
        let result: Buffer<f32> = sum.join().unwrap();
        assert_eq!(result.to_vec(&bench.stream).unwrap(), [4.0; 1000]);
        assert!(first.is_done().unwrap() && second.is_done().unwrap());
        assert_eq!(second.times().unwrap().is_some(), timed);
        drop((first, second, result));
    }
    bench.finish_after((scale, executor));
}

// Without it a task could sleep for ever, or be told before the end.
#[test]
fn an_execution_is_awaited_with_its_output() {
    let bench = Bench::open();
    let executor = executor(&bench, 1);
    block_on(async {
        let held = executor.execute(hold)?;
        let release = held.output().clone();
        let second = executor.request().timed().execute(|_| Ok("output"))?;
        thread::spawn(move || drop(release));
        // The handle has the other end of the channel.
        drop(held);
        (&second).await?;
        assert!(second.is_done()?);
        assert!(second.times()?.is_some());
        assert_eq!(second.await?, "output");
        Ok::<_, Error>(())
    })
    .unwrap();
    bench.finish_after(executor);
}

// Without it an execution without a handle could lose its work, or memory that it still writes.
#[test]
fn a_handle_may_be_dropped_before_the_end() {
    let bench = Bench::open();
    let executor = executor(&bench, 1);
    let scale = bench.kernel("cupola_scale");
    let mut output = bench.pool.zeros::<f32>(1000, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let held = executor.execute(hold).unwrap();
    {
        let output = &mut output;
        let pool = &bench.pool;
        let scale = &scale;
        let put = executor.execute(move |stream| {
            let mut input = pool.allocate::<f32>(1000, stream)?;
            ops::fill(&mut input, 1.5, stream)?;
            let arguments = (1000_u64, 2.0_f32, &input, output);
            // SAFETY: the kernel reads and writes 1000 elements.
            unsafe { ops::launch(scale, LaunchConfig::linear(4, 256), arguments, stream) }?;
            Ok(input)
        });
        // The handle, and with it the input, before the kernel has begun.
        drop(put.unwrap());
    }
    drop(held);
    executor.execute(|_| Ok(())).unwrap().wait().unwrap();
    assert_eq!(output.to_vec(&bench.stream).unwrap(), [3.0; 1000]);
    bench.finish_after((output, scale, executor));
}

// Without it results could come in the order of their ends, or a refusal be told as another's.
#[test]
fn a_batch_has_its_results_in_order_and_names_the_first_refused() {
    let bench = Bench::open();
    let executor = executor(&bench, 4);
    let kernel = bench.kernel("cupola_scale");
    let (scale, pool) = (&kernel, &bench.pool);
    let work = |index: usize, threads: u32| {
        move |stream: &_| {
            let input = pool.upload(&vec![index as f32; 100], stream)?;
            let mut output = pool.allocate::<f32>(100, stream)?;
            let arguments = (100_u64, 2.0_f32, &input, &mut output);
            // SAFETY: the kernel reads and writes 100 elements.
            unsafe { ops::launch(scale, LaunchConfig::linear(1, threads), arguments, stream) }?;
            Ok(output)
        }
    };
    let outputs = executor.batch((0..40).map(|index| work(index, 64)));
    let outputs = outputs.join().unwrap();
    assert_eq!(outputs.len(), 40);
    for (index, output) in outputs.iter().enumerate() {
        let expected = [2.0 * index as f32; 100];
        assert_eq!(output.to_vec(&bench.stream).unwrap(), expected, "{index}");
    }
    // The seventh has no threads.
    let works = (0..10).map(|index| work(index, if index == 7 { 0 } else { 64 }));
    let batch = executor.batch(works);
    assert_eq!(batch.executions().len(), 7, "none is put after it");
    let refusal = batch.refusal().unwrap().clone();
    assert_eq!((refusal.index, refusal.was_put), (7, false));
    assert!(matches!(
        refusal.error,
        Error::Invalid { field: "block", .. }
    ));
    let error = batch.join().unwrap_err();
    assert_eq!(error, refusal);
    assert!(
        error
            .to_string()
            .contains("execution 7 of the batch was not put")
    );
    drop((outputs, error, refusal));
    bench.finish_after((kernel, executor));
}

// Without it a grid whose blocks wait for each other could hang, or be refused without a reason.
#[test]
fn a_cooperative_launch_is_refused_when_not_all_blocks_run_at_once() {
    let bench = Bench::open();
    let executor = executor(&bench, 1);
    let scale = bench.kernel("cupola_scale");
    let mut memory = bench.pool.zeros::<f32>(100, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let input = bench.pool.zeros::<f32>(100, &bench.stream).unwrap();
    let mut launch = |blocks| {
        let arguments = (100_u64, 2.0_f32, &input, &mut memory);
        let request = executor.request().timed();
        // SAFETY: the kernel reads and writes 100 elements.
        unsafe { request.launch_cooperative(&scale, LaunchConfig::linear(blocks, 256), arguments) }
    };
    let Err(CooperativeError::TooManyBlocks(found)) = launch(u32::MAX >> 1) else {
        panic!("they cannot all run");
    };
    assert_eq!(
        (&*found.kernel, found.blocks),
        ("cupola_scale", (1 << 31) - 1)
    );
    assert!(found.resident() > 0);
    let most = u32::try_from(found.resident()).unwrap();
    assert!(matches!(
        launch(most + 1),
        Err(CooperativeError::TooManyBlocks(_))
    ));
    let times = launch(most).unwrap().times().unwrap().unwrap();
    assert_eq!(&*times.label, "cupola_scale");
    bench.finish_after((input, memory, scale, executor));
}

// Without it the trace could be no JSON, mix streams up, or draw executions over each other.
#[test]
fn a_trace_has_a_row_for_each_stream_in_the_hosts_time() {
    let bench = Bench::open();
    // By which the clocks of the host and the device may differ after a second.
    let (before, margin) = (Instant::now(), Duration::from_millis(1));
    let executor = executor(&bench, 3);
    let scale = bench.kernel("cupola_scale");
    let works = (0..30).map(|_| {
        |stream: &_| {
            let input = bench.pool.zeros::<f32>(4096, stream)?;
            let mut output = bench.pool.allocate::<f32>(4096, stream)?;
            let arguments = (4096_u64, 2.0_f32, &input, &mut output);
            // SAFETY: the kernel reads and writes 4096 elements.
            unsafe { ops::launch(&scale, LaunchConfig::linear(16, 256), arguments, stream) }
        }
    });
    let request = executor.request().timed().named("a \"name\"");
    request.batch(works).join().unwrap();
    let trace = executor.trace();
    assert_eq!(
        (trace.executions.len(), trace.unread, trace.forgotten),
        (30, 0, 0)
    );
    let now = before.elapsed() + margin;
    for times in &trace.executions {
        // It was put at some time after the host's clock said so, and began when it had waited for so long.
        let least = times.put + times.queue_wait;
        assert!(
            times.begun + times.uncertainty + margin >= least,
            "{times:?}"
        );
        assert!(times.begun <= now + times.uncertainty, "{times:?}");
    }
    let streams: BTreeSet<_> = trace.executions.iter().map(|times| times.stream).collect();
    let mut text = Vec::new();
    trace.write_chrome_trace(&mut text).unwrap();
    let read: Value = serde_json::from_slice(&text).unwrap();
    let events = read["traceEvents"].as_array().unwrap();
    let rows = events.iter().filter(|event| event["name"] == "thread_name");
    assert_eq!(rows.count(), streams.len());
    assert!((1..=3).contains(&streams.len()));
    let mut ends = [0.0_f64; 4];
    let slices = events.iter().filter(|event| event["ph"] == "X");
    for (slice, number) in slices.zip(1..) {
        assert_eq!(slice["name"], "a \"name\"");
        let row = slice["tid"].as_u64().unwrap() as usize;
        let start = slice["ts"].as_f64().unwrap();
        // A rounding to a thousandth of a microsecond.
        assert!(
            start >= ends[row] - 0.002,
            "{slice} begins before {}",
            ends[row]
        );
        ends[row] = start + slice["dur"].as_f64().unwrap();
        assert!(number <= 30);
    }
    bench.finish_after((scale, executor));
}

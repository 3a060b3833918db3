//! Streams, events, order and time.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::context::Waiting;
use cupola_managers::event::EventConfig;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops::{self, CopyBatch, LaunchConfig};
use cupola_managers::{Buffer, Error, PinnedBuffer, Stream};
use cupola_sys::driver::{CUcontext, CUresult};

use crate::common::Bench;

// Without it a wait between streams could be lost: the copy would overtake the fill.
#[test]
fn a_stream_waits_for_another_on_the_device() {
    let bench = Bench::open();
    let other = bench.another_stream();
    let event = bench
        .context
        .events()
        .create(EventConfig::default())
        .unwrap();
    let mut data = bench.pool.allocate::<u32>(1 << 16, &bench.stream).unwrap();
    let mut copy = bench.pool.allocate::<u32>(1 << 16, &other).unwrap();
    let mut seen = vec![0; 1 << 16];
    for round in 1..50 {
        ops::fill(&mut data, round, &bench.stream).unwrap();
        if round % 2 == 0 {
            ops::record(&event, &bench.stream).unwrap();
            ops::wait(&other, &event).unwrap();
        } else {
            ops::order(&bench.stream, &other).unwrap();
        }
        ops::copy(&data, &mut copy, &other).unwrap();
        ops::read(&copy, &mut seen, &other).unwrap();
        assert!(seen.iter().all(|&word| word == round), "round {round}");
    }
    drop((data, copy, other, event));
    bench.finish();
}

// Without it times could be taken by the wrong events, or a missing time be reported as 0.
#[test]
fn timing_events_measure_and_others_refuse() {
    let bench = Bench::open();
    let events = bench.context.events();
    let (start, end) = (
        events.create(EventConfig::timing()).unwrap(),
        events.create(EventConfig::timing()).unwrap(),
    );
    let mut data = bench.pool.allocate::<u8>(16 << 20, &bench.stream).unwrap();
    ops::record(&start, &bench.stream).unwrap();
    ops::zero(&mut data, &bench.stream).unwrap();
    ops::record(&end, &bench.stream).unwrap();
    ops::synchronize_event(&end).unwrap();
    assert!(ops::query_event(&start).unwrap());
    let milliseconds = ops::elapsed(&start, &end).unwrap();
    assert!(
        milliseconds > 0.0 && milliseconds < 60_000.0,
        "{milliseconds}"
    );

    let plain = events.create(EventConfig::default()).unwrap();
    ops::record(&plain, &bench.stream).unwrap();
    ops::synchronize_event(&plain).unwrap();
    let error = ops::elapsed(&start, &plain).unwrap_err();
    assert_eq!(
        error.status(),
        Some(CUresult::CUDA_ERROR_INVALID_HANDLE),
        "{error}"
    );
    drop((data, start, end, plain));
    bench.finish();
}

// Without it a host function could run early, twice or never, or a panic in it end the
// process.
#[test]
fn host_functions_run_once_in_the_order_of_their_stream() {
    let bench = Bench::open();
    let steps = Arc::new(AtomicU32::new(0));
    for expected in 0..100 {
        let steps = Arc::clone(&steps);
        ops::host_function(&bench.stream, move || {
            let _ =
                steps.compare_exchange(expected, expected + 1, Ordering::SeqCst, Ordering::SeqCst);
        })
        .unwrap();
    }
    ops::host_function(&bench.stream, || {
        std::panic::resume_unwind(Box::new("ignored"))
    })
    .unwrap();
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(steps.load(Ordering::SeqCst), 100);
    assert_eq!(Arc::strong_count(&steps), 1);
    assert!(ops::query(&bench.stream).unwrap());
    bench.finish();
}

// Without it a released handle could reach the next stream or event in its slot.
#[test]
fn released_handles_are_refused_for_ever() {
    let bench = Bench::open();
    let streams = bench.context.streams();
    let lease = bench.another_stream();
    let stale = lease.handle();
    streams.release(stale).unwrap();
    ops::synchronize(&lease).unwrap();
    drop(lease);
    for _ in 0..100 {
        let next = streams.create_held(Default::default()).unwrap();
        assert_ne!(next.handle(), stale);
        assert!(matches!(
            streams.lease(stale),
            Err(Error::StaleHandle { kind: "Stream", .. })
        ));
        let handle = next.handle();
        drop(next);
        streams.release(handle).unwrap();
    }
    let events = bench.context.events();
    let event = events.create_held(Default::default()).unwrap().handle();
    events.release(event).unwrap();
    assert!(matches!(
        events.release(event),
        Err(Error::StaleHandle { kind: "Event", .. })
    ));
    assert_eq!((streams.live(), events.live()), (1, 0));
    bench.finish();
}

// Without it an event or a buffer could be used on a stream of another context.
#[test]
fn things_of_different_contexts_do_not_mix() {
    let bench = Bench::open();
    let own = bench.device.contexts().create(Default::default()).unwrap();
    let foreign = own.streams().create(Default::default()).unwrap();
    let event = bench.context.events().create(Default::default()).unwrap();
    let mut data = bench.pool.allocate::<u32>(8, &bench.stream).unwrap();
    assert!(matches!(
        ops::record(&event, &foreign),
        Err(Error::WrongContext { .. })
    ));
    assert!(matches!(
        ops::fill(&mut data, 1, &foreign),
        Err(Error::WrongContext { .. })
    ));
    assert!(matches!(
        bench.pool.allocate::<u8>(1, &foreign),
        Err(Error::WrongContext { .. })
    ));
    drop((data, foreign, event, own));
    bench.finish();
}

// Without it priorities could be passed in the wrong order, or not at all.
#[test]
fn a_stream_has_the_priority_it_was_given() {
    let bench = Bench::open();
    let (least, greatest) = bench.context.streams().priorities().unwrap();
    assert!(
        greatest <= least,
        "lower numbers run first: {least} {greatest}"
    );
    for priority in [least, greatest] {
        let config = cupola_managers::StreamConfig {
            priority,
            ..Default::default()
        };
        let stream = bench.context.streams().create(config).unwrap();
        assert_eq!(stream.config().priority, priority);
        ops::synchronize(&stream).unwrap();
        let mut given = i32::MIN;
        let driver = bench.execution.driver();
        // SAFETY: the stream is alive and `given` outlives the call.
        unsafe { driver.cuStreamGetPriority(stream.as_raw(), &raw mut given) }.unwrap();
        assert_eq!(given, priority);
    }
    bench.finish();
}

/// Elements of the buffers that every kind of work is done with.
const LEN: usize = 4096;

/// Puts work on streams, and asks about it, each after a call of `elsewhere`.
fn every_kind_of_work(bench: &Bench, elsewhere: impl Fn()) {
    let (stream, other) = (&bench.stream, bench.another_stream());
    let filled = |value: f32| {
        let mut buffer = bench.pool.allocate(LEN, stream).unwrap();
        ops::fill(&mut buffer, value, stream).unwrap();
        buffer
    };
    let (x, mut y, mut copy) = (filled(2.0), filled(0.0), filled(0.0));
    let pinned = || bench.context.buffers().pinned::<f32>(LEN).unwrap();
    let mut back: [PinnedBuffer<f32>; 2] = [pinned(), pinned()];
    let event = bench
        .context
        .events()
        .create(EventConfig::timing())
        .unwrap();
    let saxpy = bench.kernel("cupola_saxpy");
    let grid = LaunchConfig::for_elements(LEN as u64, 256);
    // SAFETY: the kernel reads LEN elements of `x` and changes those of `y`.
    let add = |y: &mut Buffer<f32>, on: &Stream| unsafe {
        elsewhere();
        ops::launch(&saxpy, grid, (LEN as u64, 1.0_f32, &x, y), on)
    };
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let on = capture.stream().clone();
        add(&mut y, &on)?;
        elsewhere();
        assert!(capture.last_node(&on)?.is_some());
        elsewhere();
        Ok::<_, Error>(())
    })
    .unwrap();
    let mut executable = graph.instantiate().unwrap();
    ops::synchronize(stream).unwrap();

    elsewhere();
    ops::fill(&mut y, 3.0, stream).unwrap();
    add(&mut y, stream).unwrap();
    elsewhere();
    ops::record(&event, stream).unwrap();
    elsewhere();
    ops::wait(&other, &event).unwrap();
    add(&mut y, &other).unwrap();
    elsewhere();
    ops::order(&other, stream).unwrap();
    let called = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&called);
    elsewhere();
    ops::host_function(stream, move || {
        counts.fetch_add(1, Ordering::SeqCst);
    })
    .unwrap();
    elsewhere();
    executable.upload(stream).unwrap();
    elsewhere();
    executable.launch(stream).unwrap();
    elsewhere();
    ops::copy(&y, &mut copy, stream).unwrap();
    elsewhere();
    ops::zero(&mut y, stream).unwrap();
    let [one, two] = &mut back;
    elsewhere();
    let mut batch = CopyBatch::new(stream);
    batch.copy(&copy, &mut y).unwrap();
    batch.download(&copy, &mut *one).unwrap();
    elsewhere();
    batch.submit().unwrap();
    elsewhere();
    ops::copy_to_host(&y, &mut *two, stream).unwrap();
    elsewhere();
    ops::record(&event, stream).unwrap();
    elsewhere();
    ops::synchronize_event(&event).unwrap();
    elsewhere();
    ops::synchronize(stream).unwrap();
    elsewhere();
    assert!(ops::query(stream).unwrap() && ops::query_event(&event).unwrap());
    elsewhere();
    assert_eq!(ops::elapsed(&event, &event).unwrap(), 0.0);
    assert_eq!(called.load(Ordering::SeqCst), 1);
    for pinned in &back {
        assert!(pinned.as_slice().unwrap().iter().all(|it| *it == 9.0));
    }
}

// Without it work could fail, or be another context's, on a thread that never had this one current, or on
// which other code has set its own.
#[test]
fn work_needs_no_current_context() {
    let bench = Bench::open();
    let own = bench.device.contexts().create(Waiting::Auto).unwrap();
    let set = |context: CUcontext| {
        // SAFETY: null, or the context that is dropped last.
        unsafe { bench.execution.driver().cuCtxSetCurrent(context) }.unwrap();
    };
    every_kind_of_work(&bench, || set(ptr::null_mut()));
    every_kind_of_work(&bench, || set(own.as_raw()));
    bench.context.make_current().unwrap();
    bench.device.contexts().release(own.handle()).unwrap();
    drop(own);
    bench.finish();
}

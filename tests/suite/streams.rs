//! Streams, events, order and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::event::EventConfig;
use cupola_managers::{Error, ops};
use cupola_sys::driver::CUresult;

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

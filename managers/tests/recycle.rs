//! Streams and events are used again: what that costs, and what it must not mix up.

mod common;

use std::collections::{BTreeMap, HashSet};

use cupola_managers::event::EventsConfig;
use cupola_managers::{Error, EventConfig, State, StreamConfig, StreamsConfig, ops};
use cupola_sys::driver::{CUresult, id};

use common::open;

// Without it a steady program could create and destroy a stream or an event a step.
#[test]
fn a_second_life_costs_no_driver_call() {
    let (table, machine, execution, context) = open();
    let serial = context
        .streams()
        .acquire(StreamConfig::default())
        .unwrap()
        .serial();
    drop(context.events().acquire(EventConfig::default()).unwrap());
    table.reset();
    let mut handles = HashSet::new();
    for n in 0..1000_u64 {
        let stream = context.streams().acquire(StreamConfig::default()).unwrap();
        let event = context.events().acquire(EventConfig::default()).unwrap();
        assert!(handles.insert(stream.handle()), "a handle came again");
        assert_eq!((stream.serial(), stream.generation()), (serial, n + 2));
        assert_eq!(event.generation(), n + 2);
    }
    assert_eq!(table.counts(), BTreeMap::new());
    let stats = context.streams().stats();
    assert_eq!((stats.created, stats.reused), (1, 1000));
    assert_eq!((stats.live, stats.idle, stats.peak), (0, 1, 1));
    drop((context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a stream of one priority could be handed out for another.
#[test]
fn only_the_same_configuration_is_used_again() {
    let (table, _machine, _execution, context) = open();
    let streams = context.streams();
    let urgent = StreamConfig::priority(-1);
    let blocking = StreamConfig {
        blocking: true,
        ..StreamConfig::default()
    };
    for config in [StreamConfig::default(), urgent, blocking] {
        assert_eq!(streams.acquire(config).unwrap().config(), config);
    }
    table.reset();
    for config in [blocking, urgent, StreamConfig::default()] {
        assert_eq!(streams.acquire(config).unwrap().config(), config);
    }
    assert_eq!(table.counts(), BTreeMap::new());
    // More configurations than there are classes: those beyond are not kept.
    for priority in 0..40 {
        drop(streams.acquire(StreamConfig::priority(priority)).unwrap());
    }
    assert!(table.count(id::cuStreamDestroy_v2) > 20);
    assert!(streams.stats().idle <= 16);
}

// Without it an event could say of its new user that what its last one recorded was reached,
// or not.
#[test]
fn an_event_forgets_what_was_recorded_in_its_last_life() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
    let timing = EventConfig::timing();
    let first = context.events().acquire(timing).unwrap();
    ops::record(&first, &stream).unwrap();
    ops::synchronize_event(&first).unwrap();
    drop(first);
    let again = context.events().acquire(timing).unwrap();
    assert_eq!(again.generation(), 2);
    table.reset();
    assert!(ops::query_event(&again).unwrap());
    ops::synchronize_event(&again).unwrap();
    ops::wait(&stream, &again).unwrap();
    assert!(matches!(
        ops::elapsed(&again, &again),
        Err(Error::Invalid { field: "event", .. })
    ));
    assert_eq!(table.counts(), BTreeMap::new());
    ops::record(&again, &stream).unwrap();
    ops::wait(&stream, &again).unwrap();
    assert_eq!(table.count(id::cuStreamWaitEvent), 1);
}

// Without it a manager could be shut down under its users, or hand things out afterwards.
#[test]
fn a_shutdown_reports_what_is_leased_and_leaves_it_good() {
    let (_table, machine, execution, context) = open();
    let streams = context.streams();
    let kept = streams.acquire(StreamConfig::default()).unwrap();
    let held = streams
        .create_held(StreamConfig::default())
        .unwrap()
        .handle();
    drop(streams.acquire(StreamConfig::default()).unwrap());
    let report = streams.shutdown();
    assert_eq!(report.destroyed, 2, "{report}");
    assert_eq!(report.leased.len(), 1, "{report}");
    assert_eq!(
        (report.leased[0].kind, report.leased[0].leases),
        ("Stream", 1)
    );
    assert!(!report.is_complete() && report.errors.is_empty());
    assert_eq!(streams.state(), State::ShutDown);
    for refused in [
        streams.acquire(StreamConfig::default()),
        streams.create(StreamConfig::default()),
    ] {
        assert_eq!(refused.unwrap_err(), Error::ShutDown { kind: "Stream" });
    }
    for stale in [held, kept.handle()] {
        assert!(matches!(
            streams.lease(stale),
            Err(Error::StaleHandle { .. })
        ));
    }
    ops::synchronize(&kept).unwrap();
    assert_eq!(machine.usage().streams, 1);
    drop(kept);
    assert_eq!(
        machine.usage().streams,
        0,
        "what is given back is destroyed"
    );
    assert!(streams.shutdown().is_complete());
    streams.configure(StreamsConfig { capacity: 1 }).unwrap();
    assert_eq!(streams.state(), State::Ready);
    let one = streams.acquire(StreamConfig::default()).unwrap();
    assert!(matches!(
        streams.acquire(StreamConfig::default()),
        Err(Error::Full { kind: "Stream" })
    ));
    drop((one, context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a configuration that cannot be could be taken, or the message not say which
// field is wrong.
#[test]
fn a_configuration_that_cannot_be_names_its_field() {
    let (_table, _machine, _execution, context) = open();
    for capacity in [0, StreamsConfig::MOST + 1, usize::MAX] {
        let error = context
            .streams()
            .configure(StreamsConfig { capacity })
            .unwrap_err();
        assert!(error.to_string().contains("streams.capacity"), "{error}");
        let error = context
            .events()
            .configure(EventsConfig { capacity })
            .unwrap_err();
        assert!(error.to_string().contains("events.capacity"), "{error}");
    }
}

// Without it a lease that outlives its manager could lead to freed memory, or leak.
#[test]
fn leases_outlive_the_context_and_the_manager() {
    let (_table, machine, execution, context) = open();
    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
    let event = context.events().create(EventConfig::default()).unwrap();
    let (handle, other) = (stream.handle(), stream.clone());
    drop((context, execution));
    ops::record(&event, &stream).unwrap();
    drop(stream);
    ops::synchronize(&other).unwrap();
    assert_eq!(other.handle(), handle);
    assert_eq!(machine.usage().streams, 1);
    drop(other);
    assert_eq!(machine.usage().streams, 0);
    drop(event);
    assert_eq!(machine.leaks(), None);
}

// Without it a buffer that lives long would keep every stream that it was ever used on, and
// each use create another.
#[test]
fn a_long_lived_buffer_lets_streams_go() {
    let (table, machine, execution, context) = open();
    let home = context.streams().acquire(StreamConfig::default()).unwrap();
    let pool = context
        .memory_pool(cupola_managers::PoolConfig::limit(8 << 20))
        .unwrap();
    let mut weights = pool.allocate::<u32>(100, &home).unwrap();
    for n in 0..100 {
        let stream = context.streams().acquire(StreamConfig::default()).unwrap();
        ops::order(&home, &stream).unwrap();
        ops::fill(&mut weights, n, &stream).unwrap();
        ops::order(&stream, &home).unwrap();
    }
    assert!(table.count(id::cuStreamCreateWithPriority) <= 3);
    let mut back = vec![0; 100];
    ops::read(&weights, &mut back, &home).unwrap();
    drop((weights, pool, home, context, execution));
    assert_eq!(machine.leaks(), None);
    let findings: Vec<_> = machine.findings().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{findings:#?}");
}

// Without it objects that wait could fill a manager without a single lease.
#[test]
fn at_the_capacity_what_waits_makes_room() {
    let (_table, machine, execution, context) = open();
    context
        .events()
        .configure(EventsConfig { capacity: 4 })
        .unwrap();
    let timing: Vec<_> = (0..4)
        .map(|_| context.events().acquire(EventConfig::timing()).unwrap())
        .collect();
    assert!(matches!(
        context.events().acquire(EventConfig::default()),
        Err(Error::Full { kind: "Event" })
    ));
    drop(timing);
    let plain = context.events().acquire(EventConfig::default()).unwrap();
    assert_eq!(context.events().stats().idle, 3);
    drop((plain, context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a shutdown could say of a stream that it was destroyed and that it was not.
#[test]
fn a_shutdown_counts_what_was_destroyed() {
    let (table, _machine, execution, context) = open();
    let streams = context.streams();
    let held = [(); 3].map(|()| {
        streams
            .create_held(StreamConfig::default())
            .unwrap()
            .handle()
    });
    let lost = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail(id::cuEventCreate, 1, lost);
    context
        .events()
        .acquire(EventConfig::default())
        .unwrap_err();
    assert!(context.poison().is_some());
    // Nothing of a lost context is used again, so the shutdown destroys what it holds.
    table.fail(id::cuStreamDestroy_v2, 2, lost);
    let report = streams.shutdown();
    assert_eq!(table.count(id::cuStreamDestroy_v2), held.len() as u64);
    assert_eq!((report.destroyed, report.errors.len()), (2, 1), "{report}");
    assert!(report.leased.is_empty(), "{report}");
    assert_eq!(execution.live().abandoned, 1);
}

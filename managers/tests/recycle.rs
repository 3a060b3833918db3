//! Streams and events are used again: what that costs, and what it must not mix up.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::sync::Barrier;
use std::thread;

use cupola_managers::event::EventsConfig;
use cupola_managers::{
    Context, Error, EventConfig, PoolConfig, State, Stream, StreamConfig, StreamsConfig, ops,
};
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
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
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

// Without it two users of one stream of other code would wait for each other by events, or a stream
// be taken for one that was at its address before.
#[test]
fn a_stream_of_other_code_is_one_as_long_as_it_is_leased() {
    let (table, machine, execution, context) = open();
    let streams = context.streams();
    let theirs = streams.create(Default::default()).unwrap();
    let raw = theirs.as_raw();
    // SAFETY: of this context, and leased until the end.
    let borrow = || unsafe { streams.borrow_raw(raw) }.unwrap();
    let (first, second) = (borrow(), borrow());
    assert_eq!(first.handle(), second.handle());
    assert_eq!(first.serial(), second.serial());
    assert_ne!(
        first.serial(),
        theirs.serial(),
        "the leases of its maker are apart"
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    drop(pool.zeros::<u32>(100, &first).unwrap());
    let mut zeros = pool.zeros::<u32>(100, &first).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    table.reset();
    ops::copy_to_host(&zeros, &mut pinned, &second).unwrap();
    ops::copy_to_device(&pinned, &mut zeros, &first).unwrap();
    assert_eq!(table.count(id::cuStreamWaitEvent), 0);
    drop((zeros, pinned));
    // A name that was given up is not leased again, nor one that has no lease left.
    let before = first.serial();
    streams.release(first.handle()).unwrap();
    let anew = borrow();
    assert_ne!(anew.serial(), before);
    let serial = anew.serial();
    drop((first, second, anew));
    assert_ne!(borrow().serial(), serial);
    // Threads at the same time.
    let barrier = Barrier::new(4);
    let leases: Vec<_> = thread::scope(|threads| {
        let wait = || {
            barrier.wait();
            // SAFETY: as above.
            unsafe { streams.borrow_raw(theirs.as_raw()) }.unwrap()
        };
        let threads: Vec<_> = (0..4).map(|_| threads.spawn(wait)).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let serials: HashSet<_> = leases.iter().map(Stream::serial).collect();
    assert_eq!(serials.len(), 1);
    drop((leases, pool, theirs, context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it the default stream would be two streams, or all threads' default streams one.
#[test]
fn the_default_streams_have_the_names_that_they_are() {
    let (_table, _machine, execution, context) = open();
    let named = |context: &Context, name| {
        let raw = std::ptr::without_provenance_mut(name);
        // SAFETY: the driver's constants, good in every context; the other one is refused.
        unsafe { context.streams().borrow_raw(raw) }
    };
    let legacy = context.streams().legacy_default().unwrap();
    for name in [0, 1] {
        assert_eq!(named(&context, name).unwrap().serial(), legacy.serial());
    }
    let per_thread = named(&context, 2).unwrap_err();
    assert!(matches!(
        per_thread,
        Error::Invalid {
            field: "stream",
            ..
        }
    ));
    let device = execution.devices().get(0).unwrap();
    let other = device.contexts().create(Default::default()).unwrap();
    assert_ne!(named(&other, 1).unwrap().serial(), legacy.serial());
    assert_eq!(context.streams().live(), 1);
}

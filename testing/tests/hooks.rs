//! Each hook has an effect: on sizes, on names, on everything below an execution manager.

use std::collections::BTreeSet;

use cupola_managers::event::EventConfig;
use cupola_managers::stream::StreamConfig;
use cupola_managers::{Context, Error};
use cupola_testing::{TestBench, TestConfig};

fn bench(config: TestConfig) -> (TestBench, Context) {
    let bench = TestBench::builder().test_config(config).open().unwrap();
    let context = bench.context().unwrap();
    (bench, context)
}

fn full(refused: &Error) -> bool {
    matches!(refused, Error::Full { .. })
}

// Without it a test above could not see what a full manager does.
#[test]
fn a_pool_size_holds_for_every_level_below() {
    let (bench, context) = bench(TestConfig::new().pool_size(2));
    assert!(bench.execution().is_configured_for_test());
    let device = bench.device().unwrap();
    let contexts = device.contexts();
    assert!(contexts.is_configured_for_test());
    assert!(context.streams().is_configured_for_test());
    assert!(context.events().is_configured_for_test());

    let created = contexts.create(Default::default()).unwrap();
    assert!(full(&contexts.create(Default::default()).unwrap_err()));
    let streams = [(); 2].map(|()| context.streams().acquire(Default::default()).unwrap());
    let refused = context.streams().acquire(Default::default()).unwrap_err();
    assert!(full(&refused), "{refused}");
    let events = [(); 2].map(|()| context.events().acquire(Default::default()).unwrap());
    let refused = context.events().acquire(Default::default()).unwrap_err();
    assert!(full(&refused), "{refused}");
    // Room again with the first that ends.
    drop(streams);
    context.streams().acquire(Default::default()).unwrap();

    contexts.release(created.handle()).unwrap();
    drop((events, created, context, device));
    bench.finish().unwrap();
}

// Without it no layer above could see that a slot wears out, and that its names never come
// again.
#[test]
fn slots_wear_out_after_their_lives() {
    let (bench, context) = bench(TestConfig::new().lives(3));
    let streams = context.streams();
    let mut names = BTreeSet::new();
    for life in 0..12 {
        let stream = streams.acquire(StreamConfig::default()).unwrap();
        assert_eq!(stream.generation(), life % 3 + 1);
        assert_eq!(u64::from(stream.handle().index()), life / 3);
        // The generation in the name is one of the last that a name has room for.
        assert!(stream.handle().generation() > (1 << 40) - 8);
        assert!(names.insert(stream.handle().to_bits()));
        assert!(streams.is_alive(stream.handle()));
    }
    let counts = streams.slot_counts();
    assert_eq!((counts.slots, counts.alive, counts.idle), (4, 0, 1));
    assert_eq!(counts.worn, 4);
    let stats = streams.stats();
    // One driver stream went through all of the slots.
    assert_eq!((stats.created, stats.reused), (1, 11));
    drop(context);
    bench.finish().unwrap();
}

// Without it the last name of the last slot could be handed out twice, or an object that
// finds no slot could leak.
#[test]
fn a_manager_without_a_slot_left_is_full() {
    let (bench, context) = bench(TestConfig::new().slots(2).lives(2));
    let events = context.events();
    for _ in 0..4 {
        events.acquire(EventConfig::default()).unwrap();
    }
    for _ in 0..3 {
        let refused = events.acquire(EventConfig::default()).unwrap_err();
        assert!(full(&refused), "{refused}");
    }
    let counts = events.slot_counts();
    assert_eq!((counts.slots, counts.worn, counts.idle), (2, 2, 0));
    drop(context);
    bench.finish().unwrap();
}

// Without it the counts could be of something else than slots.
#[test]
fn slot_counts_follow_a_life() {
    let (bench, context) = bench(TestConfig::new());
    let streams = context.streams();
    let of = || {
        let counts = streams.slot_counts();
        (counts.slots, counts.alive, counts.named, counts.idle)
    };
    assert_eq!(of(), (0, 0, 0, 0));
    let stream = streams.create_held(StreamConfig::default()).unwrap();
    let handle = stream.handle();
    assert_eq!(of(), (1, 1, 1, 0));
    streams.release(handle).unwrap();
    assert!(!streams.is_alive(handle));
    assert_eq!(of(), (1, 1, 0, 0));
    drop(stream);
    assert_eq!(of(), (1, 0, 0, 1));
    streams.trim(0).unwrap();
    assert_eq!(of(), (1, 0, 0, 0));
    drop(context);
    bench.finish().unwrap();
}

// Without it a test could change the names of slots that are in use.
#[test]
fn it_is_refused_once_something_was_made() {
    let bench = TestBench::new().unwrap();
    assert!(!bench.execution().is_configured_for_test());
    let context = bench.context().unwrap();
    let device = bench.device().unwrap();
    let small = TestConfig::new().pool_size(1);
    let too_late = |refused: Result<(), Error>, kind: &str| {
        let refused = refused.unwrap_err();
        let named = matches!(
            &refused,
            Error::Invalid {
                field: "configure_for_test",
                ..
            }
        );
        assert!(named && refused.to_string().contains(kind), "{refused}");
    };
    too_late(bench.execution().configure_for_test(small), "Device");
    too_late(device.contexts().configure_for_test(small), "Context");
    drop(context.streams().acquire(Default::default()).unwrap());
    too_late(context.streams().configure_for_test(small), "Stream");
    // Nothing was changed, and what has made nothing can still be configured.
    drop([(); 2].map(|()| context.streams().acquire(Default::default()).unwrap()));
    context.events().configure_for_test(small).unwrap();
    let event = context.events().acquire(Default::default()).unwrap();
    assert!(full(
        &context.events().acquire(Default::default()).unwrap_err()
    ));
    drop((event, context, device));
    bench.finish().unwrap();
}

// Without it a size of nothing, or one beyond what there is, would be taken.
#[test]
fn what_cannot_be_is_refused_by_its_field() {
    let bench = TestBench::new().unwrap();
    let impossible = [
        (TestConfig::new().pool_size(0), "pool_size"),
        (TestConfig::new().slots(65_473), "slots"),
        (TestConfig::new().lives(0), "lives"),
        (TestConfig::new().lives(1 << 39), "lives"),
    ];
    for (config, name) in impossible {
        let refused = bench.execution().configure_for_test(config).unwrap_err();
        assert!(matches!(refused, Error::Invalid { field, .. } if field == name));
    }
    assert!(!bench.execution().is_configured_for_test());
}

//! Devices, contexts, and which context is current.

mod peers;
mod sharing;

use cupola_managers::context::{ContextKind, Waiting, context_switches};
use cupola_managers::device::Features;
use cupola_managers::stream::{StreamPool, StreamPoolConfig};
use cupola_managers::{Error, GreenConfig, ops};

use crate::common::{Bench, assert_nothing_left, on_gpu};

// Without it a made-up multiprocessor count or a wrong name would go unseen.
#[test]
fn a_device_says_what_it_is() {
    let bench = Bench::open();
    let info = bench.device.info().unwrap();
    assert_eq!(info.ordinal, 0);
    assert!(
        info.multiprocessors > 0 && info.total_memory > 0,
        "{info:?}"
    );
    assert_eq!(info.warp_size, 32);
    assert!(info.compute_capability >= (6, 0), "{info:?}");
    assert!(
        info.max_threads_per_block >= 1024 && info.max_grid[0] > 65_535,
        "{info:?}"
    );
    assert!(info.supports(Features::UNIFIED_ADDRESSING), "{info:?}");
    assert!(info.uuid != [0; 16], "{info:?}");
    // A device that lacks the features of its generation could not be told from one whose
    // features were never asked for.
    assert!(info.supports(Features::COOPERATIVE_LAUNCH | Features::CONCURRENT_KERNELS));
    assert!(info.architecture().name().is_some(), "{info:?}");
    // An instance of a GPU (MIG) has a name of its own after the GPU's.
    assert_eq!(info.name.starts_with("cupola software device"), !on_gpu());
    let memory = bench.context.memory_info().unwrap();
    assert!(
        memory.free <= memory.total && memory.total == info.total_memory,
        "{memory:?}"
    );
    assert_eq!(bench.device.info().unwrap(), info);
    bench.finish();
}

// Without it asking for a device that is not there could reach the driver, or panic.
#[test]
fn an_ordinal_beyond_the_count_is_refused() {
    let bench = Bench::open();
    let devices = bench.execution.devices();
    let error = devices.get(devices.count()).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let same = devices.lease(bench.device.handle()).unwrap();
    assert_eq!(same.handle(), devices.get(0).unwrap().handle());
    drop(same);
    bench.finish();
}

// Without it two leases of the primary context could be two payloads, or a created one be
// handed out in its place.
#[test]
fn there_is_one_primary_context_and_any_number_of_others() {
    let bench = Bench::open();
    let contexts = bench.device.contexts();
    assert_eq!(contexts.primary().unwrap().handle(), bench.context.handle());
    assert_eq!(bench.context.kind(), ContextKind::Primary);
    let own = contexts.create(Waiting::Block).unwrap();
    assert_eq!(own.kind(), ContextKind::Created);
    assert_ne!(own.as_raw(), bench.context.as_raw());
    assert_eq!(contexts.primary().unwrap().handle(), bench.context.handle());
    assert_eq!(bench.execution.live().contexts, 2);

    let handle = own.handle();
    contexts.release(handle).unwrap();
    assert!(matches!(
        contexts.lease(handle),
        Err(Error::StaleHandle { .. })
    ));
    assert!(matches!(
        contexts.release(handle),
        Err(Error::StaleHandle { .. })
    ));
    // The lease still works.
    own.streams().create(Default::default()).unwrap();
    drop(own);
    assert_eq!(bench.execution.live().contexts, 1);
    bench.finish();
}

// Without it a partition could give a multiprocessor to two parts, or streams of a part's pool run
// elsewhere.
#[test]
fn a_partition_of_a_device_is_disjoint() {
    let bench = Bench::open();
    let contexts = bench.device.contexts();
    let all = bench.device.info().unwrap().multiprocessors;
    let partition = match contexts.green_partition(2, GreenConfig::at_least(1)) {
        // A driver before CUDA 12.4 has no green contexts.
        Err(Error::Unsupported { .. }) => return bench.finish(),
        // An instance of a device may have one multiprocessor only.
        Err(Error::Invalid { .. }) if all < 2 => return bench.finish(),
        partition => partition.unwrap(),
    };
    let parts = || partition.groups.iter().chain(&partition.rest);
    let given: Vec<_> = parts()
        .map(|part| part.multiprocessors().unwrap())
        .collect();
    assert!(
        given.iter().all(|&count| count > 0) && given.iter().sum::<u32>() <= all,
        "{given:?} of {all}"
    );
    for (number, part) in parts().enumerate() {
        let pool = StreamPool::new(part, StreamPoolConfig::new(2)).unwrap();
        for _ in 0..4 {
            let stream = pool.lease().unwrap();
            let mut buffer = bench.pool.allocate::<u32>(1000, &stream).unwrap();
            ops::fill(&mut buffer, number as u32, &stream).unwrap();
            assert_eq!(buffer.to_vec(&stream).unwrap(), [number as u32; 1000]);
        }
        assert!(pool.live() <= 2);
    }
    drop(partition);
    bench.finish();
}

// Without it parts of a device could not share work, or have less of it than they say.
#[test]
fn parts_of_a_device_work_on_the_same_memory() {
    let bench = Bench::open();
    let all = bench.device.info().unwrap().multiprocessors;
    if all < 2 {
        // An instance of a GPU (MIG) can be too small for parts.
        return bench.finish();
    }
    let contexts = bench.device.contexts();
    let parts = match contexts.green_split(2, GreenConfig::at_least(1)) {
        // A driver before CUDA 12.4 has no green contexts.
        Err(Error::Unsupported { .. }) => return bench.finish(),
        parts => parts.unwrap(),
    };
    let given: Vec<_> = parts
        .iter()
        .map(|part| part.multiprocessors().unwrap())
        .collect();
    assert!(
        given[0] > 0 && given[0] == given[1] && given[0] * 2 <= all,
        "{given:?} of {all}"
    );
    let mut buffer = bench.pool.allocate::<u32>(1000, &bench.stream).unwrap();
    let streams = [&parts[0], &parts[1]].map(|part| {
        assert_eq!(part.kind(), ContextKind::Green);
        part.streams().acquire(Default::default()).unwrap()
    });
    ops::fill(&mut buffer, 7, &streams[0]).unwrap();
    ops::order(&streams[0], &streams[1]).unwrap();
    let mut back = [0; 1000];
    ops::read(&buffer, &mut back, &streams[1]).unwrap();
    assert_eq!(back, [7; 1000]);
    // Pinned memory and a blocking stream of one part, and an event of the other.
    let mut pinned = parts[0].buffers().pinned::<u32>(1000).unwrap();
    let blocking = cupola_managers::StreamConfig {
        blocking: true,
        ..Default::default()
    };
    let blocking = parts[0].streams().acquire(blocking).unwrap();
    ops::copy_to_host(&buffer, &mut pinned, &blocking).unwrap();
    let event = parts[1].events().acquire(Default::default()).unwrap();
    ops::record(&event, &blocking).unwrap();
    ops::synchronize_event(&event).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [7; 1000]);
    for part in &parts {
        contexts.release(part.handle()).unwrap();
    }
    drop((parts, buffer, streams, pinned, blocking, event));
    assert_eq!(bench.execution.live().contexts, 1);
    bench.finish();
}

// Without it every operation could cost a call to set the context.
#[test]
fn a_context_is_set_once_for_any_number_of_operations() {
    let bench = Bench::open();
    ops::synchronize(&bench.stream).unwrap();
    let before = context_switches();
    for _ in 0..1000 {
        ops::query(&bench.stream).unwrap();
    }
    assert_eq!(context_switches(), before);
    bench.finish();
}

// Without it a guard could leave the wrong context current, or an operation run in the
// wrong one.
#[test]
fn guards_restore_the_context_before() {
    let bench = Bench::open();
    let own = bench.device.contexts().create(Waiting::Auto).unwrap();
    let current = || {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call.
        unsafe { bench.execution.driver().cuCtxGetCurrent(&raw mut raw) }.unwrap();
        raw
    };
    let outer = bench.context.enter().unwrap();
    assert_eq!(current(), bench.context.as_raw());
    {
        let _inner = own.enter().unwrap();
        assert_eq!(current(), own.as_raw());
    }
    assert_eq!(current(), bench.context.as_raw());
    ops::synchronize(&own.streams().create(Default::default()).unwrap()).unwrap();
    assert_eq!(current(), own.as_raw());
    drop(outer);
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(current(), bench.context.as_raw());
    bench.device.contexts().release(own.handle()).unwrap();
    drop(own);
    bench.finish();
}

// Without it dropping a manager before what it made could free a context in use.
#[test]
fn owners_may_be_dropped_before_what_they_own() {
    let Bench {
        pool,
        stream,
        context,
        device,
        execution,
        ..
    } = Bench::open();
    let watch = execution.watch();
    let event = context.events().create(Default::default()).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(100).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    drop((execution, device));
    drop((context, pool));
    ops::fill(&mut buffer, 9, &stream).unwrap();
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
    ops::record(&event, &stream).unwrap();
    drop((stream, buffer));
    assert_eq!(pinned.as_slice().unwrap(), [9; 100]);
    drop(event);
    assert_eq!(watch.live().contexts, 1);
    drop(pinned);
    assert_nothing_left(&watch);
}

// Without it two libraries of one program that each open the GPU could not use each other's memory
// and streams, or the end of one would take the context from the other.
#[test]
fn two_that_open_a_device_share_its_context() {
    let one = Bench::open();
    let two = one.open_again();
    assert_eq!(one.context.as_raw(), two.context.as_raw());
    assert_ne!(one.context.handle(), two.context.handle());
    let mut from = one.pool.allocate::<u32>(1000, &one.stream).unwrap();
    let mut to = two.pool.allocate::<u32>(1000, &one.stream).unwrap();
    let mut pinned = two.context.buffers().pinned::<u32>(1000).unwrap();
    let event = two.context.events().create(Default::default()).unwrap();
    ops::fill(&mut from, 7, &two.stream).unwrap();
    ops::record(&event, &two.stream).unwrap();
    ops::wait(&one.stream, &event).unwrap();
    ops::copy(&from, &mut to, &one.stream).unwrap();
    ops::order(&one.stream, &two.stream).unwrap();
    ops::copy_to_host(&to, &mut pinned, &two.stream).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [7; 1000]);
    // Freed on a stream of one, and used again on a stream of the other.
    for stream in [&one.stream, &two.stream, &one.stream] {
        let mut again = two.pool.allocate::<u32>(1 << 20, stream).unwrap();
        ops::fill(&mut again, 1, stream).unwrap();
    }
    drop((to, pinned, event));
    let watch = two.execution.watch();
    drop(two);
    let mut back = [0; 1000];
    ops::read(&from, &mut back, &one.stream).unwrap();
    assert_eq!(back, [7; 1000]);
    drop(from);
    one.finish();
    assert_nothing_left(&watch);
}

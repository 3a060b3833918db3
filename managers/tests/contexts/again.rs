//! Contexts that get another handle while something still holds them.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use cupola_managers::{ContextsConfig, ExecutionConfig};

use super::*;

/// What each of the ways to end a handle of the primary context is, and to let it be asked
/// for again.
fn end(way: usize, execution: &ExecutionManager, primary: &Context) {
    let device = device(execution);
    match way {
        0 => device.contexts().release(primary.handle()).unwrap(),
        1 => execution.devices().release(device.handle()).unwrap(),
        2 => {
            let _ = device.contexts().shutdown();
            let config = ContextsConfig::default();
            device.contexts().configure(config).unwrap();
        }
        _ => {
            let _ = execution.shutdown();
            execution.configure(ExecutionConfig::default()).unwrap();
        }
    }
}

// Without it one primary context could be two here: whose objects do not meet, one of which
// works on when the other is lost, and neither of which knows the kernels of the other.
#[test]
fn a_primary_context_that_is_held_is_the_same_one_again() {
    for way in 0..4 {
        let machine = machine();
        let table = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let before = device(&execution).primary().unwrap();
        let pool = before.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let stream = before.streams().create(Default::default()).unwrap();
        let mut buffer = pool.allocate::<u32>(64, &stream).unwrap();
        before.set_checked(true);
        end(way, &execution, &before);
        let again = device(&execution).primary().unwrap();
        assert_ne!(again.handle(), before.handle());
        assert!(again.is_checked(), "it stays as it was set up");
        let contexts = device(&execution);
        let stats = contexts.contexts().stats();
        assert_eq!((stats.live, stats.named), (1, 1), "{way}: one seat");
        assert_eq!(execution.live().contexts, 1);
        let other = again.streams().create(Default::default()).unwrap();
        ops::fill(&mut buffer, 1, &other).unwrap();
        ops::synchronize(&other).unwrap();
        let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        table.fail_from(id::cuStreamSynchronize, 1, code);
        assert!(ops::synchronize(&stream).is_err());
        assert_eq!(again.poison().unwrap().status(), Some(code));
        table.reset();
        drop((before, pool, stream, buffer, other));
        assert_eq!(table.count(id::cuDevicePrimaryCtxRelease_v2), 0);
        drop((again, contexts, execution));
        assert_eq!(table.count(id::cuDevicePrimaryCtxRelease_v2), 1);
        assert_eq!(machine.leaks(), None);
    }
}

// Without it a caller that asks for the primary context's handle would get the released one
// for ever.
#[test]
fn a_released_primary_context_gets_another_handle() {
    let execution = ExecutionManager::new(machine().driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let (reserved, again) = (contexts.primary_handle(), contexts.primary_handle());
    assert_eq!(reserved, again);
    contexts.release(reserved.unwrap()).unwrap();
    let handle = contexts.primary_handle().unwrap();
    let context = contexts.ensure_alive(handle).unwrap();
    contexts.release(handle).unwrap();
    let new = contexts.primary_handle().unwrap();
    assert_ne!(new, handle);
    assert_eq!(contexts.ensure_alive(new).unwrap().handle(), new);
    drop(context);
}

// Without it a context that is borrowed again would lose what its user had set, and a report
// would name it by a handle that no caller can use.
#[test]
fn a_context_that_is_borrowed_again_stays_as_it_was_set_up() {
    let execution = ExecutionManager::new(machine().driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let own = contexts.create(Default::default()).unwrap();
    own.set_checked(true);
    contexts.release(own.handle()).unwrap();
    // SAFETY: ours, and leased.
    let back = unsafe { contexts.borrow(own.as_raw(), Arc::new(())) }.unwrap();
    assert!(back.is_checked());
    let stats = contexts.stats();
    assert_eq!((stats.live, stats.named), (1, 1));
    let stream = back.streams().acquire(Default::default()).unwrap();
    let report = contexts.shutdown();
    let leased: Vec<_> = report.leased_of("Stream").collect();
    assert_eq!(leased.len(), 1);
    assert_eq!(leased[0].context, Some(back.handle()));
    drop(stream);
}

#[track_caller]
fn stale<T>(result: Result<T, Error>) {
    let error = result.map(drop).unwrap_err();
    assert!(matches!(error, Error::StaleHandle { .. }), "{error}");
}

// Without it a handle that is shown to another manager would name what that one has in the same
// place: a release would end another device's context, or another context's stream.
#[test]
fn a_handle_is_refused_by_every_other_manager() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let devices = [0, 1].map(|ordinal| execution.devices().get(ordinal).unwrap());
    let contexts = devices.each_ref().map(|device| device.primary().unwrap());
    let stranger = ExecutionManager::new(machine.driver()).unwrap();
    stranger.devices().get(0).unwrap();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    let all = contexts.each_ref().map(|context| {
        let stream = context.streams().create(Default::default()).unwrap();
        let event = context.events().create(Default::default()).unwrap();
        let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let buffer = pool.allocate::<u32>(64, &stream).unwrap();
        let module = context.modules().load_ptx(ptx).unwrap();
        let function = module.function("nothing").unwrap();
        (stream, event, buffer, module, function)
    });
    for (one, two) in [(0, 1), (1, 0)] {
        let (theirs, context) = (&all[one], &contexts[two]);
        let manager = devices[two].contexts();
        let handle = contexts[one].handle();
        stale(manager.lease(handle));
        stale(manager.ensure_alive(handle));
        stale(manager.release(handle));
        assert!(!manager.is_alive(handle));
        let (streams, events) = (context.streams(), context.events());
        stale(streams.lease(theirs.0.handle()));
        stale(streams.release(theirs.0.handle()));
        assert!(!streams.is_alive(theirs.0.handle()));
        stale(events.lease(theirs.1.handle()));
        stale(events.release(theirs.1.handle()));
        stale(context.buffers().info(theirs.2.handle()));
        stale(context.modules().lease(theirs.3.handle()));
        stale(context.modules().release(theirs.3.handle()));
        let functions = all[two].3.functions();
        stale(functions.lease(theirs.4.handle()));
        stale(functions.release(theirs.4.handle()));
        stale(stranger.devices().release(devices[one].handle()));
    }
    // Each is where it was.
    for (context, (stream, event, buffer, module, function)) in contexts.iter().zip(&all) {
        context.streams().lease(stream.handle()).unwrap();
        context.events().lease(event.handle()).unwrap();
        context.buffers().info(buffer.handle()).unwrap();
        context.modules().lease(module.handle()).unwrap();
        module.functions().lease(function.handle()).unwrap();
    }
    for (device, context) in devices.iter().zip(&contexts) {
        device.contexts().release(context.handle()).unwrap();
    }
    execution.devices().release(devices[0].handle()).unwrap();
}

// Without it pinned memory could be handed out while a stream writes it: one whose manager has
// given it the handle that another manager of the same context gave the next stream.
#[test]
fn pinned_memory_waits_for_streams_of_several_managers() {
    for is_green in [false, true] {
        let hopper = DeviceConfig::new()
            .compute_capability(9, 0)
            .multiprocessors(32);
        let builder = Machine::builder().device(hopper);
        let execution = ExecutionManager::new(builder.worker_threads(4).build().driver()).unwrap();
        let device = device(&execution);
        let before = device.primary().unwrap();
        let pool = before.memory_pool(PoolConfig::limit(16 << 20)).unwrap();
        let one = before.streams().create(Default::default()).unwrap();
        let again = if is_green {
            device.contexts().green(GreenConfig::at_least(8)).unwrap()
        } else {
            device.contexts().release(before.handle()).unwrap();
            device.primary().unwrap()
        };
        let two = again.streams().create(Default::default()).unwrap();
        let mut from = pool.allocate::<u32>(1000, &one).unwrap();
        let mut to = pool.allocate::<u32>(1000, &two).unwrap();
        let mut pinned = again.buffers().pinned::<u32>(1000).unwrap();
        ops::fill(&mut from, 7, &one).unwrap();
        ops::synchronize(&one).unwrap();
        let (hold, held) = channel::<()>();
        ops::host_function(&one, move || {
            let _ended = held.recv();
        })
        .unwrap();
        ops::copy_to_host(&from, &mut pinned, &one).unwrap();
        ops::copy_to_device(&pinned, &mut to, &two).unwrap();
        // The second copy, and its mark, come after the first, which is held up.
        let soon = Instant::now() + Duration::from_millis(200);
        while Instant::now() < soon {
            assert_eq!(ops::query(&two), Ok(false), "it overtook the first");
        }
        drop(hold);
        assert_eq!(pinned.as_slice().unwrap(), [7; 1000]);
        let mut back = [0; 1000];
        ops::read(&to, &mut back, &two).unwrap();
        assert_eq!(back, [7; 1000]);
    }
}

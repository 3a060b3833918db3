//! The thread's current context, which other code sets too and which other threads destroy.
//! Strict mode reports a destroyed context that is made current, and a green one that is current
//! on two threads.

use cupola_managers::context::Waiting;
use cupola_managers::{Event, Stream};

use super::*;

fn current(driver: &Driver) -> CUcontext {
    let mut raw = ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { driver.cuCtxGetCurrent(&raw mut raw) }.unwrap();
    raw
}

fn set(driver: &Driver, context: CUcontext) {
    // SAFETY: null, or a context that the caller keeps alive.
    unsafe { driver.cuCtxSetCurrent(context) }.unwrap();
}

/// The contexts of this thread, the current one last. Those have to be alive.
fn stack(driver: &Driver) -> Vec<CUcontext> {
    let mut all = Vec::new();
    let mut popped = ptr::null_mut();
    // SAFETY: the place outlives the call.
    while unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) }.is_ok() {
        all.push(popped);
    }
    all.reverse();
    for context in &all {
        // SAFETY: the caller keeps it alive.
        unsafe { driver.cuCtxPushCurrent_v2(*context) }.unwrap();
    }
    all
}

/// As other code may that does not know whose it is.
fn pop(driver: &Driver) {
    let mut popped = ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) }.unwrap();
}

/// Ends with the thread that drops it, which is another one.
fn drop_elsewhere<T: Send>(value: T) {
    std::thread::scope(|scope| scope.spawn(move || drop(value)).join().unwrap());
}

#[track_caller]
fn nothing_found(machine: &Machine) {
    let findings: Vec<_> = machine.findings().iter().map(ToString::to_string).collect();
    assert_eq!(findings, [""; 0]);
}

// Without it safe code could hand the driver a context that another thread has destroyed, which
// NVIDIA leaves undefined.
#[test]
fn a_guard_never_names_a_destroyed_context() {
    let machine = machine();
    let driver = machine.driver();
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let device = device(&execution);
    let primary = device.primary().unwrap();
    let contexts = device.contexts();
    // One of ours, destroyed by another thread before the guard.
    let own = contexts.create(Waiting::Auto).unwrap();
    own.make_current().unwrap();
    contexts.release(own.handle()).unwrap();
    drop_elsewhere(own);
    drop(primary.enter().unwrap());
    nothing_found(&machine);
    // One of other code, destroyed by another thread within the guard.
    let (other, _) = Other::new(&driver, 0);
    set(&driver, other.raw);
    let guard = primary.enter().unwrap();
    drop_elsewhere(other);
    drop(guard);
    nothing_found(&machine);
    // And operations go on.
    let stream = primary.streams().acquire(Default::default()).unwrap();
    ops::synchronize(&stream).unwrap();
    assert_eq!(primary.poison(), None);
    nothing_found(&machine);
}

/// What other code may do to a thread's current context, in a safe crate.
fn meddle(driver: &Driver, way: usize) -> Option<Arc<Other>> {
    let (other, _) = Other::new(driver, if way == 0 { 1 } else { 0 });
    set(driver, other.raw);
    match way {
        // It stays: of another device, of this one.
        0 | 1 => Some(other),
        // It is destroyed, and still current.
        2 => {
            drop_elsewhere(other);
            None
        }
        // No context is.
        _ => {
            set(driver, ptr::null_mut());
            None
        }
    }
}

// Without it two safe crates would be unsound together: pinned memory of ours would be in another
// crate's context, a module be unloaded under its kernel, and a healthy context be lost for
// ever to an error that says something of the thread.
#[test]
fn other_code_may_set_any_context_at_any_time() {
    for way in 0..4 {
        let machine = machine();
        let driver = machine.driver();
        let execution = ExecutionManager::new(driver.clone()).unwrap();
        let context = device(&execution).primary().unwrap();
        context.make_current().unwrap();
        let other = meddle(&driver, way);
        let mut pinned = context.buffers().pinned::<u32>(64).unwrap();
        pinned.as_mut_slice().unwrap().fill(7);
        let _theirs = meddle(&driver, way);
        let stream = context.streams().acquire(Default::default()).unwrap();
        let _theirs = (_theirs, meddle(&driver, way));
        let event: Event = context.events().acquire(Default::default()).unwrap();
        ops::record(&event, &stream).unwrap();
        let _theirs = (_theirs, meddle(&driver, way));
        assert!(context.memory_info().unwrap().free > 0);
        // The other context ends, and takes along what was made in it.
        drop((other, _theirs));
        assert_eq!(pinned.as_slice().unwrap(), [7; 64], "way {way}");
        ops::synchronize_event(&event).unwrap();
        assert_eq!(context.poison(), None, "way {way}");
        drop((pinned, event, stream, context, execution));
        nothing_found(&machine);
        assert_eq!(machine.leaks(), None, "way {way}");
    }
}

// Without it one call that meets another thread's destroyed context would lose a healthy one
// for the life of the process.
#[test]
fn an_error_of_the_thread_is_no_loss_of_the_context() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = device(&execution).primary().unwrap();
    let stream = context.streams().acquire(Default::default()).unwrap();
    let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    table.fail(id::cuStreamQuery, 1, destroyed);
    let error = ops::query(&stream).unwrap_err();
    assert_eq!(error.status(), Some(destroyed));
    assert!(
        !error.is_sticky(),
        "what says that it is lost, and it is not"
    );
    assert_eq!(context.poison(), None);
    ops::query(&stream).unwrap();
    // The next operation that needs it sets its context again, whatever the driver says is current.
    let before = table.count(id::cuCtxSetCurrent);
    context.memory_info().unwrap();
    assert_eq!(table.count(id::cuCtxSetCurrent), before + 1);
    // A wait that memory safety rests on is made again.
    let mut pinned = context.buffers().pinned::<u32>(64).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let buffer = pool.allocate::<u32>(64, &stream).unwrap();
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
    let waits = table.count(id::cuEventSynchronize);
    table.fail(id::cuEventSynchronize, waits + 1, destroyed);
    drop(pinned);
    assert_eq!(table.count(id::cuEventSynchronize), waits + 2);
    assert_eq!(execution.live().abandoned, 0);
}

/// What other code has current while a thread of its own puts work on a stream: nothing, or a context.
fn others(driver: &Driver) -> [(CUcontext, Option<Arc<Other>>); 2] {
    let (other, _) = Other::new(driver, 0);
    [(ptr::null_mut(), None), (other.raw, Some(other))]
}

// Without it each call about a stream would cost a question or two, and change what other code has
// current.
#[test]
fn calls_about_a_stream_ask_nothing_and_change_nothing() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = device(&execution).primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let event: Event = context.events().acquire(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(64).unwrap();
    let mut buffer = pool.allocate::<u32>(64, &stream).unwrap();
    let driver = execution.driver();
    let mut work = || {
        ops::fill(&mut buffer, 7, &stream).unwrap();
        ops::record(&event, &stream).unwrap();
        ops::wait(&stream, &event).unwrap();
        ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
        ops::synchronize_event(&event).unwrap();
        ops::synchronize(&stream).unwrap();
        assert!(ops::query(&stream).unwrap() && ops::query_event(&event).unwrap());
        assert_eq!(pinned.as_slice().unwrap(), [7; 64]);
        pinned.as_mut_slice().unwrap().fill(0);
    };
    // Events are made when they are first needed, which is done in the context.
    work();
    for (raw, _keep) in others(driver) {
        set(driver, raw);
        table.reset();
        work();
        let asked =
            [id::cuCtxGetCurrent, id::cuCtxSetCurrent].map(|function| table.count(function));
        assert_eq!(asked, [0, 0]);
        assert_eq!(current(driver), raw);
        set(driver, ptr::null_mut());
    }
}

// Without it calls of other code behind a guard, or behind `make_current`, could run in another
// context, and what it changed within a guard stay so.
#[test]
fn what_other_code_has_set_is_no_reason_to_trust_the_thread() {
    let machine = machine();
    let driver = machine.driver();
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let context = device(&execution).primary().unwrap();
    let (other, _) = Other::new(&driver, 1);
    context.make_current().unwrap();
    set(&driver, other.raw);
    context.make_current().unwrap();
    assert_eq!(current(&driver), context.as_raw());
    set(&driver, other.raw);
    let guard = context.enter().unwrap();
    assert_eq!(current(&driver), context.as_raw());
    drop(guard);
    assert_eq!(current(&driver), other.raw);
    context.make_current().unwrap();
    let guard = context.enter().unwrap();
    set(&driver, other.raw);
    drop(guard);
    assert_eq!(current(&driver), context.as_raw(), "as it was before");
    nothing_found(&machine);
}

// Without it the thread's stack in the driver would grow with each guard, for ever, or a context of
// other code that is further down be lost to it.
#[test]
fn a_guard_leaves_the_stack_as_high_as_it_was() {
    let machine = machine();
    let driver = machine.driver();
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let device = device(&execution);
    let primary = device.primary().unwrap();
    let own = device.contexts().create(Waiting::Auto).unwrap();
    let (below, _) = Other::new(&driver, 0);
    let (other, _) = Other::new(&driver, 1);
    set(&driver, below.raw);
    // SAFETY: a live context.
    unsafe { driver.cuCtxPushCurrent_v2(primary.as_raw()) }.unwrap();
    let before = [below.raw, primary.as_raw()];
    type Within<'a> = &'a dyn Fn();
    let ways: [(&str, Within<'_>); 6] = [
        ("nothing", &|| ()),
        ("an operation there", &|| own.make_current().unwrap()),
        ("one in the context before", &|| {
            primary.make_current().unwrap();
        }),
        ("other code sets another", &|| set(&driver, other.raw)),
        ("the one before", &|| set(&driver, primary.as_raw())),
        ("takes the guard's off", &|| pop(&driver)),
    ];
    for (way, within) in ways {
        for _ in 0..2 {
            let guard = own.enter().unwrap();
            within();
            drop(guard);
            assert_eq!(stack(&driver), before, "{way}");
            primary.memory_info().unwrap();
            assert_eq!(stack(&driver), before, "{way}");
        }
    }
    // A guard of the context that is current.
    for within in [ways[1].1, ways[2].1, ways[5].1] {
        let guard = primary.enter().unwrap();
        within();
        drop(guard);
        assert_eq!(stack(&driver), before);
    }
    // A context of other code is not named, so it is set again, and else not put back.
    set(&driver, other.raw);
    let guard = own.enter().unwrap();
    set(&driver, other.raw);
    drop(guard);
    assert_eq!(stack(&driver), [below.raw, other.raw]);
    let guard = own.enter().unwrap();
    pop(&driver);
    drop(guard);
    assert_eq!(stack(&driver), [below.raw]);
    // Other code took all off.
    pop(&driver);
    let guard = own.enter().unwrap();
    pop(&driver);
    drop(guard);
    assert!(stack(&driver).is_empty());
    primary.memory_info().unwrap();
    assert_eq!(stack(&driver), [primary.as_raw()]);
    nothing_found(&machine);
}

// Without it the context of a guard that is still there would be taken off by the end of one that
// came before it, and one of the two stay on the stack.
#[test]
fn guards_may_be_dropped_in_any_order() {
    let machine = machine();
    let driver = machine.driver();
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let device = device(&execution);
    let primary = device.primary().unwrap();
    let contexts = [(); 3].map(|()| device.contexts().create(Waiting::Auto).unwrap());
    let [a, b, c] = contexts.each_ref().map(Context::as_raw);
    let x = primary.as_raw();
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        primary.make_current().unwrap();
        let mut guards = contexts.each_ref().map(|one| Some(one.enter().unwrap()));
        let mut there = [true; 3];
        for next in order {
            drop(guards[next].take());
            there[next] = false;
            // As far as the highest that is still to be dropped.
            let left = there
                .iter()
                .rposition(|there| *there)
                .map_or(0, |at| at + 1);
            assert_eq!(stack(&driver), [x, a, b, c][..=left], "{order:?}");
            // Operations go on, in the place of the top.
            let top = current(&driver);
            primary.memory_info().unwrap();
            set(&driver, top);
        }
    }
    // What a guard keeps is kept until it is off the stack.
    let [one, two, _three] = contexts;
    let (outer, inner) = (one.enter().unwrap(), two.enter().unwrap());
    let handle = one.handle();
    drop(outer);
    device.contexts().release(handle).unwrap();
    drop(one);
    assert_eq!(stack(&driver), [x, a, b]);
    drop(inner);
    assert_eq!(stack(&driver), [x]);
    assert_eq!(execution.live().contexts, 3);
    nothing_found(&machine);
}

// Without it the end of a context would take the place of another execution manager's guard off
// the stack that both have, and that guard take off what was there before it.
#[test]
fn a_context_that_ends_within_a_guard_of_another_manager_leaves_its_place() {
    let machine = machine();
    let driver = machine.driver();
    let [one, two] = [(); 2].map(|()| ExecutionManager::new(machine.driver()).unwrap());
    let primary = device(&one).primary().unwrap();
    let (other, _) = Other::new(&driver, 1);
    set(&driver, other.raw);
    let guard = primary.enter().unwrap();
    let own = device(&two).contexts().create(Waiting::Auto).unwrap();
    own.make_current().unwrap();
    drop(own);
    assert_eq!(stack(&driver), [other.raw, primary.as_raw()]);
    drop(guard);
    assert_eq!(stack(&driver), [other.raw]);
    nothing_found(&machine);
}

// Without it the same would happen in the place of a guard that was dropped before another above it,
// which is still to be taken off.
#[test]
fn a_context_that_ends_above_the_place_of_a_dropped_guard_leaves_that() {
    let machine = machine();
    let driver = machine.driver();
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let device = device(&execution);
    let primary = device.primary().unwrap();
    let [own, other] = [(); 2].map(|()| device.contexts().create(Waiting::Auto).unwrap());
    let (below, _) = Other::new(&driver, 1);
    set(&driver, below.raw);
    let outer = primary.enter().unwrap();
    own.make_current().unwrap();
    let inner = other.enter().unwrap();
    // The inner guard keeps it.
    drop(own);
    drop(outer);
    drop(inner);
    assert_eq!(stack(&driver), [below.raw]);
    nothing_found(&machine);
}

// Without it a context that ends within a guard would take the guard's place on the driver's
// stack along, and the guard take off what was there before it.
#[test]
fn a_context_that_ends_within_a_guard_leaves_what_was_before() {
    let machine = machine();
    let driver = machine.driver();
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let primary = device.primary().unwrap();
    let (other, _) = Other::new(&driver, 1);
    set(&driver, other.raw);
    let outer = primary.enter().unwrap();
    let inner = primary.enter().unwrap();
    let own = contexts.create(Waiting::Auto).unwrap();
    own.make_current().unwrap();
    contexts.release(own.handle()).unwrap();
    drop(own);
    assert_eq!(current(&driver), primary.as_raw());
    drop(inner);
    assert_eq!(current(&driver), primary.as_raw());
    drop(outer);
    assert_eq!(current(&driver), other.raw);
    // Without a guard nothing takes its place.
    let own = contexts.create(Waiting::Auto).unwrap();
    set(&driver, ptr::null_mut());
    own.make_current().unwrap();
    contexts.release(own.handle()).unwrap();
    drop(own);
    assert_eq!(current(&driver), ptr::null_mut());
    nothing_found(&machine);
}

// Without it other code that counts on the primary context, and has retained it, would find no
// context on its thread.
#[test]
fn the_primary_context_stays_current_for_others() {
    let machine = machine();
    let driver = machine.driver();
    let mut theirs = ptr::null_mut();
    // SAFETY: the place outlives the calls.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuDevicePrimaryCtxRetain(&raw mut theirs, 0).unwrap();
    }
    set(&driver, theirs);
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let context = device(&execution).primary().unwrap();
    context.memory_info().unwrap();
    drop((context, execution));
    assert_eq!(current(&driver), theirs);
    // Nor is another context taken off that was set meanwhile.
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let own = device(&execution).contexts().create(Waiting::Auto).unwrap();
    own.make_current().unwrap();
    set(&driver, theirs);
    drop((own, execution));
    assert_eq!(current(&driver), theirs);
    // SAFETY: retained above.
    unsafe { driver.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
    nothing_found(&machine);
}

/// One after the other and side by side on threads that end and one that stays.
fn work_in(green: &Context, streams: &[Stream]) {
    let pool = green.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    std::thread::scope(|scope| {
        for stream in streams {
            let pool = &pool;
            scope.spawn(move || {
                let mut buffer = pool.allocate::<u32>(64, stream).unwrap();
                ops::fill(&mut buffer, 7, stream).unwrap();
                let event = green.events().acquire(Default::default()).unwrap();
                ops::record(&event, stream).unwrap();
                let new = green.streams().acquire(Default::default()).unwrap();
                ops::wait(&new, &event).unwrap();
                let blocking = cupola_managers::StreamConfig {
                    blocking: true,
                    ..Default::default()
                };
                let blocking = green.streams().acquire(blocking).unwrap();
                ops::wait(&blocking, &event).unwrap();
                let mut back = [0; 64];
                ops::read(&buffer, &mut back, &blocking).unwrap();
                assert_eq!(back, [7; 64]);
                assert_ne!(current(green.driver()), green.as_raw());
            });
        }
    });
}

// Without it a green context would be current on each thread that worked in it, which NVIDIA
// forbids for more than one, also for one after the other.
#[test]
fn a_green_context_is_current_on_no_thread() {
    // With and without `cuGreenCtxStreamCreate`.
    for version in [Version::new(12, 4), Version::new(13, 0)] {
        let config = DeviceConfig::new().compute_capability(9, 0);
        let machine = Machine::builder()
            .device(config.multiprocessors(32))
            .driver_version(version)
            .build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = device(&execution);
        let green = device.contexts().green(GreenConfig::at_least(8)).unwrap();
        let driver = green.driver().clone();
        let streams = [(); 4].map(|()| green.streams().acquire(Default::default()).unwrap());
        work_in(&green, &streams);
        for stream in &streams {
            let mut of = ptr::null_mut();
            // SAFETY: the place outlives the call; a live stream.
            unsafe { driver.cuStreamGetGreenCtx(stream.as_raw(), &raw mut of) }.unwrap();
            assert_eq!(of.addr(), green.as_raw().addr());
        }
        // Nor by what makes a context current for other code.
        let primary = device.primary().unwrap();
        green.make_current().unwrap();
        assert_eq!(current(&driver), primary.as_raw());
        let guard = green.enter().unwrap();
        assert_eq!(current(&driver), primary.as_raw());
        drop(guard);
        // Its default stream would be the primary context's there.
        let refused = green.streams().legacy_default();
        assert!(matches!(refused, Err(Error::Invalid { .. })));
        drop((streams, green, primary, device, execution));
        nothing_found(&machine);
        assert_eq!(machine.leaks(), None);
    }
}

// Without it a wait for a default stream could be one for another context's, and memory that the
// device still writes be handed back.
#[test]
fn a_wait_is_not_made_in_another_context() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = device(&execution).primary().unwrap();
    let stream = context.streams().acquire(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let buffer = pool.allocate::<u32>(64, &stream).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(64).unwrap();
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
    let (other, _) = Other::new(&machine.driver(), 0);
    set(&machine.driver(), other.raw);
    table.reset();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    table.fail_from(id::cuCtxSetCurrent, 1, code);
    drop(pinned);
    assert_eq!(table.count(id::cuEventSynchronize), 0);
    assert_eq!(table.count(id::cuMemFreeHost), 0, "it is not free");
    assert_eq!(execution.live().abandoned, 1);
    table.reset();
    ops::synchronize(&stream).unwrap();
}

//! Contexts of other code: kept, never destroyed, and known again.

use super::*;

// Without it a context of other code could end while this crate uses it, or be ended here.
#[test]
fn a_borrowed_context_is_kept_and_never_destroyed() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let (other, ended) = Other::new(&machine.driver(), 0);
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let watch = execution.watch();
    let device = device(&execution);
    let context = borrow(&device, &other).unwrap();
    assert_eq!(context.kind(), ContextKind::Borrowed);
    assert_eq!(context.as_raw(), other.raw);
    assert_eq!(context.multiprocessors(), Ok(32));
    // What is current is as it was before.
    assert_eq!(table.count(id::cuCtxPopCurrent_v2), 1);
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(64, &stream).unwrap();
    ops::fill(&mut buffer, 3, &stream).unwrap();
    // The same twice: one context.
    let again = borrow(&device, &other).unwrap();
    assert_eq!(again.handle(), context.handle());
    assert_eq!(watch.live().contexts, 1);
    device.contexts().release(context.handle()).unwrap();
    drop((other, context, again, pool));
    // Its handle is gone, and something of it is there: another lease of the same.
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    let (theirs, _) = Other::new(&machine.driver(), 0);
    let stranger = borrow(&device, &theirs).unwrap();
    drop(theirs);
    assert!(matches!(
        ops::fill(
            &mut buffer,
            3,
            &stranger.streams().create(Default::default()).unwrap()
        ),
        Err(Error::WrongContext { .. })
    ));
    drop(stream);
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    drop(buffer);
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    drop((stranger, device, execution));
    assert_eq!(
        table.count(id::cuCtxDestroy_v2),
        0,
        "not through this crate"
    );
    assert!(watch.live().is_empty());
    assert_eq!(machine.leaks(), None);
}

// Without it one driver context could be two here, each with half of the truth.
#[test]
fn a_context_that_is_known_is_not_taken_in_again() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let own = contexts.create(Default::default()).unwrap();
    let green = contexts.green(GreenConfig::at_least(8)).unwrap();
    let primary = device.primary().unwrap();
    for context in [&own, &green, &primary] {
        let token = Arc::new(());
        // SAFETY: ours, and leased.
        let same = unsafe { contexts.borrow(context.as_raw(), token.clone()) }.unwrap();
        assert_eq!(
            (same.handle(), same.kind()),
            (context.handle(), context.kind())
        );
        assert_eq!(Arc::strong_count(&token), 1, "nothing needs it");
    }
    // Released, and leased: one more handle for it.
    contexts.release(own.handle()).unwrap();
    // SAFETY: as above.
    let back = unsafe { contexts.borrow(own.as_raw(), Arc::new(())) }.unwrap();
    assert_ne!(back.handle(), own.handle());
    assert_eq!(back.kind(), ContextKind::Created);
    let stream = own.streams().create(Default::default()).unwrap();
    let event = back.events().create(Default::default()).unwrap();
    ops::record(&event, &stream).unwrap();
    drop((own, stream, event, back, green, primary));
    drop((device, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a context could be taken for one of another device, or for one at all.
#[test]
fn what_is_no_context_of_the_device_is_refused() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let (other, ended) = Other::new(&machine.driver(), 1);
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = device(&execution);
    let second = execution.devices().get(1).unwrap();
    let field = |refused: Result<Context, Error>| match refused {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(borrow(&device, &other)), "raw");
    // SAFETY: null is what is asked about.
    let null = unsafe { device.contexts().borrow(ptr::null_mut(), Arc::new(())) };
    assert_eq!(field(null), "raw");
    let held = borrow(&second, &other).unwrap();
    // Known by now.
    assert_eq!(field(borrow(&device, &other)), "raw");
    second.contexts().release(held.handle()).unwrap();
    drop(held);
    // Each of the calls fails once; nothing is kept, and what was current is so again.
    for function in [id::cuCtxPushCurrent_v2, id::cuCtxGetDevice] {
        table.reset();
        table.fail(function, 1, CUresult::CUDA_ERROR_INVALID_CONTEXT);
        assert!(matches!(borrow(&second, &other), Err(Error::Driver(_))));
        assert_eq!(Arc::strong_count(&other), 1);
        let mut now = ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { machine.driver().cuCtxGetCurrent(&raw mut now) }.unwrap();
        assert!(now != other.raw, "left current");
    }
    table.reset();
    table.fail(id::cuCtxPopCurrent_v2, 1, CUresult::CUDA_ERROR_UNKNOWN);
    let held = borrow(&second, &other).unwrap();
    held.streams().create(Default::default()).unwrap();
    second.contexts().release(held.handle()).unwrap();
    drop(held);
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    drop(other);
    assert_eq!(ended.load(Ordering::Relaxed), 1);
}

// Without it threads that borrow one context at once could take it in twice.
#[test]
fn threads_borrow_one_context() {
    let machine = machine();
    let (other, ended) = Other::new(&machine.driver(), 0);
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                let context = borrow(&device, &other).unwrap();
                context.streams().create(Default::default()).unwrap();
            });
        }
    });
    assert_eq!(device.contexts().handles().count(), 1);
    drop((device, execution, other));
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    assert_eq!(machine.leaks(), None);
}

// Without it a green context could be current on two threads: its manager makes it current on none,
// which another one that takes it for an ordinary context does not know.
#[test]
fn a_green_context_of_another_execution_manager_is_refused() {
    let machine = machine();
    let first = ExecutionManager::new(machine.driver()).unwrap();
    let second = ExecutionManager::new(machine.driver()).unwrap();
    let (theirs, ours) = (device(&first), device(&second));
    let green = theirs.contexts().green(GreenConfig::at_least(8)).unwrap();
    let raw = green.as_raw();
    let token = Arc::new(());
    // SAFETY: live, and no other code's green context.
    let borrow = |device: &Device| unsafe { device.contexts().borrow(raw, token.clone()) };
    // Also by a manager that has a share in the context which it is a part of.
    for shared in [false, true] {
        let _primary = shared.then(|| ours.primary().unwrap());
        let refused = borrow(&ours).unwrap_err();
        let kind = "Context";
        assert_eq!(
            refused,
            Error::StaleHandle {
                kind,
                bits: raw.addr() as u64
            }
        );
    }
    assert_eq!(borrow(&theirs).unwrap().handle(), green.handle());
    assert_eq!(Arc::strong_count(&token), 1);
    drop((green, theirs, ours, first, second));
    assert_eq!(machine.leaks(), None);
}

//! Green contexts: what they are given, what they share, and when they end.

use super::*;

// Without it a green context could be given fewer multiprocessors than were asked for, or
// say that it has what it was asked for.
#[test]
fn green_contexts_say_what_they_were_given() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let watch = execution.watch();
    let device = device(&execution);
    let contexts = device.contexts();
    let one = contexts.green(GreenConfig::at_least(9)).unwrap();
    assert_eq!(
        (one.kind(), one.multiprocessors()),
        (ContextKind::Green, Ok(16))
    );
    assert_eq!(device.primary().unwrap().multiprocessors(), Ok(32));
    let parts = contexts.green_split(4, GreenConfig::at_least(1)).unwrap();
    let fine = GreenConfig {
        multiprocessors: 3,
        fine: true,
    };
    let small = contexts.green(fine).unwrap();
    assert_eq!(small.multiprocessors(), Ok(4));
    for part in &parts {
        assert_eq!(part.multiprocessors(), Ok(8));
        let stream = part.streams().create(Default::default()).unwrap();
        let pool = part.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let mut buffer = pool.allocate::<u32>(64, &stream).unwrap();
        ops::fill(&mut buffer, 7, &stream).unwrap();
        let mut back = [0; 64];
        ops::read(&buffer, &mut back, &stream).unwrap();
        assert_eq!(back, [7; 64]);
        // The stream is the green context's.
        let mut green = ptr::null_mut();
        // SAFETY: the place outlives the call; a live stream.
        unsafe {
            let driver = part.driver();
            driver.cuStreamGetGreenCtx(stream.as_raw(), &raw mut green)
        }
        .unwrap();
        assert_eq!(green.addr(), part.as_raw().addr());
    }
    assert_eq!(watch.live().contexts, 7);
    drop((one, small, parts, device, execution));
    assert!(watch.live().is_empty());
    assert_eq!(machine.leaks(), None);
}

// Without it a partition could leave multiprocessors to no kernel, or give one to two parts; or the
// streams of a part's pool run on all of the device.
#[test]
fn a_partition_has_every_multiprocessor_once() {
    for (count, least, groups, rest) in [
        (3, 8, [8; 3].to_vec(), Some(8)),
        (2, 8, [8; 2].to_vec(), Some(16)),
        (2, 12, [16; 2].to_vec(), None),
        (1, 32, [32; 1].to_vec(), None),
    ] {
        let machine = machine();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let watch = execution.watch();
        let device = device(&execution);
        let partition = (device.contexts())
            .green_partition(count, GreenConfig::at_least(least))
            .unwrap();
        let given = |context: &Context| context.multiprocessors().unwrap();
        assert_eq!(
            partition.groups.iter().map(given).collect::<Vec<_>>(),
            groups
        );
        assert_eq!(partition.rest.as_ref().map(given), rest);
        let parts: Vec<&Context> = partition.groups.iter().chain(&partition.rest).collect();
        let all = device.primary().unwrap().multiprocessors().unwrap();
        assert_eq!(parts.iter().map(|part| given(part)).sum::<u32>(), all);
        let memory = parts[0].memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let mut seen = Vec::new();
        for part in &parts {
            let pool = StreamPool::new(part, StreamPoolConfig::new(2)).unwrap();
            for _ in 0..4 {
                let stream = pool.lease().unwrap();
                let zeros = memory.zeros::<u32>(64, &stream).unwrap();
                assert_eq!(zeros.to_vec(&stream).unwrap(), [0; 64]);
                let mut green = ptr::null_mut();
                // SAFETY: the place outlives the call; a live stream.
                let asked = unsafe {
                    let driver = part.driver();
                    driver.cuStreamGetGreenCtx(stream.as_raw(), &raw mut green)
                };
                asked.unwrap();
                assert_eq!(green.addr(), part.as_raw().addr());
            }
            assert!(pool.live() <= 2);
            // The pool keeps its part, whose handle may go.
            device.contexts().release(part.handle()).unwrap();
            seen.push((pool.lease().unwrap(), pool));
        }
        drop((partition, memory, device, execution));
        for (stream, pool) in seen {
            ops::synchronize(&stream).unwrap();
            drop(pool);
        }
        assert!(watch.live().is_empty());
        assert_eq!(machine.leaks(), None);
    }
}

// Without it a request that cannot be met could be met by halves, or its error not say why.
#[test]
fn what_cannot_be_parted_is_refused() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let field = |count, multiprocessors| {
        let config = GreenConfig::at_least(multiprocessors);
        match contexts.green_split(count, config).map(drop) {
            Err(Error::Invalid { field, problem }) => (field, problem),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(field(0, 8).0, "count");
    assert_eq!(field(1, 0).0, "multiprocessors");
    assert_eq!(field(1, 33).0, "multiprocessors");
    assert_eq!(field(u32::MAX, 1).0, "count");
    assert_eq!(table.count(id::cuDevicePrimaryCtxRetain), 0);
    let (named, problem) = field(3, 9);
    assert_eq!(named, "count");
    assert!(problem.contains("32") && problem.contains('9'), "{problem}");
    assert_eq!(table.count(id::cuGreenCtxCreate), 0);
}

// Without it an old driver's answer could be an error code, or come after something was made.
#[test]
fn old_drivers_say_what_they_lack() {
    let machine = Machine::builder()
        .driver_version(Version::new(12, 3))
        .build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let partition = device
        .contexts()
        .green_partition(1, GreenConfig::at_least(1));
    assert!(matches!(partition, Err(Error::Unsupported { .. })));
    let refused = device.contexts().green(GreenConfig::at_least(1));
    let Err(Error::Unsupported { needs, have, .. }) = refused.map(drop) else {
        panic!("a driver of CUDA 12.3 has no green contexts");
    };
    assert_eq!((needs, have), (Version::new(12, 4), Version::new(12, 3)));
    assert_eq!(machine.usage().contexts, 0);
    // Streams need nothing that came later.
    let machine = Machine::builder()
        .driver_version(Version::new(12, 4))
        .build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = self::device(&execution);
    let green = device.contexts().green(GreenConfig::at_least(1)).unwrap();
    green.streams().create(Default::default()).unwrap();
}

// Without it parts of one device could not work on the same data, or objects of contexts
// that share nothing could meet.
#[test]
fn green_contexts_share_memory_with_the_primary_context() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let primary = device.primary().unwrap();
    let parts = device
        .contexts()
        .green_split(2, GreenConfig::at_least(8))
        .unwrap();
    let all = [&primary, &parts[0], &parts[1]];
    let streams = all.map(|context| context.streams().create(Default::default()).unwrap());
    for owner in all {
        let home = owner.streams().create(Default::default()).unwrap();
        let pool = owner.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let mut buffer = pool.allocate::<u32>(64, &home).unwrap();
        let event = owner.events().create(Default::default()).unwrap();
        for (turn, stream) in streams.iter().enumerate() {
            ops::fill(&mut buffer, turn as u32, stream).unwrap();
            ops::record(&event, stream).unwrap();
            ops::wait(&home, &event).unwrap();
            let mut back = [9; 64];
            ops::read(&buffer, &mut back, &home).unwrap();
            assert_eq!(back, [turn as u32; 64]);
        }
        let own = device.contexts().create(Default::default()).unwrap();
        let apart = own.streams().create(Default::default()).unwrap();
        assert!(matches!(
            ops::fill(&mut buffer, 1, &apart),
            Err(Error::WrongContext { .. })
        ));
    }
    drop((streams, primary, parts, device, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a part of a lost context could work on, on memory that a fault has spoilt.
#[test]
fn an_error_that_loses_one_loses_all() {
    for lost in 0..3 {
        let table = FaultTable::new(machine().driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let device = device(&execution);
        let primary = device.primary().unwrap();
        let parts = device
            .contexts()
            .green_split(2, GreenConfig::at_least(8))
            .unwrap();
        let all = [&primary, &parts[0], &parts[1]];
        let own = device.contexts().create(Default::default()).unwrap();
        let streams = all.map(|context| context.streams().create(Default::default()).unwrap());
        let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        table.fail(id::cuStreamSynchronize, 1, code);
        assert!(ops::synchronize(&streams[lost]).is_err());
        for (context, stream) in all.into_iter().zip(&streams) {
            assert_eq!(context.poison().unwrap().status(), Some(code));
            let refused = ops::query(stream).unwrap_err();
            assert!(matches!(refused, Error::Poisoned { .. }), "{refused}");
        }
        assert_eq!(own.poison(), None);
    }
}

// Without it the loss of a primary context and its parts could be announced for each of them,
// or for none.
#[test]
fn the_policy_of_the_part_that_met_the_error_runs_once() {
    let table = FaultTable::new(machine().driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = device(&execution);
    let primary = device.primary().unwrap();
    let green = device.contexts().green(GreenConfig::at_least(8)).unwrap();
    let ran = [&primary, &green].map(|context| {
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        context.set_poison_policy(PoisonPolicy::call(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        ran
    });
    let streams = [&primary, &green].map(|it| it.streams().create(Default::default()).unwrap());
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail_from(id::cuStreamSynchronize, 1, code);
    assert!(ops::synchronize(&streams[1]).is_err());
    assert!(ops::synchronize(&streams[0]).is_err());
    assert_eq!(ran.map(|ran| ran.load(Ordering::Relaxed)), [0, 1]);
}

// Without it the primary context could end under a part of it, a green context under its
// streams, or stay for ever.
#[test]
fn any_order_of_drops_ends_green_contexts() {
    fn property(order: Vec<u8>) -> bool {
        let machine = machine();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let watch = execution.watch();
        let device = device(&execution);
        let contexts = device.contexts();
        let primary = device.primary().unwrap();
        let mut parts = contexts.green_split(2, GreenConfig::at_least(8)).unwrap();
        let (a, b) = (parts.pop().unwrap(), parts.pop().unwrap());
        let (other, _) = Other::new(&machine.driver(), 0);
        let borrowed = borrow(&device, &other).unwrap();
        drop(other);
        for context in [&primary, &a, &b, &borrowed] {
            contexts.release(context.handle()).unwrap();
        }
        let stream = a.streams().create(Default::default()).unwrap();
        let pool = primary.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let mut buffer = pool.allocate::<u32>(1000, &stream).unwrap();
        ops::fill(&mut buffer, 1, &stream).unwrap();
        let event = b.events().create(Default::default()).unwrap();
        ops::record(&event, &stream).unwrap();
        let theirs = borrowed.streams().create(Default::default()).unwrap();
        ops::wait(&theirs, &event).unwrap();
        let mut things: Vec<Box<dyn Any>> = vec![
            Box::new(execution),
            Box::new(device),
            Box::new(primary),
            Box::new(a),
            Box::new(b),
            Box::new(borrowed),
            Box::new(stream),
            Box::new(pool),
            Box::new(buffer),
            Box::new(event),
            Box::new(theirs),
        ];
        for pick in order.into_iter().chain(std::iter::repeat(0)) {
            if things.is_empty() {
                break;
            }
            let index = usize::from(pick) % things.len();
            drop(things.swap_remove(index));
        }
        watch.live().is_empty() && machine.leaks().is_none()
    }
    quickcheck(property as fn(Vec<u8>) -> bool);
}

// Without it a failed call could leave one of several green contexts, or its error be lost.
#[test]
fn a_call_that_fails_leaves_no_green_context() {
    let calls: [(SymbolId, u64); 6] = [
        (id::cuDeviceGetDevResource, 1),
        (id::cuDevicePrimaryCtxRetain, 1),
        (id::cuDevSmResourceSplitByCount, 1),
        (id::cuDevResourceGenerateDesc, 3),
        (id::cuGreenCtxCreate, 3),
        (id::cuCtxFromGreenCtx, 3),
    ];
    for (function, count) in calls {
        for k in 1..=count {
            for code in [2, 4, 600, 700, 719, 999] {
                let machine = machine();
                let table = FaultTable::new(machine.driver());
                let execution = ExecutionManager::new(table.driver()).unwrap();
                let watch = execution.watch();
                let device = device(&execution);
                let split = || device.contexts().green_split(3, GreenConfig::at_least(8));
                table.fail(function, k, CUresult(code));
                let error = split().unwrap_err();
                assert_eq!(error.status(), Some(CUresult(code)), "{error}");
                assert_eq!(table.count(function), k);
                // The primary context is the manager's.
                assert!(watch.live().contexts <= 1);
                table.reset();
                match split() {
                    Ok(parts) => assert_eq!(parts.len(), 3),
                    Err(Error::Poisoned { first, .. }) => {
                        assert_eq!(first.call.status(), Some(CUresult(code)));
                    }
                    Err(other) => panic!("{function:?} call {k} code {code}: {other}"),
                }
                drop((device, execution));
                assert!(watch.live().is_empty());
                assert_eq!(machine.leaks(), None, "{function:?} call {k} code {code}");
            }
        }
    }
}

// Without it a green context that the driver does not end could go uncounted, or be ended
// twice.
#[test]
fn a_refused_end_is_counted_once() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let watch = execution.watch();
    let green = device(&execution)
        .contexts()
        .green(GreenConfig::at_least(8))
        .unwrap();
    table.fail(id::cuGreenCtxDestroy, 1, CUresult::CUDA_ERROR_UNKNOWN);
    drop((green, execution));
    assert_eq!(table.count(id::cuGreenCtxDestroy), 1);
    assert_eq!(watch.live().abandoned, 1);
    assert_eq!(watch.live().contexts, 0);
}

// Without it a green context that is neither handed out nor ended could go uncounted.
#[test]
fn what_cannot_be_converted_nor_ended_is_counted() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let watch = execution.watch();
    let device = device(&execution);
    let refused = CUresult::CUDA_ERROR_INVALID_VALUE;
    table.fail(id::cuCtxFromGreenCtx, 1, refused);
    table.fail(id::cuGreenCtxDestroy, 1, CUresult::CUDA_ERROR_UNKNOWN);
    let green = device.contexts().green(GreenConfig::at_least(8));
    assert_eq!(green.unwrap_err().status(), Some(refused));
    drop((device, execution));
    assert_eq!(table.count(id::cuGreenCtxDestroy), 1);
    assert_eq!((watch.live().abandoned, watch.live().contexts), (1, 0));
}

// Without it a module could be unloaded while a kernel of it runs in another part.
#[test]
fn the_end_of_a_module_waits_for_all_parts() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = device(&execution);
    let parts = device
        .contexts()
        .green_split(2, GreenConfig::at_least(8))
        .unwrap();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    let module = parts[0].modules().load_ptx(ptx).unwrap();
    let stream = parts[1].streams().create(Default::default()).unwrap();
    let nothing = module.function("nothing").unwrap();
    let (open, wait) = std::sync::mpsc::channel::<()>();
    let ran = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&ran);
    ops::host_function(&stream, move || {
        // An error is the sender's end, which will do.
        let _ = wait.recv();
        seen.store(1, Ordering::Release);
    })
    .unwrap();
    // SAFETY: the kernel takes no arguments and touches no memory.
    unsafe { ops::launch(&nothing, ops::LaunchConfig::linear(1, 1), (), &stream) }.unwrap();
    drop(nothing);
    std::thread::scope(|scope| {
        scope.spawn(|| drop(module));
        // The drop has got to its wait, or has gone past it.
        while table.count(id::cuEventQuery) == 0 && table.count(id::cuModuleUnload) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(table.count(id::cuModuleUnload), 0, "it did not wait");
        open.send(()).unwrap();
    });
    assert_eq!(ran.load(Ordering::Acquire), 1);
    assert_eq!(table.count(id::cuModuleUnload), 1);
}

//! Shutdown and release of each level, with things leased and without.

use super::*;

// Without it a shutdown could leave a level that hands things out, a handle that is good, or
// something that is not used; or take from a user what it leases.
#[test]
fn a_shutdown_goes_through_all_levels() {
    let (_table, machine, execution) = open();
    let watch = execution.watch();
    let devices = execution.devices();
    let device = devices.get(0).unwrap();
    let context = device.primary().unwrap();
    let own = device.contexts().create_held(Default::default()).unwrap();
    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
    let idle = context
        .streams()
        .create_held(StreamConfig::default())
        .unwrap()
        .handle();
    let event = context.events().create(EventConfig::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let pinned = context.buffers().pinned::<u8>(1).unwrap();
    let module = context.modules().load_ptx(PTX).unwrap();
    let function = module.function("nothing").unwrap();
    module.function("other").unwrap();
    let unused = own.modules().load_ptx_held(PTX).unwrap().handle();
    let own_handle = own.handle();
    drop(own);
    ops::fill(&mut buffer, 7, &stream).unwrap();

    let report = execution.shutdown();
    println!("{report}");
    let kinds: Vec<_> = report
        .leased
        .iter()
        .map(|object| (object.kind, object.leases))
        .collect();
    let expected = [
        ("Function", 1),
        ("Module", 2),
        ("Buffer", 1),
        ("Stream", 2),
        ("Event", 1),
        ("Context", 1),
        ("Device", 1),
    ];
    assert_eq!(kinds, expected, "{report}");
    for object in &report.leased {
        assert_eq!(object.device, Some(0));
        let context = (object.kind != "Device").then_some(context.handle());
        assert_eq!(object.context, context);
    }
    let named = report.leased_of("Stream").next().unwrap();
    assert_eq!(named.handle_as::<tag::Stream>(), Some(stream.handle()));
    assert_eq!(named.handle_as::<tag::Event>(), None);
    // The stream that was not leased, the module of the other context, and that context.
    assert_eq!(report.destroyed, 3, "{report}");
    let alive = report.alive.unwrap();
    assert_eq!(
        (alive.contexts, alive.streams, alive.pinned, alive.pools),
        (1, 1, 1, 1)
    );
    assert!(!report.is_complete() && report.errors.is_empty());

    // Every level refuses, whatever is leased.
    assert_eq!(execution.state(), State::ShutDown);
    for state in [
        devices.state(),
        device.contexts().state(),
        context.streams().state(),
        context.events().state(),
        context.buffers().state(),
        context.modules().state(),
        module.functions().state(),
    ] {
        assert_eq!(state, State::ShutDown);
    }
    assert!(is_shut(&devices.get(0)) && is_shut(&device.primary()));
    assert!(is_shut(&device.contexts().create(Default::default())));
    assert!(is_shut(&context.streams().acquire(StreamConfig::default())));
    assert!(is_shut(&context.events().acquire(EventConfig::default())));
    assert!(is_shut(&context.modules().load_ptx(PTX)));
    assert!(is_shut(&module.function("nothing")));
    assert!(is_shut(&pool.allocate::<u8>(1, &stream)));
    assert!(is_shut(&context.buffers().pinned::<u8>(1)));
    assert!(is_stale(&devices.lease(device.handle())));
    assert!(is_stale(&device.contexts().lease(context.handle())));
    assert!(is_stale(&device.contexts().lease(own_handle)));
    assert!(is_stale(&context.streams().lease(idle)));
    assert!(is_stale(&context.streams().lease(stream.handle())));
    assert!(is_stale(&context.events().lease(event.handle())));
    assert!(is_stale(&context.modules().lease(module.handle())));
    assert!(is_stale(&context.modules().lease(unused)));
    assert!(is_stale(&module.functions().lease(function.handle())));
    assert!(is_stale(&context.buffers().info(buffer.handle())));

    // Leases are good.
    let mut back = [0; 100];
    ops::read(&buffer, &mut back, &stream).unwrap();
    assert_eq!(back, [7; 100]);
    // SAFETY: the kernel takes no parameters.
    unsafe { ops::launch(&function, ops::LaunchConfig::linear(1, 1), (), &stream) }.unwrap();
    ops::record(&event, &stream).unwrap();
    ops::synchronize_event(&event).unwrap();

    // A second shutdown finds the same, and nothing to destroy.
    let again = execution.shutdown();
    let kinds: Vec<_> = again
        .leased
        .iter()
        .map(|object| (object.kind, object.leases))
        .collect();
    assert_eq!(
        (kinds.as_slice(), again.destroyed),
        (&expected[..], 0),
        "{again}"
    );

    // What is given back goes at once, and the rest in any order.
    drop(function);
    drop(stream.clone());
    drop((event, module, buffer));
    // But for an event of the crate's own, by which the module's end waited for its kernel.
    assert_eq!((machine.usage().modules, machine.usage().events), (0, 1));
    // It may need an event of the crate's own, which goes with the context.
    drop(pool);
    let left = machine.usage();
    assert_eq!((left.physical_allocations, left.reservations), (0, 0));
    drop((context, device, pinned, stream));
    assert!(watch.live().is_empty(), "{:?}", watch.live());
    assert_eq!(machine.leaks(), None);
    assert!(execution.shutdown().is_complete());

    // And all of it again.
    execution.configure(ExecutionConfig::default()).unwrap();
    assert_eq!(execution.state(), State::Ready);
    let context = primary(&execution);
    context.streams().acquire(StreamConfig::default()).unwrap();
    drop((context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a function whose module was released could be unloaded under its user, or be
// missing in the report.
#[test]
fn what_was_released_while_leased_is_reported() {
    let (_table, machine, execution) = open();
    let context = primary(&execution);
    let function = {
        let module = context.modules().load_ptx(PTX).unwrap();
        let function = module.function("nothing").unwrap();
        context.modules().release(module.handle()).unwrap();
        function
    };
    let contexts = execution.devices().get(0).unwrap();
    contexts.contexts().release(context.handle()).unwrap();
    let report = execution.shutdown();
    let kinds: Vec<_> = report.leased.iter().map(|object| object.kind).collect();
    assert_eq!(
        kinds,
        ["Function", "Module", "Context", "Device"],
        "{report}"
    );
    drop((function, context, contexts));
    assert_eq!(machine.leaks(), None);
}

// Without it releasing a device could disturb those who use it, or leave it unusable.
#[test]
fn a_device_is_released_while_others_use_it() {
    let (_table, machine, execution) = open();
    let devices = execution.devices();
    let device = devices.get(0).unwrap();
    let context = device.primary().unwrap();
    let (old, old_context) = (device.handle(), context.handle());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
                    ops::synchronize(&stream).unwrap();
                }
            });
        }
        devices.release(old).unwrap();
    });
    assert!(is_stale(&devices.lease(old)) && is_stale(&devices.ensure_alive(old)));
    assert!(is_stale(&devices.release(old)));
    assert!(is_stale(&device.contexts().lease(old_context)));
    assert!(!devices.is_alive(devices.handle(0).unwrap()));
    let again = devices.get(0).unwrap();
    assert_ne!(again.handle(), old);
    assert_eq!(again.ordinal(), 0);
    again.primary().unwrap();
    drop((device, context, again, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it devices could be asked for that were configured away, or not come back.
#[test]
fn fewer_devices_can_be_configured_than_there_are() {
    let machine = Machine::builder().devices(2).worker_threads(1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let devices = execution.devices();
    let second = devices.get(1).unwrap();
    let one = DevicesConfig { capacity: Some(1) };
    devices.configure(one).unwrap();
    assert_eq!((devices.count(), devices.handles().len()), (1, 1));
    assert!(is_stale(&devices.lease(second.handle())));
    let refused = devices.get(1).unwrap_err().to_string();
    assert!(refused.contains("shows 2"), "{refused}");
    devices.configure(DevicesConfig::default()).unwrap();
    assert_eq!(devices.get(1).unwrap().ordinal(), 1);
}

// Without it what the driver refused to destroy in a shutdown would go untold.
#[test]
fn a_shutdown_tells_what_could_not_be_destroyed() {
    let (table, _machine, execution) = open();
    let context = primary(&execution);
    drop(context.streams().acquire(StreamConfig::default()).unwrap());
    drop(context);
    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
    table.fail(id::cuStreamDestroy_v2, 1, code);
    table.fail(id::cuDevicePrimaryCtxRelease_v2, 1, code);
    let report = execution.shutdown();
    let calls: Vec<_> = report.errors.iter().filter_map(Error::status).collect();
    assert_eq!(calls, [code, code], "{report}");
    assert_eq!((report.destroyed, report.alive.unwrap().abandoned), (0, 2));
    assert!(!report.is_complete());
}

// Without it a thread could be handed something after the shutdown that it raced with.
#[test]
fn shutdowns_race_with_everything() {
    let (_table, machine, execution) = open();
    for _ in 0..20 {
        let barrier = Barrier::new(5);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..20 {
                        // Whatever is refused is refused by a name or by the shutdown.
                        let work = || -> Result<(), Error> {
                            let context = execution.devices().get(0)?.primary()?;
                            let stream = context.streams().acquire(StreamConfig::default())?;
                            let module = context.modules().load_ptx(PTX)?;
                            module.function("nothing")?;
                            let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
                            let mut buffer = pool.allocate::<u8>(64, &stream)?;
                            ops::zero(&mut buffer, &stream)
                        };
                        if let Err(error) = work() {
                            assert!(
                                matches!(error, Error::ShutDown { .. } | Error::StaleHandle { .. }),
                                "{error}"
                            );
                        }
                    }
                });
            }
            barrier.wait();
            drop(execution.shutdown());
        });
        let report = execution.shutdown();
        assert!(report.is_complete(), "{report}");
        assert_eq!(machine.leaks(), None);
        execution.configure(ExecutionConfig::default()).unwrap();
    }
}

// Without it a buffer that outlives one shutdown could be missing in the report of the next.
#[test]
fn a_buffer_is_reported_by_every_shutdown_until_it_is_freed() {
    let (_table, machine, execution) = open();
    let context = primary(&execution);
    let buffers = context.buffers();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let old = pool.allocate::<u8>(8, &stream).unwrap();
    assert_eq!(buffers.shutdown().leased.len(), 1);
    buffers.configure(Default::default()).unwrap();
    let new = pool.allocate::<u8>(8, &stream).unwrap();
    assert_eq!(buffers.shutdown().leased.len(), 2);
    drop(old);
    assert_eq!(buffers.shutdown().leased.len(), 1);
    drop(new);
    assert!(buffers.shutdown().is_complete());
    drop((stream, pool, context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a pool could end on a thread whose scope has ended, and a shutdown tell of a lease
// that no thread has.
#[test]
fn threads_that_end_let_go_before_the_last_handle_does() {
    let (_table, machine, execution) = open();
    for _ in 0..300 {
        let context = primary(&execution);
        let stream = context.streams().acquire(StreamConfig::default()).unwrap();
        let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        // A scope waits for what its threads do, and not for their thread-locals.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    drop(pool.allocate::<u8>(64, &stream).unwrap());
                    drop(context.thread_stream().unwrap());
                });
            }
        });
        drop((pool, stream, context));
        let report = execution.shutdown();
        assert!(report.is_complete(), "{report}");
        assert_eq!(machine.leaks(), None);
        execution.configure(ExecutionConfig::default()).unwrap();
    }
}

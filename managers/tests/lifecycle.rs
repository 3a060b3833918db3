//! Every level of the chain: set up, used, shut down, set up again.

use std::sync::Barrier;
use std::time::Duration;

use cupola_core::tag;
use cupola_managers::buffer::BuffersConfig;
use cupola_managers::context::ContextsConfig;
use cupola_managers::device::DevicesConfig;
use cupola_managers::event::EventsConfig;
use cupola_managers::module::ModulesConfig;
use cupola_managers::{
    Context, Error, EventConfig, ExecutionConfig, ExecutionManager, PoolConfig, State,
    StreamConfig, StreamsConfig, ops,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

const PTX: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
    .visible .entry nothing() { ret; }\n.visible .entry other() { ret; }\n";

fn open() -> (FaultTable, Machine, ExecutionManager) {
    let machine = Machine::builder().worker_threads(1).build();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    (table, machine, execution)
}

fn primary(execution: &ExecutionManager) -> Context {
    execution.devices().get(0).unwrap().primary().unwrap()
}

fn is_stale<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::StaleHandle { .. }))
}

fn is_shut<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::ShutDown { .. }))
}

// Without it a device or a context could be made before anybody asks for it, or not at all.
#[test]
fn handles_exist_from_the_start_and_nothing_else_does() {
    let (table, machine, execution) = open();
    let devices = execution.devices();
    let handles = devices.handles();
    assert_eq!(handles.len(), devices.count() as usize);
    assert_eq!(table.count(id::cuDeviceGet), 0);
    assert!(!devices.is_alive(handles[0]));
    assert!(matches!(
        devices.lease(handles[0]),
        Err(Error::NotAlive { kind: "Device", .. })
    ));
    let device = devices.ensure_alive(handles[0]).unwrap();
    assert!(devices.is_alive(handles[0]) && devices.lease(handles[0]).is_ok());
    assert_eq!(table.count(id::cuDeviceGet), 1);
    let contexts = device.contexts();
    let handle = contexts.primary_handle().unwrap();
    assert!(!contexts.is_alive(handle));
    assert_eq!(contexts.handles().count(), 0);
    assert_eq!(machine.usage().contexts, 0);
    let context = contexts.ensure_alive(handle).unwrap();
    assert_eq!(context.handle(), handle);
    assert_eq!(contexts.primary().unwrap().handle(), handle);
    assert_eq!(table.count(id::cuDevicePrimaryCtxRetain), 1);
    assert_eq!((contexts.stats().created, contexts.stats().live), (1, 1));
    assert_eq!(devices.stats().live, 1);
}

// Without it threads that begin at once could each retain the primary context, or spin for
// as long as the driver takes.
#[test]
fn sixteen_threads_make_one_device_and_one_primary_context() {
    let (table, machine, execution) = open();
    let slow = Duration::from_millis(50);
    table.delay(id::cuDeviceGet, 1, slow);
    table.delay(id::cuDevicePrimaryCtxRetain, 1, slow);
    let barrier = Barrier::new(16);
    let names: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let device = execution.devices().get(0).unwrap();
                    (device.handle(), device.primary().unwrap().handle())
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(names.iter().all(|&name| name == names[0]));
    assert_eq!(table.count(id::cuDeviceGet), 1);
    assert_eq!(table.count(id::cuDevicePrimaryCtxRetain), 1);
    drop(execution);
    assert_eq!(machine.leaks(), None);
}

// Without it a waiter could hang, or be told of success, when the maker failed.
#[test]
fn a_failure_reaches_all_who_wait_and_the_next_attempt_works() {
    let machine = Machine::builder().worker_threads(1).build();
    // The outer table delays the call that the inner one fails.
    let inner = FaultTable::new(machine.driver());
    let outer = FaultTable::new(inner.driver());
    let execution = ExecutionManager::new(outer.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let (retain, code) = (
        id::cuDevicePrimaryCtxRetain,
        CUresult::CUDA_ERROR_OUT_OF_MEMORY,
    );
    outer.delay(retain, 1, Duration::from_millis(100));
    // Whoever comes too late for the first attempt finds the next one failing too.
    inner.fail_from(retain, 1, code);
    let barrier = Barrier::new(16);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                barrier.wait();
                let error = device.primary().unwrap_err();
                assert_eq!(error.status(), Some(code));
            });
        }
    });
    inner.reset();
    device.primary().unwrap();
    assert_eq!(inner.count(retain), 1);
    drop((device, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a configuration that cannot be could be taken, or the message not say which
// field of which level is wrong.
#[test]
fn a_configuration_that_cannot_be_names_its_field() {
    let (_table, machine, execution) = open();
    type Set = fn(&mut ExecutionConfig, usize);
    let fields: [(&str, Set); 6] = [
        ("contexts.capacity", |c, n| {
            c.contexts.capacity = n;
        }),
        ("contexts.streams.capacity", |c, n| {
            c.contexts.streams.capacity = n;
        }),
        ("contexts.events.capacity", |c, n| {
            c.contexts.events.capacity = n;
        }),
        ("contexts.modules.capacity", |c, n| {
            c.contexts.modules.capacity = n;
        }),
        ("contexts.modules.functions", |c, n| {
            c.contexts.modules.functions = n;
        }),
        ("contexts.buffers.capacity", |c, n| {
            c.contexts.buffers.capacity = n;
        }),
    ];
    for (field, set) in fields {
        for wrong in [0, usize::MAX] {
            let mut config = ExecutionConfig::default();
            set(&mut config, wrong);
            let refused = execution.configure(config).unwrap_err();
            assert!(
                refused.to_string().starts_with(&format!("{field}: ")),
                "{refused}"
            );
            let refused = ExecutionManager::with_config(machine.driver(), config).unwrap_err();
            assert!(
                refused.to_string().starts_with(&format!("{field}: ")),
                "{refused}"
            );
        }
    }
    for wrong in [0, execution.devices().count() + 1, u32::MAX] {
        let devices = DevicesConfig {
            capacity: Some(wrong),
        };
        let config = ExecutionConfig {
            devices,
            ..ExecutionConfig::default()
        };
        for refused in [
            execution.configure(config).unwrap_err(),
            execution.devices().configure(devices).unwrap_err(),
            ExecutionManager::with_config(machine.driver(), config).unwrap_err(),
        ] {
            let text = refused.to_string();
            assert!(
                text.starts_with("devices.capacity: ") && text.contains("shows"),
                "{text}"
            );
        }
    }
    // What was refused changed nothing.
    assert_eq!(execution.config().contexts, ContextsConfig::default());
    let context = primary(&execution);
    for (field, refused) in [
        (
            "buffers.capacity",
            context.buffers().configure(BuffersConfig { capacity: 0 }),
        ),
        (
            "modules.functions",
            context.modules().configure(ModulesConfig {
                functions: 0,
                ..ModulesConfig::default()
            }),
        ),
    ] {
        assert!(matches!(refused, Err(Error::Invalid { field: f, .. }) if f == field));
    }
}

// Without it the defaults of a level could fail to reach the managers below.
#[test]
fn configurations_flow_down() {
    let machine = Machine::builder().worker_threads(1).build();
    let config = ExecutionConfig {
        contexts: ContextsConfig {
            capacity: 2,
            streams: StreamsConfig { capacity: 3 },
            events: EventsConfig { capacity: 4 },
            modules: ModulesConfig {
                capacity: 1,
                functions: 1,
            },
            buffers: BuffersConfig { capacity: 2 },
            checked: false,
        },
        checked: true,
        ..ExecutionConfig::default()
    };
    let execution = ExecutionManager::with_config(machine.driver(), config).unwrap();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    assert!(context.is_checked());
    assert_eq!(context.streams().stats().capacity, 3);
    assert_eq!(context.events().stats().capacity, 4);
    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(1 << 20)).unwrap();
    let buffers: Vec<_> = (0..2)
        .map(|_| pool.allocate::<u8>(8, &stream).unwrap())
        .collect();
    let full = |kind| Error::Full { kind };
    assert_eq!(pool.allocate::<u8>(8, &stream).unwrap_err(), full("Buffer"));
    assert_eq!(
        pool.usage().unwrap().blocks,
        2,
        "what was refused is not kept"
    );
    let module = context.modules().load_ptx(PTX).unwrap();
    assert_eq!(context.modules().load_ptx(PTX).unwrap_err(), full("Module"));
    let function = module.function("nothing").unwrap();
    assert_eq!(module.function("other").unwrap_err(), full("Function"));
    module.functions().release(function.handle()).unwrap();
    drop(function);
    module.function("other").unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    assert_eq!(
        device.contexts().create(Default::default()).unwrap_err(),
        full("Context")
    );
    // A released context counts until it has gone.
    device.contexts().release(own.handle()).unwrap();
    assert!(device.contexts().create(Default::default()).is_err());
    drop(own);
    device.contexts().create(Default::default()).unwrap();
    drop((buffers, pool, stream, module, context, device));

    // Contexts that are made later are set up by what is configured later.
    drop(execution.shutdown());
    execution.configure(ExecutionConfig::default()).unwrap();
    let context = primary(&execution);
    assert!(!context.is_checked());
    assert_eq!(context.streams().stats().capacity, StreamsConfig::MOST);
    drop((context, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it a shutdown could leave a level that hands things out, a handle that is good, or
// something that nobody uses; or take from somebody what they lease.
#[test]
fn a_shutdown_goes_through_all_levels() {
    let (_table, machine, execution) = open();
    let watch = execution.watch();
    let devices = execution.devices();
    let device = devices.get(0).unwrap();
    let context = device.primary().unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
    let idle = context
        .streams()
        .create(StreamConfig::default())
        .unwrap()
        .handle();
    let event = context.events().create(EventConfig::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(1 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(100, &stream).unwrap();
    let pinned = context.buffers().pinned::<u8>(1).unwrap();
    let module = context.modules().load_ptx(PTX).unwrap();
    let function = module.function("nothing").unwrap();
    module.function("other").unwrap();
    let unused = own.modules().load_ptx(PTX).unwrap().handle();
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
    // The stream that nobody leased, the module of the other context, and that context.
    assert_eq!(report.destroyed, 3, "{report}");
    let alive = report.alive.unwrap();
    assert_eq!(
        (alive.contexts, alive.streams, alive.pinned, alive.pools),
        (1, 1, 1, 1)
    );
    assert!(!report.is_complete() && report.errors.is_empty());

    // Every level refuses, whoever leases what.
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
    drop((event, module, buffer, pool));
    assert_eq!((machine.usage().modules, machine.usage().events), (0, 0));
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
                            let pool = context.memory_pool(PoolConfig::limit(1 << 20))?;
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
        assert!(execution.shutdown().is_complete());
        assert_eq!(machine.leaks(), None);
        execution.configure(ExecutionConfig::default()).unwrap();
    }
}

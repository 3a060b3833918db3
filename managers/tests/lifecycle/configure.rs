//! Configurations of each level.

use super::*;

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

// Without it a device that is just being made could set contexts up as they were configured
// before, for as long as it lives.
#[test]
fn a_configuration_reaches_a_device_that_is_being_made() {
    let (table, _machine, execution) = open();
    table.delay(id::cuDeviceGet, 1, Duration::from_millis(200));
    let contexts = ContextsConfig {
        capacity: 3,
        ..ContextsConfig::default()
    };
    let config = ExecutionConfig {
        contexts,
        ..ExecutionConfig::default()
    };
    let device = std::thread::scope(|scope| {
        let maker = scope.spawn(|| execution.devices().get(0).unwrap());
        while table.count(id::cuDeviceGet) < 1 {
            std::thread::yield_now();
        }
        execution.configure(config).unwrap();
        maker.join().unwrap()
    });
    assert_eq!(device.contexts().config(), contexts);
    assert_eq!(device.contexts().stats().capacity, 3);
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
            peers: cupola_managers::peer::PeerCheck::FirstUse,
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
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
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

// Without it a kernel that the software device cannot execute would be refused without a word of
// which instruction it is, because the load said so and succeeded.
#[test]
fn a_kernel_that_cannot_run_says_why() {
    let (table, machine, execution) = open();
    let context = primary(&execution);
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry good() { ret; }\n\
               .visible .entry bad() {\nbogus.u32;\nret; }\n\
               .visible .entry bad_2() {\nwrong.u32;\nret; }\n";
    let module = context.modules().load_ptx(ptx).unwrap();
    module.function("good").unwrap();
    let error = module.function("bad").unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Load { .. }), "{error:?}");
    assert!(
        text.contains("line 6") && text.contains("bogus.u32"),
        "{text}"
    );
    // Nor by what was said of a kernel with a longer name.
    assert!(!text.contains("wrong.u32"), "{text}");
    for none in ["none", "ba", "bad_", "d"] {
        let missing = module.function(none).unwrap_err();
        assert_eq!(missing.status(), Some(CUresult::CUDA_ERROR_NOT_FOUND));
        assert!(matches!(missing, Error::Driver(_)), "{missing:?}");
    }
    drop((module, context, execution, table));
    assert_eq!(machine.leaks(), None);
}

//! Several backends in one process: found, opened once, and chosen from.

mod choice;

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use cupola_managers::backend::{
    BackendKind, BackendRegistry, Cause, GPU, OpenError, RegisterError, Requirements, Status,
    Unavailable,
};
use cupola_managers::device::Features;
use cupola_managers::{Error, ops};
use cupola_sim::fault::FaultTable;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::{CUresult, Driver, id};
use cupola_sys::{LoadError, Version};

const REAL: BackendKind = BackendKind::Real;
const SOFTWARE: BackendKind = BackendKind::Software;

/// Registers the driver of a machine, which plays a backend of this kind.
fn add(registry: &BackendRegistry, name: &str, kind: BackendKind, machine: &Machine) {
    let machine = machine.clone();
    registry
        .register(name, kind, move || Ok(machine.driver()))
        .unwrap();
}

fn machine(version: Version, devices: impl IntoIterator<Item = DeviceConfig>) -> Machine {
    let builder = Machine::builder().driver_version(version).devices(0);
    let builder = devices
        .into_iter()
        .fold(builder, cupola_sim::MachineBuilder::add_device);
    builder.worker_threads(1).build()
}

fn unavailable(registry: &BackendRegistry, name: &str) -> Unavailable {
    match registry.open(name) {
        Err(OpenError::Unavailable { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

// Without it one backend that is broken could hide the others, or end the program.
#[test]
fn discovery_never_fails_and_reports_each_backend_in_its_place() {
    let registry = BackendRegistry::new();
    let new = machine(
        Version::new(13, 0),
        [DeviceConfig::new(), DeviceConfig::new()],
    );
    let old = machine(Version::new(11, 4), [DeviceConfig::new().name("old")]);
    let faults = FaultTable::new(new.driver());
    let no_init = FaultTable::new(old.driver());
    add(&registry, "old", SOFTWARE, &old);
    let driver = faults.driver();
    let shared = driver.clone();
    registry
        .register("faulty", REAL, move || Ok(shared.clone()))
        .unwrap();
    let shared = no_init.driver();
    registry
        .register("no init", REAL, move || Ok(shared.clone()))
        .unwrap();
    registry
        .register("no library", REAL, || {
            Ok(Driver::load_from("/no/such/libcuda.so.1".as_ref())?)
        })
        .unwrap();
    registry
        .register("own error", REAL, || {
            Err("the licence server is down".into())
        })
        .unwrap();
    registry
        .register("panics", REAL, || panic!("with {}", "text"))
        .unwrap();
    registry
        .register("panics oddly", REAL, || {
            struct Bomb;
            impl Drop for Bomb {
                fn drop(&mut self) {
                    panic!("again");
                }
            }
            std::panic::panic_any(Bomb)
        })
        .unwrap();
    let empty = machine(Version::new(13, 0), []);
    add(&registry, "empty", REAL, &empty);
    no_init.fail_from(id::cuInit, 1, CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    // The name of the second device cannot be had.
    faults.fail(
        id::cuDeviceGetName,
        2,
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    );

    let found = registry.discover();
    let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, registry.names());
    let why = |name: &str| {
        let one = found.iter().find(|one| one.name == name).unwrap();
        match &one.status {
            Status::Unavailable(why) => {
                assert!(!why.advice().is_empty());
                why.clone()
            }
            Status::Available(_) => panic!("{one:?}"),
        }
    };
    let of = |name: &str| {
        let one = found.iter().find(|one| one.name == name).unwrap();
        one.capabilities().expect(name)
    };
    assert_eq!(of("old").version, Version::new(11, 4));
    assert_eq!(of("old").devices[0].info.as_ref().unwrap().name, "old");
    assert_eq!(of("faulty").version, Version::new(13, 0));
    let [first, second] = &of("faulty").devices[..] else {
        panic!("{found:?}");
    };
    assert!(first.info.is_ok() && (first.ordinal, second.ordinal) == (0, 1));
    let error = second.info.as_ref().unwrap_err();
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_ECC_UNCORRECTABLE));
    assert!(
        of("faulty")
            .common_features()
            .contains(Features::MEMORY_POOLS)
    );

    let start = why("no init");
    assert!(matches!(start.cause(), Cause::Start { .. }), "{start}");
    assert!(
        start
            .to_string()
            .contains("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")
    );
    assert!(start.library().unwrap().contains("fault table"));
    assert!(
        start.to_string().contains(file!()),
        "the caller's place: {start}"
    );
    let load = why("no library");
    assert!(matches!(
        load.cause(),
        Cause::Load(LoadError::NoSuchFile { .. })
    ));
    assert!(load.source().is_some());
    assert_eq!(why("own error").to_string(), "the licence server is down");
    assert_eq!(why("panics").to_string(), "its source panicked: with text");
    assert!(matches!(
        why("panics oddly").cause(),
        Cause::Panicked { .. }
    ));
    // `cuInit` of a machine without devices says so, or the count does.
    let none = why("empty");
    assert!(
        matches!(none.cause(), Cause::Start { .. } | Cause::NoDevices),
        "{none}"
    );
    assert_eq!(
        new.usage().contexts + old.usage().contexts,
        0,
        "no context was made"
    );

    // The second look opens nothing again, and reads again what could not be read.
    faults.reset();
    let again = registry.discover();
    assert_eq!(faults.count(id::cuInit), 0);
    let faulty = again.iter().find(|one| one.name == "faulty").unwrap();
    let devices = &faulty.capabilities().unwrap().devices;
    assert!(devices.iter().all(|device| device.info.is_ok()));
}

// Without it two backends could go by one name, and a handle to one reach the other.
#[test]
fn names_are_checked() {
    let registry = BackendRegistry::with_gpu();
    let again = registry.register(GPU, REAL, || Err("never asked".into()));
    let name = GPU.to_owned();
    let taken = "there is a backend named \"gpu\" already: choose another name";
    assert_eq!(again.as_ref().unwrap_err().to_string(), taken);
    assert_eq!(again, Err(RegisterError::Duplicate { name }));
    for name in ["", "a\nb", "\u{1b}[2J", &"x".repeat(65)] {
        let refused = registry.register(name, REAL, || Err("never asked".into()));
        assert!(
            matches!(refused, Err(RegisterError::Name { .. })),
            "{name:?}"
        );
    }
    assert_eq!(registry.names(), [GPU]);
    assert_eq!((registry.kind(GPU), registry.kind("x")), (Some(REAL), None));
    let unknown = registry.open("tpu").unwrap_err().to_string();
    assert_eq!(unknown, "there is no backend named \"tpu\", there are: gpu");
}

// Without it threads that come together could each initialise the driver, one of them could
// wait for ever, or an error be kept for good.
#[test]
fn one_thread_opens_and_the_others_get_what_came_of_it() {
    const THREADS: usize = 8;
    let calls = Arc::new(AtomicUsize::new(0));
    let machine = Machine::builder().worker_threads(1).build();
    let registry = BackendRegistry::new();
    let (counted, source) = (Arc::clone(&calls), machine.clone());
    registry
        .register("late", SOFTWARE, move || {
            let call = counted.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(50));
            match call {
                0 => Err("not yet".into()),
                1 => panic!("nor now"),
                _ => Ok(source.driver()),
            }
        })
        .unwrap();
    let mut opened = 0;
    let mut failed = Vec::new();
    while opened < THREADS {
        let barrier = Barrier::new(THREADS);
        let results: Vec<_> = std::thread::scope(|scope| {
            let open = || {
                barrier.wait();
                registry.open("late")
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let all: Vec<_> = results.iter().flatten().collect();
        assert!(all.iter().all(|one| Arc::ptr_eq(one, all[0])));
        opened = all.len();
        failed.extend(
            results
                .iter()
                .filter_map(|one| one.as_ref().err())
                .map(ToString::to_string),
        );
    }
    assert_eq!(calls.load(Ordering::SeqCst), 3, "{failed:?}");
    assert!(failed.iter().any(|text| text == "backend late: not yet"));
    assert!(failed.iter().any(|text| text.contains("panicked: nor now")));

    assert!(registry.close("late"));
    assert!(!registry.close("late") && !registry.close("none"));
    registry.open("late").unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 4, "closed means opened again");
}

// Without it a backend that was shut down would be handed out for good, refuse everything, and
// not say why; or be replaced while the caller that shut it down means to go on with it.
#[test]
fn a_backend_that_was_shut_down_is_refused_until_it_is_configured_or_closed() {
    let registry = BackendRegistry::new();
    let machine = machine(Version::new(13, 0), [DeviceConfig::new()]);
    add(&registry, "real", REAL, &machine);
    add(&registry, "software", SOFTWARE, &machine);
    let execution = registry.open("real").unwrap();
    assert!(execution.shutdown().is_complete());
    let why = unavailable(&registry, "real");
    assert!(matches!(why.cause(), Cause::ShutDown));
    assert_eq!(why.to_string(), "its execution manager was shut down");
    assert!(why.advice().contains("configure"), "{}", why.advice());
    let found = registry.discover();
    assert!(matches!(
        &found[0].status,
        Status::Unavailable(why) if matches!(why.cause(), Cause::ShutDown)
    ));
    let wanted = Requirements::default();
    assert_eq!(registry.best(&wanted).unwrap().backend, "software");
    // Configured: the same one.
    execution.configure(Default::default()).unwrap();
    assert!(Arc::ptr_eq(&registry.open("real").unwrap(), &execution));
    assert_eq!(registry.best(&wanted).unwrap().backend, "real");
    // Closed: another.
    drop(execution.shutdown());
    assert!(registry.close("real"));
    let other = registry.open("real").unwrap();
    assert!(!Arc::ptr_eq(&other, &execution));
    other.devices().get(0).unwrap().primary().unwrap();
    drop((execution, other, registry));
    assert_eq!(machine.leaks(), None);
}

// Without it a source that asks for its own backend would wait for itself.
#[test]
fn a_source_that_opens_itself_is_told_so() {
    let registry = Arc::new(BackendRegistry::new());
    let weak = Arc::downgrade(&registry);
    registry
        .register("itself", SOFTWARE, move || {
            let registry = weak.upgrade().ok_or("gone")?;
            Err(registry.open("itself").map(drop).unwrap_err().into())
        })
        .unwrap();
    let why = unavailable(&registry, "itself");
    assert!(
        why.to_string().contains("opens the backend itself"),
        "{why}"
    );
}

// Without it two threads could wait for each other, each in the source of a backend.
#[test]
fn sources_that_open_each_other_do_not_wait_for_ever() {
    let registry = Arc::new(BackendRegistry::new());
    let both = Arc::new(Barrier::new(2));
    for (name, other) in [("one", "two"), ("two", "one")] {
        let (weak, both) = (Arc::downgrade(&registry), Arc::clone(&both));
        let source = move || {
            let registry = weak.upgrade().ok_or("gone")?;
            // Each is opened by a thread of its own now; and not ended before both have looked.
            both.wait();
            let refused = registry.open(other).map(drop).unwrap_err();
            both.wait();
            Err(refused.into())
        };
        registry.register(name, SOFTWARE, source).unwrap();
    }
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let registry = &registry;
            scope.spawn(move || {
                let why = unavailable(registry, name);
                assert!(why.to_string().contains("another thread"), "{why}");
            });
        }
    });
}

// Without it objects of two drivers could meet, or a choice be of the wrong driver.
#[test]
fn backends_of_two_drivers_work_side_by_side() {
    let registry = BackendRegistry::new();
    let (new, old) = (
        machine(Version::new(13, 0), [DeviceConfig::new()]),
        machine(Version::new(11, 1), [DeviceConfig::new()]),
    );
    add(&registry, "new", SOFTWARE, &new);
    add(&registry, "old", SOFTWARE, &old);
    let open = |name: &str| {
        let context = registry.open(name).unwrap().devices().get(0).unwrap();
        let context = context.primary().unwrap();
        let stream = context.streams().create(Default::default()).unwrap();
        let limit = cupola_managers::PoolConfig::limit(8 << 20);
        let pool = context.memory_pool(limit).unwrap();
        let buffer = pool.allocate::<u32>(100, &stream).unwrap();
        (stream, buffer)
    };
    let (new_stream, mut new_buffer) = open("new");
    let (old_stream, mut old_buffer) = open("old");
    ops::fill(&mut new_buffer, 1, &new_stream).unwrap();
    ops::fill(&mut old_buffer, 2, &old_stream).unwrap();
    let mixed = ops::copy(&old_buffer, &mut new_buffer, &new_stream);
    assert!(
        matches!(mixed, Err(Error::WrongContext { .. })),
        "{mixed:?}"
    );
    let mut back = [0; 100];
    ops::read(&old_buffer, &mut back, &old_stream).unwrap();
    assert_eq!(back, [2; 100]);
    drop((new_buffer, old_buffer, new_stream, old_stream, registry));
    assert_eq!((new.leaks(), old.leaks()), (None, None));
}

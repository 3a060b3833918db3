//! The choice of a device over all backends.

use cupola_managers::backend::{BackendRegistry, Requirements, Strategy, Unmet};
use cupola_managers::device::Features;
use cupola_sim::DeviceConfig;
use cupola_sim::fault::FaultTable;
use cupola_sys::Version;
use cupola_sys::driver::id;

use super::{REAL, SOFTWARE, add, machine};

fn device(name: &str, capability: (u32, u32), memory: u64, sms: u32, khz: u32) -> DeviceConfig {
    DeviceConfig::new()
        .name(name)
        .compute_capability(capability.0, capability.1)
        .memory(memory)
        .multiprocessors(sms)
        .clock_khz(khz)
}

/// Three backends with devices that each are best at something.
fn choices() -> BackendRegistry {
    const GIB: u64 = 1 << 30;
    let registry = BackendRegistry::new();
    let soft = machine(
        Version::new(13, 0),
        [device("soft", (12, 0), 512 * GIB, 900, 9_000_000)],
    );
    add(&registry, "soft", SOFTWARE, &soft);
    let devices = [
        device("small", (7, 5), 16 * GIB, 40, 1_500_000),
        device("large", (8, 0), 80 * GIB, 108, 1_400_000),
    ];
    add(
        &registry,
        "old driver",
        REAL,
        &machine(Version::new(11, 4), devices),
    );
    let devices = [
        device("new", (9, 0), 24 * GIB, 78, 1_700_000),
        device("fast", (8, 9), 24 * GIB, 142, 2_500_000),
        device("twin", (9, 0), 24 * GIB, 78, 1_700_000),
    ];
    add(
        &registry,
        "new driver",
        REAL,
        &machine(Version::new(13, 0), devices),
    );
    registry
}

// Without it a program could get a lesser device than there is, or a software device while
// there is a real one.
#[test]
fn the_best_device_is_chosen_over_all_backends() {
    let registry = choices();
    let best = |wanted: Requirements| {
        let chosen = registry.best(&wanted).unwrap();
        assert_eq!(chosen.device.info().unwrap(), &chosen.info);
        (chosen.info.name, chosen.device.ordinal())
    };
    let any = Requirements::default();
    // Of two that are equal the first.
    assert_eq!(best(any), ("new".into(), 0));
    assert_eq!(best(any.strategy(Strategy::Memory)), ("large".into(), 1));
    assert_eq!(best(any.strategy(Strategy::Throughput)), ("fast".into(), 1));
    assert_eq!(best(any.strategy(Strategy::First)), ("small".into(), 0));
    let newer = any.driver_version(Version::new(12, 0));
    assert_eq!(best(newer.strategy(Strategy::Memory)).0, "new");
    let roomy = any.memory(64 << 30).compute_capability(8, 0);
    assert_eq!(best(roomy), ("large".into(), 1));
    // Only the software device has so much.
    assert_eq!(best(any.memory(128 << 30)), ("soft".into(), 0));
}

// Without it a user would not know which of the requirements to give up.
#[test]
fn each_refusal_says_why() {
    let registry = choices();
    registry
        .register("broken", REAL, || Err("no such thing".into()))
        .unwrap();
    let wanted = Requirements::default()
        .compute_capability(9, 0)
        .memory(64 << 30)
        .driver_version(Version::new(12, 0))
        .features(Features::MULTICAST | Features::MEMORY_POOLS)
        .allow_software(false);
    let refused = registry.best(&wanted).unwrap_err();
    let text = refused.to_string();
    let of: Vec<_> = refused.refused.iter().map(|one| &*one.backend).collect();
    let backends = [
        "old driver",
        "old driver",
        "new driver",
        "new driver",
        "new driver",
    ];
    assert_eq!(of, [&backends[..], &["broken", "soft"]].concat());
    let old = &refused.refused[1];
    assert_eq!(old.device, Some((1, "large".into())));
    assert!(
        matches!(
            old.unmet[..],
            [
                Unmet::DriverVersion { .. },
                Unmet::ComputeCapability { has: (8, 0), .. },
                Unmet::Features { .. }
            ]
        ),
        "{old}"
    );
    for part in [
        "old driver device 0 (small): its driver is of CUDA 11.4, not 12.0",
        "its compute capability is 7.5, not 9.0",
        "new driver device 0 (new): it has 25769803776 bytes of memory, not 68719476736",
        "it lacks multicast",
        "broken: no such thing",
        "soft: software devices are not allowed",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let nothing = BackendRegistry::new().best(&wanted).unwrap_err();
    assert!(nothing.to_string().contains("there is no backend"));
}

// Without it a driver could be started that no caller needs.
#[test]
fn what_is_not_needed_is_not_opened() {
    let registry = BackendRegistry::new();
    registry
        .register("soft", SOFTWARE, || panic!("not needed"))
        .unwrap();
    let real = machine(Version::new(13, 0), [DeviceConfig::new()]);
    let faults = FaultTable::new(real.driver());
    let driver = faults.driver();
    registry
        .register("real", REAL, move || Ok(driver.clone()))
        .unwrap();
    faults.reset();
    assert_eq!(faults.counts().len(), 0, "registering opens nothing");
    let chosen = registry.best(&Requirements::default()).unwrap();
    assert_eq!((&*chosen.backend, chosen.kind), ("real", REAL));
    let wanted = Requirements::default()
        .allow_software(false)
        .memory(u64::MAX);
    let refused = registry.best(&wanted).unwrap_err();
    assert!(matches!(refused.refused[1].unmet[..], [Unmet::Software]));
    assert_eq!(faults.count(id::cuInit), 1);
    assert!(format!("{registry:?}").contains("real (real, open)"));
}

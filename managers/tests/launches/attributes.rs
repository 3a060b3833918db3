//! What launches ask for beyond their sizes.

use cupola_managers::graph::GraphBuilder;
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchAttributes, LaunchConfig, MemoryDomain};
use cupola_managers::{Error, Result};
use cupola_sys::Version;
use cupola_sys::driver::id;

use super::{Bench, hopper, invalid};

const PTX: &str = "
.visible .entry nothing() { ret; }
.visible .entry waits() { griddepcontrol.wait; ret; }
";

const GRID: LaunchConfig = LaunchConfig::linear(2, 32);

fn launch(bench: &Bench, function: &Function, attributes: LaunchAttributes) -> Result<()> {
    // SAFETY: the kernels have no parameters and touch no memory.
    unsafe { ops::launch_with(function, GRID, attributes, (), &bench.stream) }
}

// Without it a kernel that does not wait could be started while the one before it still writes what it
// reads.
#[test]
fn only_a_kernel_that_waits_starts_before_the_one_before_it_ends() {
    let bench = Bench::new();
    let (nothing, waits) = (bench.function(PTX, "nothing"), bench.function(PTX, "waits"));
    let early = LaunchAttributes::new().programmatic();
    assert!(waits.waits_for_predecessor() && !nothing.waits_for_predecessor());
    bench.base.faults.reset();
    let (field, problem) = invalid(launch(&bench, &nothing, early));
    assert_eq!(field, "programmatic");
    assert!(
        problem.contains("nothing") && problem.contains("griddepcontrol.wait"),
        "{problem}"
    );
    assert!(bench.base.faults.counts().is_empty());
    launch(&bench, &waits, early).unwrap();
    // SAFETY: it touches no memory.
    let assumed = unsafe { nothing.clone().assume_waits() };
    launch(&bench, &assumed, early).unwrap();
    assert_eq!(bench.base.faults.count(id::cuLaunchKernelEx), 2);
    // The statement is about that value.
    assert_eq!(invalid(launch(&bench, &nothing, early)).0, "programmatic");
    let mut builder = GraphBuilder::new(&bench.base.context).unwrap();
    // SAFETY: the kernel touches no memory.
    let node = unsafe { builder.kernel_with(&[], &waits, GRID, early, ()) };
    assert_eq!(invalid(node).0, "programmatic");
    bench.finish((builder, nothing, waits, assumed));
}

// Without it a binary, of which nothing is known, could pass for a kernel that waits.
#[test]
fn a_kernel_of_a_binary_is_not_known_to_wait() {
    let bench = Bench::new();
    let ptx = format!(".version 7.8\n.target sm_90\n.address_size 64\n{PTX}\0");
    // SAFETY: the device takes text as a binary too, and this ends with a NUL.
    let module = unsafe { bench.base.context.modules().load_binary(ptx.as_bytes()) }.unwrap();
    let waits = module.function("waits").unwrap();
    assert!(!waits.waits_for_predecessor());
    bench.finish((module, waits));
}

// Without it a launch could lose what it asks for, or cost the driver a list of nothing.
#[test]
fn each_launch_is_made_by_the_call_that_it_needs() {
    let bench = Bench::new();
    let nothing = bench.function(PTX, "nothing");
    let none = LaunchAttributes::new();
    let faults = &bench.base.faults;
    faults.reset();
    launch(&bench, &nothing, none).unwrap();
    assert_eq!(faults.count(id::cuLaunchKernel), 1);
    for attributes in [
        none.cooperative(),
        none.memory_domain(MemoryDomain::Remote),
        none.memory_domain(MemoryDomain::Default),
        none.shared_carveout(100),
        none.shared_carveout(0),
        none.priority(-1).cluster([1, 1, 1]),
    ] {
        faults.reset();
        launch(&bench, &nothing, attributes).unwrap();
        assert_eq!(faults.count(id::cuLaunchKernelEx), 1, "{attributes:?}");
        assert_eq!(faults.count(id::cuLaunchKernel), 0, "{attributes:?}");
    }
    let (field, _) = invalid(launch(&bench, &nothing, none.shared_carveout(101)));
    assert_eq!(field, "shared_carveout");
    bench.finish(nothing);
}

// Without it a driver could be handed attributes that it does not know, or not be used for what it can.
#[test]
fn what_a_driver_lacks_is_named() {
    let lacks = |error: Result<()>, name: &str| match error {
        Err(Error::Unsupported { symbol, .. }) => assert_eq!(symbol, name),
        other => panic!("{other:?}"),
    };
    let bench = Bench::on(hopper().without(id::cuLaunchKernelEx));
    let nothing = bench.function(PTX, "nothing");
    let none = LaunchAttributes::new();
    bench.base.faults.reset();
    launch(&bench, &nothing, none.cooperative()).unwrap();
    assert_eq!(bench.base.faults.count(id::cuLaunchCooperativeKernel), 1);
    lacks(
        launch(&bench, &nothing, none.cooperative().priority(0)),
        "cuLaunchKernelEx",
    );
    bench.finish(nothing);

    let bench = Bench::on(hopper().driver_version(Version::new(11, 8)));
    let waits = bench.function(PTX, "waits");
    launch(&bench, &waits, none.programmatic().cluster([1, 1, 1])).unwrap();
    let domain = none.memory_domain(MemoryDomain::Remote);
    lacks(
        launch(&bench, &waits, domain),
        "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN",
    );
    let carveout = none.shared_carveout(50);
    let name = "CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT";
    lacks(launch(&bench, &waits, carveout), name);
    bench.finish(waits);

    // Each is taken by the first version that has it, and by none before. (One before 11.8 takes no PTX for
    // this device.)
    for (attributes, first, before) in [(domain, (12, 0), (11, 8)), (carveout, (12, 5), (12, 4))] {
        let of = |(major, minor)| Bench::on(hopper().driver_version(Version::new(major, minor)));
        let bench = of(first);
        let waits = bench.function(PTX, "waits");
        launch(&bench, &waits, attributes).unwrap();
        bench.finish(waits);
        let bench = of(before);
        let waits = bench.function(PTX, "waits");
        let refused = launch(&bench, &waits, attributes);
        assert!(
            matches!(refused, Err(Error::Unsupported { .. })),
            "{refused:?}"
        );
        bench.finish(waits);
    }
}

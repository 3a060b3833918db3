//! Shapes that a device or a kernel cannot have.

use cupola_managers::ops::{Kernel, LaunchConfig};
use cupola_managers::{Error, Result};
use cupola_sys::driver::{CUfunction_attribute, id};

use super::{Bench, invalid};

const PTX: &str = ".visible .entry nothing() { ret; }\n.visible .entry more() { ret; }\n";

// Without it a shape that no device has would cost a call, whose error does not say which number it is
// of; or the numbers would be asked for at each launch.
#[test]
fn a_shape_is_refused_with_the_devices_numbers_and_without_a_call() {
    let bench = Bench::new();
    // SAFETY: it has no parameters.
    let kernel = unsafe { Kernel::<()>::new(bench.function(PTX, "nothing")) }.unwrap();
    let launch = |config| -> Result<()> {
        // SAFETY: the kernel touches nothing.
        unsafe { kernel.launch(config, (), &bench.stream) }
    };
    let of = |grid, block| LaunchConfig {
        grid,
        block,
        shared_bytes: 0,
    };
    launch(of([70_000, 1, 1], [1, 1, 64])).unwrap();
    bench.base.faults.reset();
    for (config, field, most) in [
        (
            of([1 << 31, 1, 1], [1; 3]),
            "grid",
            "[2147483647, 65535, 65535]",
        ),
        (
            of([1, 70_000, 1], [1; 3]),
            "grid",
            "[2147483647, 65535, 65535]",
        ),
        (
            of([1, 1, 70_000], [1; 3]),
            "grid",
            "[2147483647, 65535, 65535]",
        ),
        (of([1; 3], [1, 1, 65]), "block", "[1024, 1024, 64]"),
        (of([1; 3], [1025, 1, 1]), "block", "[1024, 1024, 64]"),
        (of([1; 3], [32, 33, 1]), "block", "1024 threads"),
        (of([1; 3], [32, 0, 1]), "block", "no threads"),
        (of([0, 1, 1], [32, 1, 1]), "grid", "no blocks"),
    ] {
        let (named, problem) = invalid(launch(config));
        assert_eq!(named, field, "{config:?}");
        assert!(problem.contains(most), "{config:?}: {problem}");
    }
    assert!(bench.base.faults.counts().is_empty());
    bench.finish(kernel);
}

// Without it a second kernel would cost the device's numbers once more.
#[test]
fn the_devices_numbers_are_asked_once() {
    let bench = Bench::new();
    let first = bench.function(PTX, "nothing");
    bench.base.faults.reset();
    let second = first.module().function("more").unwrap();
    assert_eq!(bench.base.faults.count(id::cuDeviceGetAttribute), 0);
    bench.finish((first, second));
}

// Without it each launch with shared memory would ask how much the kernel may have; or what other code
// allows would stay unknown, and its launches be refused.
#[test]
fn shared_memory_is_asked_for_only_where_more_is_wanted_than_is_known() {
    let bench = Bench::new();
    let function = bench.function(PTX, "nothing");
    // SAFETY: it has no parameters.
    let kernel = unsafe { Kernel::<()>::new(function.clone()) }.unwrap();
    let faults = &bench.base.faults;
    let launch = |shared_bytes| -> Result<()> {
        let config = LaunchConfig {
            shared_bytes,
            ..LaunchConfig::linear(1, 1)
        };
        // SAFETY: the kernel touches nothing.
        unsafe { kernel.launch(config, (), &bench.stream) }
    };
    launch(1000).unwrap();
    faults.reset();
    launch(48 << 10).unwrap();
    launch(0).unwrap();
    assert_eq!(faults.count(id::cuFuncGetAttribute), 0);
    let (field, problem) = invalid(launch(64 << 10));
    assert_eq!(field, "shared_bytes");
    assert!(
        problem.contains("65536") && problem.contains("49152"),
        "{problem}"
    );
    assert_eq!(faults.count(id::cuLaunchKernel), 2);

    function.allow_dynamic_shared(64 << 10).unwrap();
    faults.reset();
    launch(64 << 10).unwrap();
    assert_eq!(faults.count(id::cuFuncGetAttribute), 0);
    // Other code allows more, and less again.
    let set = |bytes: i32| {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let driver = bench.base.context.driver();
        // SAFETY: the function is alive.
        unsafe { driver.cuFuncSetAttribute(function.as_raw(), attribute, bytes) }.unwrap();
    };
    set(100 << 10);
    launch(100 << 10).unwrap();
    set(1000);
    let refused = launch(90 << 10);
    assert!(
        matches!(
            refused,
            Err(Error::Invalid {
                field: "shared_bytes",
                ..
            })
        ),
        "{refused:?}"
    );
    // The driver was asked for that one.
    assert_eq!(bench.base.machine.take_findings().len(), 1);
    bench.finish((kernel, function));
}

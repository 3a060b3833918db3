//! A kernel that faults. On a GPU that ends all CUDA work of the process, so each test runs
//! in a process of its own: the ignored tests are those processes.

use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Blame, Error};
use cupola_sys::driver::CUresult;

use crate::child;
use crate::common::Bench;

// Without it the latch could name the call that was told of the fault, and not the launch.
#[test]
fn checked_mode_names_the_kernel_that_faults() {
    child::passes("faults::child_in_checked_mode");
}

// Without it a lost context could pass for a good one.
#[test]
fn a_fault_is_latched_with_its_first_cause() {
    child::passes("faults::child_unchecked");
}

/// Two good launches, then one that writes where there is no memory. The calls return what
/// they return.
fn fault(bench: &Bench) -> Result<(), Error> {
    let scale = bench.kernel("cupola_scale");
    let saxpy = bench.kernel("cupola_saxpy");
    let stream = &bench.stream;
    let mut x = bench.pool.allocate::<f32>(32, stream)?;
    let mut y = bench.pool.allocate::<f32>(32, stream)?;
    ops::zero(&mut x, stream)?;
    ops::zero(&mut y, stream)?;
    let grid = LaunchConfig::linear(1, 32);
    for _ in 0..2 {
        // SAFETY: the kernel reads 32 elements of both and writes 32 of y.
        unsafe { ops::launch(&saxpy, grid, (32u64, 1.0f32, &x, &mut y), stream) }?;
    }
    let nowhere = 0xdead_0000_0000u64;
    // SAFETY: not safe, on purpose: this is the fault.
    unsafe { ops::launch(&scale, grid, (32u64, 1.0f32, nowhere, nowhere), stream) }?;
    // SAFETY: as the first launches.
    unsafe { ops::launch(&saxpy, grid, (32u64, 1.0f32, &x, &mut y), stream) }?;
    ops::synchronize(stream)
}

fn is_latched(bench: &Bench, error: &Error) {
    assert!(error.is_sticky() && !error.is_retryable(), "{error}");
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    let Some(Error::Poisoned { first, .. }) = bench.context.poison() else {
        panic!("not latched");
    };
    assert_eq!(error.cause(), Some(&*first));
    for later in [
        ops::synchronize(&bench.stream),
        bench.context.memory_info().map(drop),
        bench
            .context
            .streams()
            .acquire(Default::default())
            .map(drop),
        bench.pool.allocate::<u8>(1, &bench.stream).map(drop),
    ] {
        assert_eq!(later.unwrap_err().cause(), Some(&*first));
    }
}

#[test]
#[ignore = "a process of checked_mode_names_the_kernel_that_faults"]
fn child_in_checked_mode() {
    let bench = Bench::open();
    bench.context.set_checked(true);
    let error = fault(&bench).unwrap_err();
    println!("{error}");
    is_latched(&bench, &error);
    let cause = error.cause().unwrap();
    assert_eq!(cause.call.symbol().as_str(), "cuLaunchKernel");
    assert_eq!(cause.site.location.file(), file!());
    assert!(
        matches!(cause.blame.as_deref(), Some(Blame::Launch(launch)) if launch.kernel == "cupola_scale"),
        "{cause:?}"
    );
    // Dropping in a lost context is silent.
    drop(bench);
}

#[test]
#[ignore = "a process of a_fault_is_latched_with_its_first_cause"]
fn child_unchecked() {
    let bench = Bench::open();
    let error = fault(&bench).unwrap_err();
    println!("{error}");
    is_latched(&bench, &error);
    drop(bench);
}

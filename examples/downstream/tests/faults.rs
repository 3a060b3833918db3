//! What the crate does when the device does not do what it is told.

use cupola::sys::driver::{CUresult, id};
use cupola::testing::{TestBench, TestConfig};
use downstream::{ScaleError, Scaler};

/// The error of cupola's inside of the crate's own.
fn source(error: ScaleError) -> cupola::Error {
    match error {
        ScaleError::Device(error) => error,
        ScaleError::NotANumber => panic!("the factor is a number"),
    }
}

// Without it an error could be taken for a result, or be the last thing that the crate does.
#[test]
fn a_failed_launch_is_told_and_the_next_one_works() -> Result<(), Box<dyn std::error::Error>> {
    let bench = TestBench::new()?;
    let scaler = Scaler::new(&bench.device()?, 8 << 20)?;
    let code = CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    bench.faults().reset();
    bench.faults().fail(id::cuLaunchKernel, 1, code);
    let failed = source(scaler.scale(2.0, &[1.0]).unwrap_err());
    assert_eq!(failed.status(), Some(code));
    assert!(failed.to_string().contains("cuLaunchKernel"), "{failed}");
    assert_eq!(scaler.scale(2.0, &[1.0])?, [2.0]);
    drop(scaler);
    Ok(bench.finish()?)
}

// Without it the crate could go on in a context that is lost.
#[test]
fn a_lost_context_says_to_what() -> Result<(), Box<dyn std::error::Error>> {
    let bench = TestBench::new()?;
    let scaler = Scaler::new(&bench.device()?, 8 << 20)?;
    bench.faults().reset();
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.faults().fail(id::cuLaunchKernel, 1, code);
    for _ in 0..2 {
        let failed = source(scaler.scale(2.0, &[1.0]).unwrap_err());
        assert_eq!(failed.status(), Some(code));
        assert!(failed.is_sticky());
    }
    drop(scaler);
    Ok(bench.finish()?)
}

// Without it a full manager would be met by a user first.
#[test]
fn a_scaler_more_than_there_are_streams_is_refused() -> Result<(), Box<dyn std::error::Error>> {
    let small = TestConfig::new().pool_size(1);
    let bench = TestBench::builder().test_config(small).open()?;
    let scaler = Scaler::new(&bench.device()?, 8 << 20)?;
    let refused = source(Scaler::new(&bench.device()?, 8 << 20).unwrap_err());
    assert!(matches!(refused, cupola::Error::Full { .. }), "{refused}");
    // Its stream waits to be used again.
    drop(scaler);
    drop(Scaler::new(&bench.device()?, 8 << 20)?);
    Ok(bench.finish()?)
}

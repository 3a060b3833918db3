//! What the crate is for, on the software device.

use cupola::testing::TestBench;
use downstream::{ScaleError, Scaler};

// Without it the kernel could be launched with the wrong arguments, or not at all.
#[test]
fn a_vector_is_scaled() -> Result<(), Box<dyn std::error::Error>> {
    let bench = TestBench::new()?;
    let scaler = Scaler::new(&bench.device()?, 8 << 20)?;
    assert_eq!(scaler.scale(2.0, &[1.0, -3.5, 0.0])?, [2.0, -7.0, 0.0]);
    assert!(scaler.scale(2.0, &[])?.is_empty());
    drop(scaler);
    Ok(bench.finish()?)
}

// Without it work could be put on the device for an answer that is none.
#[test]
fn what_is_no_number_is_refused() -> Result<(), Box<dyn std::error::Error>> {
    let bench = TestBench::new()?;
    let scaler = Scaler::new(&bench.device()?, 8 << 20)?;
    bench.faults().reset();
    let refused = scaler.scale(f32::NAN, &[1.0]);
    assert!(matches!(refused, Err(ScaleError::NotANumber)));
    assert!(bench.faults().counts().is_empty(), "a driver call was made");
    drop(scaler);
    Ok(bench.finish()?)
}

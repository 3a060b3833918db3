//! Measurements: medians over rounds, each beside what it replaces, in one run.
//!
//! Ratios within a run are the result; absolute times depend on the machine.

pub mod alloc;
#[cfg(unix)]
pub mod cache;
mod clock;
pub mod completion;
pub mod copies;
mod explain;
#[cfg(feature = "sim")]
pub mod faults;
mod figures;
pub mod graph;
pub mod kernels;
pub mod launch;
pub mod lifecycle;
pub mod loader;
pub mod peer;
pub mod pinned;
pub mod pipeline;
pub mod residency;
mod ring;
mod rounds;
#[cfg(feature = "sim")]
pub mod sim;
pub mod slots;
pub mod tight;
mod traces;

use std::time::Instant;

use cupola::Backend;
use cupola_managers::Device;

pub use figures::{Bar, Figures, Row, Target};

/// The middle value; NaN for none.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Whether the device's driver is the library that others find by its name.
fn is_system_driver(device: &Device) -> Result<bool, cupola_managers::Error> {
    let context = device.primary()?;
    let named = std::env::var_os("CUPOLA_CUDA_LIBRARY").is_some_and(|path| !path.is_empty());
    Ok(context.driver().library_path().is_some() && !named)
}

/// What `--device` is for a process that shall take the same device.
fn device_word(backend: Backend) -> &'static str {
    match backend {
        Backend::Gpu => "gpu",
        Backend::Software => "sim",
    }
}

/// Nanoseconds that one call of `work` takes, for each of `rounds` rounds of `calls` calls.
pub fn nanoseconds(rounds: usize, calls: u32, mut work: impl FnMut()) -> Vec<f64> {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                work();
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the figures could be some other value than the middle one.
    #[test]
    fn medians_are_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }
}

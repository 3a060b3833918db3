//! `DeviceLimits`: what a device can do at the most, by what its driver tells.

use cupola_managers::DeviceInfo;

/// What a device can do at the most. A limit that the driver does not tell is `None`, and nothing is
/// guessed in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// Bytes of device memory a second: the memory's clock, twice in each of whose periods the bus
    /// carries its width. `None` without a clock or width, and of a part of a device (MIG), whose share
    /// of the bus is not told.
    pub bandwidth: Option<f64>,
    /// Operations a second on 32-bit floats, outside of tensor cores: two in each clock on each core of
    /// each multiprocessor. `None` without a clock, and for a compute capability whose cores this
    /// version does not know.
    pub flop_rate: Option<f64>,
}

impl DeviceLimits {
    /// Those of the device that `info` describes.
    #[must_use]
    pub fn of(info: &DeviceInfo) -> Self {
        let bandwidth = match info.mig {
            true => None,
            false => bandwidth(info.memory_clock_khz, info.memory_bus_bits),
        };
        let cores = cores(info.compute_capability);
        Self {
            bandwidth,
            flop_rate: cores
                .and_then(|cores| flop_rate(info.clock_khz, info.multiprocessors, cores)),
        }
    }
}

/// Two transfers a period, each of the bus's width.
fn bandwidth(clock_khz: u32, bus_bits: u32) -> Option<f64> {
    let known = clock_khz > 0 && bus_bits > 0;
    known.then(|| 2.0 * f64::from(clock_khz) * 1e3 * f64::from(bus_bits) / 8.0)
}

/// A multiplication and an addition a period on each core.
fn flop_rate(clock_khz: u32, multiprocessors: u32, cores: u32) -> Option<f64> {
    let known = clock_khz > 0 && multiprocessors > 0;
    known.then(|| 2.0 * f64::from(clock_khz) * 1e3 * f64::from(multiprocessors) * f64::from(cores))
}

/// Cores for 32-bit floats of a multiprocessor, by compute capability: the results a clock of the table
/// of arithmetic instructions in NVIDIA's programming guide.
fn cores(compute_capability: (u32, u32)) -> Option<u32> {
    Some(match compute_capability {
        (6 | 8, 0) | (7, 0 | 2 | 5) => 64,
        (6, 1 | 2) | (8, 6 | 7 | 9) | (9 | 11, 0) | (10, 0 | 3) | (12, 0 | 1) => 128,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{found:e}, not {expected:e}"
        );
    }

    // Without it a share could be of half the bandwidth, or of none. The figures are those of NVIDIA's data
    // sheet of the H100 SXM: 3.35 TB/s, 66.9 TFLOP/s.
    #[test]
    fn the_limits_of_a_known_device_are_those_of_its_data_sheet() {
        assert_near(bandwidth(2_619_000, 5120), 3.35e12);
        assert_near(flop_rate(1_980_000, 132, cores((9, 0)).unwrap()), 66.9e12);
    }

    // Without it a device that tells nothing could have a limit of 0, and each kernel an infinite share.
    #[test]
    fn a_limit_that_is_not_told_is_none() {
        assert_eq!(bandwidth(0, 5120), None);
        assert_eq!(bandwidth(2_619_000, 0), None);
        assert_eq!(flop_rate(0, 132, 128), None);
        assert_eq!(cores((99, 0)), None);
    }
}

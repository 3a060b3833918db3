//! What kernels compute, on the CPU: same results, same rounding, same order. (Operations and conversions of
//! single elements are those of Rust.)
//!
//! Written for being obviously right rather than fast; results of the device are compared
//! with these bit for bit, so sums follow the device's order of additions.

pub mod crc32;
mod reduce;
pub mod stamp;

pub use crc32::{crc32, crc32_combine};
pub use reduce::{reduce, reduce_sum_f32, reduce_sum_f64, reduce_sum_u64};
pub use stamp::{check, stamp};

/// Adds the number of bytes of each value in `data` to `counts`, as `cupola_histogram`.
/// Counts wrap modulo 2^64.
pub fn histogram(data: &[u8], counts: &mut [u64; 256]) {
    for &byte in data {
        let count = &mut counts[usize::from(byte)];
        *count = count.wrapping_add(1);
    }
}

/// `y[i] = a * x[i] + y[i]` with one rounding, as `cupola_saxpy`. Elements beyond the
/// shorter slice are left alone.
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = a.mul_add(x, *y);
    }
}

/// `output[i] = factor * input[i]`, as `cupola_scale`. Elements beyond the shorter slice
/// are left alone.
pub fn scale(factor: f32, input: &[f32], output: &mut [f32]) {
    for (output, &input) in output.iter_mut().zip(input) {
        *output = factor * input;
    }
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        // Without it the comparison value for the device's counts could itself be wrong.
        fn histogram_counts_every_byte(data: Vec<u8>) -> bool {
            let mut counts = [0; 256];
            histogram(&data, &mut counts);
            (0..=255_u8).all(|value| {
                counts[usize::from(value)] == data.iter().filter(|&&b| b == value).count() as u64
            })
        }
    }

    // Without it a separate multiplication and addition would pass for a fused one.
    #[test]
    fn saxpy_rounds_once() {
        let x = 1.0 + f32::EPSILON;
        let mut y = [-(x * x)];
        saxpy(x, &[x], &mut y);
        assert_ne!(y[0], 0.0, "the product's rounding error remains");
    }

    // Without it a factor applied to the wrong side would pass.
    #[test]
    fn scale_multiplies_each() {
        let mut output = [0.0; 3];
        scale(0.5, &[1.0, -3.0, f32::INFINITY], &mut output);
        assert_eq!(output, [0.5, -1.5, f32::INFINITY]);
    }
}

//! What the kernels compute, on the CPU: same results, same rounding, same order.
//!
//! Written for being obviously right rather than fast; results of the device are compared
//! with these bit for bit, so sums follow the device's order of additions.

pub mod crc32;
pub mod stamp;

pub use crc32::{crc32, crc32_combine};
pub use stamp::{check, stamp};

use crate::geometry::{REDUCE_THREADS, ReducePlan};

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

/// The sum of `input` with the additions of `cupola_reduce_sum_f32` in the same order.
///
/// The order, and with it the rounding, is that of [`ReducePlan::new`], which depends on
/// the number of elements alone.
#[must_use]
pub fn reduce_sum_f32(input: &[f32]) -> f32 {
    reduce(input, 0.0, |a, b| a + b)
}

/// The sum of `input` modulo 2^64, as `cupola_reduce_sum_u64`.
#[must_use]
pub fn reduce_sum_u64(input: &[u64]) -> u64 {
    reduce(input, 0, u64::wrapping_add)
}

fn reduce<T: Copy>(input: &[T], zero: T, add: fn(T, T) -> T) -> T {
    let plan = ReducePlan::new(input.len() as u64);
    let blocks = plan.first.blocks as usize;
    let partials: Vec<T> = (0..blocks)
        .map(|block| block_sum(input, block, blocks, zero, add))
        .collect();
    if plan.second.is_some() {
        block_sum(&partials, 0, 1, zero, add)
    } else {
        partials[0]
    }
}

/// The partial sum of one block of a grid: each thread in turn, then the tree.
fn block_sum<T: Copy>(input: &[T], block: usize, blocks: usize, zero: T, add: fn(T, T) -> T) -> T {
    const THREADS: usize = REDUCE_THREADS as usize;
    let mut lanes = [zero; THREADS];
    for (thread, lane) in lanes.iter_mut().enumerate() {
        let mine = input.iter().skip(block * THREADS + thread);
        for &element in mine.step_by(blocks * THREADS) {
            *lane = add(*lane, element);
        }
    }
    let mut half = THREADS / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = add(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
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

        // Without it an element could be left out or added twice.
        fn sum_is_the_plain_sum_for_integers(data: Vec<u64>) -> bool {
            reduce_sum_u64(&data) == data.iter().fold(0, |sum, &x| u64::wrapping_add(sum, x))
        }

        // Without it the f32 order could lose accuracy unseen: pairwise sums of n
        // elements are within n ulp of the exact sum of magnitudes.
        fn sum_is_close_for_floats(data: Vec<i16>) -> bool {
            let floats: Vec<f32> = data.iter().map(|&x| f32::from(x) / 7.0).collect();
            let exact: f64 = floats.iter().copied().map(f64::from).sum();
            let magnitude: f64 = floats.iter().map(|&x| f64::from(x.abs())).sum();
            let bound = magnitude * f64::from(f32::EPSILON) * (data.len() + 1) as f64;
            (f64::from(reduce_sum_f32(&floats)) - exact).abs() <= bound
        }
    }

    // Without it only lengths below one block's work would be tried.
    #[test]
    fn sums_of_several_blocks_are_complete() {
        for len in [4095, 4096, 4097, 100_003, 5_000_000] {
            let data: Vec<u64> = (0..len).map(|i| (i * i) ^ 0x5555).collect();
            let plain = data.iter().fold(0, |sum, &x| u64::wrapping_add(sum, x));
            assert_eq!(reduce_sum_u64(&data), plain, "{len} elements");
        }
    }

    // Without it "the device's order" could silently become left to right. 2^24 is where
    // f32 stops counting by ones: left to right, every 1.0 after it would be lost.
    #[test]
    fn float_sum_follows_the_tree() {
        let mut data = vec![1.0_f32; 256];
        data[0] = 16_777_216.0;
        let left_to_right: f32 = data.iter().sum();
        assert_eq!(left_to_right, 16_777_216.0);
        // Lane 0 absorbs the lane at distance 128 alone; then sums of 2, 4, ... 128 reach it.
        assert_eq!(reduce_sum_f32(&data), 16_777_216.0 + 254.0);
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

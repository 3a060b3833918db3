//! The reductions of the device, in its order.

use crate::geometry::{self, PACKS_IN_FLIGHT, REDUCE_THREADS};

/// The sum of `input` with the additions of `cupola_reduce_sum_f32` in the same order.
///
/// The order, and with it the rounding, is that of the grid of [`geometry::reduce`], which depends on
/// the number of elements alone.
#[must_use]
pub fn reduce_sum_f32(input: &[f32]) -> f32 {
    reduce(input, 0.0, |a, b| a + b)
}

/// The sum of `input` with the additions of `cupola_reduce_sum_f64` in the same order.
#[must_use]
pub fn reduce_sum_f64(input: &[f64]) -> f64 {
    reduce(input, 0.0, |a, b| a + b)
}

/// The sum of `input` modulo 2^64, as `cupola_reduce_sum_u64`.
#[must_use]
pub fn reduce_sum_u64(input: &[u64]) -> u64 {
    reduce(input, 0, u64::wrapping_add)
}

/// The reduction of `input` by `f` in the order of the `cupola_reduce` kernels; `identity` is what each
/// thread begins with.
#[must_use]
pub fn reduce<T: Copy>(input: &[T], identity: T, f: fn(T, T) -> T) -> T {
    let blocks = geometry::reduce(input.len() as u64).blocks as usize;
    let partials = blocks_of(input, blocks, identity, f);
    match blocks {
        1 => partials[0],
        _ => blocks_of(&partials, 1, identity, f)[0],
    }
}

/// What each block of a grid makes of its share: `reduce` of `cupola.cuh`.
fn blocks_of<T: Copy>(input: &[T], blocks: usize, identity: T, f: fn(T, T) -> T) -> Vec<T> {
    const THREADS: usize = REDUCE_THREADS as usize;
    let lanes = 16 / size_of::<T>();
    let mut values = vec![identity; blocks * THREADS * lanes];
    let tile = THREADS * lanes * PACKS_IN_FLIGHT as usize;
    for (index, &element) in input.iter().enumerate() {
        let block = index / tile % blocks;
        let thread = index / lanes % THREADS;
        let value = &mut values[(block * THREADS + thread) * lanes + index % lanes];
        *value = f(*value, element);
    }
    let halves = |values: &[T]| {
        let mut values = values.to_vec();
        while values.len() > 1 {
            let (low, high) = values.split_at(values.len() / 2);
            values = low.iter().zip(high).map(|(&a, &b)| f(a, b)).collect();
        }
        values[0]
    };
    let block = |values: &[T]| {
        let threads: Vec<T> = values.chunks(lanes).map(halves).collect();
        halves(&threads)
    };
    values.chunks(THREADS * lanes).map(block).collect()
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
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
        // Thread 0 absorbs one of its other three elements alone; then 2, 4, 8, ... 128 reach it.
        assert_eq!(reduce_sum_f32(&data), 16_777_216.0 + 254.0);
    }
}

//! Reductions.

use std::any::type_name;

use cupola_kernels::geometry::REDUCE_MAX_BLOCKS;
use cupola_kernels::ops::{Number, ReduceScratch};
use cupola_kernels::reference;
use cupola_random::Random;

use super::values::{Value, values};
use super::{Bench, Memory, Shape, shapes, target};

/// So many elements that blocks take more than one tile, whatever their size.
const LOOPS: usize = 4096 * REDUCE_MAX_BLOCKS as usize + 10_001;

/// Shapes of reductions: those of several blocks too.
fn reductions(random: &mut Random) -> Vec<Shape> {
    let mut all = shapes(random);
    let mut lengths = vec![4096, 4097, 60_000, 1 + random.index(120_000)];
    if target::is_gpu() {
        lengths.push(LOOPS);
    }
    for n in lengths {
        let leads = std::array::from_fn(|_| random.index(5));
        all.push(Shape { n, leads });
    }
    all
}

/// What one kernel makes of values that begin at any alignment: the same bits as the oracle's.
fn reduces<T: Value + Number>(
    bench: &Bench,
    seed: u64,
    of: fn(&mut Random, usize) -> Vec<T>,
    reduction: Reduction,
    oracle: fn(&[T]) -> T,
) {
    let random = &mut Random::new(seed);
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    // One for all: whatever a reduction leaves in it, the next one is right.
    let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
    for Shape { n, leads } in reductions(random) {
        let input = of(random, n);
        let on_input = bench.upload(&input, leads[0]);
        let mut result = bench.zeroed::<T>(1, leads[1]);
        let (input_view, output) = (on_input.view(), result.view_mut());
        let scratch = &mut scratch;
        match reduction {
            Reduction::Sum => kernels.reduce_sum(input_view, scratch, output, stream),
            Reduction::Min => kernels.reduce_min(input_view, scratch, output, stream),
            Reduction::Max => kernels.reduce_max(input_view, scratch, output, stream),
        }
        .unwrap();
        let what = format!("{reduction:?} of {n} {} at {leads:?}", type_name::<T>());
        result.expect(bench, &[oracle(&input)], &what);
    }
}

#[derive(Clone, Copy, Debug)]
enum Reduction {
    Sum,
    Min,
    Max,
}

/// Where the first of the least and of the largest elements are.
fn finds<T: Value + Number + PartialOrd>(bench: &Bench, seed: u64) {
    let random = &mut Random::new(seed);
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
    for Shape { n, leads } in reductions(random) {
        let input = values::<T>(random, n);
        let on_input = bench.upload(&input, leads[0]);
        let mut index: Memory<u64> = bench.zeroed(1, leads[1]);
        let what = format!("{n} {} at {leads:?}", type_name::<T>());
        // NaN equals nothing, and is before nothing.
        let first = |before: fn(&T, &T) -> bool| {
            let mut found = None::<usize>;
            for (at, value) in input.iter().enumerate() {
                let is_number = value.partial_cmp(value).is_some();
                if is_number && found.is_none_or(|best| before(value, &input[best])) {
                    found = Some(at);
                }
            }
            [found.map_or(u64::MAX, |at| at as u64)]
        };
        kernels
            .reduce_arg_min(on_input.view(), &mut scratch, index.view_mut(), stream)
            .unwrap();
        index.expect(bench, &first(|a, b| a < b), &format!("arg_min of {what}"));
        kernels
            .reduce_arg_max(on_input.view(), &mut scratch, index.view_mut(), stream)
            .unwrap();
        index.expect(bench, &first(|a, b| a > b), &format!("arg_max of {what}"));
    }
}

/// Numbers of many sizes, so that every order of additions gives other bits.
macro_rules! finite {
    ($of:ident) => {
        |random: &mut Random, n| {
            let one = |_| {
                let bits = random.next_u64();
                (bits as i32 as $of) * $of::powi(2.0, (bits >> 58) as i32 - 40)
            };
            (0..n).map(one).collect()
        }
    };
}

// Without it the order of additions could depend on the device or on the alignment of the input, so that
// a result could not be had again.
#[test]
fn sums_of_floats_have_the_bits_of_the_fixed_order() {
    let (of_f32, of_f64) = (reference::reduce_sum_f32, reference::reduce_sum_f64);
    for bench in Bench::of_each_ptx() {
        reduces::<f32>(&bench, 1, finite!(f32), Reduction::Sum, of_f32);
        reduces::<f64>(&bench, 2, finite!(f64), Reduction::Sum, of_f64);
        // Infinities, NaNs and subnormals.
        reduces::<f32>(&bench, 3, values, Reduction::Sum, of_f32);
        reduces::<f64>(&bench, 4, values, Reduction::Sum, of_f64);
    }
}

// Without it a block could leave out all but its first tile, which only long inputs show.
#[test]
fn long_inputs_are_reduced_in_the_fixed_order() {
    let numbers: fn(&mut Random, usize) -> Vec<f32> = finite!(f32);
    let input = numbers(&mut Random::new(9), LOOPS);
    let right = reference::reduce_sum_f32(&input);
    for bench in Bench::of_each_ptx() {
        let (kernels, stream) = (&bench.kernels, &bench.stream);
        let on_input = bench.upload(&input, 0);
        let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
        let mut total = bench.zeroed::<f32>(1, 0);
        kernels
            .reduce_sum(on_input.view(), &mut scratch, total.view_mut(), stream)
            .unwrap();
        total.expect(&bench, &[right], "a long sum");
    }
}

macro_rules! of_integers {
    ($bench:expr, $of:ident, $seed:expr) => {
        let sum: fn(&[$of]) -> $of = |all| all.iter().fold(0, |sum, &x| sum.wrapping_add(x));
        reduces::<$of>($bench, $seed, values, Reduction::Sum, sum);
        let least: fn(&[$of]) -> $of = |all| all.iter().copied().min().unwrap_or($of::MAX);
        reduces::<$of>($bench, $seed + 1, values, Reduction::Min, least);
        let largest: fn(&[$of]) -> $of = |all| all.iter().copied().max().unwrap_or($of::MIN);
        reduces::<$of>($bench, $seed + 2, values, Reduction::Max, largest);
    };
}

// Without it an element could be left out or counted twice, or compared with the wrong sign.
#[test]
fn reductions_of_integers_are_those_of_the_cpu() {
    for bench in Bench::of_each_ptx() {
        of_integers!(&bench, i32, 10);
        of_integers!(&bench, u32, 20);
        of_integers!(&bench, i64, 30);
        of_integers!(&bench, u64, 40);
    }
}

macro_rules! of_floats {
    ($bench:expr, $of:ident, $seed:expr) => {
        let least: fn(&[$of]) -> $of = |all| {
            let numbers = all.iter().copied().filter(|x| !x.is_nan());
            numbers.min_by($of::total_cmp).unwrap_or($of::NAN)
        };
        reduces::<$of>($bench, $seed, values, Reduction::Min, least);
        let largest: fn(&[$of]) -> $of = |all| {
            let numbers = all.iter().copied().filter(|x| !x.is_nan());
            numbers.max_by($of::total_cmp).unwrap_or($of::NAN)
        };
        reduces::<$of>($bench, $seed + 1, values, Reduction::Max, largest);
        let missing: fn(&mut Random, usize) -> Vec<$of> = |_, n| vec![$of::NAN; n];
        reduces::<$of>($bench, $seed + 2, missing, Reduction::Min, least);
        let zeros: fn(&mut Random, usize) -> Vec<$of> = |random, n| {
            (0..n)
                .map(|_| if random.one_in(3) { -0.0 } else { 0.0 })
                .collect()
        };
        reduces::<$of>($bench, $seed + 3, zeros, Reduction::Min, least);
        reduces::<$of>($bench, $seed + 4, zeros, Reduction::Max, largest);
    };
}

// Without it a NaN could hide the least or the largest number, or the sign of a zero depend on the order.
#[test]
fn extrema_of_floats_are_those_of_the_cpu() {
    for bench in Bench::of_each_ptx() {
        of_floats!(&bench, f32, 50);
        of_floats!(&bench, f64, 60);
    }
}

// Without it a thread could take a later one of equal elements, or the place of one tile in another: only long inputs
// have threads with several tiles.
#[test]
fn the_first_of_equal_extrema_of_long_inputs_is_found() {
    let falling = |n: usize| -(n as f32);
    let few = |n: usize| [3.0, -0.0, 0.0, f32::NAN, 2.5, -7.0][n * 7 % 41 % 6];
    let late = |n: usize| if n < 3_300_000 { f32::NAN } else { 1.0 };
    let (none, infinite) = (|_| f32::NAN, |_| f32::INFINITY);
    let inputs: [fn(usize) -> f32; 5] = [falling, few, late, none, infinite];
    for bench in Bench::of_each_ptx() {
        let (kernels, stream) = (&bench.kernels, &bench.stream);
        let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
        let mut index = bench.zeroed::<u64>(1, 0);
        for (which, of) in inputs.into_iter().enumerate() {
            let numbers: Vec<f32> = (0..LOOPS + 5000).map(of).collect();
            let wide: Vec<i64> = numbers.iter().map(|x| *x as i64).collect();
            let (on_numbers, on_wide) = (bench.upload(&numbers, 0), bench.upload(&wide, 0));
            let view = index.view_mut();
            kernels
                .reduce_arg_min(on_numbers.view(), &mut scratch, view, stream)
                .unwrap();
            let least = numbers.iter().copied().reduce(f32::min).unwrap();
            let first = numbers.iter().position(|x| *x == least);
            let first = first.map_or(u64::MAX, |at| at as u64);
            index.expect(&bench, &[first], &format!("arg_min of input {which}"));
            let view = index.view_mut();
            kernels
                .reduce_arg_max(on_wide.view(), &mut scratch, view, stream)
                .unwrap();
            let largest = *wide.iter().max().unwrap();
            let first = wide.iter().position(|x| *x == largest).unwrap() as u64;
            index.expect(&bench, &[first], &format!("arg_max of input {which}"));
        }
    }
}

// Without it the index could be that of another of equal elements, or of a NaN.
#[test]
fn the_first_of_equal_extrema_is_found() {
    for bench in Bench::of_each_ptx() {
        finds::<f32>(&bench, 71);
        finds::<f64>(&bench, 72);
        finds::<i32>(&bench, 73);
        finds::<u32>(&bench, 74);
        finds::<i64>(&bench, 75);
        finds::<u64>(&bench, 76);
    }
}

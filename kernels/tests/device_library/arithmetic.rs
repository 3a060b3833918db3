//! Operations on each element.

use std::any::type_name;

use cupola_kernels::Kernels;
use cupola_kernels::ops::{Float, Number, Operand, ReduceScratch, Signed};
use cupola_managers::Result;
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::stream::Stream;
use cupola_random::Random;

use super::values::{Value, values};
use super::{Bench, Shape, shapes};

type Binary<T> = for<'a, 'b, 'c> fn(
    &Kernels,
    DeviceSlice<'a, T>,
    Operand<'b, T>,
    DeviceSliceMut<'c, T>,
    &Stream,
) -> Result<()>;
type Assign<T> =
    for<'a, 'b> fn(&Kernels, DeviceSliceMut<'a, T>, Operand<'b, T>, &Stream) -> Result<()>;

/// Every form of one operation.
fn binary<T: Value + Number>(
    bench: &Bench,
    shape: Shape,
    random: &mut Random,
    (operate, assign): (Binary<T>, Assign<T>),
    oracle: fn(T, T) -> T,
) {
    let what = format!("{} {shape:?}", type_name::<T>());
    let Bench {
        kernels, stream, ..
    } = bench;
    let (a, b) = (values::<T>(random, shape.n), values::<T>(random, shape.n));
    let one = values::<T>(random, 1)[0];
    let [a_lead, b_lead, lead, _] = shape.leads;
    let (on_a, on_b) = (bench.upload(&a, a_lead), bench.upload(&b, b_lead));
    let each: Vec<T> = a.iter().zip(&b).map(|(&a, &b)| oracle(a, b)).collect();
    let all: Vec<T> = a.iter().map(|&a| oracle(a, one)).collect();

    let mut output = bench.zeroed::<T>(shape.n, lead);
    operate(
        kernels,
        on_a.view(),
        on_b.view().into(),
        output.view_mut(),
        stream,
    )
    .unwrap();
    output.expect(bench, &each, &format!("two arrays, {what}"));
    operate(
        kernels,
        on_a.view(),
        Operand::All(one),
        output.view_mut(),
        stream,
    )
    .unwrap();
    output.expect(bench, &all, &format!("with {one:?}, {what}"));
    let mut y = bench.upload(&a, lead);
    assign(kernels, y.view_mut(), on_b.view().into(), stream).unwrap();
    y.expect(bench, &each, &format!("in place, {what}"));
    let mut y = bench.upload(&a, lead);
    assign(kernels, y.view_mut(), Operand::All(one), stream).unwrap();
    y.expect(bench, &all, &format!("in place with {one:?}, {what}"));
}

macro_rules! forms {
    ($name:ident $assign:ident) => {
        (
            |kernels, a, b, output, stream| kernels.$name(a, b, output, stream),
            |kernels, y, b, stream| kernels.$assign(y, b, stream),
        )
    };
}

/// What numbers have in common, on the CPU.
struct Oracles<T> {
    add: fn(T, T) -> T,
    sub: fn(T, T) -> T,
    mul: fn(T, T) -> T,
    min: fn(T, T) -> T,
    max: fn(T, T) -> T,
    axpy: fn(T, T, T) -> T,
}

fn numbers<T: Value + Number>(bench: &Bench, seed: u64, oracles: &Oracles<T>) {
    let random = &mut Random::new(seed);
    for shape in shapes(random) {
        binary(bench, shape, random, forms!(add add_assign), oracles.add);
        binary(bench, shape, random, forms!(sub sub_assign), oracles.sub);
        binary(bench, shape, random, forms!(mul mul_assign), oracles.mul);
        binary(bench, shape, random, forms!(min min_assign), oracles.min);
        binary(bench, shape, random, forms!(max max_assign), oracles.max);

        let a = values::<T>(random, 1)[0];
        let (x, y) = (values::<T>(random, shape.n), values::<T>(random, shape.n));
        let expected: Vec<T> = (x.iter().zip(&y))
            .map(|(&x, &y)| (oracles.axpy)(a, x, y))
            .collect();
        let on_x = bench.upload(&x, shape.leads[0]);
        let mut on_y = bench.upload(&y, shape.leads[1]);
        let kernels = &bench.kernels;
        kernels
            .axpy(a, on_x.view(), on_y.view_mut(), &bench.stream)
            .unwrap();
        let what = format!("axpy with {a:?}, {} {shape:?}", type_name::<T>());
        on_y.expect(bench, &expected, &what);
    }
}

fn signed<T: Value + Signed>(bench: &Bench, seed: u64, neg: fn(T) -> T, abs: fn(T) -> T) {
    let random = &mut Random::new(seed);
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    for shape in shapes(random) {
        let what = format!("{} {shape:?}", type_name::<T>());
        let a = values::<T>(random, shape.n);
        let on_a = bench.upload(&a, shape.leads[0]);
        let mut output = bench.zeroed::<T>(shape.n, shape.leads[1]);
        kernels.neg(on_a.view(), output.view_mut(), stream).unwrap();
        let expected: Vec<T> = a.iter().copied().map(neg).collect();
        output.expect(bench, &expected, &format!("neg, {what}"));
        kernels.abs(on_a.view(), output.view_mut(), stream).unwrap();
        let expected: Vec<T> = a.iter().copied().map(abs).collect();
        output.expect(bench, &expected, &format!("abs, {what}"));
    }
}

fn floats<T: Value + Float>(bench: &Bench, seed: u64, div: fn(T, T) -> T, fma: fn(T, T, T) -> T) {
    let random = &mut Random::new(seed);
    for shape in shapes(random) {
        binary(bench, shape, random, forms!(div div_assign), div);
        let inputs: [Vec<T>; 3] = std::array::from_fn(|_| values(random, shape.n));
        let [a, b, c] = &inputs;
        let expected: Vec<T> = (0..shape.n).map(|i| fma(a[i], b[i], c[i])).collect();
        let on = |index: usize| bench.upload(&inputs[index], shape.leads[index]);
        let (a, b, c) = (on(0), on(1), on(2));
        let mut output = bench.zeroed::<T>(shape.n, shape.leads[3]);
        let kernels = &bench.kernels;
        kernels
            .fma(
                a.view(),
                b.view(),
                c.view(),
                output.view_mut(),
                &bench.stream,
            )
            .unwrap();
        output.expect(
            bench,
            &expected,
            &format!("fma, {} {shape:?}", type_name::<T>()),
        );
    }
}

macro_rules! of_floats {
    ($of:ident, $bench:expr, $seed:expr) => {
        // A NaN is missing, and -0 smaller than +0.
        let smaller = |a: $of, b: $of| match () {
            () if a.is_nan() => b,
            () if b.is_nan() => a,
            () if a.total_cmp(&b).is_lt() => a,
            () => b,
        };
        let larger = |a: $of, b: $of| match () {
            () if a.is_nan() => b,
            () if b.is_nan() => a,
            () if a.total_cmp(&b).is_gt() => a,
            () => b,
        };
        let oracles = Oracles {
            add: |a: $of, b| a + b,
            sub: |a, b| a - b,
            mul: |a, b| a * b,
            min: smaller,
            max: larger,
            axpy: |a, x, y| a.mul_add(x, y),
        };
        numbers($bench, $seed, &oracles);
        signed::<$of>($bench, $seed + 1, |a| -a, $of::abs);
        floats::<$of>($bench, $seed + 2, |a, b| a / b, $of::mul_add);
    };
}

macro_rules! of_integers {
    ($of:ident, $bench:expr, $seed:expr) => {
        let oracles = Oracles {
            add: $of::wrapping_add,
            sub: $of::wrapping_sub,
            mul: $of::wrapping_mul,
            min: |a: $of, b| a.min(b),
            max: |a, b| a.max(b),
            axpy: |a, x, y| a.wrapping_mul(x).wrapping_add(y),
        };
        numbers($bench, $seed, &oracles);
    };
}

// Without it a float's result could be rounded elsewhere or twice, a subnormal be flushed, a NaN or a sign
// of zero be lost, or an element be left out at some length or alignment.
#[test]
fn operations_on_floats_have_the_bits_of_the_cpu() {
    let bench = Bench::new();
    of_floats!(f32, &bench, 100);
    of_floats!(f64, &bench, 200);
}

// Without it an integer could saturate where it is to wrap, or be compared as if it had another sign.
#[test]
fn operations_on_integers_have_the_bits_of_the_cpu() {
    let bench = Bench::new();
    of_integers!(i32, &bench, 300);
    of_integers!(i64, &bench, 400);
    of_integers!(u32, &bench, 500);
    of_integers!(u64, &bench, 600);
    signed::<i32>(&bench, 700, i32::wrapping_neg, i32::wrapping_abs);
    signed::<i64>(&bench, 800, i64::wrapping_neg, i64::wrapping_abs);
}

// Without it a view that is too short could be read or written beyond its end.
#[test]
fn views_of_other_lengths_are_refused() {
    let bench = Bench::new();
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    let long = bench.upload(&[1_i32; 10], 0);
    let mut short = bench.upload(&[1_i32; 9], 0);
    let mut wide = bench.upload(&[1_f64; 9], 0);
    let refused = |result: Result<()>, name: &str| match result {
        Err(cupola_managers::Error::Invalid { field, .. }) => assert_eq!(field, name),
        other => panic!("{name}: {other:?}"),
    };
    refused(
        kernels.add(long.view(), 1, short.view_mut(), stream),
        "output",
    );
    refused(
        kernels.add_assign(short.view_mut(), long.view(), stream),
        "b",
    );
    refused(kernels.neg(long.view(), short.view_mut(), stream), "output");
    refused(kernels.axpy(1, long.view(), short.view_mut(), stream), "y");
    refused(
        kernels.copy(long.view(), short.view_mut(), stream),
        "output",
    );
    refused(
        kernels.convert(long.view(), wide.view_mut(), stream),
        "output",
    );
    let mut result = bench.zeroed::<i32>(2, 0);
    let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
    let reduced = kernels.reduce_max(long.view(), &mut scratch, result.view_mut(), stream);
    refused(reduced, "largest");
}

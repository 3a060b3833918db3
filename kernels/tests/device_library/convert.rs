//! Conversions.

use std::any::type_name;

use cupola_kernels::ops::ConvertTo;
use cupola_random::Random;

use super::values::{Value, values};
use super::{Bench, shapes};

fn converts<S: Value + ConvertTo<D>, D: Value + ConvertTo<D>>(bench: &Bench, oracle: fn(S) -> D) {
    let names = (type_name::<S>(), type_name::<D>());
    let random = &mut Random::new((size_of::<S>() * 16 + size_of::<D>()) as u64);
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    let all: Vec<S> = match size_of::<S>() {
        // All there are.
        1 | 2 => (0..1_u64 << (8 * size_of::<S>()))
            .map(S::from_bits)
            .collect(),
        _ => S::SPECIAL.to_vec(),
    };
    let shape = |input: &[S], leads: [usize; 4]| {
        let expected: Vec<D> = input.iter().copied().map(oracle).collect();
        let on_input = bench.upload(input, leads[0]);
        let mut output = bench.zeroed::<D>(input.len(), leads[1]);
        kernels
            .convert(on_input.view(), output.view_mut(), stream)
            .unwrap();
        let what = format!("{names:?}, {} elements at {leads:?}", input.len());
        output.expect(bench, &expected, &what);
    };
    shape(&all, [0; 4]);
    for of in shapes(random) {
        shape(&values(random, of.n), of.leads);
    }
}

macro_rules! as_rust_does {
    ($bench:expr; $($from:ident => [$($to:ident)*];)*) => {
        $($(converts::<$from, $to>($bench, |x| x as $to);)*)*
    };
}

// Without it a conversion could round or saturate in another way than Rust's, which the documentation says.
#[test]
fn floats_and_integers_convert_as_in_rust() {
    let bench = Bench::new();
    as_rust_does! { &bench;
        f32 => [f32 f64 i8 u8 i16 u16 i32 u32 i64 u64];
        f64 => [f32 f64 i8 u8 i16 u16 i32 u32 i64 u64];
        i8 => [f32 f64];
        u8 => [f32 f64];
        i16 => [f32 f64];
        u16 => [f32 f64];
        i32 => [f32 f64];
        u32 => [f32 f64];
        i64 => [f32 f64];
        u64 => [f32 f64];
    }
}

// Without it the sign of a narrow integer could be lost, or a wide one saturate.
#[test]
fn integers_convert_as_in_rust() {
    let bench = Bench::new();
    as_rust_does! { &bench;
        i8 => [i8 u8 i16 u16 i32 u32 i64 u64];
        u8 => [i8 u8 i16 u16 i32 u32 i64 u64];
        i16 => [i8 u8 i16 u16 i32 u32 i64 u64];
        u16 => [i8 u8 i16 u16 i32 u32 i64 u64];
        i32 => [i8 u8 i16 u16 i32 u32 i64 u64];
        u32 => [i8 u8 i16 u16 i32 u32 i64 u64];
        i64 => [i8 u8 i16 u16 i32 u32 i64 u64];
        u64 => [i8 u8 i16 u16 i32 u32 i64 u64];
    }
}

#[cfg(feature = "half")]
mod halves {
    use half::{bf16, f16};
    use rustc_apfloat::ieee::{BFloat, Double, Half};
    use rustc_apfloat::{Float, FloatConvert};

    use super::{Bench, converts};

    // From f64, which has every f32 and every small integer; the crate `half` does not round all of
    // f64 once.
    fn f16_of(x: f64) -> f16 {
        let half: Half = Double::from_bits(x.to_bits().into())
            .convert(&mut false)
            .value;
        f16::from_bits(half.to_bits() as u16)
    }

    fn bf16_of(x: f64) -> bf16 {
        let half: BFloat = Double::from_bits(x.to_bits().into())
            .convert(&mut false)
            .value;
        bf16::from_bits(half.to_bits() as u16)
    }

    macro_rules! small_integers {
        ($bench:expr; $($of:ident)*) => {$(
            converts::<$of, f16>($bench, |x| f16_of(x.into()));
            converts::<$of, bf16>($bench, |x| bf16_of(x.into()));
            converts::<f16, $of>($bench, |x| x.to_f64() as $of);
            converts::<bf16, $of>($bench, |x| x.to_f64() as $of);
        )*};
    }

    // Without it a half could be rounded twice, away from even, or from a subnormal to zero.
    #[test]
    fn halves_are_rounded_once_to_nearest_even() {
        let bench = &Bench::new();
        converts::<f16, f16>(bench, |x| x);
        converts::<bf16, bf16>(bench, |x| x);
        converts::<f16, bf16>(bench, |x| bf16_of(x.to_f64()));
        converts::<bf16, f16>(bench, |x| f16_of(x.to_f64()));
        converts::<f16, f32>(bench, f16::to_f32);
        converts::<f16, f64>(bench, f16::to_f64);
        converts::<bf16, f32>(bench, bf16::to_f32);
        converts::<bf16, f64>(bench, bf16::to_f64);
        converts::<f32, f16>(bench, |x| f16_of(x.into()));
        converts::<f32, bf16>(bench, |x| bf16_of(x.into()));
        converts::<f64, f16>(bench, f16_of);
        converts::<f64, bf16>(bench, bf16_of);
        small_integers! { bench; i8 u8 i16 u16 }
    }
}

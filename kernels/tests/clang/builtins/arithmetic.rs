//! Integers and floats.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float as _, Round};

use super::Answer::{self, Bits, Double as D, Single as S};
use super::{Words, compare};

type Row = (&'static str, fn(Words) -> Answer);

/// Compares each expression with its oracle.
fn check(rows: &[Row], seed: u64) {
    let expressions: Vec<&str> = rows.iter().map(|(expression, _)| *expression).collect();
    compare(&expressions, seed, |row, words, t| rows[row].1(words[t]));
}

// Without it an integer function could have another result than on a GPU at the ends of its range.
#[test]
fn integer_functions_are_those_of_cuda() {
    check(
        &[
            ("__popc(u)", |a| Bits(a.u().count_ones().into())),
            ("__popcll(x)", |a| Bits(a.0.count_ones().into())),
            ("__clz(i)", |a| Bits(a.u().leading_zeros().into())),
            ("__clzll((long long)x)", |a| {
                Bits(a.0.leading_zeros().into())
            }),
            ("__ffs(i)", |a| {
                Bits(
                    if a.u() == 0 {
                        0
                    } else {
                        a.u().trailing_zeros() + 1
                    }
                    .into(),
                )
            }),
            ("__ffsll((long long)x)", |a| {
                Bits(
                    if a.0 == 0 {
                        0
                    } else {
                        a.0.trailing_zeros() + 1
                    }
                    .into(),
                )
            }),
            ("__brev(u)", |a| Bits(a.u().reverse_bits().into())),
            ("__brevll(x)", |a| Bits(a.0.reverse_bits())),
            ("__byte_perm(u, v, w & 0x7777)", |a| {
                let bytes = ((u64::from(a.v()) << 32) | u64::from(a.u())).to_le_bytes();
                let pick = |n: u32| bytes[((a.w() >> (4 * n)) & 7) as usize];
                Bits(u32::from_le_bytes([pick(0), pick(1), pick(2), pick(3)]).into())
            }),
            ("__mulhi(i, j)", |a| {
                Bits(((i64::from(a.i()) * i64::from(a.j())) as u64) >> 32)
            }),
            ("__umulhi(u, v)", |a| {
                Bits((u64::from(a.u()) * u64::from(a.v())) >> 32)
            }),
            ("__mul64hi((long long)x, (long long)y)", |a| {
                Bits(((i128::from(a.0 as i64) * i128::from(a.1 as i64)) >> 64) as u64)
            }),
            ("__umul64hi(x, y)", |a| {
                Bits(((u128::from(a.0) * u128::from(a.1)) >> 64) as u64)
            }),
            ("__mul24(i, j)", |a| {
                let low = |x: i32| x << 8 >> 8;
                Bits(u64::from(low(a.i()).wrapping_mul(low(a.j())) as u32))
            }),
            ("__umul24(u, v)", |a| {
                Bits((a.u() & 0xff_ffff).wrapping_mul(a.v() & 0xff_ffff).into())
            }),
            ("__sad(i, j, w)", |a| {
                Bits(a.i().abs_diff(a.j()).wrapping_add(a.w()).into())
            }),
            ("__usad(u, v, w)", |a| {
                Bits(a.u().abs_diff(a.v()).wrapping_add(a.w()).into())
            }),
            ("__hadd(i, j)", |a| {
                Bits(u64::from(
                    ((i64::from(a.i()) + i64::from(a.j())) >> 1) as u32,
                ))
            }),
            ("__rhadd(i, j)", |a| {
                Bits(u64::from(
                    ((i64::from(a.i()) + i64::from(a.j()) + 1) >> 1) as u32,
                ))
            }),
            ("__uhadd(u, v)", |a| {
                Bits((u64::from(a.u()) + u64::from(a.v())) >> 1)
            }),
            ("__urhadd(u, v)", |a| {
                Bits((u64::from(a.u()) + u64::from(a.v()) + 1) >> 1)
            }),
            ("__funnelshift_l(u, v, w)", |a| {
                let both = (u64::from(a.v()) << 32) | u64::from(a.u());
                Bits(both << (a.w() & 31) >> 32)
            }),
            ("__funnelshift_r(u, v, w)", |a| {
                let both = (u64::from(a.v()) << 32) | u64::from(a.u());
                Bits(u64::from((both >> (a.w() & 31)) as u32))
            }),
            ("__funnelshift_lc(u, v, w)", |a| {
                let both = (u64::from(a.v()) << 32) | u64::from(a.u());
                Bits(u64::from((both << a.w().min(32) >> 32) as u32))
            }),
            ("__funnelshift_rc(u, v, w)", |a| {
                let both = (u64::from(a.v()) << 32) | u64::from(a.u());
                Bits(u64::from((both >> a.w().min(32)) as u32))
            }),
            ("__dp4a(i, j, (int)w)", |a| {
                let (a4, b4) = (a.i().to_le_bytes(), a.j().to_le_bytes());
                let products = a4
                    .iter()
                    .zip(b4)
                    .map(|(&a, b)| i32::from(a as i8) * i32::from(b as i8));
                Bits(u64::from(
                    products.fold(a.w(), |sum, p| sum.wrapping_add(p as u32)),
                ))
            }),
            ("__dp4a(u, v, w)", |a| {
                let (a4, b4) = (a.u().to_le_bytes(), a.v().to_le_bytes());
                let products = a4.iter().zip(b4).map(|(&a, b)| u32::from(a) * u32::from(b));
                Bits(u64::from(products.fold(a.w(), u32::wrapping_add)))
            }),
            ("abs(i)", |a| Bits(u64::from(a.i().wrapping_abs() as u32))),
            ("abs((long long)x)", |a| {
                Bits((a.0 as i64).wrapping_abs() as u64)
            }),
            ("min(i, j)", |a| Bits(u64::from(a.i().min(a.j()) as u32))),
            ("max(u, v)", |a| Bits(a.u().max(a.v()).into())),
            // Of both kinds they are unsigned.
            ("max(i, v)", |a| Bits(a.u().max(a.v()).into())),
            ("min((long long)x, (long long)y)", |a| {
                Bits((a.0 as i64).min(a.1 as i64) as u64)
            }),
            ("__hiloint2double(i, j)", |a| {
                Bits(u64::from(a.u()) << 32 | u64::from(a.v()))
            }),
            ("__double2hiint(d)", |a| Bits(a.0 >> 32)),
            ("__double2loint(d)", |a| Bits(u64::from(a.u()))),
        ],
        1,
    );
}

fn single(x: f32) -> Single {
    Single::from_bits(x.to_bits().into())
}
fn back(x: Single) -> Answer {
    S(f32::from_bits(x.to_bits() as u32), 0)
}
fn double(x: f64) -> Double {
    Double::from_bits(x.to_bits().into())
}
fn back_double(x: Double) -> Answer {
    D(f64::from_bits(x.to_bits() as u64))
}
const NEAREST: Round = Round::NearestTiesToEven;
const ZERO: Round = Round::TowardZero;
const UP: Round = Round::TowardPositive;
const DOWN: Round = Round::TowardNegative;

// Without it an operation could round otherwise than its name says, or a conversion not saturate.
#[test]
fn functions_that_name_a_rounding_round_so() {
    check(
        &[
            ("__fadd_rn(f, g)", |a| {
                back(single(a.f()).add_r(single(a.g()), NEAREST).value)
            }),
            ("__fadd_rz(f, g)", |a| {
                back(single(a.f()).add_r(single(a.g()), ZERO).value)
            }),
            ("__fadd_ru(f, g)", |a| {
                back(single(a.f()).add_r(single(a.g()), UP).value)
            }),
            ("__fadd_rd(f, g)", |a| {
                back(single(a.f()).add_r(single(a.g()), DOWN).value)
            }),
            ("__fsub_rz(f, g)", |a| {
                back(single(a.f()).sub_r(single(a.g()), ZERO).value)
            }),
            ("__fmul_rn(f, g)", |a| {
                back(single(a.f()).mul_r(single(a.g()), NEAREST).value)
            }),
            ("__fmul_ru(f, g)", |a| {
                back(single(a.f()).mul_r(single(a.g()), UP).value)
            }),
            ("__fdiv_rd(f, g)", |a| {
                back(single(a.f()).div_r(single(a.g()), DOWN).value)
            }),
            ("__fdiv_rn(f, g)", |a| {
                back(single(a.f()).div_r(single(a.g()), NEAREST).value)
            }),
            ("__fmaf_rz(f, g, h)", |a| {
                let (x, y, z) = (single(a.f()), single(a.g()), single(a.h()));
                back(x.mul_add_r(y, z, ZERO).value)
            }),
            ("__frcp_ru(f)", |a| {
                back(single(1.0).div_r(single(a.f()), UP).value)
            }),
            ("__fsqrt_rn(f)", |a| S(a.f().sqrt(), 0)),
            ("__dadd_rd(d, e)", |a| {
                back_double(double(a.d()).add_r(double(a.e()), DOWN).value)
            }),
            ("__dmul_rz(d, e)", |a| {
                back_double(double(a.d()).mul_r(double(a.e()), ZERO).value)
            }),
            ("__ddiv_ru(d, e)", |a| {
                back_double(double(a.d()).div_r(double(a.e()), UP).value)
            }),
            ("__fma_rn(d, e, d)", |a| D(a.d().mul_add(a.e(), a.d()))),
            ("__dsqrt_rn(d)", |a| D(a.d().sqrt())),
            ("__double2float_rn(d)", |a| S(a.d() as f32, 0)),
            ("__int2float_rn(i)", |a| S(a.i() as f32, 0)),
            ("__ull2float_rn(x)", |a| S(a.0 as f32, 0)),
            ("__ll2double_rn((long long)x)", |a| D(a.0 as i64 as f64)),
            ("__float2int_rz(f)", |a| {
                Bits(u64::from(a.f() as i32 as u32))
            }),
            ("__float2uint_rz(f)", |a| Bits(u64::from(a.f() as u32))),
            ("__float2int_rd(f)", |a| {
                Bits(u64::from(a.f().floor() as i32 as u32))
            }),
            ("__float2int_ru(f)", |a| {
                Bits(u64::from(a.f().ceil() as i32 as u32))
            }),
            ("__float2int_rn(f)", |a| {
                Bits(u64::from(a.f().round_ties_even() as i32 as u32))
            }),
            ("__saturatef(f)", |a| {
                S(if a.f() > 0.0 { a.f().min(1.0) } else { 0.0 }, 0)
            }),
        ],
        2,
    );
}

// Without it a function of one IEEE operation could differ from a GPU's, most likely at zeros and NaNs.
#[test]
fn exact_functions_are_exact() {
    check(
        &[
            ("sqrtf(f)", |a| S(a.f().sqrt(), 0)),
            ("sqrt(d)", |a| D(a.d().sqrt())),
            ("fabsf(f)", |a| S(a.f().abs(), 0)),
            ("fabs(d)", |a| D(a.d().abs())),
            ("fminf(f, g)", |a| S(minimum(a.f(), a.g()), 0)),
            ("fmaxf(f, g)", |a| S(-minimum(-a.f(), -a.g()), 0)),
            ("min(f, g)", |a| S(minimum(a.f(), a.g()), 0)),
            ("fmaf(f, g, h)", |a| S(a.f().mul_add(a.g(), a.h()), 0)),
            ("floorf(f)", |a| S(a.f().floor(), 0)),
            ("ceil(f)", |a| S(a.f().ceil(), 0)),
            ("trunc(d)", |a| D(a.d().trunc())),
            ("rintf(f)", |a| S(a.f().round_ties_even(), 0)),
            ("nearbyint(d)", |a| D(a.d().round_ties_even())),
            ("roundf(f)", |a| S(a.f().round(), 0)),
            ("round(d)", |a| D(a.d().round())),
            ("copysignf(f, g)", |a| {
                let sign = a.v() & 0x8000_0000;
                Bits(((a.u() & 0x7fff_ffff) | sign).into())
            }),
            ("fdimf(f, g)", |a| {
                S(if a.f() <= a.g() { 0.0 } else { a.f() - a.g() }, 0)
            }),
            ("isnan(f)", |a| Bits(a.f().is_nan().into())),
            ("isinf(d)", |a| Bits(a.d().is_infinite().into())),
            ("isfinite(f)", |a| Bits(a.f().is_finite().into())),
            ("signbit(f)", |a| Bits((a.u() >> 31).into())),
        ],
        3,
    );
}

/// A NaN counts as missing, and -0 as smaller than +0.
fn minimum(a: f32, b: f32) -> f32 {
    match () {
        () if a.is_nan() => b,
        () if b.is_nan() => a,
        () if a.total_cmp(&b).is_lt() => a,
        () => b,
    }
}

// Without it a function could be wrong by more than is said, near a zero, at a special value, or for large
// angles.
#[test]
fn functions_by_series_are_within_an_ulp() {
    macro_rules! wide {
        ($name:ident) => {
            |a| S(f64::$name(a.f().into()) as f32, 1)
        };
    }
    check(
        &[
            ("expf(f)", wide!(exp)),
            ("exp2f(f)", wide!(exp2)),
            ("exp10f(f)", |a| S(10.0_f64.powf(a.f().into()) as f32, 1)),
            ("expm1f(f)", wide!(exp_m1)),
            ("logf(f)", wide!(ln)),
            ("log2f(f)", wide!(log2)),
            ("log10f(f)", wide!(log10)),
            ("log1pf(f)", wide!(ln_1p)),
            ("sinf(f)", wide!(sin)),
            ("cosf(f)", wide!(cos)),
            ("tanf(f)", wide!(tan)),
            ("sinhf(f)", wide!(sinh)),
            ("coshf(f)", wide!(cosh)),
            ("tanhf(f)", wide!(tanh)),
            ("powf(f, g)", |a| {
                S(f64::from(a.f()).powf(a.g().into()) as f32, 1)
            }),
            ("powf(f, floorf(g))", |a| {
                S(f64::from(a.f()).powf(a.g().floor().into()) as f32, 1)
            }),
            ("hypotf(f, g)", |a| {
                S(f64::from(a.f()).hypot(a.g().into()) as f32, 1)
            }),
            ("exp(f) + 0.0f * f", |a| {
                let exact = f64::from(a.f()).exp() as f32;
                S(exact + 0.0 * a.f(), 1)
            }),
            ("rsqrtf(f)", |a| {
                S((1.0 / f64::from(a.f()).sqrt()) as f32, 3)
            }),
            ("__fdividef(1.0f, 1.0f + fabsf(f))", |a| {
                let divisor = 1.0 + a.f().abs();
                // Above 2^126 it is zero.
                let is_large = divisor > 2.0_f32.powi(126) && divisor.is_finite();
                S(if is_large { 0.0 } else { 1.0 / divisor }, 2)
            }),
            ("__expf(fminf(fabsf(f), 1.0f))", |a| {
                S(minimum(a.f().abs(), 1.0).exp(), 4)
            }),
            ("__logf(2.0f + fminf(fabsf(f), 1.0f))", |a| {
                S((2.0 + minimum(a.f().abs(), 1.0)).ln(), 8)
            }),
        ],
        4,
    );
}

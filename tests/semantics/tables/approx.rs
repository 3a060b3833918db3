//! Approximations, within the errors that the PTX ISA allows them. The reference is the
//! host's `libm` in double precision, whose own error is far below every bound here.

use cupola_random::Random;
use std::f64::consts::{LN_2, PI};

use crate::edges::{of, ones, pairs};
use crate::form::{Expect, Form, Ty};
use crate::oracle::float::{self, Format, nearest, value};

const F32: Format = Format::F32;

pub(crate) fn all() -> Vec<Form> {
    let mut all = Vec::new();
    for ftz in [false, true] {
        all.extend(singles(ftz));
        all.extend(divisions(ftz));
    }
    all.push(hyperbolic());
    all.extend(doubles());
    all.extend(halves());
    all
}

/// The distance to the next number of a format, at a value's size.
fn ulp(of: f64, format: Format) -> f64 {
    let bits = float::magnitude(nearest(of, format), format).min(format.infinity() - 2);
    value(bits + 1, format) - value(bits, format)
}

/// Between two bounds; where flushing may apply, zero will do for what may be subnormal.
fn between(low: f64, high: f64, ftz: bool, format: Format) -> Expect {
    let least = value(format.least_normal(), format);
    let greatest = value(format.infinity() - 1, format);
    let (mut low, mut high) = (low, high);
    if ftz && low.abs().min(high.abs()) < least {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    // What may round to an infinity may be one.
    if high > greatest {
        high = f64::INFINITY;
    }
    if low < -greatest {
        low = f64::NEG_INFINITY;
    }
    Expect::Between(low.min(greatest), high.max(-greatest))
}

/// A number of ulps around the correctly rounded result.
fn ulps(exact: f64, count: f64, ftz: bool) -> Expect {
    if exact.is_nan() {
        return Expect::Nan;
    }
    let rounded = value(nearest(exact, F32), F32);
    if exact == 0.0 || exact.is_infinite() {
        // No error is left to allow: signs included.
        return Expect::Is(nearest(exact, F32));
    }
    let greatest = value(F32.infinity() - 1, F32).copysign(exact);
    let rounded = if rounded.is_infinite() {
        greatest
    } else {
        rounded
    };
    let slack = count * ulp(rounded, F32);
    between(rounded - slack, rounded + slack, ftz, F32)
}

/// An absolute error.
fn absolute(exact: f64, error: f64, ftz: bool, format: Format) -> Expect {
    between(exact - error, exact + error, ftz, format)
}

/// A relative error, and half of the last bit of a subnormal number: results that are
/// subnormal have fewer bits, and are rounded once more.
fn relative(exact: f64, error: f64, ftz: bool, format: Format) -> Expect {
    let error = exact.abs() * error + value(1, format) / 2.0;
    absolute(exact, error, ftz, format)
}

/// Arguments around and inside an interval.
fn within(low: f64, high: f64) -> Vec<Vec<u64>> {
    let mut random = Random::new(13);
    (0..400)
        .map(|_| {
            let part = random.next_u64() as f64 / u64::MAX as f64;
            vec![nearest(low + part * (high - low), F32)]
        })
        .collect()
}

/// A function of one `f32`; `exact` says what it is, `judge` what may come of it.
fn function(
    name: String,
    operands: Vec<Vec<u64>>,
    exact: fn(f64) -> f64,
    judge: impl Fn(f64, f64, bool) -> Expect + 'static,
) -> Form {
    let ftz = name.contains(".ftz");
    Form::new(name, &[Ty::F32], Ty::F32, operands, move |a| {
        let a = if ftz { float::flush(a[0], F32) } else { a[0] };
        let x = value(a, F32);
        let y = exact(x);
        if y.is_nan() {
            Expect::Nan
        } else if y == 0.0 || y.is_infinite() {
            Expect::Is(nearest(y, F32))
        } else {
            judge(x, y, ftz)
        }
    })
}

fn singles(ftz: bool) -> Vec<Form> {
    let flag = if ftz { ".ftz" } else { "" };
    let name = |op: &str| format!("{op}.approx{flag}.f32");
    let every = || ones(Ty::F32);
    let with = |mut more: Vec<Vec<u64>>| {
        more.extend(ones(Ty::F32));
        more
    };
    // Where the sine is not judged it must still not be asked: infinities are.
    let angles = |far: f64| {
        let mut all = within(-far, far);
        all.extend(every().into_iter().filter(|a| {
            let x = value(a[0], F32);
            !x.is_finite() || x.abs() <= far
        }));
        all
    };
    // 9.7.3.18 and 9.7.3.19: 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi], "best
    // effort" beyond, which is not judged.
    let angular = |x: f64, y: f64, ftz: bool| {
        let error = if x.abs() <= 2.0 * PI { -20.5f64 } else { -14.7 };
        absolute(y, error.exp2(), ftz, F32)
    };
    let mut angles = angles(2.0 * PI);
    angles.extend(within(-100.0 * PI, 100.0 * PI));
    vec![
        // 9.7.3.13: 1 ulp over the full range.
        function(
            name("rcp"),
            with(within(0.5, 4.0)),
            f64::recip,
            |_, y, ftz| ulps(y, 1.0, ftz),
        ),
        // 9.7.3.15: a relative error of 2^-23.
        function(
            name("sqrt"),
            with(within(0.25, 8.0)),
            f64::sqrt,
            |_, y, ftz| relative(y, (-23f64).exp2(), ftz, F32),
        ),
        // 9.7.3.16: a relative error of 2^-22.9.
        function(
            name("rsqrt"),
            with(within(0.25, 8.0)),
            inverse_root,
            |_, y, ftz| relative(y, (-22.9f64).exp2(), ftz, F32),
        ),
        function(name("sin"), angles.clone(), f64::sin, angular),
        function(name("cos"), angles, f64::cos, angular),
        // 9.7.3.20: an absolute error of 2^-22 in (0.5, 2), outside a relative one.
        function(
            name("lg2"),
            with(within(0.25, 4.0)),
            f64::log2,
            |x, y, ftz| {
                let error = (-22f64).exp2();
                if 0.5 < x && x < 2.0 {
                    absolute(y, error, ftz, F32)
                } else {
                    relative(y, error, ftz, F32)
                }
            },
        ),
        // 9.7.3.21: 2 ulp of the correctly rounded result over the full range.
        function(
            name("ex2"),
            with(within(-152.0, 130.0)),
            f64::exp2,
            |_, y, ftz| ulps(y, 2.0, ftz),
        ),
    ]
}

/// The root of a negative zero is one too, and its inverse is below every number.
fn inverse_root(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// 9.7.3.22: a relative error of 2^-11 over the entire range; no `.ftz`.
fn hyperbolic() -> Form {
    let mut operands = within(-4.0, 4.0);
    operands.extend(ones(Ty::F32));
    function(
        "tanh.approx.f32".into(),
        operands,
        f64::tanh,
        |_, y, ftz| relative(y, (-11f64).exp2(), ftz, F32),
    )
}

/// 9.7.3.8.
fn divisions(ftz: bool) -> [Form; 2] {
    let flag = if ftz { ".ftz" } else { "" };
    let form = |kind: &str, full: bool| {
        let name = format!("div.{kind}{flag}.f32");
        let types = [Ty::F32, Ty::F32];
        Form::new(name, &types, Ty::F32, pairs(Ty::F32, Ty::F32), move |a| {
            let [a, b] = [a[0], a[1]].map(|v| if ftz { float::flush(v, F32) } else { v });
            let (x, y) = (value(a, F32), value(b, F32));
            let sign = (a ^ b) & F32.sign();
            let size = y.abs();
            if full || x.is_nan() || !y.is_finite() || y == 0.0 {
                // The full range: 2 ulp.
                return ulps(x / y, 2.0, ftz);
            }
            if size > 126f64.exp2() {
                // Its own rule: an infinity gives NaN, the rest a zero of the right sign.
                return if x.is_infinite() {
                    Expect::Nan
                } else {
                    Expect::Is(sign)
                };
            }
            if size < (-126f64).exp2() {
                // Nothing is promised of subnormal divisors.
                return Expect::Open;
            }
            ulps(x / y, 2.0, ftz)
        })
    };
    [form("approx", false), form("full", true)]
}

/// `rsqrt` of doubles, and the forms of 32 bits, which start an iteration. The PTX ISA gives
/// no error for these. What it does give is judged: special values, the lower half of zeros,
/// the canonical NaN (9.7.3.14, 9.7.3.17). For the rest the bound is ours: the 20 bits of
/// fraction that the format of the result has, less one; 2^-50 for the full result.
fn doubles() -> Vec<Form> {
    let format = Format::F64;
    let form = |name: &'static str, exact: fn(f64) -> f64, high: bool| {
        Form::new(name, &[Ty::F64], Ty::F64, ones(Ty::F64), move |a| {
            let cut = |v: u64| {
                let v = v & 0xffff_ffff_0000_0000;
                float::flush(v, format)
            };
            if high && float::is_nan(a[0] & 0xffff_ffff_0000_0000, format) {
                return Expect::Is(0x7fff_ffff_0000_0000);
            }
            if high && float::is_nan(a[0], format) {
                // A payload in the lower half alone: an infinity without it.
                return Expect::Open;
            }
            let a = if high { cut(a[0]) } else { a[0] };
            let y = exact(f64::from_bits(a));
            if y.is_nan() {
                return if high {
                    Expect::OneOf(vec![
                        0x7fff_ffff_0000_0000,
                        0xfff8_0000_0000_0000,
                        0x7ff8_0000_0000_0000,
                    ])
                } else {
                    Expect::Nan
                };
            }
            if y == 0.0 || y.is_infinite() {
                return Expect::Is(y.to_bits());
            }
            let error = y.abs() * (if high { -19f64 } else { -50.0 }).exp2();
            between(y - error, y + error, high, format)
        })
    };
    let lower = |name: &'static str| {
        let form = Form::new(
            format!("{name}, lower half"),
            &[Ty::F64],
            Ty::B32,
            ones(Ty::F64),
            |_| 0,
        );
        form.body(format!(
            ".reg .b32 %high; .reg .b64 %both; {name} %both, %a0; mov.b64 {{%d0, %high}}, %both;"
        ))
    };
    vec![
        form("rsqrt.approx.f64", inverse_root, false),
        form("rsqrt.approx.ftz.f64", inverse_root, true),
        form("rcp.approx.ftz.f64", f64::recip, true),
        lower("rsqrt.approx.ftz.f64"),
        lower("rcp.approx.ftz.f64"),
    ]
}

/// 9.7.4.9 and 9.7.4.10: `tanh` within 2^-10.987 (`f16`) and 2^-8 (`bf16`) absolutely, `ex2`
/// within 2^-9.9 and 2^-7 relatively.
fn halves() -> Vec<Form> {
    let mut all = Vec::new();
    for (single, packed) in [(Ty::F16, Ty::F16x2), (Ty::BF16, Ty::BF16x2)] {
        let format = Format::of(single);
        let bfloat = single == Ty::BF16;
        for ty in [single, packed] {
            let flag = if bfloat { ".ftz" } else { "" };
            let names = [
                (format!("tanh.approx.{}", ty.name()), false),
                (format!("ex2.approx{flag}.{}", ty.name()), true),
            ];
            for (name, power) in names {
                let one = move |a: u64| {
                    let ftz = power && bfloat;
                    let a = if ftz { float::flush(a, format) } else { a };
                    let x = value(a, format);
                    let y = if power { x.exp2() } else { x.tanh() };
                    if y.is_nan() {
                        return Expect::Nan;
                    }
                    if y == 0.0 || y.is_infinite() {
                        return Expect::Is(nearest(y, format));
                    }
                    match (power, bfloat) {
                        // An H200 cuts subnormal results of the packed form off, where the
                        // other rounds: a whole last bit, which the ISA says nothing of.
                        (true, false) => {
                            let cut = if ty == single { 0.5 } else { 1.0 } * value(1, format);
                            absolute(y, y * (-9.9f64).exp2() + cut, ftz, format)
                        }
                        (true, true) => relative(y, (-7f64).exp2(), ftz, format),
                        (false, false) => absolute(y, (-10.987f64).exp2(), ftz, format),
                        (false, true) => absolute(y, (-8f64).exp2(), ftz, format),
                    }
                };
                let form = Form::new(name, &[ty], ty, arguments(ty), move |a| {
                    if ty == single {
                        one(a[0])
                    } else {
                        Expect::Halves(Box::new(one(a[0] & 0xffff)), Box::new(one(a[0] >> 16)))
                    }
                });
                all.push(if bfloat { form.needs(78, 90) } else { form });
            }
        }
    }
    all
}

/// Edge values, and a sweep of where the functions are neither flat nor overflow.
fn arguments(ty: Ty) -> Vec<Vec<u64>> {
    let format = Format::of(ty);
    let mut all: Vec<Vec<u64>> = of(ty).into_iter().map(|v| vec![v]).collect();
    for i in -160..=160 {
        let bits = nearest(f64::from(i) * LN_2 / 7.0, format);
        let other = nearest(f64::from(-i) / 9.0, format);
        all.push(vec![if ty.bits() == 16 {
            bits
        } else {
            bits | other << 16
        }]);
    }
    all
}

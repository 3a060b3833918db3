//! `cvt` between integers, and between integers and floats (PTX ISA 9.7.9.21).

use crate::edges::{of, ones};
use crate::form::{Expect, Form, Needs, Ty};
use crate::oracle::float::{self, Format, ROUNDS};
use crate::oracle::int::{clamp, number, range, wrap};
use cupola_random::Random;
use rustc_apfloat::Round;

const INTEGERS: [Ty; 8] = [
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S8,
    Ty::S16,
    Ty::S32,
    Ty::S64,
];

const FLOATS: [Ty; 4] = [Ty::F16, Ty::BF16, Ty::F32, Ty::F64];

/// Narrow results go to a 32-bit register, which shows how they are extended.
fn register(ty: Ty) -> Ty {
    match (ty.bits(), ty.signed()) {
        (8 | 16, true) => Ty::S32,
        (8 | 16, false) => Ty::U32,
        _ => ty,
    }
}

/// The register's bits of a number of a narrower type: a destination that is wider than
/// the type is sign-extended or zero-extended (9.4.1).
fn extended(value: i128, ty: Ty) -> u64 {
    wrap(number(wrap(value, ty), ty), register(ty))
}

/// bfloat conversions came late.
fn needs(ty: Ty) -> Needs {
    if ty == Ty::BF16 { (78, 90) } else { (78, 80) }
}

pub(crate) fn integers() -> Vec<Form> {
    let mut all = Vec::new();
    for to in INTEGERS {
        for from in INTEGERS {
            let form = |sat: bool| {
                let flag = if sat { ".sat" } else { "" };
                let name = format!("cvt{flag}.{}.{}", to.name(), from.name());
                Form::new(name, &[from], register(to), ones(from), move |a| {
                    let value = number(a[0], from);
                    extended(if sat { clamp(value, to) } else { value }, to)
                })
            };
            all.push(form(false));
            // `.sat` is illegal where nothing can be saturated.
            let ((low, high), (least, greatest)) = (range(from), range(to));
            if low < least || high > greatest {
                all.push(form(true));
            }
        }
    }
    all
}

const INTEGRAL: [(&str, Round); 4] = [
    ("rni", Round::NearestTiesToEven),
    ("rzi", Round::TowardZero),
    ("rmi", Round::TowardNegative),
    ("rpi", Round::TowardPositive),
];

/// Floats around the ends of an integer type and around halves.
fn around(from: Ty, to: Ty) -> Vec<Vec<u64>> {
    let format = Format::of(from);
    let mut all = ones(from);
    let (least, greatest) = range(to);
    let mut values = vec![least as f64, greatest as f64];
    values.extend([
        0.5, 1.5, 2.5, 0.49, 0.51, 0.999, 1.001, 126.5, 127.5, 128.5, 255.5, 256.5,
    ]);
    values.extend([
        32767.5,
        65535.5,
        2147483647.5,
        4294967295.5,
        1e18,
        1e19,
        1e20,
    ]);
    for value in values {
        let bits = float::nearest(value, format);
        for bits in [bits, bits.wrapping_add(1), bits.wrapping_sub(1)] {
            all.push(vec![bits & from.mask()]);
            all.push(vec![(bits ^ format.sign()) & from.mask()]);
        }
    }
    all
}

/// Results are clamped to the destination's range, so `.sat` changes nothing.
pub(crate) fn floats_to_integers() -> Vec<Form> {
    let mut all = Vec::new();
    for to in INTEGERS {
        for from in FLOATS {
            for (mode, round) in INTEGRAL {
                let ftz: &[bool] = if from == Ty::F32 {
                    &[false, true]
                } else {
                    &[false]
                };
                for ftz in ftz {
                    all.push(float_to_integer(to, from, mode, round, *ftz, false));
                }
            }
            // bfloats came when `.sat` was long without a meaning here.
            if from != Ty::BF16 {
                all.push(float_to_integer(
                    to,
                    from,
                    "rni",
                    Round::NearestTiesToEven,
                    false,
                    true,
                ));
            }
        }
    }
    all
}

fn float_to_integer(to: Ty, from: Ty, mode: &str, round: Round, ftz: bool, sat: bool) -> Form {
    let format = Format::of(from);
    let flush = if ftz { ".ftz" } else { "" };
    let sat = if sat { ".sat" } else { "" };
    let name = format!("cvt.{mode}{flush}{sat}.{}.{}", to.name(), from.name());
    let form = Form::new(name, &[from], register(to), around(from, to), move |a| {
        let a = if ftz {
            float::flush(a[0], format)
        } else {
            a[0]
        };
        match float::to_int(format, a, round) {
            Some(value) => extended(clamp(value, to), to),
            // 9.7.9.21: zero between 32-bit types or narrower ones, and the lone top bit if
            // the source is `.f64` or the destination has 64 bits.
            None if from != Ty::F64 && to.bits() < 64 => 0,
            None => extended(1 << (to.bits() - 1), to),
        }
    });
    let form = if from == Ty::BF16 && to.bits() < 32 {
        // Conversions of bfloats want registers of the very size, then the value is extended.
        let t = to.name();
        let name = &form.name;
        let body = format!(
            ".reg .{t} %exact; {name} %exact, %a0; cvt.{}32.{t} %d0, %exact;",
            if to.signed() { 's' } else { 'u' }
        );
        form.body(body)
    } else {
        form
    };
    let (ptx, sm) = needs(from);
    form.needs(ptx, sm)
}

/// Integers whose roundings are ties, or nearly so, in every float format.
fn ties(ty: Ty) -> Vec<Vec<u64>> {
    let mut all = ones(ty);
    let mut random = Random::new(11);
    for fraction in [7, 10, 23, 52] {
        for top in fraction + 2..ty.bits() {
            // Bits of a significand, then half an ulp, and its neighbours.
            let half = 1u64 << (top - fraction - 2);
            let value = (random.next_u64() >> (63 - top) | 1 << top) & !(2 * half - 1);
            for value in [value | half, (value | half) + 1, (value | half) - 1, value] {
                all.push(vec![value & ty.mask()]);
                all.push(vec![value.wrapping_neg() & ty.mask()]);
            }
        }
    }
    all
}

pub(crate) fn integers_to_floats() -> Vec<Form> {
    let mut all = Vec::new();
    for to in FLOATS {
        let format = Format::of(to);
        for from in INTEGERS {
            let operands = if from.bits() == 8 {
                of(from).into_iter().map(|v| vec![v]).collect()
            } else {
                ties(from)
            };
            for (mode, round) in ROUNDS {
                let name = format!("cvt.{mode}.{}.{}", to.name(), from.name());
                let form = Form::new(name, &[from], to, operands.clone(), move |a| {
                    float::from_int(number(a[0], from), format, round).bits
                });
                let form = if to == Ty::BF16 && from.bits() == 8 {
                    let t = from.name();
                    let body = format!(
                        ".reg .{t} %exact; cvt.{t}.u16 %exact, %a0; {} %d0, %exact;",
                        form.name
                    );
                    form.body(body)
                } else {
                    form
                };
                let (ptx, sm) = needs(to);
                all.push(form.needs(ptx, sm));
            }
        }
        if to == Ty::BF16 {
            continue;
        }
        // Saturated to [0, 1]: PTX ISA 9.7.9.21, `.sat` of floating-point destinations.
        let name = format!("cvt.rn.sat.{}.s32", to.name());
        all.push(Form::new(name, &[Ty::S32], to, ones(Ty::S32), move |a| {
            let value = float::from_int(number(a[0], Ty::S32), format, Round::NearestTiesToEven);
            Expect::Is(float::saturate(value.bits, format))
        }));
    }
    all
}

//! Integer arithmetic (PTX ISA 9.7.1): results are those of whole numbers, cut to the type.

use crate::edges::{ones, pairs, triples};
use crate::form::{Expect, Form, Ty};
use crate::oracle::int::{clamp, number, wrap};

const TYPES: [Ty; 6] = [Ty::U16, Ty::S16, Ty::U32, Ty::S32, Ty::U64, Ty::S64];

/// A form of two operands of one type.
fn two(op: &str, ty: Ty, f: impl Fn(i128, i128) -> i128 + 'static) -> Form {
    let name = format!("{op}.{}", ty.name());
    Form::new(name, &[ty, ty], ty, pairs(ty, ty), move |a| {
        wrap(f(number(a[0], ty), number(a[1], ty)), ty)
    })
}

/// A form of three operands of one type.
fn three(op: &str, ty: Ty, f: impl Fn(i128, i128, i128) -> i128 + 'static) -> Form {
    let name = format!("{op}.{}", ty.name());
    Form::new(name, &[ty, ty, ty], ty, triples(ty, ty, ty), move |a| {
        let [a, b, c] = [a[0], a[1], a[2]].map(|v| number(v, ty));
        wrap(f(a, b, c), ty)
    })
}

/// The type of twice the width.
fn wide(ty: Ty) -> Ty {
    match ty {
        Ty::U16 => Ty::U32,
        Ty::S16 => Ty::S32,
        Ty::U32 => Ty::U64,
        _ => Ty::S64,
    }
}

/// The product's upper half. Of two 64-bit operands the product of `u64` needs all of `u128`.
fn high(a: i128, b: i128, ty: Ty) -> i128 {
    if ty == Ty::U64 {
        ((a.cast_unsigned() * b.cast_unsigned()) >> 64).cast_signed()
    } else {
        (a * b) >> ty.bits()
    }
}

pub(crate) fn arithmetic() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in TYPES {
        all.push(two("add", ty, |a, b| a + b));
        all.push(two("sub", ty, |a, b| a - b));
        all.push(two("mul.lo", ty, i128::wrapping_mul));
        all.push(two("mul.hi", ty, move |a, b| high(a, b, ty)));
        all.push(two("min", ty, i128::min));
        all.push(two("max", ty, i128::max));
        all.push(three("mad.lo", ty, |a, b, c| {
            a.wrapping_mul(b).wrapping_add(c)
        }));
        all.push(three("mad.hi", ty, move |a, b, c| high(a, b, ty) + c));
        all.push(three("sad", ty, |a, b, c| c + (a - b).abs()));
        all.extend(divisions(ty));
        if ty.signed() {
            let sign = |op: &str, f: fn(i128) -> i128| {
                let name = format!("{op}.{}", ty.name());
                Form::new(name, &[ty], ty, ones(ty), move |a| {
                    wrap(f(number(a[0], ty)), ty)
                })
            };
            all.push(sign("abs", i128::abs));
            all.push(sign("neg", |a| -a));
        }
        if ty.bits() < 64 {
            all.extend(widening(ty));
        }
    }
    all.push(two("add.sat", Ty::S32, |a, b| clamp(a + b, Ty::S32)));
    all.push(two("sub.sat", Ty::S32, |a, b| clamp(a - b, Ty::S32)));
    all.push(three("mad.hi.sat", Ty::S32, |a, b, c| {
        clamp(((a * b) >> 32) + c, Ty::S32)
    }));
    all.extend(relu());
    all.extend(products_of_24_bits());
    all.extend(packed());
    all
}

/// 9.7.1.8 leaves a division by zero open ("unspecified, machine-specific"). Of the least
/// number by -1 the quotient is cut like every other result, and the remainder is 0.
fn divisions(ty: Ty) -> [Form; 2] {
    let form = |op: &str, f: fn(i128, i128) -> i128| {
        let name = format!("{op}.{}", ty.name());
        Form::new(name, &[ty, ty], ty, pairs(ty, ty), move |a| {
            match number(a[1], ty) {
                0 => Expect::Open,
                b => Expect::Is(wrap(f(number(a[0], ty), b), ty)),
            }
        })
    };
    [form("div", |a, b| a / b), form("rem", |a, b| a % b)]
}

fn widening(ty: Ty) -> [Form; 2] {
    let to = wide(ty);
    let name = format!("mul.wide.{}", ty.name());
    let mul = Form::new(name, &[ty, ty], to, pairs(ty, ty), move |a| {
        wrap(number(a[0], ty) * number(a[1], ty), to)
    });
    let name = format!("mad.wide.{}", ty.name());
    let mad = Form::new(name, &[ty, ty, to], to, triples(ty, ty, to), move |a| {
        wrap(number(a[0], ty) * number(a[1], ty) + number(a[2], to), to)
    });
    [mul, mad]
}

/// `.relu` clamps a result below zero to zero (PTX ISA 9.7.1.12 and 9.7.1.13).
fn relu() -> [Form; 2] {
    [
        two("min.relu", Ty::S32, |a, b| a.min(b).max(0)).needs(80, 90),
        two("max.relu", Ty::S32, |a, b| a.max(b).max(0)).needs(80, 90),
    ]
}

/// `mul24` and `mad24`: operands of 24 bits, a product of 48.
fn products_of_24_bits() -> Vec<Form> {
    fn cut(v: i128, signed: bool) -> i128 {
        let low = v & 0xff_ffff;
        if signed && low & 0x80_0000 != 0 {
            low - 0x100_0000
        } else {
            low
        }
    }
    let mut all = Vec::new();
    for ty in [Ty::U32, Ty::S32] {
        let product = move |a, b| cut(a, ty.signed()) * cut(b, ty.signed());
        all.push(two("mul24.lo", ty, product));
        all.push(two("mul24.hi", ty, move |a, b| product(a, b) >> 16));
        all.push(three("mad24.lo", ty, move |a, b, c| product(a, b) + c));
        // Bits 16 to 47 of the product, then the sum.
        all.push(three("mad24.hi", ty, move |a, b, c| {
            (product(a, b) >> 16) + c
        }));
    }
    all.push(three("mad24.hi.sat", Ty::S32, |a, b, c| {
        let product = (cut(a, true) * cut(b, true)) >> 16;
        clamp(product + c, Ty::S32)
    }));
    all
}

/// Two 16-bit numbers in one register (PTX ISA 8.0, `sm_90`).
fn packed() -> Vec<Form> {
    let mut all = Vec::new();
    for (ty, suffix) in [(Ty::U16, "u16x2"), (Ty::S16, "s16x2")] {
        let form = |op: &str, f: fn(i128, i128) -> i128| {
            let name = format!("{op}.{suffix}");
            let types = [Ty::B32, Ty::B32];
            let form = Form::new(name, &types, Ty::B32, pairs(Ty::U32, Ty::U32), move |a| {
                let half = |shift: u32| {
                    let [a, b] = [a[0], a[1]].map(|v| number(v >> shift, ty));
                    wrap(f(a, b), ty) << shift
                };
                half(0) | half(16)
            });
            form.needs(80, 90)
        };
        all.push(form("add", |a, b| a + b));
        all.push(form("min", i128::min));
        all.push(form("max", i128::max));
        if ty == Ty::S16 {
            all.push(form("min.relu", |a, b| a.min(b).max(0)));
            all.push(form("max.relu", |a, b| a.max(b).max(0)));
        }
    }
    all
}

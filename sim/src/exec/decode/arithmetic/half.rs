//! Half precision and bfloat16, single and packed. Everything is computed in
//! double precision and rounded once, one closure for all operations: these are
//! rare, and clarity beats speed.

use crate::exec::decode::mods::Mods;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::map3x;
use crate::exec::num::float::{ftz16, max64, min64, sat64};
use crate::exec::num::soft::{self, BF16, F16, Round};
use crate::ptx::{Instr, ScalarType};

/// Operations by name, with the number of their operands.
const OPS: &[(&str, usize)] = &[
    ("add", 2),
    ("sub", 2),
    ("mul", 2),
    ("fma", 3),
    ("min", 2),
    ("max", 2),
    ("ex2", 1),
    ("tanh", 1),
];

const BFLOAT: u64 = 1 << 4;
const PACKED: u64 = 1 << 5;
const SAT: u64 = 1 << 6;
const RELU: u64 = 1 << 7;
const NAN: u64 = 1 << 8;
const FTZ: u64 = 1 << 9;
const XORSIGN: u64 = 1 << 10;

pub(in crate::exec::decode) fn is_half(mods: &Mods<'_>) -> bool {
    matches!(
        mods.types[..],
        [ScalarType::F16 | ScalarType::F16x2 | ScalarType::BF16 | ScalarType::BF16x2]
    )
}

/// Bits as a value.
pub(in crate::exec::decode) fn value(bits: u16, bfloat: bool) -> f64 {
    if bfloat {
        f64::from(f32::from_bits(u32::from(bits) << 16))
    } else {
        f64::from(soft::from_f16_bits(bits))
    }
}

/// Bits of a value that the format represents.
pub(in crate::exec::decode) fn bits(v: f64, bfloat: bool) -> u16 {
    if v.is_nan() {
        0x7fff
    } else if bfloat {
        soft::to_bf16_bits(v)
    } else {
        soft::to_f16_bits(v)
    }
}

/// `a + b` of atomics, which never flush.
pub(in crate::exec::decode) fn sum(a: u16, b: u16, bfloat: bool) -> u16 {
    one(a, b, 0, if bfloat { BFLOAT } else { 0 })
}

/// The lesser value, for atomics.
pub(in crate::exec::decode) fn min(a: u16, b: u16, bfloat: bool) -> u16 {
    one(a, b, 0, 4 | if bfloat { BFLOAT } else { 0 })
}

/// The greater value, for atomics.
pub(in crate::exec::decode) fn max(a: u16, b: u16, bfloat: bool) -> u16 {
    one(a, b, 0, 5 | if bfloat { BFLOAT } else { 0 })
}

fn one(a: u16, b: u16, c: u16, x: u64) -> u16 {
    let bfloat = x & BFLOAT != 0;
    let flushed = |bits: u16| {
        if x & FTZ != 0 && !bfloat {
            ftz16(bits)
        } else {
            bits
        }
    };
    let load = |bits: u16| value(flushed(bits), bfloat);
    let (mut a, mut b, c) = (load(a), load(b), load(c));
    let negative = a.is_sign_negative() != b.is_sign_negative();
    if x & XORSIGN != 0 {
        (a, b) = (a.abs(), b.abs());
    }
    let format = if bfloat { BF16 } else { F16 };
    let near = Round::Nearest;
    let mut r = match x & 15 {
        0 => soft::add(a, b, format, near),
        1 => soft::add(a, -b, format, near),
        2 => soft::mul(a, b, format, near),
        3 => soft::fma(a, b, c, format, near),
        4 => min64(a, b),
        5 => max64(a, b),
        6 => soft::convert(a.exp2(), format, near),
        _ => soft::convert(a.tanh(), format, near),
    };
    if x & NAN != 0 && (a.is_nan() || b.is_nan()) {
        r = f64::NAN;
    }
    if x & XORSIGN != 0 && negative {
        r = -r;
    }
    if x & SAT != 0 {
        r = sat64(r);
    }
    if x & RELU != 0 && r <= 0.0 {
        r = 0.0;
    }
    flushed(bits(r, bfloat))
}

pub(super) fn arith<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>) -> Result<(), Bad> {
    let ty = mods.ty()?;
    let Some(op) = OPS.iter().position(|(name, _)| *name == ins.op.base) else {
        return Err(Bad::new("this type is not supported"));
    };
    if mods.has("rz") || mods.has("rm") || mods.has("rp") {
        return Err(Bad::new("half precision rounds to nearest only"));
    }
    if mods.has("xorsign") != mods.has("abs") {
        return Err(Bad::new(".xorsign and .abs go together"));
    }
    let (d, srcs) = match &ins.args[..] {
        [d, srcs @ ..] if srcs.len() == OPS[op].1 => (d, srcs),
        _ => return Err(Bad::new(format!("{} operands are expected", OPS[op].1 + 1))),
    };
    let flag = |token: &str, bit: u64| if mods.has(token) { bit } else { 0 };
    let mut x = op as u64 | flag("sat", SAT) | flag("relu", RELU) | flag("NaN", NAN);
    x |= flag("ftz", FTZ) | flag("xorsign", XORSIGN);
    if matches!(ty, ScalarType::BF16 | ScalarType::BF16x2) {
        x |= BFLOAT;
    }
    if ty.size() == 4 {
        x |= PACKED;
    }
    let twin = map3x(|a: u32, b: u32, c: u32, x: u64| {
        let low = u32::from(one(a as u16, b as u16, c as u16, x));
        if x & PACKED == 0 {
            return low;
        }
        let high = one((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16, x);
        low | u32::from(high) << 16
    });
    // Operations with fewer operands read the first one again.
    let mut typed = [(&srcs[0], ty); 3];
    for (slot, arg) in typed.iter_mut().zip(srcs) {
        *slot = (arg, ty);
    }
    cx.apply(twin, d, ty, &typed, x)
}

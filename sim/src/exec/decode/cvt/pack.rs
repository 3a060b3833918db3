//! Conversions of several values to one register.

use crate::exec::decode::mods::Mods;
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::{map2x, map3x};
use crate::exec::num::soft::{self, BF16, F16, Round};
use crate::ptx::{Instr, ScalarType};

const BFLOAT: u64 = 1 << 2;
const RELU: u64 = 1 << 3;
const FINITE: u64 = 1 << 4;

/// `cvt.rn.f16x2.f32 d, a, b`: a goes to the upper half.
pub(super) fn halves<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
    dty: ScalarType,
    sty: ScalarType,
) -> Result<(), Bad> {
    let [d, a, b] = args(ins)?;
    if sty != ScalarType::F32 {
        return Err(Bad::new("these types are not supported"));
    }
    let round = mods.find(Round::from_token).unwrap_or(Round::Nearest);
    let flag = |on: bool, bit: u64| if on { bit } else { 0 };
    let x = round as u64
        | flag(dty == ScalarType::BF16x2, BFLOAT)
        | flag(mods.has("relu"), RELU)
        | flag(mods.has("satfinite"), FINITE);
    let twin = map2x(|a: f32, b: f32, x: u64| {
        let one = |v: f32| {
            let v = if x & RELU != 0 && v <= 0.0 {
                0.0
            } else {
                f64::from(v)
            };
            let bfloat = x & BFLOAT != 0;
            let format = if bfloat { BF16 } else { F16 };
            let v = soft::convert(v, format, Round::from_code(x));
            let v = if x & FINITE != 0 {
                crate::exec::decode::cvt::float::largest(v, u64::from(bfloat))
            } else {
                v
            };
            u32::from(crate::exec::decode::arithmetic::half::bits(v, bfloat))
        };
        one(a) << 16 | one(b)
    });
    cx.apply(twin, d, dty, &[(a, sty), (b, sty)], x)
}

/// `cvt.pack.sat`: two integers clamped and put side by side, and below the lower bits of
/// a third operand, if there is one.
pub(super) fn integers<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    // The types of 2 and 4 bits exist nowhere else.
    let (small, third) = match ins.op.mods[..] {
        ["pack", "sat", small, "s32", "b32"] => (small, true),
        ["pack", "sat", small, "s32"] => (small, false),
        _ => return Err(Bad::new("cvt.pack.sat.TYPE.s32 is expected")),
    };
    let (bits, signed) = match small {
        "u16" => (16, 0),
        "s16" => (16, 1),
        "u8" => (8, 0),
        "s8" => (8, 1),
        "u4" => (4, 0),
        "s4" => (4, 1),
        "u2" => (2, 0),
        "s2" => (2, 1),
        _ => return Err(Bad::new("this type is not supported")),
    };
    if third == (bits == 16) {
        return Err(Bad::new("16 bits need two operands, fewer bits three"));
    }
    let x = bits | signed << 8;
    let twin = map3x(|a: i32, b: i32, c: u32, x: u64| {
        let bits = (x & 0xff) as u32;
        let one = |v: i32| {
            let (low, high) = if x >> 8 != 0 {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            } else {
                (0, (1 << bits) - 1)
            };
            v.clamp(low, high).cast_unsigned() & ((1 << bits) - 1)
        };
        let rest = if bits < 16 { c << (2 * bits) } else { 0 };
        rest | one(a) << bits | one(b)
    });
    let s32 = ScalarType::S32;
    match &ins.args[..] {
        [d, a, b] if !third => {
            cx.apply(twin, d, ScalarType::B32, &[(a, s32), (b, s32), (a, s32)], x)
        }
        [d, a, b, c] if third => cx.apply(
            twin,
            d,
            ScalarType::B32,
            &[(a, s32), (b, s32), (c, ScalarType::B32)],
            x,
        ),
        _ => Err(Bad::new("the number of operands is wrong")),
    }
}

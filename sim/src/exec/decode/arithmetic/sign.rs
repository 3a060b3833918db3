//! Instructions on signs and classes of numbers: `abs`, `neg`, `copysign`, `testp`.

use crate::exec::decode::arithmetic::float::{count, emit};
use crate::exec::decode::mods::Mods;
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::{map1, map2};
use crate::exec::lanes::pred;
use crate::exec::num::float::{ftz, ftz16, ftz16x2};
use crate::ptx::{Instr, ScalarType};

/// `abs` of integers and floats.
pub(in crate::exec::decode) fn abs<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["ftz"])?;
    count(ins, 2)?;
    let twin = match mods.ty()? {
        ScalarType::S16 => map1(|a: i16| a.wrapping_abs()),
        ScalarType::S32 => map1(|a: i32| a.wrapping_abs()),
        ScalarType::S64 => map1(|a: i64| a.wrapping_abs()),
        ScalarType::F32 if mods.has("ftz") => map1(|a: f32| ftz(a).abs()),
        ScalarType::F32 => map1(|a: f32| a.abs()),
        ScalarType::F64 => map1(|a: f64| a.abs()),
        ScalarType::F16 if mods.has("ftz") => map1(|a: u16| ftz16(a) & 0x7fff),
        ScalarType::F16x2 if mods.has("ftz") => map1(|a: u32| ftz16x2(a) & 0x7fff_7fff),
        ScalarType::F16 | ScalarType::BF16 => map1(|a: u16| a & 0x7fff),
        ScalarType::F16x2 | ScalarType::BF16x2 => map1(|a: u32| a & 0x7fff_7fff),
        _ => return Err(Bad::new("this type is not supported")),
    };
    emit(cx, ins, &mods, twin, 0)
}

/// `neg` of integers and floats.
pub(in crate::exec::decode) fn neg<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["ftz"])?;
    count(ins, 2)?;
    let twin = match mods.ty()? {
        ScalarType::S16 => map1(|a: i16| a.wrapping_neg()),
        ScalarType::S32 => map1(|a: i32| a.wrapping_neg()),
        ScalarType::S64 => map1(|a: i64| a.wrapping_neg()),
        ScalarType::F32 if mods.has("ftz") => map1(|a: f32| -ftz(a)),
        ScalarType::F32 => map1(|a: f32| -a),
        ScalarType::F64 => map1(|a: f64| -a),
        ScalarType::F16 if mods.has("ftz") => map1(|a: u16| ftz16(a) ^ 0x8000),
        ScalarType::F16x2 if mods.has("ftz") => map1(|a: u32| ftz16x2(a) ^ 0x8000_8000),
        ScalarType::F16 | ScalarType::BF16 => map1(|a: u16| a ^ 0x8000),
        ScalarType::F16x2 | ScalarType::BF16x2 => map1(|a: u32| a ^ 0x8000_8000),
        _ => return Err(Bad::new("this type is not supported")),
    };
    emit(cx, ins, &mods, twin, 0)
}

/// The second operand with the sign of the first.
pub(in crate::exec::decode) fn copysign<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let mods = Mods::of(ins, &[])?;
    count(ins, 3)?;
    let twin = match mods.ty()? {
        ScalarType::F32 => map2(|a: f32, b: f32| b.copysign(a)),
        ScalarType::F64 => map2(|a: f64, b: f64| b.copysign(a)),
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    emit(cx, ins, &mods, twin, 0)
}

pub(in crate::exec::decode) fn testp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let tests = [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ];
    let mods = Mods::of(ins, &tests)?;
    let ty = mods.ty()?;
    let [d, a] = args(ins)?;
    macro_rules! on {
        ($t:ty) => {
            match mods.find(Some) {
                Some("finite") => pred::test(|a: $t| a.is_finite()),
                Some("infinite") => pred::test(|a: $t| a.is_infinite()),
                Some("number") => pred::test(|a: $t| !a.is_nan()),
                Some("notanumber") => pred::test(|a: $t| a.is_nan()),
                // PTX counts zeros as normal.
                Some("normal") => pred::test(|a: $t| a.is_normal() || a == 0.0),
                Some("subnormal") => pred::test(|a: $t| a.is_subnormal()),
                _ => return Err(Bad::new("a property is expected")),
            }
        };
    }
    let twin = match ty {
        ScalarType::F32 => on!(f32),
        ScalarType::F64 => on!(f64),
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    let ra = cx.src(a, ty)?;
    let dst = cx.dst(d, ScalarType::Pred)?;
    cx.raw(twin, dst.reg, &[ra], 0);
    Ok(())
}

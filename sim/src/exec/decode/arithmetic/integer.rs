//! Integer arithmetic, and the opcodes that are shared with floating point
//! (those branch off to [`float`] and [`half`]).

use crate::exec::decode::arithmetic::{carry, float, half};
use crate::exec::decode::mods::{Mods, unsigned};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::Class;
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::{map2, map3};
use crate::ptx::{Instr, Operand, ScalarType};

/// One closure for the six integer types.
macro_rules! on_int {
    ($ty:expr, $map:ident, |$($v:ident),+| $e:expr) => {
        match unsigned($ty) {
            ScalarType::U16 => $map(|$($v: u16),+| $e),
            ScalarType::S16 => $map(|$($v: i16),+| $e),
            ScalarType::U32 => $map(|$($v: u32),+| $e),
            ScalarType::S32 => $map(|$($v: i32),+| $e),
            ScalarType::U64 => $map(|$($v: u64),+| $e),
            ScalarType::S64 => $map(|$($v: i64),+| $e),
            _ => return Err(Bad::new("an integer type is expected")),
        }
    };
}
pub(in crate::exec::decode) use on_int;

/// One closure for both halves of a packed pair of 16-bit integers.
macro_rules! on_pair {
    ($ty:expr, |$a:ident, $b:ident| $e:expr) => {
        match $ty {
            ScalarType::U16x2 => map2(|x: u32, y: u32| {
                let f = |$a: u16, $b: u16| -> u16 { $e };
                u32::from(f(x as u16, y as u16))
                    | u32::from(f((x >> 16) as u16, (y >> 16) as u16)) << 16
            }),
            _ => map2(|x: u32, y: u32| {
                let f = |$a: i16, $b: i16| -> u16 { ($e).cast_unsigned() };
                u32::from(f(x as i16, y as i16))
                    | u32::from(f((x >> 16) as i16, (y >> 16) as i16)) << 16
            }),
        }
    };
}
pub(in crate::exec::decode) use on_pair;

pub(super) const FLOAT_MODS: &[&str] = &["rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full"];

fn binary<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, twin: Twin, ty: ScalarType) -> Result<(), Bad> {
    let [d, a, b] = args(ins)?;
    cx.apply(twin, d, ty, &[(a, ty), (b, ty)], 0)
}

pub(in crate::exec::decode) fn add<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["cc", "sat", "rn", "rz", "rm", "rp", "ftz"])?;
    match mods.types[..] {
        [ScalarType::F32 | ScalarType::F64 | ScalarType::F32x2] => {
            return float::add(cx, ins, &mods, false);
        }
        [ScalarType::F32, narrow] => return float::mixed(cx, ins, &mods, narrow),
        _ if half::is_half(&mods) => return half::arith(cx, ins, &mods),
        _ => {}
    }
    let ty = mods.ty()?;
    if mods.has("cc") {
        return carry::carry(cx, ins);
    }
    let pair = matches!(ty, ScalarType::U16x2 | ScalarType::S16x2);
    let twin = match (pair, mods.has("sat")) {
        (true, true) => on_pair!(ty, |a, b| a.saturating_add(b)),
        (true, false) => on_pair!(ty, |a, b| a.wrapping_add(b)),
        (false, true) => on_int!(ty, map2, |a, b| a.saturating_add(b)),
        (false, false) => on_int!(ty, map2, |a, b| a.wrapping_add(b)),
    };
    binary(cx, ins, twin, ty)
}

pub(in crate::exec::decode) fn sub<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["cc", "sat", "rn", "rz", "rm", "rp", "ftz"])?;
    match mods.types[..] {
        [ScalarType::F32 | ScalarType::F64 | ScalarType::F32x2] => {
            return float::add(cx, ins, &mods, true);
        }
        [ScalarType::F32, narrow] => return float::mixed(cx, ins, &mods, narrow),
        _ if half::is_half(&mods) => return half::arith(cx, ins, &mods),
        _ => {}
    }
    let ty = mods.ty()?;
    if mods.has("cc") {
        return carry::carry(cx, ins);
    }
    let twin = if mods.has("sat") {
        on_int!(ty, map2, |a, b| a.saturating_sub(b))
    } else {
        on_int!(ty, map2, |a, b| a.wrapping_sub(b))
    };
    binary(cx, ins, twin, ty)
}

/// The type of a `.wide` product.
fn wide(ty: ScalarType) -> Result<ScalarType, Bad> {
    Ok(match ty {
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U32 => ScalarType::U64,
        ScalarType::S32 => ScalarType::S64,
        _ => return Err(Bad::new(".wide takes 16- and 32-bit integers")),
    })
}

macro_rules! high {
    ($ty:expr) => {
        match unsigned($ty) {
            ScalarType::U16 => map2(|a: u16, b: u16| ((u32::from(a) * u32::from(b)) >> 16) as u16),
            ScalarType::S16 => map2(|a: i16, b: i16| ((i32::from(a) * i32::from(b)) >> 16) as i16),
            ScalarType::U32 => map2(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32),
            ScalarType::S32 => map2(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32),
            ScalarType::U64 => {
                map2(|a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64)
            }
            ScalarType::S64 => {
                map2(|a: i64, b: i64| ((i128::from(a) * i128::from(b)) >> 64) as i64)
            }
            _ => return Err(Bad::new("an integer type is expected")),
        }
    };
}

pub(in crate::exec::decode) fn mul<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(
        ins,
        &["lo", "hi", "wide", "rn", "rz", "rm", "rp", "ftz", "sat"],
    )?;
    match mods.types[..] {
        [ScalarType::F32 | ScalarType::F64 | ScalarType::F32x2] => {
            return float::mul(cx, ins, &mods);
        }
        _ if half::is_half(&mods) => return half::arith(cx, ins, &mods),
        _ => {}
    }
    let ty = mods.ty()?;
    if mods.has("wide") {
        let twin = match ty {
            ScalarType::U16 => map2(|a: u16, b: u16| u32::from(a) * u32::from(b)),
            ScalarType::S16 => map2(|a: i16, b: i16| i32::from(a) * i32::from(b)),
            ScalarType::U32 => map2(|a: u32, b: u32| u64::from(a) * u64::from(b)),
            _ => map2(|a: i32, b: i32| i64::from(a) * i64::from(b)),
        };
        let [d, a, b] = args(ins)?;
        return cx.apply(twin, d, wide(ty)?, &[(a, ty), (b, ty)], 0);
    }
    let twin = if mods.has("hi") {
        high!(ty)
    } else if mods.has("lo") {
        on_int!(ty, map2, |a, b| a.wrapping_mul(b))
    } else {
        return Err(Bad::new(".lo, .hi or .wide is expected"));
    };
    binary(cx, ins, twin, ty)
}

pub(in crate::exec::decode) fn mad<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let allowed = [
        "lo", "hi", "wide", "cc", "rn", "rz", "rm", "rp", "ftz", "sat",
    ];
    let mods = Mods::of(ins, &allowed)?;
    if let [ScalarType::F32 | ScalarType::F64] = mods.types[..] {
        // The same as `fma` since sm_20.
        return float::fma(cx, ins);
    }
    let ty = mods.ty()?;
    if mods.has("cc") {
        return carry::carry(cx, ins);
    }
    let [d, a, b, c] = args(ins)?;
    if mods.has("wide") {
        let twin = match ty {
            ScalarType::U16 => {
                map3(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
            }
            ScalarType::S16 => {
                map3(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
            }
            ScalarType::U32 => {
                map3(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
            }
            _ => map3(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c)),
        };
        let wide = wide(ty)?;
        return cx.apply(twin, d, wide, &[(a, ty), (b, ty), (c, wide)], 0);
    }
    if mods.has("lo") {
        let twin = on_int!(ty, map3, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
        return cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ty)], 0);
    }
    if !mods.has("hi") {
        return Err(Bad::new(".lo, .hi or .wide is expected"));
    }
    // .hi is rare: the product, then the sum.
    let (ra, rb, rc) = (cx.src(a, ty)?, cx.src(b, ty)?, cx.src(c, ty)?);
    let product = cx.temp(Class::of(ty))?;
    cx.raw(high!(ty), product, &[ra, rb], 0);
    let sum = if mods.has("sat") {
        on_int!(ty, map2, |a, b| a.saturating_add(b))
    } else {
        on_int!(ty, map2, |a, b| a.wrapping_add(b))
    };
    let dst = cx.dst(d, ty)?;
    cx.raw(sum, dst.reg, &[product, rc], 0);
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn mul24<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["lo", "hi", "sat"])?;
    let ty = mods.ty()?;
    let add = ins.op.base == "mad24";
    if mods.has("sat") {
        return mad24_sat(cx, ins, &mods);
    }
    let twin = match (ty, mods.has("hi")) {
        (ScalarType::U32, false) => {
            map3(|a: u32, b: u32, c: u32| (a << 8 >> 8).wrapping_mul(b << 8 >> 8).wrapping_add(c))
        }
        (ScalarType::S32, false) => {
            map3(|a: i32, b: i32, c: i32| (a << 8 >> 8).wrapping_mul(b << 8 >> 8).wrapping_add(c))
        }
        (ScalarType::U32, true) => map3(|a: u32, b: u32, c: u32| {
            (((u64::from(a << 8 >> 8) * u64::from(b << 8 >> 8)) >> 16) as u32).wrapping_add(c)
        }),
        (ScalarType::S32, true) => map3(|a: i32, b: i32, c: i32| {
            (((i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)) >> 16) as i32).wrapping_add(c)
        }),
        _ => return Err(Bad::new("a 32-bit integer type is expected")),
    };
    if add {
        let [d, a, b, c] = args(ins)?;
        return cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ty)], 0);
    }
    let [d, a, b] = args(ins)?;
    let zero = Operand::Int(0);
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (&zero, ty)], 0)
}

/// `mad24.hi.sat.s32`, the only saturating form.
fn mad24_sat<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>) -> Result<(), Bad> {
    let ty = mods.ty()?;
    if ty != ScalarType::S32 || !mods.has("hi") || ins.op.base != "mad24" {
        return Err(Bad::new(".sat needs mad24.hi and .s32"));
    }
    let [d, a, b, c] = args(ins)?;
    let twin = map3(|a: i32, b: i32, c: i32| {
        (((i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)) >> 16) as i32).saturating_add(c)
    });
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ty)], 0)
}

pub(in crate::exec::decode) fn sad<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a, b, c] = args(ins)?;
    let twin = on_int!(ty, map3, |a, b, c| {
        let difference = if a < b {
            b.wrapping_sub(a)
        } else {
            a.wrapping_sub(b)
        };
        c.wrapping_add(difference)
    });
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ty)], 0)
}

/// Division by zero gives all ones, as GPUs do; the remainder is the dividend.
pub(in crate::exec::decode) fn div<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, FLOAT_MODS)?;
    let ty = mods.ty()?;
    if matches!(ty, ScalarType::F32 | ScalarType::F64) {
        return float::div(cx, ins, &mods);
    }
    let twin = on_int!(ty, map2, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) });
    binary(cx, ins, twin, ty)
}

pub(in crate::exec::decode) fn rem<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let twin = on_int!(ty, map2, |a, b| if b == 0 { a } else { a.wrapping_rem(b) });
    binary(cx, ins, twin, ty)
}

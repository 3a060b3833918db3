//! Single and double precision.
//!
//! Round-to-nearest without `.ftz` and with it is native code; the other modes
//! go through [`soft`]. `.sat` is a second operation on the result. The
//! approximate functions are computed in double precision and rounded, which is
//! within every documented error bound and bit-equal to no GPU.

use super::arith::{FLOAT_MODS, args};
use super::mods::Mods;
use super::{Bad, Cx, half};
use crate::exec::lanes::map::{map1, map1x, map2, map2x, map3, map3x};
use crate::exec::lanes::{Twin, pred};
use crate::exec::num::float::{ftz, max32, max64, min32, min64, nan32, sat32, sat64};
use crate::exec::num::soft::{self, F32, F64, Round};
use crate::ptx::{Instr, ScalarType};

/// Rounding code of the modifiers, with bit 2 for `.ftz`.
fn mode(mods: &Mods<'_>) -> u64 {
    let round = mods.find(Round::from_token).map_or(0, |r| r as u64);
    round | u64::from(mods.has("ftz")) << 2
}

/// Flushes if bit 2 of a mode says so.
#[inline(always)]
fn flush(v: f32, x: u64) -> f32 {
    if x & 4 != 0 { ftz(v) } else { v }
}

/// `op` on operands of one type, then `.sat`.
fn emit<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
    twin: Twin,
    x: u64,
) -> Result<(), Bad> {
    let ty = mods.ty()?;
    let [d, srcs @ ..] = &ins.args[..] else {
        return Err(Bad::new("operands are missing"));
    };
    let typed: Vec<_> = srcs.iter().map(|s| (s, ty)).collect();
    cx.apply(twin, d, ty, &typed, x)?;
    if mods.has("sat") {
        let twin = if ty == ScalarType::F32 {
            map1(sat32)
        } else {
            map1(sat64)
        };
        cx.apply(twin, d, ty, &[(d, ty)], 0)?;
    }
    Ok(())
}

fn count(ins: &Instr<'_>, n: usize) -> Result<(), Bad> {
    if ins.args.len() == n {
        return Ok(());
    }
    Err(Bad::new(format!("{n} operands are expected")))
}

pub(super) fn add<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
    subtract: bool,
) -> Result<(), Bad> {
    count(ins, 3)?;
    let x = mode(mods);
    let twin = match (mods.ty()?, x, subtract) {
        (ScalarType::F32, 0, false) => map2(|a: f32, b: f32| nan32(a + b)),
        (ScalarType::F32, 0, true) => map2(|a: f32, b: f32| nan32(a - b)),
        (ScalarType::F32, 4, false) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) + ftz(b)))),
        (ScalarType::F32, 4, true) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) - ftz(b)))),
        (ScalarType::F32, ..) => {
            let twin = if subtract {
                map2x(|a: f32, b: f32, x: u64| add32(flush(a, x), -flush(b, x), x))
            } else {
                map2x(|a: f32, b: f32, x: u64| add32(flush(a, x), flush(b, x), x))
            };
            return emit(cx, ins, mods, twin, x);
        }
        (_, 0, false) => map2(|a: f64, b: f64| a + b),
        (_, 0, true) => map2(|a: f64, b: f64| a - b),
        (_, _, false) => map2x(|a: f64, b: f64, x: u64| soft::add(a, b, F64, Round::from_code(x))),
        (_, _, true) => map2x(|a: f64, b: f64, x: u64| soft::add(a, -b, F64, Round::from_code(x))),
    };
    emit(cx, ins, mods, twin, x)
}

fn add32(a: f32, b: f32, x: u64) -> f32 {
    let sum = soft::add(f64::from(a), f64::from(b), F32, Round::from_code(x));
    flush(nan32(sum as f32), x)
}

pub(super) fn mul<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>) -> Result<(), Bad> {
    count(ins, 3)?;
    let x = mode(mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map2(|a: f32, b: f32| nan32(a * b)),
        (ScalarType::F32, 4) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) * ftz(b)))),
        (ScalarType::F32, _) => map2x(|a: f32, b: f32, x: u64| {
            let (a, b) = (f64::from(flush(a, x)), f64::from(flush(b, x)));
            flush(nan32(soft::mul(a, b, F32, Round::from_code(x)) as f32), x)
        }),
        (_, 0) => map2(|a: f64, b: f64| a * b),
        (_, _) => map2x(|a: f64, b: f64, x: u64| soft::mul(a, b, F64, Round::from_code(x))),
    };
    emit(cx, ins, mods, twin, x)
}

/// `fma`, and `mad` on floats, which is the same since sm_20.
pub(super) fn fma<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["rn", "rz", "rm", "rp", "ftz", "sat", "relu"])?;
    if half::is_half(&mods) {
        return half::arith(cx, ins, &mods);
    }
    count(ins, 4)?;
    let x = mode(&mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map3(|a: f32, b: f32, c: f32| nan32(a.mul_add(b, c))),
        (ScalarType::F32, 4) => {
            map3(|a: f32, b: f32, c: f32| ftz(nan32(ftz(a).mul_add(ftz(b), ftz(c)))))
        }
        (ScalarType::F32, _) => map3x(|a: f32, b: f32, c: f32, x: u64| {
            let wide = |v: f32| f64::from(flush(v, x));
            flush(
                nan32(soft::fma(wide(a), wide(b), wide(c), F32, Round::from_code(x)) as f32),
                x,
            )
        }),
        (ScalarType::F64, 0) => map3(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        (ScalarType::F64, _) => {
            map3x(|a: f64, b: f64, c: f64, x: u64| soft::fma(a, b, c, F64, Round::from_code(x)))
        }
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    emit(cx, ins, &mods, twin, x)
}

pub(super) fn div<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>) -> Result<(), Bad> {
    count(ins, 3)?;
    let x = mode(mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map2(|a: f32, b: f32| nan32(a / b)),
        (ScalarType::F32, 4) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) / ftz(b)))),
        (ScalarType::F32, _) => map2x(|a: f32, b: f32, x: u64| {
            let (a, b) = (f64::from(flush(a, x)), f64::from(flush(b, x)));
            flush(nan32(soft::div(a, b, F32, Round::from_code(x)) as f32), x)
        }),
        (_, 0) => map2(|a: f64, b: f64| a / b),
        (_, _) => map2x(|a: f64, b: f64, x: u64| soft::div(a, b, F64, Round::from_code(x))),
    };
    emit(cx, ins, mods, twin, x)
}

pub(super) fn rcp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, FLOAT_MODS)?;
    count(ins, 2)?;
    let x = mode(&mods);
    let twin = match (mods.ty()?, x) {
        // The approximation has only the upper half of the result's bits.
        (ScalarType::F64, _) if mods.has("approx") => map1(|a: f64| high_half(1.0 / high_half(a))),
        (ScalarType::F32, 0) => map1(|a: f32| nan32(1.0 / a)),
        (ScalarType::F32, _) => map1x(|a: f32, x: u64| {
            let a = f64::from(flush(a, x));
            flush(nan32(soft::div(1.0, a, F32, Round::from_code(x)) as f32), x)
        }),
        (ScalarType::F64, 0) => map1(|a: f64| 1.0 / a),
        (ScalarType::F64, _) => map1x(|a: f64, x: u64| soft::div(1.0, a, F64, Round::from_code(x))),
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    emit(cx, ins, &mods, twin, x)
}

/// The low 32 bits cleared, and subnormals flushed, as `.approx.ftz.f64` does.
fn high_half(v: f64) -> f64 {
    let bits = v.to_bits() & 0xffff_ffff_0000_0000;
    let flushed = if bits & 0x7ff0_0000_0000_0000 == 0 {
        bits & 1 << 63
    } else {
        bits
    };
    f64::from_bits(flushed)
}

pub(super) fn sqrt<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, FLOAT_MODS)?;
    count(ins, 2)?;
    let x = mode(&mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map1(|a: f32| nan32(a.sqrt())),
        (ScalarType::F32, _) => map1x(|a: f32, x: u64| {
            let a = f64::from(flush(a, x));
            flush(nan32(soft::sqrt(a, F32, Round::from_code(x)) as f32), x)
        }),
        (ScalarType::F64, 0) => map1(|a: f64| a.sqrt()),
        (ScalarType::F64, _) => map1x(|a: f64, x: u64| soft::sqrt(a, F64, Round::from_code(x))),
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    emit(cx, ins, &mods, twin, x)
}

/// `sin`, `cos`, `lg2`, `ex2`, `rsqrt` and `tanh`.
pub(super) fn approx<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["approx", "ftz"])?;
    if half::is_half(&mods) {
        return half::arith(cx, ins, &mods);
    }
    count(ins, 2)?;
    macro_rules! f {
        (|$a:ident| $e:expr) => {
            map1x(|a: f32, x: u64| {
                let $a = f64::from(flush(a, x));
                flush(nan32($e as f32), x)
            })
        };
    }
    let twin = match (ins.op.base, mods.ty()?) {
        ("sin", ScalarType::F32) => f!(|a| a.sin()),
        ("cos", ScalarType::F32) => f!(|a| a.cos()),
        ("lg2", ScalarType::F32) => f!(|a| a.log2()),
        ("ex2", ScalarType::F32) => f!(|a| a.exp2()),
        ("rsqrt", ScalarType::F32) => f!(|a| 1.0 / a.sqrt()),
        ("tanh", ScalarType::F32) => f!(|a| a.tanh()),
        ("rsqrt", ScalarType::F64) if mods.has("ftz") => {
            map1(|a: f64| high_half(1.0 / high_half(a).sqrt()))
        }
        ("rsqrt", ScalarType::F64) => map1(|a: f64| 1.0 / a.sqrt()),
        _ => return Err(Bad::new("this type is not supported")),
    };
    emit(cx, ins, &mods, twin, mode(&mods))
}

pub(super) fn min_max<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
    max: bool,
) -> Result<(), Bad> {
    if ins.args.len() == 4 {
        return Err(Bad::new("the form with three sources is not supported"));
    }
    count(ins, 3)?;
    // Bit 3: a NaN operand makes the result NaN.
    let x = mode(mods) | u64::from(mods.has("NaN")) << 3;
    macro_rules! single {
        ($f:ident) => {
            map2x(|a: f32, b: f32, x: u64| {
                if x & 8 != 0 && (a.is_nan() || b.is_nan()) {
                    return f32::from_bits(0x7fff_ffff);
                }
                $f(flush(a, x), flush(b, x))
            })
        };
    }
    let twin = match (mods.ty()?, x, max) {
        (ScalarType::F32, 0, false) => map2(min32),
        (ScalarType::F32, 0, true) => map2(max32),
        (ScalarType::F32, _, false) => single!(min32),
        (ScalarType::F32, _, true) => single!(max32),
        (_, _, false) => map2(min64),
        (_, _, true) => map2(max64),
    };
    emit(cx, ins, mods, twin, x)
}

/// `abs` of integers and floats.
pub(super) fn abs<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["ftz"])?;
    count(ins, 2)?;
    let twin = match mods.ty()? {
        ScalarType::S16 => map1(|a: i16| a.wrapping_abs()),
        ScalarType::S32 => map1(|a: i32| a.wrapping_abs()),
        ScalarType::S64 => map1(|a: i64| a.wrapping_abs()),
        ScalarType::F32 if mods.has("ftz") => map1(|a: f32| ftz(a).abs()),
        ScalarType::F32 => map1(|a: f32| a.abs()),
        ScalarType::F64 => map1(|a: f64| a.abs()),
        ScalarType::F16 | ScalarType::BF16 => map1(|a: u16| a & 0x7fff),
        ScalarType::F16x2 | ScalarType::BF16x2 => map1(|a: u32| a & 0x7fff_7fff),
        _ => return Err(Bad::new("this type is not supported")),
    };
    emit(cx, ins, &mods, twin, 0)
}

/// `neg` of integers and floats.
pub(super) fn neg<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["ftz"])?;
    count(ins, 2)?;
    let twin = match mods.ty()? {
        ScalarType::S16 => map1(|a: i16| a.wrapping_neg()),
        ScalarType::S32 => map1(|a: i32| a.wrapping_neg()),
        ScalarType::S64 => map1(|a: i64| a.wrapping_neg()),
        ScalarType::F32 if mods.has("ftz") => map1(|a: f32| -ftz(a)),
        ScalarType::F32 => map1(|a: f32| -a),
        ScalarType::F64 => map1(|a: f64| -a),
        ScalarType::F16 | ScalarType::BF16 => map1(|a: u16| a ^ 0x8000),
        ScalarType::F16x2 | ScalarType::BF16x2 => map1(|a: u32| a ^ 0x8000_8000),
        _ => return Err(Bad::new("this type is not supported")),
    };
    emit(cx, ins, &mods, twin, 0)
}

/// The second operand with the sign of the first.
pub(super) fn copysign<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &[])?;
    count(ins, 3)?;
    let twin = match mods.ty()? {
        ScalarType::F32 => map2(|a: f32, b: f32| b.copysign(a)),
        ScalarType::F64 => map2(|a: f64, b: f64| b.copysign(a)),
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    emit(cx, ins, &mods, twin, 0)
}

pub(super) fn testp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
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
                Some("normal") => pred::test(|a: $t| a.is_normal()),
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

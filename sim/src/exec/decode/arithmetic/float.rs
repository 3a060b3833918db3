//! Single and double precision.
//!
//! Round-to-nearest without `.ftz` and with it is native code; the other modes
//! go through [`soft`]. `.sat` is a second operation on the result. The
//! approximate functions are computed in double precision and rounded, which is
//! within every documented error bound and bit-equal to no GPU.

use crate::exec::decode::arithmetic::half;
use crate::exec::decode::arithmetic::integer::FLOAT_MODS;
use crate::exec::decode::mods::Mods;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::Class;
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::{map1, map1x, map2, map2x, map3, map3x};
use crate::exec::num::float::{flush, ftz, nan32, sat32, sat64};
use crate::exec::num::soft::{self, F32, F64, Round};
use crate::ptx::{Instr, ScalarType};

/// Rounding code of the modifiers, with bit 2 for `.ftz`.
pub(in crate::exec::decode) fn mode(mods: &Mods<'_>) -> u64 {
    let round = mods.find(Round::from_token).map_or(0, |r| r as u64);
    round | u64::from(mods.has("ftz")) << 2
}

/// `op` on operands of one type, then `.sat`.
pub(in crate::exec::decode) fn emit<'a>(
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
        let twin = match ty {
            ScalarType::F32 => map1(sat32),
            ScalarType::F64 => map1(sat64),
            _ => return Err(Bad::new("modifier .sat is not supported here")),
        };
        cx.apply(twin, d, ty, &[(d, ty)], 0)?;
    }
    Ok(())
}

pub(in crate::exec::decode) fn count(ins: &Instr<'_>, n: usize) -> Result<(), Bad> {
    if ins.args.len() == n {
        return Ok(());
    }
    Err(Bad::new(format!("{n} operands are expected")))
}

pub(in crate::exec::decode) fn add<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
    subtract: bool,
) -> Result<(), Bad> {
    count(ins, 3)?;
    let x = mode(mods);
    let twin = match (mods.ty()?, x, subtract) {
        (ScalarType::F32x2, _, false) => map2x(|a: u64, b: u64, x: u64| pair2(a, b, x, add32)),
        (ScalarType::F32x2, _, true) => {
            map2x(|a: u64, b: u64, x: u64| pair2(a, b, x, |a, b, x| add32(a, -b, x)))
        }
        (ScalarType::F32, 0, false) => map2(|a: f32, b: f32| nan32(a + b)),
        (ScalarType::F32, 0, true) => map2(|a: f32, b: f32| nan32(a - b)),
        (ScalarType::F32, 4, false) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) + ftz(b)))),
        (ScalarType::F32, 4, true) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) - ftz(b)))),
        (ScalarType::F32, ..) => {
            let twin = if subtract {
                map2x(|a: f32, b: f32, x: u64| add32(a, -b, x))
            } else {
                map2x(add32)
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
    let (a, b) = (f64::from(flush(a, x)), f64::from(flush(b, x)));
    flush(nan32(soft::add(a, b, F32, Round::from_code(x)) as f32), x)
}

fn mul32(a: f32, b: f32, x: u64) -> f32 {
    let (a, b) = (f64::from(flush(a, x)), f64::from(flush(b, x)));
    flush(nan32(soft::mul(a, b, F32, Round::from_code(x)) as f32), x)
}

fn fma32(a: f32, b: f32, c: f32, x: u64) -> f32 {
    let wide = |v: f32| f64::from(flush(v, x));
    let r = soft::fma(wide(a), wide(b), wide(c), F32, Round::from_code(x));
    flush(nan32(r as f32), x)
}

/// An operation on both halves of packed singles.
#[inline(always)]
fn pair2(a: u64, b: u64, x: u64, f: impl Fn(f32, f32, u64) -> f32) -> u64 {
    pair3(a, b, 0, x, |a, b, _, x| f(a, b, x))
}

#[inline(always)]
fn pair3(a: u64, b: u64, c: u64, x: u64, f: impl Fn(f32, f32, f32, u64) -> f32) -> u64 {
    let half = |s: u32| {
        let part = |v: u64| f32::from_bits((v >> s) as u32);
        u64::from(f(part(a), part(b), part(c), x).to_bits()) << s
    };
    half(0) | half(32)
}

pub(in crate::exec::decode) fn mul<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
) -> Result<(), Bad> {
    count(ins, 3)?;
    let x = mode(mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map2(|a: f32, b: f32| nan32(a * b)),
        (ScalarType::F32, 4) => map2(|a: f32, b: f32| ftz(nan32(ftz(a) * ftz(b)))),
        (ScalarType::F32, _) => map2x(mul32),
        (ScalarType::F32x2, _) => map2x(|a: u64, b: u64, x: u64| pair2(a, b, x, mul32)),
        (_, 0) => map2(|a: f64, b: f64| a * b),
        (_, _) => map2x(|a: f64, b: f64, x: u64| soft::mul(a, b, F64, Round::from_code(x))),
    };
    emit(cx, ins, mods, twin, x)
}

/// `fma`, and `mad` on floats, which is the same since sm_20.
pub(in crate::exec::decode) fn fma<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["rn", "rz", "rm", "rp", "ftz", "sat", "relu"])?;
    if half::is_half(&mods) {
        return half::arith(cx, ins, &mods);
    }
    if mods.has("relu") {
        return Err(Bad::new("modifier .relu is not supported here"));
    }
    if let [ScalarType::F32, narrow] = mods.types[..] {
        return mixed(cx, ins, &mods, narrow);
    }
    count(ins, 4)?;
    let x = mode(&mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map3(|a: f32, b: f32, c: f32| nan32(a.mul_add(b, c))),
        (ScalarType::F32, 4) => {
            map3(|a: f32, b: f32, c: f32| ftz(nan32(ftz(a).mul_add(ftz(b), ftz(c)))))
        }
        (ScalarType::F32, _) => map3x(fma32),
        (ScalarType::F32x2, _) => map3x(|a: u64, b: u64, c: u64, x: u64| pair3(a, b, c, x, fma32)),
        (ScalarType::F64, 0) => map3(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        (ScalarType::F64, _) => {
            map3x(|a: f64, b: f64, c: f64, x: u64| soft::fma(a, b, c, F64, Round::from_code(x)))
        }
        _ => return Err(Bad::new("a floating-point type is expected")),
    };
    emit(cx, ins, &mods, twin, x)
}

/// `add`, `sub` and `fma` of `.f32` whose first operands are half precision or bfloat16:
/// those are widened, which is exact.
pub(super) fn mixed<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
    narrow: ScalarType,
) -> Result<(), Bad> {
    let widen = match narrow {
        ScalarType::F16 => map1(soft::from_f16_bits),
        ScalarType::BF16 => map1(|a: u16| f32::from_bits(u32::from(a) << 16)),
        _ => return Err(Bad::new("these types are not supported")),
    };
    let [d, narrows @ .., c] = &ins.args[..] else {
        return Err(Bad::new("operands are missing"));
    };
    let x = mode(mods);
    let twin = match (ins.op.base, narrows.len()) {
        ("add", 1) => map2x(add32),
        ("sub", 1) => map2x(|a: f32, b: f32, x: u64| add32(a, -b, x)),
        ("fma", 2) => map3x(fma32),
        _ => return Err(Bad::new("the number of operands is wrong")),
    };
    let mut regs = Vec::new();
    for arg in narrows {
        let from = cx.src(arg, narrow)?;
        let wide = cx.temp(Class::W32)?;
        cx.raw(widen, wide, &[from], 0);
        regs.push(wide);
    }
    regs.push(cx.src(c, ScalarType::F32)?);
    let dst = cx.dst(d, ScalarType::F32)?;
    cx.raw(twin, dst.reg, &regs, x);
    if mods.has("sat") {
        cx.raw(map1(sat32), dst.reg, &[dst.reg], 0);
    }
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn div<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
    mods: &Mods<'a>,
) -> Result<(), Bad> {
    count(ins, 3)?;
    let x = mode(mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0 | 4) if mods.has("approx") => map2x(div_approx),
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

/// `a * (1 / b)` where the reciprocal of a large divisor is zero, as PTX documents.
#[inline(always)]
fn div_approx(a: f32, b: f32, x: u64) -> f32 {
    let (a, b) = (flush(a, x), flush(b, x));
    let huge = b.abs() > f32::from_bits(0x7e80_0000) && b.abs() < f32::INFINITY;
    let quotient = if huge { a * 0f32.copysign(b) } else { a / b };
    flush(nan32(quotient), x)
}

pub(in crate::exec::decode) fn rcp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, FLOAT_MODS)?;
    count(ins, 2)?;
    let x = mode(&mods);
    let twin = match (mods.ty()?, x) {
        // The approximation has only the upper half of the result's bits.
        (ScalarType::F64, _) if mods.has("approx") => map1(|a: f64| high_half(1.0 / high_half(a))),
        (ScalarType::F32, 0) => map1(|a: f32| nan32(1.0 / a)),
        (ScalarType::F32, 4) => map1(|a: f32| ftz(nan32(1.0 / ftz(a)))),
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

/// The low 32 bits cleared, subnormals flushed and NaNs made one, as `.approx.ftz.f64` does.
pub(super) fn high_half(v: f64) -> f64 {
    let bits = v.to_bits() & 0xffff_ffff_0000_0000;
    f64::from_bits(match bits & !(1 << 63) {
        0..0x0010_0000_0000_0000 => bits & 1 << 63,
        0x7ff0_0000_0000_0001.. => 0x7fff_ffff_0000_0000,
        _ => bits,
    })
}

pub(in crate::exec::decode) fn sqrt<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, FLOAT_MODS)?;
    count(ins, 2)?;
    let x = mode(&mods);
    let twin = match (mods.ty()?, x) {
        (ScalarType::F32, 0) => map1(|a: f32| nan32(a.sqrt())),
        (ScalarType::F32, 4) => map1(|a: f32| ftz(nan32(ftz(a).sqrt()))),
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

//! `min` and `max` of integers, packed integers, floats and, with three operands, floats.

use crate::exec::decode::arithmetic::half;
use crate::exec::decode::arithmetic::integer::{on_int, on_pair};
use crate::exec::decode::mods::{Mods, unsigned};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::{map1, map2, map2x, map3x};
use crate::exec::num::float::{flush, max32, max64, min32, min64};
use crate::ptx::{Instr, ScalarType};

/// Mode bits; bit 2 flushes, as in [`flush`].
const NAN: u64 = 1 << 3;
const XORSIGN: u64 = 1 << 4;
const ABS: u64 = 1 << 5;

pub(in crate::exec::decode) fn min_max<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["ftz", "NaN", "relu", "xorsign", "abs"])?;
    if half::is_half(&mods) {
        return half::arith(cx, ins, &mods);
    }
    let ty = mods.ty()?;
    let max = ins.op.base == "max";
    match ty {
        ScalarType::F32 if ins.args.len() == 4 => return three(cx, ins, &mods, max),
        ScalarType::F32 => return single(cx, ins, &mods, max),
        ScalarType::F64 => {
            let [d, a, b] = args(ins)?;
            let twin = if max { map2(max64) } else { map2(min64) };
            return cx.apply(twin, d, ty, &[(a, ty), (b, ty)], 0);
        }
        _ => {}
    }
    let [d, a, b] = args(ins)?;
    let pair = matches!(ty, ScalarType::U16x2 | ScalarType::S16x2);
    let twin = match (pair, max) {
        (true, true) => on_pair!(ty, |a, b| a.max(b)),
        (true, false) => on_pair!(ty, |a, b| a.min(b)),
        (false, true) => on_int!(ty, map2, |a, b| a.max(b)),
        (false, false) => on_int!(ty, map2, |a, b| a.min(b)),
    };
    if !mods.has("relu") {
        return cx.apply(twin, d, ty, &[(a, ty), (b, ty)], 0);
    }
    let relu = match ty {
        ScalarType::S32 => map1(|a: i32| a.max(0)),
        ScalarType::S16x2 => map1(|a: u32| {
            let half = |v: u32| u32::from((v as i16).max(0).cast_unsigned());
            half(a) | half(a >> 16) << 16
        }),
        _ => return Err(Bad::new(".relu needs .s32 or .s16x2")),
    };
    let (ra, rb) = (cx.src(a, ty)?, cx.src(b, ty)?);
    let dst = cx.dst(d, ty)?;
    cx.raw(twin, dst.reg, &[ra, rb], 0);
    cx.raw(relu, dst.reg, &[dst.reg], 0);
    cx.finish(&dst);
    Ok(())
}

#[inline(always)]
fn pick<const MAX: bool>(a: f32, b: f32, x: u64) -> f32 {
    let (a, b) = (flush(a, x), flush(b, x));
    if x & NAN != 0 && (a.is_nan() || b.is_nan()) {
        return f32::from_bits(0x7fff_ffff);
    }
    let sign = (a.to_bits() ^ b.to_bits()) & 1 << 31;
    let (a, b) = if x & (XORSIGN | ABS) != 0 {
        (a.abs(), b.abs())
    } else {
        (a, b)
    };
    let r = if MAX { max32(a, b) } else { min32(a, b) };
    if x & XORSIGN != 0 && !r.is_nan() {
        f32::from_bits(r.to_bits() | sign)
    } else {
        r
    }
}

fn mode(mods: &Mods<'_>) -> u64 {
    let flag = |token: &str, bit: u64| if mods.has(token) { bit } else { 0 };
    flag("ftz", 4) | flag("NaN", NAN)
}

fn single<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>, max: bool) -> Result<(), Bad> {
    let [d, a, b] = args(ins)?;
    if mods.has("xorsign") != mods.has("abs") {
        return Err(Bad::new(".xorsign and .abs go together"));
    }
    let x = mode(mods) | if mods.has("abs") { XORSIGN } else { 0 };
    let twin = match (x, max) {
        (0, false) => map2(min32),
        (0, true) => map2(max32),
        (_, false) => map2x(pick::<false>),
        (_, true) => map2x(pick::<true>),
    };
    cx.apply(
        twin,
        d,
        ScalarType::F32,
        &[(a, ScalarType::F32), (b, ScalarType::F32)],
        x,
    )
}

/// The forms with three operands of sm_100.
fn three<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>, max: bool) -> Result<(), Bad> {
    let [d, a, b, c] = args(ins)?;
    if mods.has("xorsign") {
        return Err(Bad::new(".xorsign needs two operands"));
    }
    let x = mode(mods) | if mods.has("abs") { ABS } else { 0 };
    let twin: Twin = if max {
        map3x(|a: f32, b: f32, c: f32, x: u64| pick::<true>(pick::<true>(a, b, x), c, x))
    } else {
        map3x(|a: f32, b: f32, c: f32, x: u64| pick::<false>(pick::<false>(a, b, x), c, x))
    };
    let ty = ScalarType::F32;
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ty)], x)
}

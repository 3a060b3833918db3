//! Conversions, put together from few kinds of steps: widen or truncate an
//! integer, saturate it, round a float to an integral value, change the format.

use super::arith::args;
use super::mods::{Mods, signed};
use super::{Bad, Cx};
use crate::exec::inst::Class;
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::{map1, map1x, map2x};
use crate::exec::num::float::{ftz, nan32, sat32, sat64};
use crate::exec::num::soft::{self, BF16, F16, F32, F64, Round};
use crate::ptx::{Instr, ScalarType};

const MODS: &[&str] = &[
    "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "ftz", "sat", "relu", "pack",
];

fn is_float(ty: ScalarType) -> bool {
    use ScalarType::{BF16, F16, F32, F64, TF32};
    matches!(ty, F16 | BF16 | F32 | F64 | TF32)
}

/// An intermediate value: a register and what is in it.
struct Step {
    at: u32,
    ty: ScalarType,
}

/// Appends `twin`, which makes a `ty` of the value so far.
fn then(cx: &mut Cx<'_, '_>, from: &Step, twin: Twin, ty: ScalarType, x: u64) -> Result<Step, Bad> {
    let class = Class::of(ty).ok_or_else(|| Bad::new("this type is not supported"))?;
    let at = cx.temp(class)?;
    cx.raw(twin, at, &[from.at], x);
    Ok(Step { at, ty })
}

pub(super) fn cvt<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let (dty, sty) = mods.two()?;
    if matches!(dty, ScalarType::F16x2 | ScalarType::BF16x2) {
        return pack(cx, ins, &mods, dty, sty);
    }
    let [d, a] = args(ins)?;
    let from = Step {
        at: cx.src(a, sty)?,
        ty: sty,
    };
    let before = cx.func.code.len();
    let result = match (is_float(sty), is_float(dty)) {
        (false, false) => int_to_int(cx, from, dty, mods.has("sat"))?,
        (true, false) => float_to_int(cx, from, &mods, dty)?,
        (false, true) => int_to_float(cx, from, &mods, dty)?,
        (true, true) => float_to_float(cx, from, &mods, dty)?,
    };
    let dst = cx.dst(d, dty)?;
    let copy = match Class::of(dty) {
        Some(Class::W64) => map1(|a: u64| a),
        _ => map1(|a: u32| a),
    };
    // If a step was made, the last one can write the destination itself.
    let stepped = cx.func.code.len() > before;
    match cx.func.code.last_mut() {
        Some(last) if stepped && last.d == result.at => last.d = dst.reg,
        _ => cx.raw(copy, dst.reg, &[result.at], 0),
    }
    cx.finish(&dst);
    Ok(())
}

/// Sign- or zero-extends a narrow integer to its register.
fn extend(cx: &mut Cx<'_, '_>, from: Step) -> Result<Step, Bad> {
    let twin = match from.ty {
        ScalarType::U8 | ScalarType::B8 => map1(|a: u8| u32::from(a)),
        ScalarType::S8 => map1(|a: i8| i32::from(a)),
        ScalarType::U16 | ScalarType::B16 => map1(|a: u16| u32::from(a)),
        ScalarType::S16 => map1(|a: i16| i32::from(a)),
        _ => return Ok(from),
    };
    let ty = if signed(from.ty) {
        ScalarType::S32
    } else {
        ScalarType::U32
    };
    then(cx, &from, twin, ty, 0)
}

/// Widens to 64 bits.
fn widen(cx: &mut Cx<'_, '_>, from: Step) -> Result<Step, Bad> {
    let from = extend(cx, from)?;
    match from.ty {
        ScalarType::S32 => then(cx, &from, map1(|a: i32| i64::from(a)), ScalarType::S64, 0),
        _ if from.ty.size() == 4 => {
            then(cx, &from, map1(|a: u32| u64::from(a)), ScalarType::U64, 0)
        }
        _ => Ok(from),
    }
}

fn int_to_int(cx: &mut Cx<'_, '_>, from: Step, dty: ScalarType, sat: bool) -> Result<Step, Bad> {
    if from.ty == ScalarType::Pred || dty == ScalarType::Pred {
        return Err(Bad::new("predicates cannot be converted"));
    }
    if sat {
        let from = widen(cx, from)?;
        let code = u64::from(dty.size().trailing_zeros()) | u64::from(signed(dty)) << 2;
        let clamp = if signed(from.ty) {
            map1x(|a: i64, x: u64| clamp(i128::from(a), x))
        } else {
            map1x(|a: u64, x: u64| clamp(i128::from(a), x))
        };
        let wide = then(cx, &from, clamp, ScalarType::U64, code)?;
        return truncate(cx, wide, dty);
    }
    if dty.size() == 8 {
        return widen(cx, from);
    }
    if from.ty.size() == 8 {
        return truncate(cx, from, dty);
    }
    // A narrower destination keeps the extension of its own type.
    let from = extend(cx, from)?;
    let step = Step {
        at: from.at,
        ty: dty,
    };
    if dty.size() < 4 {
        extend(cx, step)
    } else {
        Ok(step)
    }
}

/// The lower bits of a 64-bit value, extended as `dty` is.
fn truncate(cx: &mut Cx<'_, '_>, from: Step, dty: ScalarType) -> Result<Step, Bad> {
    if dty.size() == 8 {
        return Ok(from);
    }
    let low = then(cx, &from, map1(|a: u64| a as u32), ScalarType::U32, 0)?;
    extend(
        cx,
        Step {
            at: low.at,
            ty: dty,
        },
    )
}

/// Clamps to the type that `x` stands for: log2 of its bytes, and bit 2 if signed.
fn clamp(v: i128, x: u64) -> u64 {
    let bits = 8u32 << (x & 3);
    let (low, high) = if x & 4 != 0 {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    v.clamp(low, high) as u64
}

/// `f16` and `bf16` to `f32`.
fn single(cx: &mut Cx<'_, '_>, from: Step) -> Result<Step, Bad> {
    match from.ty {
        ScalarType::F16 => then(cx, &from, map1(soft::from_f16_bits), ScalarType::F32, 0),
        ScalarType::BF16 => then(
            cx,
            &from,
            map1(|a: u16| f32::from_bits(u32::from(a) << 16)),
            ScalarType::F32,
            0,
        ),
        _ => Ok(from),
    }
}

/// Rounds a float to an integral value, if the modifiers ask for it.
fn integral(cx: &mut Cx<'_, '_>, from: Step, mods: &Mods<'_>) -> Result<Step, Bad> {
    let ty = from.ty;
    macro_rules! on {
        (|$a:ident| $e:expr) => {
            if ty == ScalarType::F64 {
                map1(|$a: f64| $e)
            } else {
                map1(|$a: f32| $e)
            }
        };
    }
    let mode = mods.find(|t| t.ends_with('i').then_some(t));
    let twin = match mode {
        Some("rni") => on!(|a| a.round_ties_even()),
        Some("rzi") => on!(|a| a.trunc()),
        Some("rmi") => on!(|a| a.floor()),
        Some("rpi") => on!(|a| a.ceil()),
        _ => return Ok(from),
    };
    then(cx, &from, twin, ty, 0)
}

fn flushed(cx: &mut Cx<'_, '_>, from: Step, mods: &Mods<'_>) -> Result<Step, Bad> {
    if mods.has("ftz") && from.ty == ScalarType::F32 {
        return then(cx, &from, map1(ftz), ScalarType::F32, 0);
    }
    Ok(from)
}

fn float_to_int(
    cx: &mut Cx<'_, '_>,
    from: Step,
    mods: &Mods<'_>,
    dty: ScalarType,
) -> Result<Step, Bad> {
    let from = single(cx, from)?;
    let from = flushed(cx, from, mods)?;
    let from = if mods.has("rzi") {
        from
    } else {
        integral(cx, from, mods)?
    };
    // NaN gives 0 between 32-bit types and the lone top bit otherwise. Narrow
    // destinations are clamped, not cut off.
    if dty.size() < 4 {
        let code = u64::from(dty.size().trailing_zeros()) | u64::from(signed(dty)) << 2;
        let twin = if from.ty == ScalarType::F64 {
            map1x(|a: f64, x: u64| clamp(i128::from(a as i64), x) as u32)
        } else {
            map1x(|a: f32, x: u64| clamp(i128::from(a as i64), x) as u32)
        };
        let step = then(cx, &from, twin, dty, code)?;
        return Ok(step);
    }
    let twin = match (from.ty, dty) {
        (ScalarType::F32, ScalarType::U32) => map1(|a: f32| a as u32),
        (ScalarType::F32, ScalarType::S32) => map1(|a: f32| a as i32),
        (ScalarType::F32, ScalarType::U64) => {
            map1(|a: f32| if a.is_nan() { 1 << 63 } else { a as u64 })
        }
        (ScalarType::F32, ScalarType::S64) => {
            map1(|a: f32| if a.is_nan() { i64::MIN } else { a as i64 })
        }
        (ScalarType::F64, ScalarType::U32) => {
            map1(|a: f64| if a.is_nan() { 1 << 31 } else { a as u32 })
        }
        (ScalarType::F64, ScalarType::S32) => {
            map1(|a: f64| if a.is_nan() { i32::MIN } else { a as i32 })
        }
        (ScalarType::F64, ScalarType::U64) => {
            map1(|a: f64| if a.is_nan() { 1 << 63 } else { a as u64 })
        }
        (ScalarType::F64, ScalarType::S64) => {
            map1(|a: f64| if a.is_nan() { i64::MIN } else { a as i64 })
        }
        _ => return Err(Bad::new("these types are not supported")),
    };
    then(cx, &from, twin, dty, 0)
}

fn int_to_float(
    cx: &mut Cx<'_, '_>,
    from: Step,
    mods: &Mods<'_>,
    dty: ScalarType,
) -> Result<Step, Bad> {
    let from = extend(cx, from)?;
    let round = mods.find(Round::from_token).unwrap_or(Round::Nearest);
    let native = round == Round::Nearest;
    let twin = match (from.ty, dty) {
        (ScalarType::U32, ScalarType::F32) if native => map1(|a: u32| a as f32),
        (ScalarType::S32, ScalarType::F32) if native => map1(|a: i32| a as f32),
        (ScalarType::U64, ScalarType::F32) if native => map1(|a: u64| a as f32),
        (ScalarType::S64, ScalarType::F32) if native => map1(|a: i64| a as f32),
        (ScalarType::U32, ScalarType::F64) => map1(|a: u32| f64::from(a)),
        (ScalarType::S32, ScalarType::F64) => map1(|a: i32| f64::from(a)),
        (ScalarType::U64, ScalarType::F64) if native => map1(|a: u64| a as f64),
        (ScalarType::S64, ScalarType::F64) if native => map1(|a: i64| a as f64),
        _ => {
            let from = widen(cx, from)?;
            let format = match dty {
                ScalarType::F16 => F16,
                ScalarType::BF16 => BF16,
                ScalarType::F32 => F32,
                _ => F64,
            };
            let code = format_code(format) << 2 | round as u64;
            let twin = if signed(from.ty) {
                map1x(|a: i64, x: u64| {
                    soft::from_int(
                        a < 0,
                        a.unsigned_abs(),
                        format_of(x >> 2),
                        Round::from_code(x),
                    )
                })
            } else {
                map1x(|a: u64, x: u64| {
                    soft::from_int(false, a, format_of(x >> 2), Round::from_code(x))
                })
            };
            let exact = then(cx, &from, twin, ScalarType::F64, code)?;
            return store_format(cx, exact, dty);
        }
    };
    let step = then(cx, &from, twin, dty, 0)?;
    saturate(cx, step, mods)
}

fn format_code(format: soft::Format) -> u64 {
    match format {
        F16 => 0,
        BF16 => 1,
        F32 => 2,
        _ => 3,
    }
}

fn format_of(code: u64) -> soft::Format {
    match code & 3 {
        0 => F16,
        1 => BF16,
        2 => F32,
        _ => F64,
    }
}

/// From a double that already has the precision of `dty`.
fn store_format(cx: &mut Cx<'_, '_>, exact: Step, dty: ScalarType) -> Result<Step, Bad> {
    let twin = match dty {
        ScalarType::F16 => map1(|a: f64| soft::to_f16_bits(a)),
        ScalarType::BF16 => map1(|a: f64| {
            if a.is_nan() {
                0x7fff
            } else {
                soft::to_bf16_bits(a)
            }
        }),
        ScalarType::F32 => map1(|a: f64| nan32(a as f32)),
        ScalarType::F64 => return Ok(exact),
        _ => return Err(Bad::new("this type is not supported")),
    };
    then(cx, &exact, twin, dty, 0)
}

fn saturate(cx: &mut Cx<'_, '_>, from: Step, mods: &Mods<'_>) -> Result<Step, Bad> {
    if !mods.has("sat") {
        return Ok(from);
    }
    match from.ty {
        ScalarType::F32 => then(cx, &from, map1(sat32), ScalarType::F32, 0),
        ScalarType::F64 => then(cx, &from, map1(sat64), ScalarType::F64, 0),
        _ => Err(Bad::new("modifier .sat is not supported here")),
    }
}

fn float_to_float(
    cx: &mut Cx<'_, '_>,
    from: Step,
    mods: &Mods<'_>,
    dty: ScalarType,
) -> Result<Step, Bad> {
    let from = single(cx, from)?;
    let from = flushed(cx, from, mods)?;
    let from = integral(cx, from, mods)?;
    let from = if mods.has("sat") {
        saturate(cx, from, mods)?
    } else {
        from
    };
    let from = if mods.has("relu") {
        match from.ty {
            ScalarType::F32 => then(
                cx,
                &from,
                map1(|a: f32| if a > 0.0 || a.is_nan() { a } else { 0.0 }),
                from.ty,
                0,
            )?,
            _ => return Err(Bad::new("modifier .relu is not supported here")),
        }
    } else {
        from
    };
    match (from.ty, dty) {
        (ScalarType::F32, ScalarType::F32) => then(cx, &from, map1(nan32), dty, 0),
        (ScalarType::F64, ScalarType::F64) => Ok(from),
        (ScalarType::F32, ScalarType::F64) => then(cx, &from, map1(|a: f32| f64::from(a)), dty, 0),
        (ScalarType::F32, ScalarType::TF32) => {
            // 10 bits of fraction, ties away from zero.
            let twin = map1(|a: u32| {
                if a & 0x7f80_0000 == 0x7f80_0000 {
                    a
                } else {
                    a.wrapping_add(0x1000) & 0xffff_e000
                }
            });
            then(cx, &from, twin, dty, 0)
        }
        (_, ScalarType::F16 | ScalarType::BF16 | ScalarType::F32) => {
            let round = mods.find(Round::from_token).unwrap_or(Round::Nearest);
            let format = match dty {
                ScalarType::F16 => F16,
                ScalarType::BF16 => BF16,
                _ => F32,
            };
            let code = format_code(format) << 2 | round as u64;
            if dty == ScalarType::F32 && round == Round::Nearest {
                let narrow = then(cx, &from, map1(|a: f64| nan32(a as f32)), dty, 0)?;
                return flushed(cx, narrow, mods);
            }
            let twin = if from.ty == ScalarType::F64 {
                map1x(|a: f64, x: u64| soft::convert(a, format_of(x >> 2), Round::from_code(x)))
            } else {
                map1x(|a: f32, x: u64| {
                    soft::convert(f64::from(a), format_of(x >> 2), Round::from_code(x))
                })
            };
            let exact = then(cx, &from, twin, ScalarType::F64, code)?;
            let narrow = store_format(cx, exact, dty)?;
            flushed(cx, narrow, mods)
        }
        _ => Err(Bad::new("these types are not supported")),
    }
}

/// `cvt.rn.f16x2.f32 d, a, b`: a goes to the upper half.
fn pack<'a>(
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
    // Bit 2: bfloat16; bit 3: negative values become 0.
    let bfloat = dty == ScalarType::BF16x2;
    let x = round as u64 | u64::from(bfloat) << 2 | u64::from(mods.has("relu")) << 3;
    let twin = map2x(|a: f32, b: f32, x: u64| {
        let one = |v: f32| {
            let v = if x & 8 != 0 && v < 0.0 {
                0.0
            } else {
                f64::from(v)
            };
            let mode = Round::from_code(x);
            u32::from(match x & 4 {
                _ if v.is_nan() => 0x7fff,
                0 => soft::to_f16_bits(soft::convert(v, F16, mode)),
                _ => soft::to_bf16_bits(soft::convert(v, BF16, mode)),
            })
        };
        one(a) << 16 | one(b)
    });
    cx.apply(twin, d, dty, &[(a, sty), (b, sty)], x)
}

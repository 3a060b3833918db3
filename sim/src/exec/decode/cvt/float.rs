//! Conversions from, to and between floating-point types.

use crate::exec::decode::cvt::int::{clamp, extend, widen};
use crate::exec::decode::cvt::{Step, range_code, then};
use crate::exec::decode::mods::{Mods, signed};
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::{map1, map1x};
use crate::exec::num::float::{ftz, nan32, sat32, sat64};
use crate::exec::num::soft::{self, BF16, F16, F32, F64, Round};
use crate::ptx::ScalarType;

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

pub(super) fn to_int(
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
    // NaN gives the lone top bit of the destination if the source is `.f64` or the
    // destination has 64 bits, and 0 otherwise. Narrow destinations are clamped, not cut off.
    if dty.size() < 4 {
        let code = range_code(dty);
        let twin = if from.ty == ScalarType::F64 {
            map1x(|a: f64, x: u64| {
                if a.is_nan() {
                    let top = 1u64 << ((8 << (x & 3)) - 1);
                    // Sign-extended as every result of a signed type.
                    return (if x & 4 != 0 { top.wrapping_neg() } else { top }) as u32;
                }
                clamp(i128::from(a as i64), x) as u32
            })
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

pub(super) fn from_int(
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
                ScalarType::F64 => F64,
                _ => return Err(Bad::new("these types are not supported")),
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
            let exact = saturate(cx, exact, mods)?;
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

pub(super) fn to_float(
    cx: &mut Cx<'_, '_>,
    from: Step,
    mods: &Mods<'_>,
    dty: ScalarType,
) -> Result<Step, Bad> {
    let from = single(cx, from)?;
    let from = flushed(cx, from, mods)?;
    let from = integral(cx, from, mods)?;
    let from = saturate(cx, from, mods)?;
    let from = relu(cx, from, mods)?;
    match (from.ty, dty) {
        (ScalarType::F32, ScalarType::F32) => then(cx, &from, map1(nan32), dty, 0),
        (ScalarType::F64, ScalarType::F64) => Ok(from),
        (ScalarType::F32, ScalarType::F64) => then(cx, &from, map1(|a: f32| f64::from(a)), dty, 0),
        (ScalarType::F32, ScalarType::TF32) => tensor_float(cx, from, mods),
        (_, ScalarType::F16 | ScalarType::BF16 | ScalarType::F32) => narrowed(cx, from, mods, dty),
        _ => Err(Bad::new("these types are not supported")),
    }
}

/// Negative values become zero; a NaN stays one.
fn relu(cx: &mut Cx<'_, '_>, from: Step, mods: &Mods<'_>) -> Result<Step, Bad> {
    if !mods.has("relu") {
        return Ok(from);
    }
    let twin = match from.ty {
        ScalarType::F32 => map1(|a: f32| if a > 0.0 || a.is_nan() { a } else { 0.0 }),
        _ => return Err(Bad::new("modifier .relu is not supported here")),
    };
    then(cx, &from, twin, from.ty, 0)
}

/// The largest finite value instead of infinities and what rounds to them.
pub(super) fn largest(a: f64, x: u64) -> f64 {
    let most = match x & 3 {
        0 => 65504.0,
        1 => f64::from(f32::from_bits(0x7f7f_0000)),
        _ => f64::from(f32::MAX),
    };
    if a.is_nan() { a } else { a.clamp(-most, most) }
}

/// To half precision, bfloat16 or, from double, single.
fn narrowed(
    cx: &mut Cx<'_, '_>,
    from: Step,
    mods: &Mods<'_>,
    dty: ScalarType,
) -> Result<Step, Bad> {
    let round = mods.find(Round::from_token).unwrap_or(Round::Nearest);
    let format = match dty {
        ScalarType::F16 => F16,
        ScalarType::BF16 => BF16,
        _ => F32,
    };
    if dty == ScalarType::F32 && round == Round::Nearest {
        let narrow = then(cx, &from, map1(|a: f64| nan32(a as f32)), dty, 0)?;
        return flushed(cx, narrow, mods);
    }
    let code = format_code(format) << 2 | round as u64;
    let twin = if from.ty == ScalarType::F64 {
        map1x(|a: f64, x: u64| soft::convert(a, format_of(x >> 2), Round::from_code(x)))
    } else {
        map1x(|a: f32, x: u64| soft::convert(f64::from(a), format_of(x >> 2), Round::from_code(x)))
    };
    let mut exact = then(cx, &from, twin, ScalarType::F64, code)?;
    if mods.has("satfinite") {
        exact = then(
            cx,
            &exact,
            map1x(largest),
            ScalarType::F64,
            format_code(format),
        )?;
    }
    let narrow = store_format(cx, exact, dty)?;
    flushed(cx, narrow, mods)
}

/// To 10 bits of fraction in the upper bits of a single.
fn tensor_float(cx: &mut Cx<'_, '_>, from: Step, mods: &Mods<'_>) -> Result<Step, Bad> {
    macro_rules! rounded {
        (|$bits:ident| $e:expr) => {
            map1(|a: u32| {
                let $bits = a;
                match a & 0x7fff_ffff {
                    0x7f80_0001.. => 0x7fff_ffff,
                    0x7f80_0000 => a,
                    _ => ($e) & 0xffff_e000,
                }
            })
        };
    }
    let twin = match mods.find(|t| t.starts_with('r').then_some(t)) {
        // Ties away from zero, ties to even, towards zero. A carry into the exponent is
        // what rounding up means.
        Some("rna") => rounded!(|bits| bits.wrapping_add(0x1000)),
        Some("rn") => rounded!(|bits| bits.wrapping_add(0x0fff + (bits >> 13 & 1))),
        Some("rz") => rounded!(|bits| bits),
        _ => return Err(Bad::new(".rna, .rn or .rz is expected")),
    };
    let result = then(cx, &from, twin, ScalarType::TF32, 0)?;
    if !mods.has("satfinite") {
        return Ok(result);
    }
    let finite = map1(|a: u32| {
        if a & 0x7fff_ffff == 0x7f80_0000 {
            a & 0x8000_0000 | 0x7f7f_e000
        } else {
            a
        }
    });
    then(cx, &result, finite, ScalarType::TF32, 0)
}

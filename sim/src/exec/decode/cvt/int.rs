//! Integers to integers, and the steps that other conversions share with them.

use crate::exec::decode::cvt::{Step, range_code, then};
use crate::exec::decode::mods::signed;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::{map1, map1x};
use crate::ptx::ScalarType;

/// Sign- or zero-extends a narrow integer to its register.
pub(super) fn extend(cx: &mut Cx<'_, '_>, from: Step) -> Result<Step, Bad> {
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
pub(super) fn widen(cx: &mut Cx<'_, '_>, from: Step) -> Result<Step, Bad> {
    let from = extend(cx, from)?;
    match from.ty {
        ScalarType::S32 => then(cx, &from, map1(|a: i32| i64::from(a)), ScalarType::S64, 0),
        _ if from.ty.size() == 4 => {
            then(cx, &from, map1(|a: u32| u64::from(a)), ScalarType::U64, 0)
        }
        _ => Ok(from),
    }
}

pub(super) fn to_int(
    cx: &mut Cx<'_, '_>,
    from: Step,
    dty: ScalarType,
    sat: bool,
) -> Result<Step, Bad> {
    if sat {
        let from = widen(cx, from)?;
        let code = range_code(dty);
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
pub(super) fn clamp(v: i128, x: u64) -> u64 {
    let bits = 8u32 << (x & 3);
    let (low, high) = if x & 4 != 0 {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    v.clamp(low, high) as u64
}

//! Conversions, put together from few kinds of steps: widen or truncate an
//! integer, saturate it, round a float to an integral value, change the format.

mod float;
mod int;
mod pack;

use crate::exec::decode::mods::{Mods, signed};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::Class;
use crate::exec::lanes::Twin;
use crate::ptx::{Instr, ScalarType};

const MODS: &[&str] = &[
    "rn",
    "rz",
    "rm",
    "rp",
    "rni",
    "rzi",
    "rmi",
    "rpi",
    "rna",
    "ftz",
    "sat",
    "relu",
    "satfinite",
];

fn is_float(ty: ScalarType) -> bool {
    use ScalarType::{BF16, F16, F32, F64, TF32};
    matches!(ty, F16 | BF16 | F32 | F64 | TF32)
}

fn is_int(ty: ScalarType) -> bool {
    use ScalarType::{S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
}

/// An intermediate value: a register and what is in it.
#[derive(Debug, Clone, Copy)]
struct Step {
    at: u32,
    ty: ScalarType,
}

/// Appends `twin`, which makes a `ty` of the value so far.
fn then(cx: &mut Cx<'_, '_>, from: &Step, twin: Twin, ty: ScalarType, x: u64) -> Result<Step, Bad> {
    let at = cx.temp(Class::of(ty))?;
    cx.raw(twin, at, &[from.at], x);
    Ok(Step { at, ty })
}

pub(super) fn cvt<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    if ins.op.mods.first() == Some(&"pack") {
        return pack::integers(cx, ins);
    }
    let mods = Mods::of(ins, MODS)?;
    let (dty, sty) = mods.two()?;
    if matches!(dty, ScalarType::F16x2 | ScalarType::BF16x2) {
        return pack::halves(cx, ins, &mods, dty, sty);
    }
    for ty in [dty, sty] {
        if !is_float(ty) && !is_int(ty) {
            return Err(Bad::new("these types are not supported"));
        }
    }
    let [d, a] = args(ins)?;
    let from = Step {
        at: cx.src(a, sty)?,
        ty: sty,
    };
    let before = cx.func.code.len();
    let result = match (is_float(sty), is_float(dty)) {
        (false, false) => int::to_int(cx, from, dty, mods.has("sat"))?,
        (true, false) => float::to_int(cx, from, &mods, dty)?,
        (false, true) => float::from_int(cx, from, &mods, dty)?,
        (true, true) => float::to_float(cx, from, &mods, dty)?,
    };
    let dst = cx.dst(d, dty)?;
    // If a step was made, the last one can write the destination itself.
    let stepped = cx.func.code.len() > before;
    match cx.func.code.last_mut() {
        Some(last) if stepped && last.d == result.at => last.d = dst.reg,
        _ => cx.copy(Class::of(dty), dst.reg, result.at),
    }
    cx.finish(&dst);
    Ok(())
}

/// A type's range as a number: log2 of its bytes, and bit 2 if it is signed.
fn range_code(ty: ScalarType) -> u64 {
    u64::from(ty.size().trailing_zeros()) | u64::from(signed(ty)) << 2
}

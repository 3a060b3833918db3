//! Instructions that look across a warp. Those with a member mask become
//! [`Kind::WarpOp`]: the scheduler gathers the lanes before they run.

use crate::exec::decode::cx::Draft;
use crate::exec::decode::mods::{Mods, WORDS};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::{Class, Kind, NONE};
use crate::exec::lanes::map::map1;
use crate::exec::lanes::warp;
use crate::exec::num::float::{max32, min32, nan32};
use crate::ptx::{Instr, Operand, ScalarType};

/// Emits `inst`, gathering the lanes of `members` first if it is given.
fn gathered<'a>(
    cx: &mut Cx<'a, '_>,
    mut inst: Draft,
    members: Option<&Operand<'a>>,
) -> Result<(), Bad> {
    if let Some(mask) = members {
        inst.e = cx.src(mask, ScalarType::U32)?;
        inst.kind = Kind::WarpOp;
    }
    cx.push(inst);
    Ok(())
}

pub(in crate::exec::decode) fn shfl<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["sync", "up", "down", "bfly", "idx"])?;
    let ty = mods.ty()?;
    if !WORDS.contains(&ty) && ty != ScalarType::F32 {
        return Err(Bad::new("a type of 32 bits is expected"));
    }
    let (d, a, b, c, members) = match (&ins.args[..], mods.has("sync")) {
        ([d, a, b, c], false) => (d, a, b, c, None),
        ([d, a, b, c, m], true) => (d, a, b, c, Some(m)),
        _ => return Err(Bad::new("the number of operands is wrong")),
    };
    let twin = mods
        .find(warp::shuffle)
        .ok_or_else(|| Bad::new(".up, .down, .bfly or .idx is expected"))?;
    let u32_ = ScalarType::U32;
    let (ra, rb, rc) = (cx.src(a, ty)?, cx.src(b, u32_)?, cx.src(c, u32_)?);
    let (value, p) = match *d {
        Operand::Pair(d, p) => (Operand::Name(d), cx.pred_dst(p)?),
        _ => (d.clone(), NONE),
    };
    let value = if value == Operand::Name("_") {
        Operand::Sink
    } else {
        value
    };
    let dst = cx.dst(&value, ty)?;
    let mut inst = cx.blank(twin);
    (inst.d, inst.a, inst.b, inst.c, inst.p) = (dst.reg, ra, rb, rc, p);
    gathered(cx, inst, members)?;
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn vote<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["sync", "all", "any", "uni", "ballot"])?;
    let (d, a, members) = match (&ins.args[..], mods.has("sync")) {
        ([d, a], false) => (d, a, None),
        ([d, a, m], true) => (d, a, Some(m)),
        _ => return Err(Bad::new("the number of operands is wrong")),
    };
    let (ra, negated) = cx.pred(a)?;
    let (twin, ty) = if mods.has("ballot") {
        (warp::ballot(), ScalarType::B32)
    } else {
        let twin = mods
            .find(warp::vote)
            .ok_or_else(|| Bad::new("a voting mode is expected"))?;
        (twin, ScalarType::Pred)
    };
    let dst = cx.dst(d, ty)?;
    let mut inst = cx.blank(twin);
    (inst.d, inst.a, inst.x) = (dst.reg, ra, u64::from(negated));
    gathered(cx, inst, members)?;
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn activemask<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty_of(WORDS)?;
    let [d] = args(ins)?;
    cx.apply(warp::active_mask(), d, ty, &[], 0)
}

pub(in crate::exec::decode) fn elect<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &["sync"])?;
    let [d, members] = args(ins)?;
    let Operand::Pair(d, p) = *d else {
        return Err(Bad::new("a register and a predicate are expected"));
    };
    let p = cx.pred_dst(p)?;
    let d = if d == "_" {
        Operand::Sink
    } else {
        Operand::Name(d)
    };
    let dst = cx.dst(&d, ScalarType::B32)?;
    let mut inst = cx.blank(warp::elect());
    (inst.d, inst.p) = (dst.reg, p);
    gathered(cx, inst, Some(members))?;
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn matching<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["sync", "any", "all"])?;
    let ty = mods.ty()?;
    let [d, a, members] = args(ins)?;
    if !matches!(Class::of(ty), Class::W32 | Class::W64) || ty.size() < 4 {
        return Err(Bad::new("a type of 32 or 64 bits is expected"));
    }
    let ra = cx.src(a, ty)?;
    let (value, p) = match *d {
        Operand::Pair(d, p) => (Operand::Name(d), cx.pred_dst(p)?),
        _ => (d.clone(), NONE),
    };
    let dst = cx.dst(&value, ScalarType::B32)?;
    let mut inst = cx.blank(warp::matching(mods.has("all"), ty.size()));
    (inst.d, inst.a, inst.p) = (dst.reg, ra, p);
    gathered(cx, inst, Some(members))?;
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn redux<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let allowed = [
        "sync", "add", "min", "max", "and", "or", "xor", "abs", "NaN",
    ];
    let mods = Mods::of(ins, &allowed)?;
    let ty = mods.ty()?;
    let [d, a, members] = args(ins)?;
    if ty == ScalarType::F32 {
        return redux_single(cx, &mods, d, a, members);
    }
    if mods.has("abs") || mods.has("NaN") {
        return Err(Bad::new(".abs and .NaN need .f32"));
    }
    let signed = ty == ScalarType::S32;
    let twin = match mods.find(|t| (t != "sync").then_some(t)) {
        Some("add") => warp::redux(u32::wrapping_add),
        Some("and") => warp::redux(|a, b| a & b),
        Some("or") => warp::redux(|a, b| a | b),
        Some("xor") => warp::redux(|a, b| a ^ b),
        Some("min") if signed => {
            warp::redux(|a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned())
        }
        Some("max") if signed => {
            warp::redux(|a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned())
        }
        Some("min") => warp::redux(u32::min),
        Some("max") => warp::redux(u32::max),
        _ => return Err(Bad::new("an operation is expected")),
    };
    if !matches!(ty, ScalarType::U32 | ScalarType::S32 | ScalarType::B32) {
        return Err(Bad::new("a 32-bit integer type is expected"));
    }
    let ra = cx.src(a, ty)?;
    let dst = cx.dst(d, ty)?;
    let mut inst = cx.blank(twin);
    (inst.d, inst.a) = (dst.reg, ra);
    gathered(cx, inst, Some(members))?;
    cx.finish(&dst);
    Ok(())
}

/// `redux.sync.min` and `.max` of floats, of sm_100.
fn redux_single<'a>(
    cx: &mut Cx<'a, '_>,
    mods: &Mods<'a>,
    d: &Operand<'a>,
    a: &Operand<'a>,
    members: &Operand<'a>,
) -> Result<(), Bad> {
    macro_rules! fold {
        ($f:expr, nan) => {
            warp::redux(|a, b| {
                let (a, b) = (f32::from_bits(a), f32::from_bits(b));
                if a.is_nan() || b.is_nan() {
                    0x7fff_ffff
                } else {
                    $f(a, b).to_bits()
                }
            })
        };
        ($f:expr) => {
            warp::redux(|a, b| $f(f32::from_bits(a), f32::from_bits(b)).to_bits())
        };
    }
    let twin = match (mods.has("min"), mods.has("max"), mods.has("NaN")) {
        (true, false, false) => fold!(min32),
        (true, false, true) => fold!(min32, nan),
        (false, true, false) => fold!(max32),
        (false, true, true) => fold!(max32, nan),
        _ => return Err(Bad::new(".min or .max is expected")),
    };
    let ty = ScalarType::F32;
    let from = cx.src(a, ty)?;
    // A single lane's NaN is the canonical one, too.
    let values = cx.temp(Class::W32)?;
    let prepare = if mods.has("abs") {
        map1(|a: f32| nan32(a.abs()))
    } else {
        map1(nan32)
    };
    cx.raw(prepare, values, &[from], 0);
    let dst = cx.dst(d, ty)?;
    let mut inst = cx.blank(twin);
    (inst.d, inst.a) = (dst.reg, values);
    gathered(cx, inst, Some(members))?;
    cx.finish(&dst);
    Ok(())
}

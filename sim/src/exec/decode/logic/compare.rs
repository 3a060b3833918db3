//! Comparison and selection.

use crate::exec::decode::mods::{Mods, unsigned};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::{Class, NONE};
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::{map1, map1x, map2, map3};
use crate::exec::lanes::pred::{self, combine};
use crate::exec::num::float::{ftz, ftz16};
use crate::exec::num::soft;
use crate::ptx::{Instr, Operand, ScalarType};

const MODS: &[&str] = &[
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan", "and", "or", "xor", "ftz",
];

fn int_compare(op: &str, ty: ScalarType) -> Result<Twin, Bad> {
    macro_rules! on {
        (|$a:ident, $b:ident| $e:expr) => {
            match unsigned(ty) {
                ScalarType::U16 => pred::compare(|$a: u16, $b: u16| $e),
                ScalarType::S16 => pred::compare(|$a: i16, $b: i16| $e),
                ScalarType::U32 => pred::compare(|$a: u32, $b: u32| $e),
                ScalarType::S32 => pred::compare(|$a: i32, $b: i32| $e),
                ScalarType::U64 => pred::compare(|$a: u64, $b: u64| $e),
                ScalarType::S64 => pred::compare(|$a: i64, $b: i64| $e),
                _ => return Err(Bad::new("this type cannot be compared")),
            }
        };
    }
    Ok(match op {
        "eq" => on!(|a, b| a == b),
        "ne" => on!(|a, b| a != b),
        "lt" | "lo" => on!(|a, b| a < b),
        "le" | "ls" => on!(|a, b| a <= b),
        "gt" | "hi" => on!(|a, b| a > b),
        "ge" | "hs" => on!(|a, b| a >= b),
        _ => return Err(Bad::new(format!(".{op} does not compare integers"))),
    })
}

macro_rules! float_compare {
    ($op:expr, $t:ty, $fix:expr) => {
        match $op {
            "eq" => pred::compare(|a: $t, b: $t| $fix(a) == $fix(b)),
            "ne" => pred::compare(|a: $t, b: $t| $fix(a) < $fix(b) || $fix(a) > $fix(b)),
            "lt" => pred::compare(|a: $t, b: $t| $fix(a) < $fix(b)),
            "le" => pred::compare(|a: $t, b: $t| $fix(a) <= $fix(b)),
            "gt" => pred::compare(|a: $t, b: $t| $fix(a) > $fix(b)),
            "ge" => pred::compare(|a: $t, b: $t| $fix(a) >= $fix(b)),
            "equ" => pred::compare(|a: $t, b: $t| !($fix(a) < $fix(b) || $fix(a) > $fix(b))),
            "neu" => pred::compare(|a: $t, b: $t| $fix(a) != $fix(b)),
            "ltu" => pred::compare(|a: $t, b: $t| !($fix(a) >= $fix(b))),
            "leu" => pred::compare(|a: $t, b: $t| !($fix(a) > $fix(b))),
            "gtu" => pred::compare(|a: $t, b: $t| !($fix(a) <= $fix(b))),
            "geu" => pred::compare(|a: $t, b: $t| !($fix(a) < $fix(b))),
            "num" => pred::compare(|a: $t, b: $t| !a.is_nan() && !b.is_nan()),
            "nan" => pred::compare(|a: $t, b: $t| a.is_nan() || b.is_nan()),
            op => return Err(Bad::new(format!(".{op} does not compare floats"))),
        }
    };
}

/// A half of a packed pair: which one to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

/// Emits the comparison of `srcs` into predicates `d` and `p`.
#[allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "unordered comparisons are the negated opposite ones"
)]
fn comparison<'a>(
    cx: &mut Cx<'a, '_>,
    mods: &Mods<'a>,
    ty: ScalarType,
    dst: (u32, u32),
    srcs: &[Operand<'a>],
    half: Half,
) -> Result<(), Bad> {
    let op = mods
        .find(|t| (!matches!(t, "and" | "or" | "xor" | "ftz")).then_some(t))
        .ok_or_else(|| Bad::new("a comparison is expected"))?;
    let (a, b, c) = match srcs {
        [a, b] => (a, b, None),
        [a, b, c] => (a, b, Some(c)),
        _ => return Err(Bad::new("two or three source operands are expected")),
    };
    let twin = match ty {
        ScalarType::F32 if mods.has("ftz") => float_compare!(op, f32, ftz),
        ScalarType::F32 => float_compare!(op, f32, |v: f32| v),
        ScalarType::F64 => float_compare!(op, f64, |v: f64| v),
        // Widened below, which keeps order, equality and NaN.
        _ if is_half(ty) => float_compare!(op, f32, |v: f32| v),
        _ => int_compare(op, ty)?,
    };
    let (mut ra, mut rb) = (cx.src(a, ty)?, cx.src(b, ty)?);
    if is_half(ty) {
        ra = widened(cx, ra, ty, half, mods.has("ftz"))?;
        rb = widened(cx, rb, ty, half, mods.has("ftz"))?;
    }
    let mut x = combine::NONE;
    let mut rc = NONE;
    if let Some(c) = c {
        let (at, negated) = cx.pred(c)?;
        rc = at;
        x = match () {
            () if mods.has("and") => combine::AND,
            () if mods.has("or") => combine::OR,
            () if mods.has("xor") => combine::XOR,
            () => {
                return Err(Bad::new(
                    ".and, .or or .xor is expected with a predicate operand",
                ));
            }
        };
        if negated {
            x |= combine::NOT;
        }
    }
    let mut inst = cx.blank(twin);
    (inst.d, inst.p, inst.a, inst.b, inst.c, inst.x) = (dst.0, dst.1, ra, rb, rc, x);
    cx.push(inst);
    Ok(())
}

fn is_half(ty: ScalarType) -> bool {
    use ScalarType::{BF16, BF16x2, F16, F16x2};
    matches!(ty, F16 | BF16 | F16x2 | BF16x2)
}

fn is_pair(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F16x2 | ScalarType::BF16x2)
}

/// Half precision or bfloat16 as a single.
fn widened(
    cx: &mut Cx<'_, '_>,
    from: u32,
    ty: ScalarType,
    half: Half,
    flush: bool,
) -> Result<u32, Bad> {
    let twin = match ty {
        ScalarType::F16 | ScalarType::F16x2 => map1x(|a: u32, x: u64| {
            let bits = (a >> (x & 16)) as u16;
            soft::from_f16_bits(if x & 1 != 0 { ftz16(bits) } else { bits })
        }),
        _ => map1x(|a: u32, x: u64| f32::from_bits(a >> (x & 16) << 16)),
    };
    let to = cx.temp(Class::W32)?;
    let x = if half == Half::High { 16 } else { 0 } | u64::from(flush);
    cx.raw(twin, to, &[from], x);
    Ok(to)
}

pub(in crate::exec::decode) fn setp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let ty = mods.ty()?;
    let [d, srcs @ ..] = &ins.args[..] else {
        return Err(Bad::new("operands are missing"));
    };
    let dst = match *d {
        Operand::Name(p) => (cx.pred_dst(p)?, NONE),
        Operand::Pair(p, q) => (cx.pred_dst(p)?, cx.pred_dst(q)?),
        Operand::Sink => (cx.pred_dst("_")?, NONE),
        _ => return Err(Bad::new("the destination must be a predicate")),
    };
    if is_pair(ty) {
        // One predicate for each half. The first may be an operand of the second.
        let low = cx.temp(Class::Pred)?;
        comparison(cx, &mods, ty, (low, NONE), srcs, Half::Low)?;
        if dst.1 != NONE {
            comparison(cx, &mods, ty, (dst.1, NONE), srcs, Half::High)?;
        }
        cx.raw(pred::logic(|a, _| a), dst.0, &[low, low], 0);
        return Ok(());
    }
    comparison(cx, &mods, ty, dst, srcs, Half::Low)
}

/// `set`: all ones or 1.0 where true.
pub(in crate::exec::decode) fn set<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let (dty, sty) = mods.two()?;
    let [d, srcs @ ..] = &ins.args[..] else {
        return Err(Bad::new("operands are missing"));
    };
    let yes: u64 = match (dty, is_pair(sty)) {
        (ScalarType::F32, false) => 0x3f80_0000,
        (ScalarType::U32 | ScalarType::S32, false) => 0xffff_ffff,
        (ScalarType::U16 | ScalarType::S16, false) => 0xffff,
        (ScalarType::F16, false) | (ScalarType::F16x2, true) => 0x3c00,
        (ScalarType::BF16, false) | (ScalarType::BF16x2, true) => 0x3f80,
        (ScalarType::U32 | ScalarType::S32, true) => 0xffff,
        _ => return Err(Bad::new("these types are not supported")),
    };
    let no = cx.konst(Class::W32, 0)?;
    let p = cx.temp(Class::Pred)?;
    let result = cx.temp(Class::W32)?;
    comparison(cx, &mods, sty, (p, NONE), srcs, Half::Low)?;
    let low = cx.konst(Class::W32, yes)?;
    cx.raw(pred::select::<u32>(), result, &[low, no, p], 0);
    if is_pair(sty) {
        comparison(cx, &mods, sty, (p, NONE), srcs, Half::High)?;
        let high = cx.konst(Class::W32, yes << 16)?;
        let upper = cx.temp(Class::W32)?;
        cx.raw(pred::select::<u32>(), upper, &[high, no, p], 0);
        cx.raw(map2(|a: u32, b: u32| a | b), result, &[result, upper], 0);
    }
    let dst = cx.dst(d, dty)?;
    cx.raw(map1(|a: u32| a), dst.reg, &[result], 0);
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn selp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a, b, c] = args(ins)?;
    let (ra, rb) = (cx.src(a, ty)?, cx.src(b, ty)?);
    let (rc, negated) = cx.pred(c)?;
    let twin = match Class::of(ty) {
        Class::W32 => pred::select::<u32>(),
        Class::W64 => pred::select::<u64>(),
        _ => return Err(Bad::new("this type cannot be selected")),
    };
    let dst = cx.dst(d, ty)?;
    cx.raw(twin, dst.reg, &[ra, rb, rc], u64::from(negated));
    cx.finish(&dst);
    Ok(())
}

/// `d = c >= 0 ? a : b`.
pub(in crate::exec::decode) fn slct<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["ftz"])?;
    let (ty, cty) = mods.two()?;
    let [d, a, b, c] = args(ins)?;
    // A negative zero selects a; a NaN selects b.
    let twin = match (ty.size(), cty) {
        (4, ScalarType::S32) => map3(|a: u32, b: u32, c: i32| if c >= 0 { a } else { b }),
        (4, ScalarType::F32) if mods.has("ftz") => {
            map3(|a: u32, b: u32, c: f32| if ftz(c) >= 0.0 { a } else { b })
        }
        (4, ScalarType::F32) => map3(|a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b }),
        (8, ScalarType::S32) => map3(|a: u64, b: u64, c: i32| if c >= 0 { a } else { b }),
        (8, ScalarType::F32) if mods.has("ftz") => {
            map3(|a: u64, b: u64, c: f32| if ftz(c) >= 0.0 { a } else { b })
        }
        (8, ScalarType::F32) => map3(|a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b }),
        (2, ScalarType::S32) => map3(|a: u16, b: u16, c: i32| if c >= 0 { a } else { b }),
        (2, ScalarType::F32) if mods.has("ftz") => {
            map3(|a: u16, b: u16, c: f32| if ftz(c) >= 0.0 { a } else { b })
        }
        (2, ScalarType::F32) => map3(|a: u16, b: u16, c: f32| if c >= 0.0 { a } else { b }),
        _ => return Err(Bad::new("these types are not supported")),
    };
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, cty)], 0)
}

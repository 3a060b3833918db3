//! `mov` in its scalar and packing forms, and changes of address space.

use crate::exec::access::in_window;
use crate::exec::decode::mods::Mods;
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::Class;
use crate::exec::lanes::map::{map1, map1x, map2, map2x};
use crate::exec::lanes::pred;
use crate::exec::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::ptx::{Instr, Operand, ScalarType};

pub(in crate::exec::decode) fn mov<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a] = args(ins)?;
    match (d, a) {
        (Operand::Vector(parts), _) => return unpack(cx, parts, a, ty),
        (_, Operand::Vector(parts)) => return pack(cx, d, parts, ty),
        _ => {}
    }
    if ty == ScalarType::Pred {
        // A special register that is a predicate: no grid has clusters of its own.
        if *a == Operand::Name("%is_explicit_cluster") {
            let no = cx.konst(Class::Pred, 0)?;
            let dst = cx.dst(d, ty)?;
            cx.copy(Class::Pred, dst.reg, no);
            return Ok(());
        }
        let (ra, na) = cx.pred(a)?;
        let dst = cx.dst(d, ty)?;
        cx.raw(pred::logic(|a, _| a), dst.reg, &[ra, ra], u64::from(na));
        return Ok(());
    }
    let from = cx.src(a, ty)?;
    let dst = cx.dst(d, ty)?;
    cx.copy(Class::of(ty), dst.reg, from);
    cx.finish(&dst);
    Ok(())
}

/// The type of one of `n` parts of a `ty`.
fn part_type(ty: ScalarType, n: usize) -> Result<ScalarType, Bad> {
    Ok(match (ty.size(), n) {
        (16, 2) => ScalarType::U64,
        (16, 4) | (8, 2) => ScalarType::U32,
        (8, 4) | (4, 2) => ScalarType::U16,
        (4, 4) | (2, 2) => ScalarType::U8,
        _ => return Err(Bad::new("this number of parts does not fit the type")),
    })
}

fn unpack<'a>(
    cx: &mut Cx<'a, '_>,
    parts: &[Operand<'a>],
    a: &Operand<'a>,
    ty: ScalarType,
) -> Result<(), Bad> {
    let part = part_type(ty, parts.len())?;
    let class = Class::of(ty);
    // A part may be written over the source before the others are read.
    let (from, copy) = (cx.src(a, ty)?, cx.temp(class)?);
    cx.copy(class, copy, from);
    let wide = class != Class::W32;
    for (k, d) in parts.iter().enumerate() {
        if *d == Operand::Sink {
            continue;
        }
        let bit = 8 * part.size() * k as u32;
        // The half of a 128-bit register that has the part.
        let from = copy + bit / 64 * Class::W64.bytes();
        let shift = bit % 64;
        let twin = match (wide, part) {
            (true, ScalarType::U64) => map1(|a: u64| a),
            (true, ScalarType::U32) => map1x(|a: u64, x: u64| (a >> x) as u32),
            (true, _) => map1x(|a: u64, x: u64| (a >> x) as u16),
            (false, ScalarType::U16) => map1x(|a: u32, x: u64| (a >> x) as u16),
            (false, _) => map1x(|a: u32, x: u64| (a >> x) as u8),
        };
        let dst = cx.dst(d, part)?;
        cx.raw(twin, dst.reg, &[from], u64::from(shift));
        cx.finish(&dst);
    }
    Ok(())
}

fn pack<'a>(
    cx: &mut Cx<'a, '_>,
    d: &Operand<'a>,
    parts: &[Operand<'a>],
    ty: ScalarType,
) -> Result<(), Bad> {
    let part = part_type(ty, parts.len())?;
    let class = Class::of(ty);
    let wide = class != Class::W32;
    let total = cx.temp(class)?;
    let zero = cx.konst(if wide { Class::W64 } else { Class::W32 }, 0)?;
    for (k, a) in parts.iter().enumerate() {
        let bit = 8 * part.size() * k as u32;
        let (to, shift) = (total + bit / 64 * Class::W64.bytes(), bit % 64);
        let sum = if shift == 0 { zero } else { to };
        let from = cx.src(a, part)?;
        let twin = match (wide, part) {
            (true, ScalarType::U64) => map2(|_: u64, b: u64| b),
            (true, ScalarType::U32) => map2x(|a: u64, b: u32, x: u64| a | u64::from(b) << x),
            (true, _) => map2x(|a: u64, b: u16, x: u64| a | u64::from(b) << x),
            (false, ScalarType::U16) => map2x(|a: u32, b: u16, x: u64| a | u32::from(b) << x),
            (false, _) => map2x(|a: u32, b: u8, x: u64| a | u32::from(b) << x),
        };
        cx.raw(twin, to, &[sum, from], u64::from(shift));
    }
    let dst = cx.dst(d, ty)?;
    cx.copy(class, dst.reg, total);
    cx.finish(&dst);
    Ok(())
}

const SPACES: &[&str] = &[
    "global",
    "const",
    "shared",
    "local",
    "param",
    "shared::cta",
    "shared::cluster",
    "param::entry",
];

pub(in crate::exec::decode) fn cvta<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mut allowed = vec!["to"];
    allowed.extend(SPACES);
    let mods = Mods::of(ins, &allowed)?;
    let ty = mods.ty()?;
    if ty.size() != 8 {
        return Err(Bad::new("only 64-bit addresses are supported"));
    }
    let [d, a] = args(ins)?;
    let window = match mods.find(|t| (t != "to").then_some(t)) {
        Some("shared" | "shared::cta" | "shared::cluster") => SHARED_WINDOW,
        Some("local") => LOCAL_WINDOW,
        Some("param" | "param::entry") => PARAM_WINDOW,
        Some("global" | "const") => 0,
        _ => return Err(Bad::new("a state space is expected")),
    };
    let x = if mods.has("to") {
        window.wrapping_neg()
    } else {
        window
    };
    let twin = if x == 0 {
        map1(|a: u64| a)
    } else {
        map1x(|a: u64, x: u64| a.wrapping_add(x))
    };
    cx.apply(twin, d, ty, &[(a, ty)], x)
}

pub(in crate::exec::decode) fn isspacep<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let mods = Mods::of(ins, SPACES)?;
    let [d, a] = args(ins)?;
    let ra = cx.src(a, ScalarType::U64)?;
    let dst = cx.dst(d, ScalarType::Pred)?;
    let twin = match mods.find(Some) {
        Some("shared" | "shared::cta" | "shared::cluster") => {
            pred::test(|a: u64| in_window(a, "shared") == Some(true))
        }
        Some("local") => pred::test(|a: u64| in_window(a, "local") == Some(true)),
        Some("param" | "param::entry") => pred::test(|a: u64| in_window(a, "param") == Some(true)),
        Some("global") => pred::test(|a: u64| in_window(a, "global") == Some(true)),
        Some("const") => pred::test(|_: u64| false),
        _ => return Err(Bad::new("a state space is expected")),
    };
    cx.raw(twin, dst.reg, &[ra], 0);
    Ok(())
}

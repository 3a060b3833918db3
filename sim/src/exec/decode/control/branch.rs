//! Branches, barriers and the ends of threads.

use crate::exec::ctx::Ctx;
use crate::exec::decode::body::emit_returns;
use crate::exec::decode::cx::{Draft, Scope};
use crate::exec::decode::mods::Mods;
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::{BarKind, Flow, Inst, Kind, NONE, Shape};
use crate::exec::lanes::{Body, Twin};
use crate::ptx::{Instr, Operand, ScalarType};

/// The operation of instructions that the scheduler executes.
struct Nothing;

impl Body for Nothing {
    const SHAPE: Shape = Shape::NONE;

    unsafe fn run(_: &mut Ctx<'_>, _: &Inst, _: u32) -> Flow {
        Flow::Next
    }
}

/// An instruction of the scheduler's.
pub(in crate::exec::decode) fn control(cx: &Cx<'_, '_>, kind: Kind) -> Draft {
    let mut inst = cx.blank(Twin::single::<Nothing>());
    inst.kind = kind;
    inst
}

fn label(scopes: &[Scope<'_>], name: &str) -> Result<u32, Bad> {
    let found = scopes.iter().rev().find_map(|s| s.labels.get(name));
    found
        .copied()
        .ok_or_else(|| Bad::new(format!("label {name} is not declared")))
}

pub(in crate::exec::decode) fn bra<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &["uni"])?;
    let [Operand::Name(name)] = args(ins)? else {
        return Err(Bad::new("a label is expected"));
    };
    let mut inst = control(cx, Kind::Bra);
    inst.x = u64::from(label(&cx.scopes, name)?);
    cx.push(inst);
    Ok(())
}

pub(in crate::exec::decode) fn brx<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &["idx", "uni"])?;
    let [index, Operand::Name(list)] = args(ins)? else {
        return Err(Bad::new("an index and a list of labels are expected"));
    };
    let Some(depth) = cx.scopes.iter().rposition(|s| s.targets.contains_key(list)) else {
        return Err(Bad::new(format!("list {list} is not declared")));
    };
    let table = match cx.scopes[depth].tables.get(list) {
        Some(&table) => table,
        None => {
            let targets = cx.scopes[depth].targets[list];
            let labels: Result<Vec<u32>, Bad> = targets
                .iter()
                .map(|name| label(&cx.scopes[..=depth], name))
                .collect();
            let table = cx.func.tables.len() as u32;
            cx.func.tables.push(labels?);
            cx.scopes[depth].tables.insert(list, table);
            table
        }
    };
    let a = cx.src(index, ScalarType::U32)?;
    let mut inst = control(cx, Kind::Brx);
    inst.a = a;
    inst.x = u64::from(table);
    cx.push(inst);
    Ok(())
}

pub(in crate::exec::decode) fn ret<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &["uni"])?;
    emit_returns(cx)?;
    let inst = control(cx, Kind::Ret);
    cx.push(inst);
    Ok(())
}

pub(in crate::exec::decode) fn exit<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &[])?;
    let inst = control(cx, Kind::Exit);
    cx.push(inst);
    Ok(())
}

/// `trap` and `brkpt`, which without a debugger is one.
pub(in crate::exec::decode) fn trap<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &[])?;
    let inst = control(cx, Kind::Trap);
    cx.push(inst);
    Ok(())
}

/// `nanosleep`: others run meanwhile, however long that takes.
pub(in crate::exec::decode) fn nanosleep<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [time] = args(ins)?;
    cx.src(time, ty)?;
    let inst = control(cx, Kind::Yield);
    cx.push(inst);
    Ok(())
}

/// `bar` and `barrier`: `.sync`, `.arrive`, `.red`, and `bar.warp.sync`.
pub(in crate::exec::decode) fn bar<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let allowed = [
        "cta", "warp", "sync", "arrive", "red", "popc", "and", "or", "aligned",
    ];
    let mods = Mods::of(ins, &allowed)?;
    if mods.has("warp") {
        let [members] = args(ins)?;
        let mut inst = control(cx, Kind::WarpBar);
        inst.e = cx.src(members, ScalarType::U32)?;
        cx.push(inst);
        return Ok(());
    }
    if mods.has("red") {
        return reduce(cx, ins, &mods);
    }
    let kind = if mods.has("arrive") {
        BarKind::Arrive
    } else {
        BarKind::Sync
    };
    let (number, count) = match &ins.args[..] {
        [a] => (a, None),
        [a, b] => (a, Some(b)),
        _ => return Err(Bad::new("one or two operands are expected")),
    };
    if kind == BarKind::Arrive && count.is_none() {
        return Err(Bad::new("a thread count is expected"));
    }
    barrier(cx, kind, number, count, (NONE, NONE, false))
}

fn barrier<'a>(
    cx: &mut Cx<'a, '_>,
    kind: BarKind,
    number: &Operand<'a>,
    count: Option<&Operand<'a>>,
    (d, p, negated): (u32, u32, bool),
) -> Result<(), Bad> {
    let a = cx.src(number, ScalarType::U32)?;
    let b = match count {
        Some(count) => cx.src(count, ScalarType::U32)?,
        None => NONE,
    };
    let mut inst = control(cx, Kind::Bar);
    inst.bar = kind;
    (inst.a, inst.b, inst.d, inst.p) = (a, b, d, p);
    inst.x = u64::from(negated);
    cx.push(inst);
    Ok(())
}

fn reduce<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>, mods: &Mods<'a>) -> Result<(), Bad> {
    let (kind, class) = match mods.find(|t| matches!(t, "popc" | "and" | "or").then_some(t)) {
        Some("popc") => (BarKind::Popc, ScalarType::U32),
        Some("and") => (BarKind::And, ScalarType::Pred),
        Some(_) => (BarKind::Or, ScalarType::Pred),
        None => return Err(Bad::new("a reduction is expected")),
    };
    let (d, number, count, p) = match &ins.args[..] {
        [d, a, p] => (d, a, None, p),
        [d, a, b, p] => (d, a, Some(b), p),
        _ => return Err(Bad::new("three or four operands are expected")),
    };
    let (p, negated) = cx.pred(p)?;
    let dst = cx.dst(d, class)?;
    if class == ScalarType::U32 && cx.src(d, class)? != dst.reg {
        return Err(Bad::new("the destination must be 32 bits wide"));
    }
    barrier(cx, kind, number, count, (dst.reg, p, negated))
}

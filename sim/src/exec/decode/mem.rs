//! Loads, stores, atomics, fences and cache hints.

use super::cx::Loc;
use super::mods::{Mods, signed};
use super::{Bad, Cx, Place};
use crate::exec::access::{MemSpace, atom as atoms, load_store};
use crate::exec::check::Mode;
use crate::exec::ctx::Ctx;
use crate::exec::inst::{Class, Flow, Inst, NONE};
use crate::exec::lanes::map::map1;
use crate::exec::lanes::sreg::{self, Sreg};
use crate::exec::lanes::{Body, Twin};
use crate::exec::memory::PARAM_WINDOW;
use crate::ptx::{Instr, Operand, ScalarType};

const MODS: &[&str] = &[
    "global",
    "shared",
    "local",
    "const",
    "param",
    "shared::cta",
    "shared::cluster",
    "param::entry",
    "param::func",
    "weak",
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "sc",
    "mmio",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "gl",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "v2",
    "v4",
    "v8",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::cache_hint",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "unified",
];

/// Where an access goes, as far as is known when decoding.
enum Target {
    /// Address register and offset.
    Memory(MemSpace, u32, u64),
    /// Offset in the kernel's parameters.
    Param(u32),
}

fn target<'a>(cx: &mut Cx<'a, '_>, mods: &Mods<'a>, arg: &Operand<'a>) -> Result<Target, Bad> {
    let Operand::Address(base, offset) = *arg else {
        return Err(Bad::new("an address is expected"));
    };
    let shared = mods.has("shared") || mods.has("shared::cta") || mods.has("shared::cluster");
    let param = mods.has("param") || mods.has("param::entry") || mods.has("param::func");
    let space = match () {
        () if shared => MemSpace::Shared,
        () if mods.has("local") => MemSpace::Local,
        () => MemSpace::Generic,
    };
    let Some(name) = base else {
        let at = cx.konst(Class::W64, offset.cast_unsigned())?;
        return Ok(Target::Memory(space, at, 0));
    };
    if let Some((class, at)) = cx.reg(name)? {
        let at = match class {
            Class::W64 => at,
            Class::W32 => {
                let wide = cx.temp(Class::W64)?;
                cx.raw(map1(|a: u32| u64::from(a)), wide, &[at], 0);
                wide
            }
            Class::Pred => return Err(Bad::new("a predicate is not an address")),
        };
        let window = if param { PARAM_WINDOW } else { 0 };
        return Ok(Target::Memory(
            space,
            at,
            offset.cast_unsigned().wrapping_add(window),
        ));
    }
    match cx.var(name) {
        Some(Loc::Param(at, size)) => {
            let at = i64::from(at)
                .checked_add(offset)
                .and_then(|v| u32::try_from(v).ok());
            let at = at.filter(|_| offset >= 0 && offset < i64::from(size));
            at.map(Target::Param)
                .ok_or_else(|| Bad::new("the offset is outside the parameter"))
        }
        Some(Loc::Local(at)) => {
            let base = cx.temp(Class::W64)?;
            cx.raw(
                sreg::read64(),
                base,
                &[],
                sreg::read64_code(Sreg::LocalBase),
            );
            Ok(Target::Memory(
                MemSpace::Local,
                base,
                u64::from(at).wrapping_add(offset.cast_unsigned()),
            ))
        }
        Some(Loc::Module(Place::Shared(_) | Place::DynamicShared)) => {
            let (_, at) = cx.address_of(name, offset)?;
            Ok(Target::Memory(MemSpace::Shared, at, 0))
        }
        _ => {
            let (_, at) = cx.address_of(name, offset)?;
            Ok(Target::Memory(space, at, 0))
        }
    }
}

/// The elements of a `.v2` or `.v4` operand, or the operand itself.
fn elements<'i, 'a>(mods: &Mods<'_>, arg: &'i Operand<'a>) -> Result<&'i [Operand<'a>], Bad> {
    let n = match () {
        () if mods.has("v2") => 2,
        () if mods.has("v4") => 4,
        () if mods.has("v8") => 8,
        () => return Ok(std::slice::from_ref(arg)),
    };
    match arg {
        Operand::Vector(parts) if parts.len() == n => Ok(parts),
        _ => Err(Bad::new(format!("a vector of {n} elements is expected"))),
    }
}

/// Whether other threads may make such accesses to the same bytes at the same time.
fn is_strong(mods: &Mods<'_>) -> bool {
    let strong = ["volatile", "relaxed", "acquire", "release", "mmio"];
    strong.into_iter().any(|word| mods.has(word))
}

pub(super) fn ld<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let ty = mods.ty()?;
    let ([d, a] | [d, a, _]) = &ins.args[..] else {
        return Err(Bad::new("two operands are expected"));
    };
    let parts = elements(&mods, d)?;
    let target = target(cx, &mods, a)?;
    let size = ty.size();
    if size > 8 || ty == ScalarType::Pred {
        return Err(Bad::new("this type is not supported"));
    }
    if let Target::Memory(space, base, offset) = target {
        let mode = Mode::load(is_strong(&mods));
        cx.check(mode, space, base, offset, size * parts.len() as u32);
    }
    // A load of several registers must not overwrite its own address half-way.
    let staged = parts.len() > 1;
    let class = Class::of(ty).ok_or_else(|| Bad::new("this type is not supported"))?;
    let mut temps = Vec::new();
    for k in 0..parts.len() as u32 {
        let (reg, dst) = if staged {
            (cx.temp(class)?, None)
        } else {
            let dst = cx.dst(d, ty)?;
            (dst.reg, Some(dst))
        };
        match target {
            Target::Param(at) => cx.raw(
                sreg::param(size, signed(ty)),
                reg,
                &[],
                u64::from(at + k * size),
            ),
            Target::Memory(space, base, offset) => {
                let mut inst = cx.blank(load_store::load(space, size, signed(ty)));
                (inst.d, inst.a) = (reg, base);
                inst.x = offset.wrapping_add(u64::from(k * size));
                // The first element's alignment is the whole vector's.
                inst.b = if k == 0 {
                    size * parts.len() as u32 - 1
                } else {
                    size - 1
                };
                inst.p = cx.slot();
                cx.push(inst);
            }
        }
        if let Some(dst) = dst {
            cx.finish(&dst);
        }
        temps.push(reg);
    }
    if staged {
        let copy = if class == Class::W64 {
            map1(|a: u64| a)
        } else {
            map1(|a: u32| a)
        };
        for (part, reg) in parts.iter().zip(temps) {
            if *part != Operand::Sink {
                let dst = cx.dst(part, ty)?;
                cx.raw(copy, dst.reg, &[reg], 0);
                cx.finish(&dst);
            }
        }
    }
    if mods.has("acquire") {
        cx.raw(Twin::single::<Fence>(), NONE, &[], 0);
    }
    Ok(())
}

pub(super) fn st<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let ty = mods.ty()?;
    let ([a, v] | [a, v, _]) = &ins.args[..] else {
        return Err(Bad::new("two operands are expected"));
    };
    let parts = elements(&mods, v)?;
    let size = ty.size();
    if size > 8 || ty == ScalarType::Pred {
        return Err(Bad::new("this type is not supported"));
    }
    if mods.has("release") {
        cx.raw(Twin::single::<Fence>(), NONE, &[], 0);
    }
    let Target::Memory(space, base, offset) = target(cx, &mods, a)? else {
        return Err(Bad::new("the parameters of a kernel cannot be written"));
    };
    let mode = Mode::store(is_strong(&mods));
    cx.check(mode, space, base, offset, size * parts.len() as u32);
    for (k, part) in parts.iter().enumerate() {
        let k = k as u32;
        let value = cx.src(part, ty)?;
        let mut inst = cx.blank(load_store::store(space, size));
        (inst.d, inst.a) = (value, base);
        inst.x = offset.wrapping_add(u64::from(k * size));
        inst.b = if k == 0 {
            size * parts.len() as u32 - 1
        } else {
            size - 1
        };
        inst.p = cx.slot();
        cx.push(inst);
    }
    Ok(())
}

struct Fence;

impl Body for Fence {
    unsafe fn run(_: &mut Ctx<'_>, _: &Inst, _: u32) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        Flow::Next
    }
}

pub(super) fn fence<'a>(cx: &mut Cx<'a, '_>, _: &Instr<'a>) -> Result<(), Bad> {
    cx.raw(Twin::single::<Fence>(), NONE, &[], 0);
    Ok(())
}

/// Hints about caches and resources: nothing to do.
#[allow(clippy::unnecessary_wraps, reason = "the signature is the table's")]
pub(super) fn hint<'a>(_: &mut Cx<'a, '_>, _: &Instr<'a>) -> Result<(), Bad> {
    Ok(())
}

const ATOM_OPS: &[&str] = &[
    "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas", "noftz",
];

fn operation(op: &str, ty: ScalarType) -> Option<Twin> {
    use ScalarType::{B16, B32, B64, F32, F64, S32, S64, U16, U32, U64};
    use atoms::atom;
    Some(match (op, ty) {
        ("add", U32 | S32 | B32) => atom(|o: u32, b: u32, _: u32| o.wrapping_add(b)),
        ("add", U64 | S64 | B64) => atom(|o: u64, b: u64, _: u64| o.wrapping_add(b)),
        ("add", F32) => atom(|o: u32, b: f32, _: f32| (f32::from_bits(o) + b).to_bits()),
        ("add", F64) => atom(|o: u64, b: f64, _: f64| (f64::from_bits(o) + b).to_bits()),
        ("min", U32) => atom(|o: u32, b: u32, _: u32| o.min(b)),
        ("max", U32) => atom(|o: u32, b: u32, _: u32| o.max(b)),
        ("min", S32) => atom(|o: u32, b: i32, _: i32| o.cast_signed().min(b).cast_unsigned()),
        ("max", S32) => atom(|o: u32, b: i32, _: i32| o.cast_signed().max(b).cast_unsigned()),
        ("min", U64) => atom(|o: u64, b: u64, _: u64| o.min(b)),
        ("max", U64) => atom(|o: u64, b: u64, _: u64| o.max(b)),
        ("min", S64) => atom(|o: u64, b: i64, _: i64| o.cast_signed().min(b).cast_unsigned()),
        ("max", S64) => atom(|o: u64, b: i64, _: i64| o.cast_signed().max(b).cast_unsigned()),
        ("inc", U32) => atom(|o: u32, b: u32, _: u32| if o >= b { 0 } else { o + 1 }),
        ("dec", U32) => atom(|o: u32, b: u32, _: u32| if o == 0 || o > b { b } else { o - 1 }),
        ("and", B32 | U32 | S32) => atom(|o: u32, b: u32, _: u32| o & b),
        ("or", B32 | U32 | S32) => atom(|o: u32, b: u32, _: u32| o | b),
        ("xor", B32 | U32 | S32) => atom(|o: u32, b: u32, _: u32| o ^ b),
        ("and", B64 | U64 | S64) => atom(|o: u64, b: u64, _: u64| o & b),
        ("or", B64 | U64 | S64) => atom(|o: u64, b: u64, _: u64| o | b),
        ("xor", B64 | U64 | S64) => atom(|o: u64, b: u64, _: u64| o ^ b),
        ("exch", B32 | U32 | S32 | F32) => atom(|_: u32, b: u32, _: u32| b),
        ("exch", B64 | U64 | S64 | F64) => atom(|_: u64, b: u64, _: u64| b),
        ("cas", B16 | U16) => atom(|o: u16, b: u16, c: u16| if o == b { c } else { o }),
        ("cas", B32 | U32 | S32 | F32) => atom(|o: u32, b: u32, c: u32| if o == b { c } else { o }),
        ("cas", B64 | U64 | S64 | F64) => atom(|o: u64, b: u64, c: u64| if o == b { c } else { o }),
        _ => return None,
    })
}

/// `atom`, and `red`, which is the same without a result.
pub(super) fn atom<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mut allowed = MODS.to_vec();
    allowed.extend(ATOM_OPS);
    let mods = Mods::of(ins, &allowed)?;
    let ty = mods.ty()?;
    let op = mods
        .find(|t| (t != "noftz" && ATOM_OPS.contains(&t)).then_some(t))
        .ok_or_else(|| Bad::new("an atomic operation is expected"))?;
    if mods.has("v2") || mods.has("v4") || mods.has("v8") {
        return Err(Bad::new("vector atomics are not supported"));
    }
    let twin = operation(op, ty)
        .ok_or_else(|| Bad::new(format!("atomic .{op} is not supported for this type")))?;
    let (d, rest) = match &ins.args[..] {
        [d, rest @ ..] if ins.op.base == "atom" => (Some(d), rest),
        rest => (None, rest),
    };
    let (a, b, c) = match (rest, op) {
        ([a, b, c], "cas") => (a, b, c),
        ([a, b] | [a, b, _], _) if op != "cas" => (a, b, b),
        _ => return Err(Bad::new("the number of operands is wrong")),
    };
    let Target::Memory(space, base, offset) = target(cx, &mods, a)? else {
        return Err(Bad::new("the parameters of a kernel cannot be written"));
    };
    cx.check(Mode::atomic(), space, base, offset, ty.size());
    let (rb, rc) = (cx.src(b, ty)?, cx.src(c, ty)?);
    let dst = d.map(|d| cx.dst(d, ty)).transpose()?;
    let slot = cx.slot();
    let mut inst = cx.blank(twin);
    (inst.a, inst.b, inst.c, inst.x) = (base, rb, rc, offset);
    inst.d = dst.as_ref().map_or(NONE, |d| d.reg);
    inst.p = slot | atoms::space_bits(space);
    cx.push(inst);
    if let Some(dst) = dst {
        cx.finish(&dst);
    }
    Ok(())
}

//! Loads and stores.

use crate::exec::access::{MemSpace, load_store};
use crate::exec::check::Mode;
use crate::exec::decode::cx::Loc;
use crate::exec::decode::memory::hint;
use crate::exec::decode::mods::{Mods, signed};
use crate::exec::decode::{Bad, Cx, Place};
use crate::exec::inst::{Class, NONE};
use crate::exec::lanes::map::map1;
use crate::exec::lanes::sreg::{self, Sreg};
use crate::exec::memory::PARAM_WINDOW;
use crate::ptx::{Instr, Operand, ScalarType};

pub(in crate::exec::decode) const MODS: &[&str] = &[
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
    "L2::evict_unchanged",
    "L2::evict_first",
    "L2::evict_last",
    "L2::cache_hint",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "unified",
];

/// Where an access goes, as far as is known when decoding.
pub(in crate::exec::decode) enum Target {
    /// Address register and offset.
    Memory(MemSpace, u32, u64),
    /// Offset in the kernel's parameters.
    Param(u32),
}

pub(in crate::exec::decode) fn target<'a>(
    cx: &mut Cx<'a, '_>,
    mods: &Mods<'a>,
    arg: &Operand<'a>,
) -> Result<Target, Bad> {
    // An element of an array is one without brackets of its own.
    let (base, offset) = match *arg {
        Operand::Address(base, offset) => (base, offset),
        Operand::Element { name, offset, .. } => (Some(name), offset),
        _ => return Err(Bad::new("an address is expected")),
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
            Class::Pred | Class::W128 => {
                return Err(Bad::new(format!("{name} cannot hold an address")));
            }
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
pub(in crate::exec::decode) fn elements<'i, 'a>(
    mods: &Mods<'_>,
    arg: &'i Operand<'a>,
) -> Result<&'i [Operand<'a>], Bad> {
    let n = match () {
        () if mods.has("v2") => 2,
        () if mods.has("v4") => 4,
        () if mods.has("v8") => 8,
        () => 1,
    };
    match arg {
        // Braces around one element change nothing.
        arg if n == 1 && !matches!(arg, Operand::Vector(_)) => Ok(std::slice::from_ref(arg)),
        Operand::Vector(parts) if parts.len() == n => Ok(parts),
        _ => Err(Bad::new(format!("a vector of {n} elements is expected"))),
    }
}

/// Whether other threads may make such accesses to the same bytes at the same time.
fn is_strong(mods: &Mods<'_>) -> bool {
    let strong = ["volatile", "relaxed", "acquire", "release", "mmio"];
    strong.into_iter().any(|word| mods.has(word))
}

/// The accesses that move one element: as wide as it is, or two halves of 128 bits.
fn pieces(ty: ScalarType) -> Result<(u32, &'static [u32]), Bad> {
    match ty {
        ScalarType::Pred => Err(Bad::new("predicates are not in memory")),
        ScalarType::B128 => Ok((8, &[0, 8])),
        _ => Ok((ty.size(), &[0])),
    }
}

/// Trailing operands: a cache policy.
fn policy<'a>(cx: &mut Cx<'a, '_>, mods: &Mods<'a>, arg: Option<&Operand<'a>>) -> Result<(), Bad> {
    match (arg, mods.has("L2::cache_hint")) {
        (None, false) => Ok(()),
        (Some(policy), true) => cx.src(policy, ScalarType::B64).map(drop),
        _ => Err(Bad::new(".L2::cache_hint and a cache policy go together")),
    }
}

pub(in crate::exec::decode) fn ld<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let ty = mods.ty()?;
    let [d, a, rest @ ..] = &ins.args[..] else {
        return Err(Bad::new("two operands are expected"));
    };
    policy(cx, &mods, one_or_none(rest)?)?;
    let parts = elements(&mods, d)?;
    let target = target(cx, &mods, a)?;
    let (size, offsets) = pieces(ty)?;
    if let Target::Memory(space, base, offset) = target {
        let mode = Mode::load(is_strong(&mods));
        cx.check(mode, space, base, offset, ty.size() * parts.len() as u32);
    }
    // A load of several registers must not overwrite its own address half-way.
    let staged = parts.len() > 1;
    let class = Class::of(ty);
    let whole = ty.size() * parts.len() as u32;
    let mut temps = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let (reg, dst) = if staged {
            (cx.temp(class)?, None)
        } else {
            let dst = cx.dst(part, ty)?;
            (dst.reg, Some(dst))
        };
        for half in offsets {
            let at = k as u32 * ty.size() + half;
            // The second half of a register of 128 bits.
            let reg = reg + half / 8 * Class::W64.bytes();
            match target {
                Target::Param(param) => {
                    let twin = sreg::param(size, signed(ty));
                    cx.raw(twin, reg, &[], u64::from(param + at));
                }
                Target::Memory(space, base, offset) => {
                    let mut inst = cx.blank(load_store::load(space, size, signed(ty)));
                    (inst.d, inst.a) = (reg, base);
                    inst.x = offset.wrapping_add(u64::from(at));
                    // The first access's alignment is the whole vector's.
                    inst.b = if at == 0 { whole - 1 } else { size - 1 };
                    inst.p = cx.slot();
                    cx.push(inst);
                }
            }
        }
        if let Some(dst) = dst {
            cx.finish(&dst);
        }
        temps.push(reg);
    }
    if staged {
        for (part, reg) in parts.iter().zip(temps) {
            if *part != Operand::Sink {
                let dst = cx.dst(part, ty)?;
                cx.copy(class, dst.reg, reg);
                cx.finish(&dst);
            }
        }
    }
    if mods.has("acquire") {
        cx.raw(hint::fence_twin(), NONE, &[], 0);
    }
    Ok(())
}

fn one_or_none<T>(rest: &[T]) -> Result<Option<&T>, Bad> {
    match rest {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(Bad::new("there are too many operands")),
    }
}

pub(in crate::exec::decode) fn st<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, MODS)?;
    let ty = mods.ty()?;
    let [a, v, rest @ ..] = &ins.args[..] else {
        return Err(Bad::new("two operands are expected"));
    };
    policy(cx, &mods, one_or_none(rest)?)?;
    let parts = elements(&mods, v)?;
    let (size, offsets) = pieces(ty)?;
    if mods.has("release") {
        cx.raw(hint::fence_twin(), NONE, &[], 0);
    }
    let Target::Memory(space, base, offset) = target(cx, &mods, a)? else {
        return Err(Bad::new("the parameters of a kernel cannot be written"));
    };
    let whole = ty.size() * parts.len() as u32;
    let mode = Mode::store(is_strong(&mods));
    cx.check(mode, space, base, offset, whole);
    for (k, part) in parts.iter().enumerate() {
        let value = cx.src(part, ty)?;
        for half in offsets {
            let at = k as u32 * ty.size() + half;
            let mut inst = cx.blank(load_store::store(space, size));
            (inst.d, inst.a) = (value + half / 8 * Class::W64.bytes(), base);
            inst.x = offset.wrapping_add(u64::from(at));
            inst.b = if at == 0 { whole - 1 } else { size - 1 };
            inst.p = cx.slot();
            cx.push(inst);
        }
    }
    Ok(())
}

//! Fences, and hints about caches and resources. The latter do nothing here, as PTX allows,
//! but a hint with operands that make no sense is an error all the same.

use crate::exec::ctx::Ctx;
use crate::exec::decode::memory::load_store::{self, Target};
use crate::exec::decode::mods::Mods;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::{Class, Flow, Inst, NONE, Shape};
use crate::exec::lanes::{Body, Twin};
use crate::ptx::{Instr, Operand, ScalarType};

struct Fence;

impl Body for Fence {
    const SHAPE: Shape = Shape::NONE;

    unsafe fn run(_: &mut Ctx<'_>, _: &Inst, _: u32) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        Flow::Next
    }
}

/// A fence of the strongest kind, which serves for all of them.
pub(super) fn fence_twin() -> Twin {
    Twin::single::<Fence>()
}

/// `membar` and `fence`.
pub(in crate::exec::decode) fn fence<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let allowed = [
        "cta",
        "gl",
        "sys",
        "cluster",
        "gpu",
        "sc",
        "acq_rel",
        "acquire",
        "release",
        "sync_restrict::shared::cta",
        "sync_restrict::shared::cluster",
        "mbarrier_init",
        // Other proxies are other ways to the same memory, which here is one way.
        "proxy",
        "alias",
        "async",
        "async.global",
        "global",
        "shared::cta",
        "shared::cluster",
        "async::generic",
    ];
    Mods::of(ins, &allowed)?;
    if !ins.args.is_empty() {
        return Err(Bad::new("no operands are expected"));
    }
    cx.raw(fence_twin(), NONE, &[], 0);
    Ok(())
}

/// Checks that an operand names something.
fn operand<'a>(cx: &mut Cx<'a, '_>, mods: &Mods<'a>, arg: &Operand<'a>) -> Result<(), Bad> {
    match arg {
        Operand::Address(..) | Operand::Element { .. } => {
            match load_store::target(cx, mods, arg)? {
                Target::Memory(..) | Target::Param(_) => Ok(()),
            }
        }
        Operand::Name(name) => match cx.reg(name)? {
            Some(_) => Ok(()),
            None => Err(Bad::new(format!("{name} is not a register"))),
        },
        Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => Ok(()),
        _ => Err(Bad::new("this form of operand is not supported here")),
    }
}

/// `prefetch`, `prefetchu`, `applypriority`, `discard`, `pmevent`, `setmaxnreg` and
/// `griddepcontrol`.
pub(in crate::exec::decode) fn hint<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mut allowed = load_store::MODS.to_vec();
    let own: &[&str] = match ins.op.base {
        "prefetch" => &["L1", "L2", "tensormap"],
        "prefetchu" => &["L1"],
        "discard" => &["L2"],
        "pmevent" => &["mask"],
        "setmaxnreg" => &["inc", "dec", "sync", "aligned"],
        "griddepcontrol" => &["launch_dependents", "wait"],
        _ => &[],
    };
    allowed.extend(own);
    let mods = Mods::of(ins, &allowed)?;
    let counts = match ins.op.base {
        "griddepcontrol" => 0..=0,
        "discard" | "applypriority" => 2..=2,
        _ => 1..=1,
    };
    if !counts.contains(&ins.args.len()) {
        return Err(Bad::new("the number of operands is wrong"));
    }
    // Nothing is executed: what the operands' addresses need is taken back.
    let before = cx.func.code.len();
    let checked = ins.args.iter().try_for_each(|arg| operand(cx, &mods, arg));
    cx.func.code.truncate(before);
    checked
}

/// `createpolicy`: a value that only cache hints look at, which do nothing. It says how it
/// was made, so that two different policies differ.
pub(in crate::exec::decode) fn createpolicy<'a>(
    cx: &mut Cx<'a, '_>,
    ins: &Instr<'a>,
) -> Result<(), Bad> {
    let mut allowed = load_store::MODS.to_vec();
    allowed.extend(["fractional", "range", "cvt", "L2"]);
    let mods = Mods::of(ins, &allowed)?;
    let [d, rest @ ..] = &ins.args[..] else {
        return Err(Bad::new("operands are missing"));
    };
    let before = cx.func.code.len();
    let checked = rest.iter().try_for_each(|arg| operand(cx, &mods, arg));
    cx.func.code.truncate(before);
    checked?;
    let hash = ins.op.mods.iter().flat_map(|m| m.bytes());
    let policy = hash.fold(0xcbf2_9ce4_8422_2325, |h: u64, b| {
        (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
    });
    let from = cx.konst(Class::W64, policy)?;
    let dst = cx.dst(d, ScalarType::B64)?;
    cx.copy(Class::W64, dst.reg, from);
    cx.finish(&dst);
    Ok(())
}

//! The interpreter's inner loop: operations, and branches that a group takes or does not
//! take as a whole. Whatever concerns the scheduler ends it.

use crate::exec::ctx::Ctx;
use crate::exec::inst::{Flow, Inst, Kind, NONE};

/// Why the loop ended. The pc is that of the instruction to go on with, or which is meant.
pub(super) enum Pause<'c> {
    /// The pc has reached the limit.
    Limit,
    /// The budget is used up; the pc is a branch's target.
    Slice,
    /// A branch went backward, and the group is not alone.
    Backward,
    /// These lanes take the branch to this target, the others do not.
    Split(u32, u32),
    /// The scheduler's instruction, for these lanes; or the end of the code.
    Control(u32),
    /// This instruction faulted, executed by these lanes.
    Fault(&'c Inst, u32),
}

/// How far the loop may go.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Where another group waits, or [`u32::MAX`].
    pub(super) limit: u32,
    /// Loops end when the count of instructions reaches this.
    pub(super) end: u64,
    /// No other group may want the turn.
    pub(super) alone: bool,
}

/// Runs the lanes of `mask` from `at`'s pc, and counts instructions in its second part.
///
/// # Safety
/// As for [`OpFn`](crate::exec::inst::OpFn), for every instruction of `code`.
// Divergent kernels leave and enter this loop every few instructions; as a call of its own
// that costs them up to a fifth.
#[inline(always)]
pub(super) unsafe fn run<'c>(
    cx: &mut Ctx<'_>,
    code: &'c [Inst],
    at: (&mut u32, &mut u64),
    mask: u32,
    bounds: Bounds,
) -> Pause<'c> {
    let Bounds { limit, end, alone } = bounds;
    let (pc, steps) = at;
    let mut count = *steps;
    let mut next = *pc;
    let pause = loop {
        if next >= limit {
            break Pause::Limit;
        }
        let Some(inst) = code.get(next as usize) else {
            break Pause::Control(mask);
        };
        let run = u32::from(inst.run).min(limit - next);
        if run != 0 {
            // Nothing but operations for all lanes: no question to ask between them.
            let Some(ops) = code.get(next as usize..(next + run) as usize) else {
                break Pause::Control(mask);
            };
            // SAFETY: by contract.
            let stopped = ops
                .iter()
                .find(|op| unsafe { (op.f)(cx, op, mask) } == Flow::Fault);
            // What a run has left from an instruction on includes what it has left later.
            let left = code.get((next + run) as usize).map_or(0, |op| op.steps);
            let clipped = run < u32::from(inst.run);
            count += u64::from(inst.steps) - if clipped { u64::from(left) } else { 0 };
            if let Some(op) = stopped {
                break Pause::Fault(op, mask);
            }
            next += run;
            continue;
        }
        count += u64::from(inst.weight);
        if inst.kind == Kind::OpBra {
            count += 1;
            // SAFETY: by contract.
            if unsafe { (inst.f)(cx, inst, mask) } == Flow::Fault {
                break Pause::Fault(inst, mask);
            }
        }
        // SAFETY: the frame belongs to this function, so guards are its predicates.
        let m = unsafe { guarded(cx, inst, mask) };
        match inst.kind {
            Kind::Op => {
                // SAFETY: by contract.
                if m != 0 && unsafe { (inst.f)(cx, inst, m) } == Flow::Fault {
                    break Pause::Fault(inst, m);
                }
                next += 1;
            }
            _ if m == 0 => next += 1,
            Kind::Bra | Kind::OpBra if m != mask => break Pause::Split(inst.e, m),
            Kind::Bra | Kind::OpBra => {
                let backward = inst.e <= next;
                next = inst.e;
                if backward {
                    if count >= end {
                        break Pause::Slice;
                    }
                    if !alone {
                        break Pause::Backward;
                    }
                }
            }
            _ => break Pause::Control(m),
        }
    };
    (*pc, *steps) = (next, count);
    pause
}

/// Lanes of `mask` for which the guard holds.
///
/// # Safety
/// `cx.regs` must be a frame of the instruction's function.
#[inline(always)]
unsafe fn guarded(cx: &Ctx<'_>, inst: &Inst, mask: u32) -> u32 {
    if inst.guard == NONE {
        return mask;
    }
    // SAFETY: by contract.
    let p = unsafe { cx.pred(inst.guard >> 1) };
    mask & if inst.guard & 1 != 0 { !p } else { p }
}

//! The last pass over a function's code: fewer steps for the interpreter, with the same
//! effect.
//!
//! - A branch around a branch becomes one branch with the opposite guard.
//! - An operation before a branch is executed with it.
//! - Operations that follow each other are counted, so that the interpreter's loop over
//!   them asks nothing in between.

use crate::exec::inst::{Func, Inst, Kind, NONE};

/// Finishes the code of `func`, whose branch targets are in `x`.
pub(super) fn finish(func: &mut Func) {
    invert(func);
    join(func);
    for inst in &mut func.code {
        // In joined instructions `x` is the operation's.
        if inst.kind == Kind::Bra {
            inst.e = inst.x as u32;
        }
    }
    count(func);
}

/// Where control may come to other than from the instruction before.
fn entered(func: &Func) -> Vec<bool> {
    let mut entered = vec![false; func.code.len() + 1];
    for inst in &func.code {
        if inst.kind == Kind::Bra {
            entered[inst.x as usize] = true;
        }
    }
    for &target in func.tables.iter().flatten() {
        entered[target as usize] = true;
    }
    entered
}

/// `@p bra NEXT; bra ELSEWHERE; NEXT:` becomes `@!p bra ELSEWHERE; NEXT:`.
fn invert(func: &mut Func) {
    let entered = entered(func);
    let mut keep = vec![true; func.code.len()];
    for i in 0..func.code.len().saturating_sub(1) {
        let (first, second) = (func.code[i], func.code[i + 1]);
        let around = first.kind == Kind::Bra
            && first.guard != NONE
            && first.x == i as u64 + 2
            && second.kind == Kind::Bra
            && second.guard == NONE
            && !entered[i + 1];
        if around {
            func.code[i].guard ^= 1;
            func.code[i].x = second.x;
            keep[i + 1] = false;
        }
    }
    retain(func, &keep);
}

/// Puts an operation and the branch behind it into one instruction.
fn join(func: &mut Func) {
    let entered = entered(func);
    let mut keep = vec![true; func.code.len()];
    for i in 0..func.code.len().saturating_sub(1) {
        let (op, bra) = (func.code[i], func.code[i + 1]);
        // The operation's `e` becomes the branch's target.
        if is_plain(&op) && op.e == NONE && bra.kind == Kind::Bra && !entered[i + 1] {
            func.code[i + 1] = Inst {
                kind: Kind::OpBra,
                guard: bra.guard,
                // An index of the old code until `retain`.
                e: bra.x as u32,
                ..op
            };
            keep[i] = false;
        }
    }
    retain(func, &keep);
}

/// Drops instructions. A branch to one that goes leads to the next that stays.
fn retain(func: &mut Func, keep: &[bool]) {
    let mut moved = Vec::with_capacity(keep.len() + 1);
    let mut at = 0u32;
    for &stays in keep {
        moved.push(at);
        at += u32::from(stays);
    }
    moved.push(at);
    let mut stays = keep.iter();
    func.code.retain(|_| stays.next() != Some(&false));
    for inst in &mut func.code {
        match inst.kind {
            Kind::Bra => inst.x = u64::from(moved[inst.x as usize]),
            Kind::OpBra => inst.e = moved[inst.e as usize],
            _ => {}
        }
    }
    for target in func.tables.iter_mut().flatten() {
        *target = moved[*target as usize];
    }
}

/// An operation for all lanes that are there.
fn is_plain(inst: &Inst) -> bool {
    inst.kind == Kind::Op && inst.guard == NONE
}

/// Sets the lengths of runs. A run may be entered in its middle.
fn count(func: &mut Func) {
    let mut run = 0u16;
    for inst in func.code.iter_mut().rev() {
        run = if is_plain(inst) {
            run.saturating_add(1)
        } else {
            0
        };
        inst.run = run;
    }
}

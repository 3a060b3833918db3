//! The last pass over a function's code: fewer steps for the interpreter, with the same
//! effect.
//!
//! - An operation whose result only the next one uses is executed with it: the result does not
//!   go through memory, and the register is not written.
//! - A branch around a branch becomes one branch with the opposite guard.
//! - An operation before a branch is executed with it.
//! - Operations that follow each other are counted, so that the interpreter's loop over
//!   them asks nothing in between.

use crate::exec::decode::passes::pair;
use crate::exec::inst::{Func, Inst, Kind, NONE, Tag};
use crate::ptx::Instr;

/// Longest run of operations that is counted as one.
const MOST: u16 = 16_000;

/// Notes what the instruction of a program is, if it became one operation.
pub(in crate::exec::decode) fn mark(code: &mut [Inst], ins: &Instr<'_>) {
    if let [op] = code
        && is_plain(op)
    {
        op.tag = pair::tag(ins);
    }
}

/// Finishes the code of `func`, whose branch targets are in `x`. `mentions` says how often
/// the program names the register at each multiple of 128 bytes.
pub(in crate::exec::decode) fn finish(func: &mut Func, mentions: &[u8], wide: bool) {
    invert(func);
    pairs(func, mentions, wide);
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

/// Joins operations with the next one where only that one uses the result: then the program
/// names the result's register twice in all.
fn pairs(func: &mut Func, mentions: &[u8], wide: bool) {
    let entered = entered(func);
    let mut keep = vec![true; func.code.len()];
    for i in 0..func.code.len().saturating_sub(1) {
        let (first, second) = (func.code[i], func.code[i + 1]);
        let tagged = first.tag != Tag::Other && second.tag != Tag::Other;
        let passed = mentions.get(first.d as usize / 128) == Some(&2);
        if !tagged || !passed || !is_plain(&first) || !is_plain(&second) || entered[i + 1] {
            continue;
        }
        let swapped = second.b == first.d;
        let (same, other) = if swapped {
            (second.b, second.a)
        } else {
            (second.a, second.b)
        };
        if same != first.d || other == first.d {
            continue;
        }
        if let Some(twin) = pair::twin(first.tag, second.tag, swapped) {
            func.code[i + 1] = Inst {
                f: if wide { twin.wide } else { twin.base },
                d: second.d,
                // An operation of one operand has no `b`, and the pair's loop reads one.
                b: if first.b == NONE { first.a } else { first.b },
                c: other,
                line: second.line,
                tag: Tag::Other,
                weight: first.weight + second.weight,
                ..first
            };
            keep[i] = false;
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
    let (mut run, mut steps) = (0, 0);
    for inst in func.code.iter_mut().rev() {
        if !is_plain(inst) || run == MOST {
            (run, steps) = (0, 0);
        }
        if is_plain(inst) {
            run += 1;
            steps += u16::from(inst.weight);
        }
        (inst.run, inst.steps) = (run, steps);
    }
}

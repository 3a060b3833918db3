//! Operations that look across the lanes of a warp: shuffles, votes, matches and
//! reductions. The scheduler has already brought the lanes of the member mask
//! together; `m` is the lanes that execute.

use super::{Body, Lane, Twin, bits, conjure};
use crate::exec::ctx::Ctx;
use crate::exec::inst::{Class, Flow, Inst, NONE, Need, Shape};
use std::marker::PhantomData;

struct Shuffle<F>(PhantomData<F>);

impl<F> Body for Shuffle<F>
where
    F: Fn(i32, i32, i32, i32) -> (i32, bool) + Copy + 'static,
{
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W32),
        a: Need::Reg(Class::W32),
        b: Need::Reg(Class::W32),
        c: Need::Reg(Class::W32),
        p: Need::Maybe(Class::Pred),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: a, b, c, d are 32-bit registers; p is a predicate or NONE.
        unsafe {
            let f = conjure::<F>();
            let a = cx.reg::<[u32; 32]>(i.a).read();
            let b = cx.reg::<[u32; 32]>(i.b).read();
            let c = cx.reg::<[u32; 32]>(i.c).read();
            let mut p = 0u32;
            for lane in bits(m) {
                let segment = (c[lane] >> 8 & 31).cast_signed();
                let clamp = (c[lane] & 31).cast_signed();
                let at = lane as i32;
                let min = at & segment;
                let max = min | (clamp & !segment & 31);
                let (from, valid) = f(
                    at,
                    (b[lane] & 31).cast_signed(),
                    min | ((b[lane] & 31).cast_signed() & !segment & 31),
                    max,
                );
                let from = if valid { from & 31 } else { at };
                p |= u32::from(valid) << lane;
                cx.reg::<u32>(i.d).add(lane).write(a[from as usize]);
            }
            if i.p != NONE {
                cx.set_pred(i.p, m, p);
            }
        }
        Flow::Next
    }
}

/// `shfl` in the mode named by its token.
pub(crate) fn shuffle(mode: &str) -> Option<Twin> {
    fn twin<F: Fn(i32, i32, i32, i32) -> (i32, bool) + Copy + 'static>(_: F) -> Twin {
        Twin::single::<Shuffle<F>>()
    }
    Some(match mode {
        "up" => twin(|lane, b, _, max| (lane - b, lane - b >= max)),
        "down" => twin(|lane, b, _, max| (lane + b, lane + b <= max)),
        "bfly" => twin(|lane, b, _, max| (lane ^ b, lane ^ b <= max)),
        "idx" => twin(|_, _, index, max| (index, index <= max)),
        _ => return None,
    })
}

struct Vote<F>(PhantomData<F>);

impl<F: Fn(u32, u32) -> u32 + Copy + 'static> Body for Vote<F> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::Pred),
        a: Need::Reg(Class::Pred),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: a and d are predicates. Bit 0 of x negates a.
        unsafe {
            let a = cx.pred(i.a) ^ 0u32.wrapping_sub((i.x & 1) as u32);
            let r = conjure::<F>()(a & m, m);
            cx.set_pred(i.d, m, r);
        }
        Flow::Next
    }
}

/// `vote` with a predicate as result.
pub(crate) fn vote(mode: &str) -> Option<Twin> {
    fn twin<F: Fn(u32, u32) -> u32 + Copy + 'static>(_: F) -> Twin {
        Twin::single::<Vote<F>>()
    }
    Some(match mode {
        "all" => twin(|a, m| 0u32.wrapping_sub(u32::from(a == m))),
        "any" => twin(|a, _| 0u32.wrapping_sub(u32::from(a != 0))),
        "uni" => twin(|a, m| 0u32.wrapping_sub(u32::from(a == 0 || a == m))),
        _ => return None,
    })
}

/// Writes the same 32-bit value to every lane of `m`.
///
/// # Safety
/// `d` must be a 32-bit register of the current frame.
unsafe fn broadcast(cx: &mut Ctx<'_>, d: u32, m: u32, value: u32) {
    for lane in bits(m) {
        // SAFETY: by contract.
        unsafe { cx.reg::<u32>(d).add(lane).write(value) };
    }
}

struct Ballot;

impl Body for Ballot {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W32),
        a: Need::Reg(Class::Pred),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: a is a predicate, d a 32-bit register.
        unsafe {
            let a = cx.pred(i.a) ^ 0u32.wrapping_sub((i.x & 1) as u32);
            broadcast(cx, i.d, m, a & m);
        }
        Flow::Next
    }
}

/// `vote.ballot`.
pub(crate) fn ballot() -> Twin {
    Twin::single::<Ballot>()
}

struct ActiveMask;

impl Body for ActiveMask {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W32),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: d is a 32-bit register.
        unsafe { broadcast(cx, i.d, m, m) };
        Flow::Next
    }
}

/// `activemask`.
pub(crate) fn active_mask() -> Twin {
    Twin::single::<ActiveMask>()
}

struct Elect;

impl Body for Elect {
    const SHAPE: Shape = Shape {
        d: Need::Maybe(Class::W32),
        p: Need::Reg(Class::Pred),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: d is a 32-bit register or NONE, p a predicate.
        unsafe {
            let leader = m.trailing_zeros();
            if i.d != NONE {
                broadcast(cx, i.d, m, leader);
            }
            cx.set_pred(i.p, m, 1u32.checked_shl(leader).unwrap_or(0));
        }
        Flow::Next
    }
}

/// `elect.sync`: the lowest lane leads.
pub(crate) fn elect() -> Twin {
    Twin::single::<Elect>()
}

struct Match<T, const ALL: bool>(PhantomData<T>);

impl<T: Lane + PartialEq, const ALL: bool> Body for Match<T, ALL> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W32),
        a: Need::Reg(T::CLASS),
        p: Need::Maybe(Class::Pred),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: a is a register of T, d a 32-bit register, p a predicate or
        // NONE.
        unsafe {
            let a: [T; 32] = std::array::from_fn(|l| T::get(cx.reg::<T::Slot>(i.a).add(l).read()));
            let mut all = true;
            for lane in bits(m) {
                let same = bits(m)
                    .filter(|&l| a[l] == a[lane])
                    .fold(0, |s, l| s | 1u32 << l);
                all &= same == m;
                cx.reg::<u32>(i.d).add(lane).write(same);
            }
            if ALL {
                broadcast(cx, i.d, m, if all { m } else { 0 });
                if i.p != NONE {
                    cx.set_pred(i.p, m, if all { m } else { 0 });
                }
            }
        }
        Flow::Next
    }
}

/// `match.any` or `match.all` on 4 or 8 bytes.
pub(crate) fn matching(all: bool, bytes: u32) -> Twin {
    match (all, bytes) {
        (false, 4) => Twin::single::<Match<u32, false>>(),
        (false, _) => Twin::single::<Match<u64, false>>(),
        (true, 4) => Twin::single::<Match<u32, true>>(),
        (true, _) => Twin::single::<Match<u64, true>>(),
    }
}

struct Redux<F>(PhantomData<F>);

impl<F: Fn(u32, u32) -> u32 + Copy + 'static> Body for Redux<F> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W32),
        a: Need::Reg(Class::W32),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: a and d are 32-bit registers.
        unsafe {
            let f = conjure::<F>();
            let a = cx.reg::<[u32; 32]>(i.a).read();
            let value = bits(m).map(|l| a[l]).reduce(f).unwrap_or(0);
            broadcast(cx, i.d, m, value);
        }
        Flow::Next
    }
}

/// `redux.sync` with the given operation.
pub(crate) fn redux<F: Fn(u32, u32) -> u32 + Copy + 'static>(_: F) -> Twin {
    Twin::single::<Redux<F>>()
}

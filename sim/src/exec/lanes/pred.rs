//! Comparisons into predicates, logic on predicates, selection by predicates,
//! and the carry of extended-precision arithmetic, which is kept as a predicate.

use super::{Body, CHUNK, Lane, Twin, conjure};
use crate::exec::ctx::Ctx;
use crate::exec::inst::{Class, Flow, Inst, NONE, Need, Shape};
use crate::exec::lanes::lane_masks::Truth;
use std::marker::PhantomData;

/// `x` of a comparison: how its result is combined with predicate `c`.
pub(crate) mod combine {
    pub(crate) const NONE: u64 = 0;
    pub(crate) const AND: u64 = 1;
    pub(crate) const OR: u64 = 2;
    pub(crate) const XOR: u64 = 3;
    /// Added if `c` is negated.
    pub(crate) const NOT: u64 = 4;
}

struct Compare<T, F>(PhantomData<(T, F)>);

impl<T: Lane, F: Fn(T, T) -> bool + Copy + 'static> Body for Compare<T, F> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::Pred),
        p: Need::Maybe(Class::Pred),
        a: Need::Reg(T::CLASS),
        b: Need::Reg(T::CLASS),
        c: Need::Maybe(Class::Pred),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: made only by `compare`, which is given an F.
        let f = unsafe { conjure::<F>() };
        let mut r = 0u32;
        for k in 0..32 / CHUNK {
            // SAFETY: the decoder put registers of these classes here.
            let a = unsafe { cx.chunk::<T::Slot>(i.a, k) };
            // SAFETY: as above.
            let b = unsafe { cx.chunk::<T::Slot>(i.b, k) };
            let mut part = 0u32;
            for l in 0..CHUNK {
                part |= u32::from(f(T::get(a[l]), T::get(b[l]))) << l;
            }
            r |= part << (k * CHUNK);
        }
        // SAFETY: the operands are those of a comparison.
        unsafe { combined(cx, i, m, r) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_wide(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: as in `run`; the CPU has AVX2.
        unsafe {
            let f = conjure::<F>();
            let mut r = 0u32;
            for k in 0..32 / CHUNK {
                let a = cx.chunk::<T::Slot>(i.a, k);
                let b = cx.chunk::<T::Slot>(i.b, k);
                let mut part = a;
                for l in 0..CHUNK {
                    part[l] = T::Slot::of(f(T::get(a[l]), T::get(b[l])));
                }
                r |= T::Slot::pack(part) << (k * CHUNK);
            }
            combined(cx, i, m, r)
        }
    }
}

/// Writes the results `r` of a comparison.
///
/// # Safety
/// `i` must be a comparison's.
#[inline(always)]
unsafe fn combined(cx: &mut Ctx<'_>, i: &Inst, m: u32, r: u32) -> Flow {
    let (mut yes, mut no) = (r, !r);
    if i.x != combine::NONE {
        // SAFETY: the decoder gives a predicate with every combination.
        let c = unsafe { cx.pred(i.c) } ^ if i.x & combine::NOT != 0 { !0 } else { 0 };
        (yes, no) = match i.x & 3 {
            combine::AND => (yes & c, no & c),
            combine::OR => (yes | c, no | c),
            _ => (yes ^ c, no ^ c),
        };
    }
    // SAFETY: d and p are predicates.
    unsafe {
        cx.set_pred(i.d, m, yes);
        if i.p != NONE {
            cx.set_pred(i.p, m, no);
        }
    }
    Flow::Next
}

/// `setp`: d and p get the result and its complement, combined by `x` with c.
pub(crate) fn compare<T: Lane, F>(_: F) -> Twin
where
    F: Fn(T, T) -> bool + Copy + 'static,
{
    Twin::of::<Compare<T, F>>()
}

struct Logic<F>(PhantomData<F>);

impl<F: Fn(u32, u32) -> u32 + Copy + 'static> Body for Logic<F> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::Pred),
        a: Need::Reg(Class::Pred),
        b: Need::Reg(Class::Pred),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: made only by `logic`, which is given an F; the registers are
        // predicates. Bit 0 of x negates a, bit 1 negates b.
        unsafe {
            let a = cx.pred(i.a) ^ 0u32.wrapping_sub((i.x & 1) as u32);
            let b = cx.pred(i.b) ^ 0u32.wrapping_sub((i.x >> 1 & 1) as u32);
            let r = conjure::<F>()(a, b);
            cx.set_pred(i.d, m, r);
        }
        Flow::Next
    }
}

/// Logic on two predicates.
pub(crate) fn logic<F: Fn(u32, u32) -> u32 + Copy + 'static>(_: F) -> Twin {
    Twin::single::<Logic<F>>()
}

struct Select<S>(PhantomData<S>);

impl<S: Truth> Body for Select<S> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(S::CLASS),
        a: Need::Reg(S::CLASS),
        b: Need::Reg(S::CLASS),
        c: Need::Reg(Class::Pred),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: c is a predicate; a, b and d are registers of class S.
        unsafe {
            let p = cx.pred(i.c) ^ 0u32.wrapping_sub((i.x & 1) as u32);
            for k in 0..32 / CHUNK {
                let a = cx.chunk::<S>(i.a, k);
                let b = cx.chunk::<S>(i.b, k);
                let part = S::spread((p >> (k * CHUNK)) as u8);
                let mut out = a;
                for l in 0..CHUNK {
                    out[l] = part[l].pick(a[l], b[l]);
                }
                cx.set_chunk(i.d, k, m, out);
            }
        }
        Flow::Next
    }
}

/// `selp` on registers with slots `S`; bit 0 of x negates the predicate.
pub(crate) fn select<S: Truth>() -> Twin {
    Twin::of::<Select<S>>()
}

struct Carry<T, F>(PhantomData<(T, F)>);

impl<T: Lane, F: Fn(T, T, T, bool) -> (T, bool) + Copy + 'static> Body for Carry<T, F> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(T::CLASS),
        a: Need::Reg(T::CLASS),
        b: Need::Reg(T::CLASS),
        c: Need::Reg(T::CLASS),
        p: Need::Reg(Class::Pred),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: made only by `carry`, which is given an F; p is the carry
        // predicate, the others registers of T. Bit 0 of x: carry in is used;
        // bit 1: carry out is written.
        unsafe {
            let f = conjure::<F>();
            let cin = if i.x & 1 != 0 { cx.pred(i.p) } else { 0 };
            let mut cout = 0u32;
            for k in 0..32 / CHUNK {
                let a = cx.chunk::<T::Slot>(i.a, k);
                let b = cx.chunk::<T::Slot>(i.b, k);
                let c = cx.chunk::<T::Slot>(i.c, k);
                let mut out = a;
                #[allow(
                    clippy::needless_range_loop,
                    reason = "four arrays and a lane number advance together"
                )]
                for l in 0..CHUNK {
                    let lane = k * CHUNK + l;
                    let (v, carry) = f(
                        T::get(a[l]),
                        T::get(b[l]),
                        T::get(c[l]),
                        cin >> lane & 1 != 0,
                    );
                    out[l] = v.put();
                    cout |= u32::from(carry) << lane;
                }
                cx.set_chunk(i.d, k, m, out);
            }
            if i.x & 2 != 0 {
                cx.set_pred(i.p, m, cout);
            }
        }
        Flow::Next
    }
}

/// Extended-precision step: operands a, b, c and carry in to result and carry out.
pub(crate) fn carry<T: Lane, F>(_: F) -> Twin
where
    F: Fn(T, T, T, bool) -> (T, bool) + Copy + 'static,
{
    Twin::of::<Carry<T, F>>()
}

struct Test<T, F>(PhantomData<(T, F)>);

impl<T: Lane, F: Fn(T) -> bool + Copy + 'static> Body for Test<T, F> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::Pred),
        a: Need::Reg(T::CLASS),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: made only by `test`, which is given an F; d is a predicate.
        unsafe {
            let f = conjure::<F>();
            let mut r = 0u32;
            for k in 0..32 / CHUNK {
                let a = cx.chunk::<T::Slot>(i.a, k);
                for (l, slot) in a.into_iter().enumerate() {
                    r |= u32::from(f(T::get(slot))) << (k * CHUNK + l);
                }
            }
            cx.set_pred(i.d, m, r);
        }
        Flow::Next
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_wide(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: as in `run`; the CPU has AVX2.
        unsafe {
            let f = conjure::<F>();
            let mut r = 0u32;
            for k in 0..32 / CHUNK {
                let a = cx.chunk::<T::Slot>(i.a, k);
                let mut part = a;
                for slot in &mut part {
                    *slot = T::Slot::of(f(T::get(*slot)));
                }
                r |= T::Slot::pack(part) << (k * CHUNK);
            }
            cx.set_pred(i.d, m, r);
        }
        Flow::Next
    }
}

/// A property of one operand: `testp`, `isspacep`.
pub(crate) fn test<T: Lane, F: Fn(T) -> bool + Copy + 'static>(_: F) -> Twin {
    Twin::of::<Test<T, F>>()
}

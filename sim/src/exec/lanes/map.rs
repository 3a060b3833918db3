//! Operations that compute each lane's result from that lane's operands.
//!
//! `mapN` takes a closure of N operands; `mapNx` one that also gets the
//! instruction's immediate.

use super::{Body, CHUNK, Lane, Twin, conjure};
use crate::exec::ctx::Ctx;
use crate::exec::inst::{Flow, Inst, Need, Shape};
use std::marker::PhantomData;

macro_rules! map {
    ($name:ident, $fun:ident, $($t:ident $v:ident $reg:ident),*) => {
        struct $name<$($t,)* R, F>(PhantomData<($($t,)* R, F)>);

        impl<$($t: Lane,)* R: Lane, F: Fn($($t),*) -> R + Copy + 'static> Body for $name<$($t,)* R, F> {
            const SHAPE: Shape = Shape {
                d: Need::Reg(R::CLASS),
                $($reg: Need::Reg($t::CLASS),)*
                ..Shape::NONE
            };

            #[inline(always)]
            unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
                // SAFETY: values of this type are made only by the function
                // below, which is given an F.
                let f = unsafe { conjure::<F>() };
                let one = |cx: &Ctx<'_>, k: usize| {
                    // SAFETY: the decoder put registers of these classes here.
                    $(let $v = unsafe { cx.chunk::<$t::Slot>(i.$reg, k) };)*
                    let mut out = [R::Slot::default(); CHUNK];
                    for l in 0..CHUNK {
                        out[l] = f($($t::get($v[l])),*).put();
                    }
                    out
                };
                // Two loops, so that the usual one has no test in it.
                if m == u32::MAX {
                    for k in 0..32 / CHUNK {
                        let out = one(cx, k);
                        // SAFETY: as above.
                        unsafe { cx.put_chunk(i.d, k, out) };
                    }
                } else {
                    for k in 0..32 / CHUNK {
                        let out = one(cx, k);
                        // SAFETY: as above.
                        unsafe { cx.set_chunk(i.d, k, m, out) };
                    }
                }
                Flow::Next
            }
        }

        /// Lifts a function of one lane to a warp.
        pub(crate) fn $fun<$($t: Lane,)* R: Lane, F>(_: F) -> Twin
        where
            F: Fn($($t),*) -> R + Copy + 'static,
        {
            Twin::of::<$name<$($t,)* R, F>>()
        }
    };
}

macro_rules! map_x {
    ($xname:ident, $xfun:ident, $($t:ident $v:ident $reg:ident),*) => {
        struct $xname<$($t,)* R, F>(PhantomData<($($t,)* R, F)>);

        impl<$($t: Lane,)* R: Lane, F: Fn($($t,)* u64) -> R + Copy + 'static> Body for $xname<$($t,)* R, F> {
            const SHAPE: Shape = Shape {
                d: Need::Reg(R::CLASS),
                $($reg: Need::Reg($t::CLASS),)*
                ..Shape::NONE
            };

            #[inline(always)]
            unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
                // SAFETY: as in the twin without immediate.
                let f = unsafe { conjure::<F>() };
                let one = |cx: &Ctx<'_>, k: usize| {
                    // SAFETY: the decoder put registers of these classes here.
                    $(let $v = unsafe { cx.chunk::<$t::Slot>(i.$reg, k) };)*
                    let mut out = [R::Slot::default(); CHUNK];
                    for l in 0..CHUNK {
                        out[l] = f($($t::get($v[l]),)* i.x).put();
                    }
                    out
                };
                // Two loops, so that the usual one has no test in it.
                if m == u32::MAX {
                    for k in 0..32 / CHUNK {
                        let out = one(cx, k);
                        // SAFETY: as above.
                        unsafe { cx.put_chunk(i.d, k, out) };
                    }
                } else {
                    for k in 0..32 / CHUNK {
                        let out = one(cx, k);
                        // SAFETY: as above.
                        unsafe { cx.set_chunk(i.d, k, m, out) };
                    }
                }
                Flow::Next
            }
        }

        /// As above, for a function that also gets the immediate.
        pub(crate) fn $xfun<$($t: Lane,)* R: Lane, F>(_: F) -> Twin
        where
            F: Fn($($t,)* u64) -> R + Copy + 'static,
        {
            Twin::of::<$xname<$($t,)* R, F>>()
        }
    };
}

map!(Map1, map1, A a a);
map_x!(Map1x, map1x, A a a);
map!(Map2, map2, A a a, B b b);
map_x!(Map2x, map2x, A a a, B b b);
map!(Map3, map3, A a a, B b b, C c c);
map_x!(Map3x, map3x, A a a, B b b, C c c);
map!(Map4, map4, A a a, B b b, C c c, E e e);

struct Patched<A, R, P, F, G>(PhantomData<(A, R, P, F, G)>);

impl<A, R, P, F, G> Body for Patched<A, R, P, F, G>
where
    A: Lane,
    R: Lane,
    P: Fn(A, u64) -> bool + Copy + 'static,
    F: Fn(A, u64) -> R + Copy + 'static,
    G: Fn(A, u64) -> R + Copy + 'static,
{
    const SHAPE: Shape = Shape {
        d: Need::Reg(R::CLASS),
        a: Need::Reg(A::CLASS),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: made only by `map1_patched`, which is given these.
        let (p, f, g) = unsafe { (conjure::<P>(), conjure::<F>(), conjure::<G>()) };
        for k in 0..32 / CHUNK {
            // SAFETY: the decoder put registers of these classes here.
            let a = unsafe { cx.chunk::<A::Slot>(i.a, k) };
            let mut out = [R::Slot::default(); CHUNK];
            let mut fits = true;
            for l in 0..CHUNK {
                out[l] = f(A::get(a[l]), i.x).put();
                fits &= p(A::get(a[l]), i.x);
            }
            if !fits {
                for l in 0..CHUNK {
                    if !p(A::get(a[l]), i.x) {
                        out[l] = g(A::get(a[l]), i.x).put();
                    }
                }
            }
            // SAFETY: as above.
            unsafe { cx.set_chunk(i.d, k, m, out) };
        }
        Flow::Next
    }
}

/// `f` of every lane, then `g` of those for which `p` does not hold: for functions that are
/// vector code except for rare operands.
pub(crate) fn map1_patched<A, R, P, F, G>(_: P, _: F, _: G) -> Twin
where
    A: Lane,
    R: Lane,
    P: Fn(A, u64) -> bool + Copy + 'static,
    F: Fn(A, u64) -> R + Copy + 'static,
    G: Fn(A, u64) -> R + Copy + 'static,
{
    Twin::of::<Patched<A, R, P, F, G>>()
}

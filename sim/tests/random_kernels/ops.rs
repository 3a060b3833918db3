//! The instructions that random kernels use, each beside what it computes, from the
//! definition in the PTX ISA. Nothing here is the engine's.

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// 32 bits.
    R,
    /// 64 bits.
    D,
    /// A `float`.
    F,
    /// A predicate.
    P,
}

use Class::{D, F, P, R};

/// An instruction: `{d}`, `{a}`, `{b}`, `{c}` stand for its operands; `%t` and `%u` are
/// temporary registers of 32 bits, `%v` of 64.
pub(crate) struct Op {
    pub(crate) text: &'static str,
    pub(crate) result: Class,
    pub(crate) sources: &'static [Class],
    /// From the operands' bits to the result's.
    pub(crate) compute: fn([u64; 3]) -> u64,
}

const fn op(
    text: &'static str,
    result: Class,
    sources: &'static [Class],
    compute: fn([u64; 3]) -> u64,
) -> Op {
    Op {
        text,
        result,
        sources,
        compute,
    }
}

fn w(x: u64) -> u32 {
    x as u32
}

fn s(x: u64) -> i32 {
    x as u32 as i32
}

fn r(x: u32) -> u64 {
    u64::from(x)
}

fn i(x: i32) -> u64 {
    u64::from(x as u32)
}

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

/// NaNs of arithmetic are the canonical one. By its bits: to the optimiser all NaNs are
/// alike already.
fn g(x: f32) -> u64 {
    let bits = std::hint::black_box(x.to_bits());
    if bits << 1 > 0xff << 24 {
        0x7fff_ffff
    } else {
        u64::from(bits)
    }
}

/// A bit field's position and length: the low eight bits.
fn field(b: u64, c: u64) -> (u32, u32) {
    (w(b) & 255, w(c) & 255)
}

fn bfe(a: u64, pos: u32, len: u32) -> u64 {
    let mask = if len >= 32 { u32::MAX } else { (1 << len) - 1 };
    r(w(a).checked_shr(pos).unwrap_or(0) & mask)
}

fn bfe_signed(a: u64, pos: u32, len: u32) -> u64 {
    let top = (pos + len).saturating_sub(1).min(31);
    let sign = len != 0 && w(a) >> top & 1 != 0;
    let mut d = 0u32;
    for at in 0..32u32 {
        let from = pos + at;
        let bit = if at < len && from < 32 {
            w(a) >> from & 1 != 0
        } else {
            sign
        };
        d |= u32::from(bit) << at;
    }
    r(d)
}

fn bfi(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let mut d = w(b);
    for at in 0..len.min(32) {
        if pos + at < 32 {
            d = d & !(1 << (pos + at)) | (w(a) >> at & 1) << (pos + at);
        }
    }
    r(d)
}

fn prmt(a: u64, b: u64, c: u64) -> u64 {
    let bytes = (r(w(b)) << 32 | r(w(a))).to_le_bytes();
    let d: [u8; 4] = std::array::from_fn(|at| {
        let select = w(c) >> (4 * at) & 15;
        let byte = bytes[select as usize & 7];
        if select & 8 != 0 {
            (byte as i8 >> 7) as u8
        } else {
            byte
        }
    });
    r(u32::from_le_bytes(d))
}

fn compare(yes: bool) -> u64 {
    u64::from(yes)
}

/// `cvt.rni`: to nearest, ties to even.
fn round_to_int(x: f32) -> f32 {
    x.round_ties_even()
}

pub(crate) static OPS: &[Op] = &[
    op("add.u32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a).wrapping_add(w(b)))
    }),
    op("sub.s32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a).wrapping_sub(w(b)))
    }),
    op("mul.lo.s32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a).wrapping_mul(w(b)))
    }),
    op("mul.hi.u32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        (r(w(a)) * r(w(b))) >> 32
    }),
    op("mul.hi.s32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(((i64::from(s(a)) * i64::from(s(b))) >> 32) as u32)
    }),
    op(
        "mad.lo.u32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| r(w(a).wrapping_mul(w(b)).wrapping_add(w(c))),
    ),
    op(
        "mad.hi.u32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| r((((r(w(a)) * r(w(b))) >> 32) as u32).wrapping_add(w(c))),
    ),
    op(
        "or.b32 %t, {b}, 1; div.u32 {d}, {a}, %t;",
        R,
        &[R, R],
        |[a, b, _]| r(w(a) / (w(b) | 1)),
    ),
    op(
        "or.b32 %t, {b}, 1; rem.u32 {d}, {a}, %t;",
        R,
        &[R, R],
        |[a, b, _]| r(w(a) % (w(b) | 1)),
    ),
    op(
        "and.b32 %t, {b}, 2147483647; or.b32 %t, %t, 1; div.s32 {d}, {a}, %t;",
        R,
        &[R, R],
        |[a, b, _]| i(s(a) / (s(b) & i32::MAX | 1)),
    ),
    op(
        "and.b32 %t, {b}, 2147483647; or.b32 %t, %t, 1; rem.s32 {d}, {a}, %t;",
        R,
        &[R, R],
        |[a, b, _]| i(s(a) % (s(b) & i32::MAX | 1)),
    ),
    op("min.u32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a).min(w(b)))
    }),
    op("max.s32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        i(s(a).max(s(b)))
    }),
    op("min.s32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        i(s(a).min(s(b)))
    }),
    op("and.b32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a) & w(b))
    }),
    op("or.b32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a) | w(b))
    }),
    op("xor.b32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a) ^ w(b))
    }),
    op("not.b32 {d}, {a};", R, &[R], |[a, ..]| r(!w(a))),
    op("neg.s32 {d}, {a};", R, &[R], |[a, ..]| {
        i(s(a).wrapping_neg())
    }),
    op("abs.s32 {d}, {a};", R, &[R], |[a, ..]| {
        i(s(a).wrapping_abs())
    }),
    op("cnot.b32 {d}, {a};", R, &[R], |[a, ..]| {
        r(u32::from(w(a) == 0))
    }),
    op(
        "popc.b32 {d}, {a};",
        R,
        &[R],
        |[a, ..]| r(w(a).count_ones()),
    ),
    op("clz.b32 {d}, {a};", R, &[R], |[a, ..]| {
        r(w(a).leading_zeros())
    }),
    op("brev.b32 {d}, {a};", R, &[R], |[a, ..]| {
        r(w(a).reverse_bits())
    }),
    op("bfind.u32 {d}, {a};", R, &[R], |[a, ..]| {
        r(if w(a) == 0 {
            u32::MAX
        } else {
            31 - w(a).leading_zeros()
        })
    }),
    op("shl.b32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a).checked_shl(w(b)).unwrap_or(0))
    }),
    op("shr.u32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r(w(a).checked_shr(w(b)).unwrap_or(0))
    }),
    op("shr.s32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        i(s(a) >> w(b).min(31))
    }),
    op(
        "and.b32 %t, {b}, 31; shl.b32 {d}, {a}, %t;",
        R,
        &[R, R],
        |[a, b, _]| r(w(a) << (w(b) & 31)),
    ),
    op(
        "shf.l.wrap.b32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| {
            let n = w(c) & 31;
            ((r(w(b)) << 32 | r(w(a))) << n) >> 32
        },
    ),
    op(
        "shf.r.clamp.b32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| {
            let n = w(c).min(32);
            r(((r(w(b)) << 32 | r(w(a))) >> n) as u32)
        },
    ),
    op(
        "lop3.b32 {d}, {a}, {b}, {c}, 0xE8;",
        R,
        &[R, R, R],
        |[a, b, c]| r(w(a) & w(b) | w(a) & w(c) | w(b) & w(c)),
    ),
    op(
        "lop3.b32 {d}, {a}, {b}, {c}, 0x2D;",
        R,
        &[R, R, R],
        |[a, b, c]| {
            // 0x2D, bit (a b c): 0 1 . . of 00101101.
            let mut d = 0;
            for at in 0..32 {
                let index = (w(a) >> at & 1) << 2 | (w(b) >> at & 1) << 1 | w(c) >> at & 1;
                d |= (0x2D >> index & 1) << at;
            }
            r(d)
        },
    ),
    op(
        "prmt.b32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| prmt(a, b, c),
    ),
    op("sad.u32 {d}, {a}, {b}, {c};", R, &[R, R, R], |[a, b, c]| {
        r(w(a).abs_diff(w(b)).wrapping_add(w(c)))
    }),
    op("mul24.lo.u32 {d}, {a}, {b};", R, &[R, R], |[a, b, _]| {
        r((r(w(a) & 0xff_ffff) * r(w(b) & 0xff_ffff)) as u32)
    }),
    op("bfe.u32 {d}, {a}, {b}, {c};", R, &[R, R, R], |[a, b, c]| {
        let (pos, len) = field(b, c);
        bfe(a, pos, len)
    }),
    op("bfe.s32 {d}, {a}, {b}, {c};", R, &[R, R, R], |[a, b, c]| {
        let (pos, len) = field(b, c);
        bfe_signed(a, pos, len)
    }),
    op(
        "and.b32 %t, {c}, 63; bfi.b32 {d}, {a}, {b}, %t, 7;",
        R,
        &[R, R, R],
        |[a, b, c]| bfi(a, b, w(c) & 63, 7),
    ),
    op(
        "dp4a.u32.u32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| {
            let products = w(a).to_le_bytes().into_iter().zip(w(b).to_le_bytes());
            let sum: u32 = products.map(|(x, y)| u32::from(x) * u32::from(y)).sum();
            r(sum.wrapping_add(w(c)))
        },
    ),
    op(
        "add.cc.u32 {d}, {a}, {b}; addc.u32 {d}, {d}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| {
            let (sum, carry) = w(a).overflowing_add(w(b));
            r(sum.wrapping_add(w(c)).wrapping_add(u32::from(carry)))
        },
    ),
    op(
        "sub.cc.u32 {d}, {a}, {b}; subc.u32 {d}, {d}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| {
            let (rest, borrow) = w(a).overflowing_sub(w(b));
            r(rest.wrapping_sub(w(c)).wrapping_sub(u32::from(borrow)))
        },
    ),
    op(
        "selp.b32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, P],
        |[a, b, c]| if c != 0 { a } else { b },
    ),
    op(
        "slct.s32.s32 {d}, {a}, {b}, {c};",
        R,
        &[R, R, R],
        |[a, b, c]| if s(c) >= 0 { a } else { b },
    ),
    op("cvt.s32.s8 {d}, {a};", R, &[R], |[a, ..]| {
        i(i32::from(a as i8))
    }),
    op("cvt.u32.u16 {d}, {a};", R, &[R], |[a, ..]| r(w(a) & 0xffff)),
    op("cvt.u32.u64 {d}, {a};", R, &[D], |[a, ..]| r(w(a))),
    op("popc.b64 {d}, {a};", R, &[D], |[a, ..]| r(a.count_ones())),
    op("clz.b64 {d}, {a};", R, &[D], |[a, ..]| r(a.leading_zeros())),
    op("mov.b64 {%t, {d}}, {a};", R, &[D], |[a, ..]| a >> 32),
    op("add.u64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| {
        a.wrapping_add(b)
    }),
    op("sub.s64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| {
        a.wrapping_sub(b)
    }),
    op("mul.lo.s64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| {
        a.wrapping_mul(b)
    }),
    op("mul.hi.u64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }),
    op("mul.hi.s64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| {
        ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
    }),
    op(
        "mad.lo.u64 {d}, {a}, {b}, {c};",
        D,
        &[D, D, D],
        |[a, b, c]| a.wrapping_mul(b).wrapping_add(c),
    ),
    op("mul.wide.u32 {d}, {a}, {b};", D, &[R, R], |[a, b, _]| {
        r(w(a)) * r(w(b))
    }),
    op(
        "mad.wide.s32 {d}, {a}, {b}, {c};",
        D,
        &[R, R, D],
        |[a, b, c]| (i64::from(s(a)) * i64::from(s(b))).wrapping_add(c as i64) as u64,
    ),
    op(
        "or.b64 %v, {b}, 1; div.u64 {d}, {a}, %v;",
        D,
        &[D, D],
        |[a, b, _]| a / (b | 1),
    ),
    op(
        "or.b64 %v, {b}, 1; rem.u64 {d}, {a}, %v;",
        D,
        &[D, D],
        |[a, b, _]| a % (b | 1),
    ),
    op("xor.b64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| a ^ b),
    op("and.b64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| a & b),
    op("not.b64 {d}, {a};", D, &[D], |[a, ..]| !a),
    op("neg.s64 {d}, {a};", D, &[D], |[a, ..]| a.wrapping_neg()),
    op("brev.b64 {d}, {a};", D, &[D], |[a, ..]| a.reverse_bits()),
    op("max.u64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| a.max(b)),
    op("min.s64 {d}, {a}, {b};", D, &[D, D], |[a, b, _]| {
        (a as i64).min(b as i64) as u64
    }),
    op("shl.b64 {d}, {a}, {b};", D, &[D, R], |[a, b, _]| {
        a.checked_shl(w(b)).unwrap_or(0)
    }),
    op("shr.u64 {d}, {a}, {b};", D, &[D, R], |[a, b, _]| {
        a.checked_shr(w(b)).unwrap_or(0)
    }),
    op("shr.s64 {d}, {a}, {b};", D, &[D, R], |[a, b, _]| {
        ((a as i64) >> w(b).min(63)) as u64
    }),
    op("cvt.u64.u32 {d}, {a};", D, &[R], |[a, ..]| r(w(a))),
    op("cvt.s64.s32 {d}, {a};", D, &[R], |[a, ..]| {
        i64::from(s(a)) as u64
    }),
    op("mov.b64 {d}, {{a}, {b}};", D, &[R, R], |[a, b, _]| {
        r(w(b)) << 32 | r(w(a))
    }),
    op(
        "selp.b64 {d}, {a}, {b}, {c};",
        D,
        &[D, D, P],
        |[a, b, c]| if c != 0 { a } else { b },
    ),
    op("add.rn.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        g(f(a) + f(b))
    }),
    op("sub.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        g(f(a) - f(b))
    }),
    op("mul.rn.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        g(f(a) * f(b))
    }),
    op(
        "fma.rn.f32 {d}, {a}, {b}, {c};",
        F,
        &[F, F, F],
        |[a, b, c]| g(f(a).mul_add(f(b), f(c))),
    ),
    op("div.rn.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        g(f(a) / f(b))
    }),
    op("sqrt.rn.f32 {d}, {a};", F, &[F], |[a, ..]| g(f(a).sqrt())),
    op("rcp.rn.f32 {d}, {a};", F, &[F], |[a, ..]| g(1.0 / f(a))),
    op("add.rn.ftz.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        let flush = |x: f32| {
            if x.is_subnormal() {
                0.0f32.copysign(x)
            } else {
                x
            }
        };
        g(flush(flush(f(a)) + flush(f(b))))
    }),
    op("add.rn.sat.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        let sum = f(a) + f(b);
        // Not a number saturates to +0.
        g(if sum > 0.0 { sum.min(1.0) } else { 0.0 })
    }),
    op("min.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        match (f(a), f(b)) {
            (x, y) if x.is_nan() || y.is_nan() => g(x.min(y)),
            // -0 is less than +0.
            (x, y) if x == y => g(if x.is_sign_negative() { x } else { y }),
            (x, y) => g(x.min(y)),
        }
    }),
    op("max.f32 {d}, {a}, {b};", F, &[F, F], |[a, b, _]| {
        match (f(a), f(b)) {
            (x, y) if x.is_nan() || y.is_nan() => g(x.max(y)),
            (x, y) if x == y => g(if x.is_sign_positive() { x } else { y }),
            (x, y) => g(x.max(y)),
        }
    }),
    op(
        "cvt.rn.f32.s32 {d}, {a};",
        F,
        &[R],
        |[a, ..]| g(s(a) as f32),
    ),
    op(
        "cvt.rn.f32.u32 {d}, {a};",
        F,
        &[R],
        |[a, ..]| g(w(a) as f32),
    ),
    op("cvt.rn.f32.u64 {d}, {a};", F, &[D], |[a, ..]| g(a as f32)),
    op("cvt.rni.f32.f32 {d}, {a};", F, &[F], |[a, ..]| {
        g(round_to_int(f(a)))
    }),
    op("cvt.rzi.s32.f32 {d}, {a};", R, &[F], |[a, ..]| {
        i(f(a) as i32)
    }),
    op("cvt.rni.u32.f32 {d}, {a};", R, &[F], |[a, ..]| {
        r(round_to_int(f(a)) as u32)
    }),
    op("cvt.rmi.s64.f32 {d}, {a};", D, &[F], |[a, ..]| {
        // Unlike to 32 bits, not a number converts to the lowest value.
        if f(a).is_nan() {
            1 << 63
        } else {
            f(a).floor() as i64 as u64
        }
    }),
    op(
        "selp.f32 {d}, {a}, {b}, {c};",
        F,
        &[F, F, P],
        |[a, b, c]| if c != 0 { a } else { b },
    ),
    op("setp.lt.u32 {d}, {a}, {b};", P, &[R, R], |[a, b, _]| {
        compare(w(a) < w(b))
    }),
    op("setp.ge.s32 {d}, {a}, {b};", P, &[R, R], |[a, b, _]| {
        compare(s(a) >= s(b))
    }),
    op("setp.eq.b32 {d}, {a}, {b};", P, &[R, R], |[a, b, _]| {
        compare(w(a) == w(b))
    }),
    op("setp.ne.s64 {d}, {a}, {b};", P, &[D, D], |[a, b, _]| {
        compare(a != b)
    }),
    op("setp.gt.s64 {d}, {a}, {b};", P, &[D, D], |[a, b, _]| {
        compare(a as i64 > b as i64)
    }),
    op(
        "setp.le.u64.and {d}, {a}, {b}, {c};",
        P,
        &[D, D, P],
        |[a, b, c]| compare(a <= b && c != 0),
    ),
    op(
        "setp.lt.u32.xor {d}, {a}, {b}, !{c};",
        P,
        &[R, R, P],
        |[a, b, c]| compare((w(a) < w(b)) ^ (c == 0)),
    ),
    op("setp.lt.f32 {d}, {a}, {b};", P, &[F, F], |[a, b, _]| {
        compare(f(a) < f(b))
    }),
    op("setp.geu.f32 {d}, {a}, {b};", P, &[F, F], |[a, b, _]| {
        compare(f(a).is_nan() || f(b).is_nan() || f(a) >= f(b))
    }),
    op("setp.num.f32 {d}, {a}, {b};", P, &[F, F], |[a, b, _]| {
        compare(!f(a).is_nan() && !f(b).is_nan())
    }),
    op("and.pred {d}, {a}, {b};", P, &[P, P], |[a, b, _]| a & b),
    op("xor.pred {d}, {a}, {b};", P, &[P, P], |[a, b, _]| a ^ b),
    op("not.pred {d}, {a};", P, &[P], |[a, ..]| a ^ 1),
];

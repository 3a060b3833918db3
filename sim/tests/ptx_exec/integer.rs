//! Integer instructions on edge values. Without these tests a wrong row of the
//! decoder's tables would go unnoticed until a kernel miscomputes.

#![allow(
    clippy::cast_lossless,
    reason = "macros cast between types that they are given"
)]

use crate::device::{check, eval, rows};

const EDGES: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    8,
    31,
    32,
    33,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x1234_5678,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x0123_4567_89ab_cdef,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];

/// `ins` on all pairs of edges, in type `$t`, against a function of two `$t`.
macro_rules! pairs {
    ($($ty:literal $t:ty { $($op:literal => |$a:ident, $b:ident| $e:expr;)* })*) => {$($(
        check(
            &format!(concat!($op, ".{} %d, %a, %b;"), $ty),
            &format!("u{}", <$t>::BITS),
            &[$ty, $ty],
            &rows(EDGES, 2),
            |row| {
                let ($a, $b) = (row[0] as $t, row[1] as $t);
                let r: $t = $e;
                r as u64 & (u64::MAX >> (64 - <$t>::BITS))
            },
        );
    )*)*};
}

macro_rules! common {
    ($($ty:literal $t:ty;)*) => {$(
        pairs! { $ty $t {
            "add" => |a, b| a.wrapping_add(b);
            "sub" => |a, b| a.wrapping_sub(b);
            "mul.lo" => |a, b| a.wrapping_mul(b);
            "mul.hi" => |a, b| ((a as i128).wrapping_mul(b as i128) >> <$t>::BITS) as $t;
            "div" => |a, b| if b == 0 { !0 } else { a.wrapping_div(b) };
            "rem" => |a, b| if b == 0 { a } else { a.wrapping_rem(b) };
            "min" => |a, b| a.min(b);
            "max" => |a, b| a.max(b);
        }}
    )*};
}

#[test]
fn arithmetic_of_every_type() {
    common! {
        "u16" u16; "s16" i16; "u32" u32; "s32" i32; "s64" i64;
    }
    // The product of two u64 does not fit the macro's i128.
    pairs! { "u64" u64 {
        "add" => |a, b| a.wrapping_add(b);
        "mul.lo" => |a, b| a.wrapping_mul(b);
        "mul.hi" => |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64;
        "div" => |a, b| a.checked_div(b).unwrap_or(!0);
        "rem" => |a, b| a.checked_rem(b).unwrap_or(a);
        "min" => |a, b| a.min(b);
        "max" => |a, b| a.max(b);
    }}
    pairs! { "s32" i32 {
        "add.sat" => |a, b| a.saturating_add(b);
        "sub.sat" => |a, b| a.saturating_sub(b);
    }}
}

#[test]
fn logic_of_every_width() {
    pairs! {
        "b16" u16 { "and" => |a, b| a & b; "or" => |a, b| a | b; "xor" => |a, b| a ^ b; }
        "b32" u32 { "and" => |a, b| a & b; "or" => |a, b| a | b; "xor" => |a, b| a ^ b; }
        "b64" u64 { "and" => |a, b| a & b; "or" => |a, b| a | b; "xor" => |a, b| a ^ b; }
    }
    check("not.b32 %d, %a;", "u32", &["u32"], &rows(EDGES, 1), |r| {
        u64::from(!(r[0] as u32))
    });
    check("not.b64 %d, %a;", "u64", &["u64"], &rows(EDGES, 1), |r| {
        !r[0]
    });
    check("cnot.b32 %d, %a;", "u32", &["u32"], &rows(EDGES, 1), |r| {
        u64::from(r[0] as u32 == 0)
    });
    for lut in [0u64, 0x1a, 0x80, 0x96, 0xca, 0xfe, 0xff] {
        let ins = format!("lop3.b32 %d, %a, %b, %c, {lut};");
        let some = &rows(&EDGES[..16], 3);
        check(&ins, "u32", &["u32", "u32", "u32"], some, |r| {
            (0..32).fold(0, |d, k| {
                let bit = |v: u64| v >> k & 1;
                d | (lut >> (bit(r[0]) * 4 + bit(r[1]) * 2 + bit(r[2])) & 1) << k
            })
        });
    }
}

#[test]
fn shifts_clamp_at_the_width() {
    let amounts = rows(EDGES, 2);
    macro_rules! shift {
        ($ty:literal $t:ty, $op:literal, |$a:ident, $n:ident| $e:expr) => {
            check(
                &format!(concat!($op, ".{} %d, %a, %b;"), $ty),
                &format!("u{}", <$t>::BITS),
                &[$ty, "u32"],
                &amounts,
                |r| {
                    let ($a, $n) = (r[0] as $t, r[1] as u32);
                    let v: $t = $e;
                    v as u64 & (u64::MAX >> (64 - <$t>::BITS))
                },
            );
        };
    }
    shift!("b16" u16, "shl", |a, n| a.checked_shl(n).unwrap_or(0));
    shift!("b32" u32, "shl", |a, n| a.checked_shl(n).unwrap_or(0));
    shift!("b64" u64, "shl", |a, n| a.checked_shl(n).unwrap_or(0));
    shift!("u16" u16, "shr", |a, n| a.checked_shr(n).unwrap_or(0));
    shift!("u32" u32, "shr", |a, n| a.checked_shr(n).unwrap_or(0));
    shift!("u64" u64, "shr", |a, n| a.checked_shr(n).unwrap_or(0));
    shift!("s16" i16, "shr", |a, n| a.checked_shr(n).unwrap_or(a >> 15));
    shift!("s32" i32, "shr", |a, n| a.checked_shr(n).unwrap_or(a >> 31));
    shift!("s64" i64, "shr", |a, n| a.checked_shr(n).unwrap_or(a >> 63));
}

#[test]
fn funnel_shifts() {
    let join = |r: &[u64]| (r[1] & 0xffff_ffff) << 32 | r[0] & 0xffff_ffff;
    let some = rows(&EDGES[..20], 3);
    let t = &["u32", "u32", "u32"];
    check("shf.l.wrap.b32 %d, %a, %b, %c;", "u32", t, &some, |r| {
        join(r) << (r[2] & 31) >> 32
    });
    check("shf.r.wrap.b32 %d, %a, %b, %c;", "u32", t, &some, |r| {
        (join(r) >> (r[2] & 31)) & 0xffff_ffff
    });
    check("shf.l.clamp.b32 %d, %a, %b, %c;", "u32", t, &some, |r| {
        (join(r) << (r[2] & 0xffff_ffff).min(32)) >> 32
    });
    check("shf.r.clamp.b32 %d, %a, %b, %c;", "u32", t, &some, |r| {
        (join(r) >> (r[2] & 0xffff_ffff).min(32)) & 0xffff_ffff
    });
}

#[test]
fn wide_products_and_sums() {
    let two = rows(EDGES, 2);
    check(
        "mul.wide.u32 %d, %a, %b;",
        "u64",
        &["u32", "u32"],
        &two,
        |r| (r[0] & 0xffff_ffff) * (r[1] & 0xffff_ffff),
    );
    check(
        "mul.wide.s32 %d, %a, %b;",
        "u64",
        &["u32", "u32"],
        &two,
        |r| (i64::from(r[0] as i32) * i64::from(r[1] as i32)).cast_unsigned(),
    );
    check(
        "mul.wide.s16 %d, %a, %b;",
        "u32",
        &["u16", "u16"],
        &two,
        |r| u64::from((i32::from(r[0] as i16) * i32::from(r[1] as i16)).cast_unsigned()),
    );
    let three = rows(
        &[
            0,
            1,
            5,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x1234_5678_9abc_def0,
            u64::MAX,
        ],
        3,
    );
    check(
        "mad.lo.s32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            u64::from(
                (r[0] as u32)
                    .wrapping_mul(r[1] as u32)
                    .wrapping_add(r[2] as u32),
            )
        },
    );
    check(
        "mad.hi.u32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            let high = ((r[0] & 0xffff_ffff) * (r[1] & 0xffff_ffff)) >> 32;
            u64::from((high as u32).wrapping_add(r[2] as u32))
        },
    );
    check(
        "mad.wide.s32 %d, %a, %b, %c;",
        "u64",
        &["u32", "u32", "u64"],
        &three,
        |r| {
            (i64::from(r[0] as i32) * i64::from(r[1] as i32))
                .cast_unsigned()
                .wrapping_add(r[2])
        },
    );
    check(
        "mad.lo.u64 %d, %a, %b, %c;",
        "u64",
        &["u64"; 3],
        &three,
        |r| r[0].wrapping_mul(r[1]).wrapping_add(r[2]),
    );
    check("sad.s32 %d, %a, %b, %c;", "u32", &["u32"; 3], &three, |r| {
        let d = (i64::from(r[0] as i32) - i64::from(r[1] as i32)).unsigned_abs();
        u64::from((r[2] as u32).wrapping_add(d as u32))
    });
    check("mul24.lo.u32 %d, %a, %b;", "u32", &["u32"; 2], &two, |r| {
        ((r[0] & 0xff_ffff) * (r[1] & 0xff_ffff)) & 0xffff_ffff
    });
    check("mul24.hi.u32 %d, %a, %b;", "u32", &["u32"; 2], &two, |r| {
        ((r[0] & 0xff_ffff) * (r[1] & 0xff_ffff)) >> 16
    });
    check(
        "mad24.hi.u32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            let high = ((r[0] & 0xff_ffff) * (r[1] & 0xff_ffff)) >> 16;
            u64::from((high as u32).wrapping_add(r[2] as u32))
        },
    );
    check(
        "mad24.hi.s32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            let s = |v: u64| i64::from((v as i32) << 8 >> 8);
            let high = (s(r[0]) * s(r[1])) >> 16;
            (high + i64::from(r[2] as i32)).cast_unsigned() & 0xffff_ffff
        },
    );
    check(
        "mad24.lo.s32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            let s = |v: u64| i64::from((v as i32) << 8 >> 8);
            (s(r[0]) * s(r[1]) + i64::from(r[2] as i32)).cast_unsigned() & 0xffff_ffff
        },
    );
}

#[test]
fn carries_make_wide_sums_and_products() {
    let four = rows(
        &[
            0,
            1,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            u64::MAX,
            0x8000_0000_0000_0000,
            0xffff_ffff_0000_0000,
        ],
        2,
    );
    let split = "mov.b64 {%t, %u}, %a;\n.reg .b32 %l, %h, %m, %o;\nmov.b64 {%l, %h}, %b;\n";
    let join = "mov.b64 %d, {%m, %o};";
    let ins = format!("{split}add.cc.u32 %m, %t, %l;\naddc.u32 %o, %u, %h;\n{join}");
    check(&ins, "u64", &["u64", "u64"], &four, |r| {
        r[0].wrapping_add(r[1])
    });
    let ins = format!("{split}sub.cc.u32 %m, %t, %l;\nsubc.u32 %o, %u, %h;\n{join}");
    check(&ins, "u64", &["u64", "u64"], &four, |r| {
        r[0].wrapping_sub(r[1])
    });
    // 64 x 64 -> 64 from 32-bit pieces.
    let ins = format!(
        "{split}mul.lo.u32 %m, %t, %l;\nmul.hi.u32 %o, %t, %l;\nmad.lo.u32 %o, %t, %h, %o;\nmad.lo.u32 %o, %u, %l, %o;\n{join}"
    );
    check(&ins, "u64", &["u64", "u64"], &four, |r| {
        r[0].wrapping_mul(r[1])
    });
    // The upper half of 64 + 64*64 by madc.hi.
    let ins = "mad.lo.cc.u64 %x, %a, %b, %b;\nmadc.hi.u64 %d, %a, %b, 0;";
    check(ins, "u64", &["u64", "u64"], &four, |r| {
        ((u128::from(r[0]) * u128::from(r[1]) + u128::from(r[1])) >> 64) as u64
    });
}

#[test]
fn bit_fields() {
    let one = rows(EDGES, 1);
    check("popc.b32 %d, %a;", "u32", &["u32"], &one, |r| {
        u64::from((r[0] as u32).count_ones())
    });
    check("popc.b64 %d, %a;", "u32", &["u64"], &one, |r| {
        u64::from(r[0].count_ones())
    });
    check("clz.b32 %d, %a;", "u32", &["u32"], &one, |r| {
        u64::from((r[0] as u32).leading_zeros())
    });
    check("clz.b64 %d, %a;", "u32", &["u64"], &one, |r| {
        u64::from(r[0].leading_zeros())
    });
    check("brev.b32 %d, %a;", "u32", &["u32"], &one, |r| {
        u64::from((r[0] as u32).reverse_bits())
    });
    check("brev.b64 %d, %a;", "u64", &["u64"], &one, |r| {
        r[0].reverse_bits()
    });
    check("bfind.u32 %d, %a;", "u32", &["u32"], &one, |r| {
        u64::from((r[0] as u32).checked_ilog2().unwrap_or(u32::MAX))
    });
    check("bfind.s64 %d, %a;", "u32", &["u64"], &one, |r| {
        let v = if r[0] >> 63 != 0 { !r[0] } else { r[0] };
        u64::from(v.checked_ilog2().unwrap_or(u32::MAX))
    });
    let three = rows(
        &[
            0,
            1,
            4,
            8,
            31,
            32,
            33,
            63,
            64,
            200,
            0x1ff,
            0xdead_beef,
            0x8000_0000,
            0xf0f0_f0f0_1234_8001,
        ],
        3,
    );
    // The manual's definition, bit by bit.
    let bfe = |bits: u64, signed: bool| {
        move |r: &[u64]| {
            let (a, pos, len) = (r[0], r[1] & 0xff, r[2] & 0xff);
            let bit = |at: u64| a >> at & 1;
            let sign = if !signed || len == 0 {
                0
            } else {
                bit((pos + len - 1).min(bits - 1))
            };
            (0..bits).fold(0, |d, i| {
                let v = if i < len && pos + i < bits {
                    bit(pos + i)
                } else {
                    sign
                };
                d | v << i
            })
        }
    };
    check(
        "bfe.u32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        bfe(32, false),
    );
    check(
        "bfe.s32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        bfe(32, true),
    );
    check(
        "bfe.u64 %d, %a, %b, %c;",
        "u64",
        &["u64", "u32", "u32"],
        &three,
        bfe(64, false),
    );
    check(
        "bfe.s64 %d, %a, %b, %c;",
        "u64",
        &["u64", "u32", "u32"],
        &three,
        bfe(64, true),
    );
    let four = rows(&[0, 1, 8, 31, 32, 40, 0xdead_beef, 0xffff_ffff], 4);
    let bfi = |bits: u64| {
        move |r: &[u64]| {
            let (pos, len) = (r[2] & 0xff, r[3] & 0xff);
            let mut f = r[1];
            for i in 0..len {
                if pos + i < bits {
                    f = f & !(1 << (pos + i)) | (r[0] >> i & 1) << (pos + i);
                }
            }
            f & (u64::MAX >> (64 - bits))
        }
    };
    check(
        "bfi.b32 %d, %a, %b, %c, %e;",
        "u32",
        &["u32"; 4],
        &four,
        bfi(32),
    );
    check(
        "bfi.b64 %d, %a, %b, %c, %e;",
        "u64",
        &["u64", "u64", "u32", "u32"],
        &four,
        bfi(64),
    );
}

#[test]
fn byte_permutes_and_dot_products() {
    let three = rows(
        &[
            0x0123_4567,
            0x89ab_cdef,
            0x3210,
            0x7654,
            0xfedc,
            0x4444,
            1,
            2,
            3,
        ],
        3,
    );
    let byte =
        |r: &[u64], n: u64| ((r[1] & 0xffff_ffff) << 32 | r[0] & 0xffff_ffff) >> (8 * n) & 0xff;
    check(
        "prmt.b32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            (0..4).fold(0, |d, k| {
                let s = r[2] >> (4 * k) & 15;
                let b = byte(r, s & 7);
                let b = if s & 8 == 0 {
                    b
                } else if b & 0x80 != 0 {
                    0xff
                } else {
                    0
                };
                d | b << (8 * k)
            })
        },
    );
    check(
        "prmt.b32.f4e %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| (0..4).fold(0, |d, k| d | byte(r, k + (r[2] & 3)) << (8 * k)),
    );
    check(
        "dp4a.s32.u32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            (0..4)
                .fold(r[2] as u32, |s, k| {
                    let (p, q) = ((r[0] >> (8 * k)) as i8, (r[1] >> (8 * k)) as u8);
                    s.wrapping_add((i32::from(p) * i32::from(q)).cast_unsigned())
                })
                .into()
        },
    );
    check(
        "dp2a.hi.u32.u32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &three,
        |r| {
            (0..2)
                .fold(r[2] as u32, |s, k| {
                    let (p, q) = ((r[0] >> (16 * k)) as u16, (r[1] >> (16 + 8 * k)) as u8);
                    s.wrapping_add(u32::from(p) * u32::from(q))
                })
                .into()
        },
    );
}

#[test]
fn comparisons_of_integers() {
    let two = rows(EDGES, 2);
    macro_rules! compare {
        ($($ty:literal $t:ty: $($op:literal $rust:tt)*;)*) => {$($(
            let ins = format!(concat!("setp.", $op, ".{} %p, %a, %b;\nselp.u32 %d, 1, 0, %p;"), $ty);
            check(&ins, "u32", &[$ty, $ty], &two, |r| u64::from((r[0] as $t) $rust (r[1] as $t)));
        )*)*};
    }
    compare! {
        "u16" u16: "eq" == "ne" != "lt" < "le" <= "gt" > "ge" >=;
        "s16" i16: "lt" < "le" <= "gt" > "ge" >=;
        "u32" u32: "eq" == "ne" != "lo" < "ls" <= "hi" > "hs" >=;
        "s32" i32: "lt" < "le" <= "gt" > "ge" >=;
        "u64" u64: "eq" == "ne" != "lt" < "le" <= "gt" > "ge" >=;
        "s64" i64: "lt" < "le" <= "gt" > "ge" >=;
    }
    // Boolean combination, complement, and negated operand.
    let three = rows(&[0, 1, 2], 3);
    for (op, f) in [
        ("and", (|x, y| x & y) as fn(bool, bool) -> bool),
        ("or", |x, y| x | y),
        ("xor", |x, y| x ^ y),
    ] {
        let ins = format!(
            "setp.ne.u32 %p1, %c, 0;\nsetp.lt.{op}.u32 %p|%q, %a, %b, !%p1;\nselp.u32 %t, 1, 0, %p;\nselp.u32 %u, 2, 0, %q;\nor.b32 %d, %t, %u;"
        );
        check(&ins, "u32", &["u32"; 3], &three, |r| {
            let (lt, c) = (r[0] < r[1], r[2] == 0);
            u64::from(f(lt, c)) | u64::from(f(!lt, c)) << 1
        });
    }
    let ins = "set.gt.u32.s32 %d, %a, %b;";
    check(ins, "u32", &["u32"; 2], &two, |r| {
        if r[0] as i32 > r[1] as i32 {
            0xffff_ffff
        } else {
            0
        }
    });
    check(
        "slct.u32.s32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &rows(&EDGES[..24], 3),
        |r| (if r[2] as i32 >= 0 { r[0] } else { r[1] }) & 0xffff_ffff,
    );
}

#[test]
fn operands_wider_than_the_type_are_cut() {
    let got = eval(
        "add.u32 %d, %a, 1;\nst.local.u8 [depot], %b;\nld.local.s8 %d, [depot];"
            .replace("add", ".local .b8 depot[4];\nadd")
            .as_str(),
        "u64",
        &["u32", "u64"],
        &[vec![1, 0xffee]],
    );
    // ld.s8 into a 64-bit register extends the sign all the way.
    assert_eq!(got, [0xffff_ffff_ffff_ffee]);
}

/// Shifts by a constant are decoded apart from shifts by a register.
#[test]
fn shifts_by_constants() {
    let one = rows(EDGES, 1);
    for n in [0u32, 1, 7, 15, 16, 31, 32, 63, 64, 200] {
        let ins = |op: &str| format!("{op} %d, %a, {n};");
        check(&ins("shl.b16"), "u16", &["u16"], &one, |r| {
            u64::from((r[0] as u16).checked_shl(n).unwrap_or(0))
        });
        check(&ins("shl.b32"), "u32", &["u32"], &one, |r| {
            u64::from((r[0] as u32).checked_shl(n).unwrap_or(0))
        });
        check(&ins("shl.b64"), "u64", &["u64"], &one, |r| {
            r[0].checked_shl(n).unwrap_or(0)
        });
        check(&ins("shr.u32"), "u32", &["u32"], &one, |r| {
            u64::from((r[0] as u32).checked_shr(n).unwrap_or(0))
        });
        check(&ins("shr.u64"), "u64", &["u64"], &one, |r| {
            r[0].checked_shr(n).unwrap_or(0)
        });
        check(&ins("shr.s32"), "u32", &["u32"], &one, |r| {
            let v = (r[0] as i32) >> n.min(31);
            u64::from(v.cast_unsigned())
        });
        check(&ins("shr.s64"), "u64", &["u64"], &one, |r| {
            (r[0].cast_signed() >> n.min(63)).cast_unsigned()
        });
    }
}

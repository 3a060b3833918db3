//! Logic, shifts and bit fields on edge values.

#![allow(
    clippy::cast_lossless,
    reason = "macros cast between types that they are given"
)]

use crate::arithmetic::{EDGES, pairs};
use crate::device::{check, rows};

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

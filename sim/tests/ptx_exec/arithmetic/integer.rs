//! Integer instructions on edge values. Without these tests a wrong row of the
//! decoder's tables would go unnoticed until a kernel miscomputes.

#![allow(
    clippy::cast_lossless,
    reason = "macros cast between types that they are given"
)]

use crate::arithmetic::{EDGES, pairs};
use crate::device::{check, eval, rows};

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

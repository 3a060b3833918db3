//! Logic and bit fields.

use crate::exec::decode::mods::{Mods, WORDS, signed};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::Class;
use crate::exec::lanes::map::{map1, map2, map2x, map3, map3x, map4};
use crate::exec::lanes::pred;
use crate::ptx::{Instr, Operand, ScalarType};

/// One closure for the three widths of bit types.
macro_rules! on_bits {
    ($ty:expr, $map:ident, |$($v:ident),+| $e:expr) => {
        match $ty.size() {
            _ if $ty == ScalarType::Pred => return Err(Bad::new("predicates are not expected")),
            2 => $map(|$($v: u16),+| $e),
            4 => $map(|$($v: u32),+| $e),
            8 => $map(|$($v: u64),+| $e),
            _ => return Err(Bad::new("a type of 16, 32 or 64 bits is expected")),
        }
    };
}

pub(in crate::exec::decode) fn logic<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a, b] = args(ins)?;
    if ty == ScalarType::Pred {
        let twin = match ins.op.base {
            "and" => pred::logic(|a, b| a & b),
            "or" => pred::logic(|a, b| a | b),
            _ => pred::logic(|a, b| a ^ b),
        };
        let (ra, na) = cx.pred(a)?;
        let (rb, nb) = cx.pred(b)?;
        let d = cx.dst(d, ty)?;
        cx.raw(twin, d.reg, &[ra, rb], u64::from(na) | u64::from(nb) << 1);
        return Ok(());
    }
    let twin = match ins.op.base {
        "and" => on_bits!(ty, map2, |a, b| a & b),
        "or" => on_bits!(ty, map2, |a, b| a | b),
        _ => on_bits!(ty, map2, |a, b| a ^ b),
    };
    cx.apply(twin, d, ty, &[(a, ty), (b, ty)], 0)
}

/// `not` and `cnot`.
pub(in crate::exec::decode) fn not<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a] = args(ins)?;
    if ty == ScalarType::Pred {
        let (ra, na) = cx.pred(a)?;
        let d = cx.dst(d, ty)?;
        cx.raw(pred::logic(|a, _| !a), d.reg, &[ra, ra], u64::from(na));
        return Ok(());
    }
    let twin = match (ins.op.base, ty.size()) {
        ("not", _) => on_bits!(ty, map1, |a| !a),
        (_, 2) => map1(|a: u16| u16::from(a == 0)),
        (_, 4) => map1(|a: u32| u32::from(a == 0)),
        (_, 8) => map1(|a: u64| u64::from(a == 0)),
        _ => return Err(Bad::new("a type of 16, 32 or 64 bits is expected")),
    };
    cx.apply(twin, d, ty, &[(a, ty)], 0)
}

/// `popc`, `clz` and `brev`.
pub(in crate::exec::decode) fn count<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a] = args(ins)?;
    let (twin, dty) = match (ins.op.base, ty.size()) {
        ("popc", 4) => (map1(|a: u32| a.count_ones()), ScalarType::U32),
        ("popc", 8) => (map1(|a: u64| a.count_ones()), ScalarType::U32),
        ("clz", 4) => (map1(|a: u32| a.leading_zeros()), ScalarType::U32),
        ("clz", 8) => (map1(|a: u64| a.leading_zeros()), ScalarType::U32),
        ("brev", 4) => (map1(|a: u32| a.reverse_bits()), ty),
        ("brev", 8) => (map1(|a: u64| a.reverse_bits()), ty),
        _ => return Err(Bad::new("a type of 32 or 64 bits is expected")),
    };
    cx.apply(twin, d, dty, &[(a, ty)], 0)
}

pub(in crate::exec::decode) fn bfe<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [d, a, b, c] = args(ins)?;
    macro_rules! field {
        ($t:ty, $signed:expr) => {
            map3(|a: $t, b: u32, c: u32| {
                let (pos, len) = (b & 0xff, c & 0xff);
                let top = <$t>::BITS - 1;
                let sign_at = (pos + len).saturating_sub(1).min(top);
                let sign = if $signed && len != 0 {
                    a >> sign_at & 1
                } else {
                    0
                };
                let value = if pos > top { 0 } else { a >> (pos & top) };
                // Bits beyond the source or the field are copies of the sign.
                let have = len.min((top + 1).saturating_sub(pos));
                if have > top {
                    value
                } else {
                    let mask = ((1 as $t) << have) - 1;
                    (value & mask) | if sign != 0 { !mask } else { 0 }
                }
            })
        };
    }
    let twin = match ty {
        ScalarType::U32 => field!(u32, false),
        ScalarType::S32 => field!(u32, true),
        ScalarType::U64 => field!(u64, false),
        ScalarType::S64 => field!(u64, true),
        _ => return Err(Bad::new("a 32- or 64-bit integer type is expected")),
    };
    cx.apply(
        twin,
        d,
        ty,
        &[(a, ty), (b, ScalarType::U32), (c, ScalarType::U32)],
        0,
    )
}

pub(in crate::exec::decode) fn bfi<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty()?;
    let [f, a, b, c, d] = args(ins)?;
    macro_rules! insert {
        ($t:ty) => {
            map4(|a: $t, b: $t, c: u32, d: u32| {
                let (pos, len) = (c & 0xff, d & 0xff);
                let ones = if len >= <$t>::BITS {
                    <$t>::MAX
                } else {
                    ((1 as $t) << len) - 1
                };
                let mask = ones.checked_shl(pos).unwrap_or(0);
                (b & !mask) | (a.checked_shl(pos).unwrap_or(0) & mask)
            })
        };
    }
    let twin = match ty.size() {
        4 => insert!(u32),
        8 => insert!(u64),
        _ => return Err(Bad::new("a type of 32 or 64 bits is expected")),
    };
    let u32_ = ScalarType::U32;
    cx.apply(twin, f, ty, &[(a, ty), (b, ty), (c, u32_), (d, u32_)], 0)
}

pub(in crate::exec::decode) fn bfind<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["shiftamt"])?;
    let ty = mods.ty()?;
    let [d, a] = args(ins)?;
    macro_rules! find {
        ($t:ty, $fix:expr) => {
            if mods.has("shiftamt") {
                map1(|a: $t| {
                    let v = $fix(a);
                    if v == 0 { u32::MAX } else { v.leading_zeros() }
                })
            } else {
                map1(|a: $t| {
                    let v = $fix(a);
                    if v == 0 {
                        u32::MAX
                    } else {
                        <$t>::BITS - 1 - v.leading_zeros()
                    }
                })
            }
        };
    }
    let twin = match ty {
        ScalarType::U32 => find!(u32, |a: u32| a),
        ScalarType::U64 => find!(u64, |a: u64| a),
        ScalarType::S32 => find!(i32, |a: i32| if a < 0 { !a } else { a }),
        ScalarType::S64 => find!(i64, |a: i64| if a < 0 { !a } else { a }),
        _ => return Err(Bad::new("a 32- or 64-bit integer type is expected")),
    };
    cx.apply(twin, d, ScalarType::U32, &[(a, ty)], 0)
}

/// The position of the n-th set bit from a base.
pub(in crate::exec::decode) fn fns<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = Mods::of(ins, &[])?.ty_of(WORDS)?;
    let [d, mask, base, offset] = args(ins)?;
    let twin = map3(|mask: u32, base: u32, offset: i32| {
        if base > 31 {
            return u32::MAX;
        }
        if offset == 0 {
            return if mask >> base & 1 != 0 {
                base
            } else {
                u32::MAX
            };
        }
        let mut left = offset.unsigned_abs();
        let mut at = base.cast_signed();
        let step = offset.signum();
        while (0..32).contains(&at) {
            if mask >> at & 1 != 0 {
                left -= 1;
                if left == 0 {
                    return at.cast_unsigned();
                }
            }
            at += step;
        }
        u32::MAX
    });
    let u32_ = ScalarType::U32;
    cx.apply(
        twin,
        d,
        ty,
        &[(mask, u32_), (base, u32_), (offset, ScalarType::S32)],
        0,
    )
}

pub(in crate::exec::decode) fn bmsk<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["clamp", "wrap"])?;
    let ty = mods.ty_of(WORDS)?;
    let [d, a, b] = args(ins)?;
    let twin = if mods.has("wrap") {
        map2(|a: u32, b: u32| ((1u32 << (b & 31)) - 1) << (a & 31))
    } else {
        map2(|a: u32, b: u32| {
            let ones = if b >= 32 { u32::MAX } else { (1 << b) - 1 };
            ones.checked_shl(a).unwrap_or(0)
        })
    };
    cx.apply(twin, d, ty, &[(a, ty), (b, ty)], 0)
}

pub(in crate::exec::decode) fn szext<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["clamp", "wrap"])?;
    let ty = mods.ty_of(WORDS)?;
    let [d, a, b] = args(ins)?;
    let twin = match (signed(ty), mods.has("wrap")) {
        (false, true) => map2(|a: u32, b: u32| a & ((1u32 << (b & 31)) - 1)),
        (false, false) => map2(|a: u32, b: u32| if b >= 32 { a } else { a & ((1 << b) - 1) }),
        (true, wrap) => {
            let x = u64::from(wrap);
            let twin = map2x(|a: u32, b: u32, x: u64| {
                let n = if x != 0 { b & 31 } else { b.min(32) };
                if n == 0 {
                    0
                } else {
                    (a << (32 - n))
                        .cast_signed()
                        .wrapping_shr(32 - n)
                        .cast_unsigned()
                }
            });
            return cx.apply(twin, d, ty, &[(a, ty), (b, ScalarType::U32)], x);
        }
    };
    cx.apply(twin, d, ty, &[(a, ty), (b, ScalarType::U32)], 0)
}

fn immediate(arg: &Operand<'_>) -> Result<u64, Bad> {
    match *arg {
        Operand::Int(v) => Ok(v),
        _ => Err(Bad::new("the last operand must be an immediate")),
    }
}

pub(in crate::exec::decode) fn lop3<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["and", "or"])?;
    let ty = mods.ty_of(WORDS)?;
    let twin = map3x(|a: u32, b: u32, c: u32, x: u64| {
        let on = |bit: u64| 0u32.wrapping_sub((x >> bit & 1) as u32);
        (on(0) & !a & !b & !c)
            | (on(1) & !a & !b & c)
            | (on(2) & !a & b & !c)
            | (on(3) & !a & b & c)
            | (on(4) & a & !b & !c)
            | (on(5) & a & !b & c)
            | (on(6) & a & b & !c)
            | (on(7) & a & b & c)
    });
    let boolean = mods.has("and") || mods.has("or");
    let (d, a, b, c, lut, q) = match &ins.args[..] {
        [d, a, b, c, lut] if !boolean => (d, a, b, c, lut, None),
        [d, a, b, c, lut, q] if boolean => (d, a, b, c, lut, Some(q)),
        _ => return Err(Bad::new("the number of operands is wrong")),
    };
    let Some(q) = q else {
        return cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ty)], immediate(lut)?);
    };
    // `d|p`: p tells whether the result is not zero, combined with q.
    let Operand::Pair(d, p) = *d else {
        return Err(Bad::new("a register and a predicate are expected"));
    };
    let (ra, rb, rc) = (cx.src(a, ty)?, cx.src(b, ty)?, cx.src(c, ty)?);
    let (rq, negated) = cx.pred(q)?;
    let p = cx.pred_dst(p)?;
    let d = if d == "_" {
        Operand::Sink
    } else {
        Operand::Name(d)
    };
    let dst = cx.dst(&d, ty)?;
    cx.raw(twin, dst.reg, &[ra, rb, rc], immediate(lut)?);
    let nonzero = cx.temp(Class::Pred)?;
    cx.raw(pred::test(|a: u32| a != 0), nonzero, &[dst.reg], 0);
    let combine = if mods.has("and") {
        pred::logic(|a, b| a & b)
    } else {
        pred::logic(|a, b| a | b)
    };
    cx.raw(combine, p, &[nonzero, rq], u64::from(negated) << 1);
    cx.finish(&dst);
    Ok(())
}

pub(in crate::exec::decode) fn prmt<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let modes = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
    let mods = Mods::of(ins, &modes)?;
    let ty = mods.ty_of(WORDS)?;
    let [d, a, b, c] = args(ins)?;
    let mode = mods.find(|t| modes.iter().position(|m| *m == t));
    let twin = map3x(|a: u32, b: u32, c: u32, x: u64| {
        let bytes = u64::from(b) << 32 | u64::from(a);
        let i = c & 3;
        let selector = match x {
            0 => c,
            1 => [0x3210, 0x4321, 0x5432, 0x6543][i as usize],
            2 => [0x5670, 0x6701, 0x7012, 0x0123][i as usize],
            3 => i * 0x1111,
            4 => [0x3210, 0x3211, 0x3222, 0x3333][i as usize],
            5 => [0x0000, 0x1110, 0x2210, 0x3210][i as usize],
            _ => [0x1010, 0x3232, 0x1010, 0x3232][i as usize],
        };
        (0..4).fold(0, |r, k| {
            let pick = selector >> (4 * k) & 15;
            let byte = (bytes >> (8 * (pick & 7))) as u8;
            let byte = if pick & 8 != 0 {
                0u8.wrapping_sub(byte >> 7)
            } else {
                byte
            };
            r | u32::from(byte) << (8 * k)
        })
    });
    let x = mode.map_or(0, |m| m as u64 + 1);
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ScalarType::U32)], x)
}

/// `dp4a` and `dp2a`: sums of products of bytes.
pub(in crate::exec::decode) fn dp<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["lo", "hi"])?;
    let (ta, tb) = mods.two()?;
    if [ta, tb]
        .iter()
        .any(|ty| !matches!(ty, ScalarType::U32 | ScalarType::S32))
    {
        return Err(Bad::new("types .u32 and .s32 are expected"));
    }
    let [d, a, b, c] = args(ins)?;
    // Bit 0: a is signed; bit 1: b is signed; bit 2: the high half of b.
    let x = u64::from(signed(ta)) | u64::from(signed(tb)) << 1 | u64::from(mods.has("hi")) << 2;
    let twin = if ins.op.base == "dp4a" {
        map3x(|a: u32, b: u32, c: u32, x: u64| {
            (0..4).fold(c, |sum, k| {
                let (p, q) = ((a >> (8 * k)) as u8, (b >> (8 * k)) as u8);
                let p = if x & 1 != 0 {
                    i32::from(p.cast_signed())
                } else {
                    i32::from(p)
                };
                let q = if x & 2 != 0 {
                    i32::from(q.cast_signed())
                } else {
                    i32::from(q)
                };
                sum.wrapping_add((p * q).cast_unsigned())
            })
        })
    } else {
        map3x(|a: u32, b: u32, c: u32, x: u64| {
            let b = if x & 4 != 0 { b >> 16 } else { b };
            (0..2).fold(c, |sum, k| {
                let (p, q) = ((a >> (16 * k)) as u16, (b >> (8 * k)) as u8);
                let p = if x & 1 != 0 {
                    i32::from(p.cast_signed())
                } else {
                    i32::from(p)
                };
                let q = if x & 2 != 0 {
                    i32::from(q.cast_signed())
                } else {
                    i32::from(q)
                };
                sum.wrapping_add((p * q).cast_unsigned())
            })
        })
    };
    let dty = if signed(ta) || signed(tb) {
        ScalarType::S32
    } else {
        ScalarType::U32
    };
    cx.apply(twin, d, dty, &[(a, ta), (b, tb), (c, dty)], x)
}

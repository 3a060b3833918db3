//! Shifts and funnel shifts.

use crate::exec::decode::mods::{Mods, WORDS, signed, unsigned};
use crate::exec::decode::operand::args;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::{map1, map1x, map2, map3};
use crate::ptx::{Instr, Operand, ScalarType};

/// `shl` and `shr`: amounts beyond the width shift everything out.
pub(in crate::exec::decode) fn shift<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let ty = unsigned(Mods::of(ins, &[])?.ty()?);
    if ty == ScalarType::Pred {
        return Err(Bad::new("an integer type of 16, 32 or 64 bits is expected"));
    }
    let [d, a, b] = args(ins)?;
    if let Operand::Int(n) = *b {
        return shift_by(cx, ins.op.base == "shl", ty, d, a, n);
    }
    macro_rules! left {
        ($t:ty) => {
            map2(|a: $t, n: u32| {
                if n < <$t>::BITS {
                    a << (n & (<$t>::BITS - 1))
                } else {
                    0
                }
            })
        };
    }
    macro_rules! right {
        ($t:ty) => {
            map2(|a: $t, n: u32| {
                if n < <$t>::BITS {
                    a >> (n & (<$t>::BITS - 1))
                } else {
                    0
                }
            })
        };
    }
    macro_rules! right_signed {
        ($t:ty) => {
            map2(|a: $t, n: u32| a >> n.min(<$t>::BITS - 1))
        };
    }
    let twin = match (ins.op.base, ty) {
        ("shl", _) => match ty.size() {
            2 => left!(u16),
            4 => left!(u32),
            8 => left!(u64),
            _ => return Err(Bad::new("a type of 16, 32 or 64 bits is expected")),
        },
        (_, ScalarType::U16) => right!(u16),
        (_, ScalarType::U32) => right!(u32),
        (_, ScalarType::U64) => right!(u64),
        (_, ScalarType::S16) => right_signed!(i16),
        (_, ScalarType::S32) => right_signed!(i32),
        (_, ScalarType::S64) => right_signed!(i64),
        _ => return Err(Bad::new("an integer type is expected")),
    };
    cx.apply(twin, d, ty, &[(a, ty), (b, ScalarType::U32)], 0)
}

/// A shift by a constant: the usual case, and a cheaper vector instruction.
fn shift_by<'a>(
    cx: &mut Cx<'a, '_>,
    left: bool,
    ty: ScalarType,
    d: &Operand<'a>,
    a: &Operand<'a>,
    n: u64,
) -> Result<(), Bad> {
    let bits = u64::from(8 * ty.size());
    let n = n & 0xffff_ffff;
    if n >= bits && (left || !signed(ty)) {
        let zero = Operand::Int(0);
        let copy = if ty.size() == 8 {
            map1(|a: u64| a)
        } else {
            map1(|a: u32| a)
        };
        return cx.apply(copy, d, ty, &[(&zero, ty)], 0);
    }
    let n = n.min(bits - 1);
    macro_rules! by {
        ($t:ty, |$a:ident, $n:ident| $e:expr) => {
            map1x(|$a: $t, n: u64| {
                let $n = n as u32 & (<$t>::BITS - 1);
                $e
            })
        };
    }
    let twin = match (left, ty) {
        (true, _) => match ty.size() {
            2 => by!(u16, |a, n| a << n),
            4 => by!(u32, |a, n| a << n),
            8 => by!(u64, |a, n| a << n),
            _ => return Err(Bad::new("a type of 16, 32 or 64 bits is expected")),
        },
        (_, ScalarType::U16) => by!(u16, |a, n| a >> n),
        (_, ScalarType::U32) => by!(u32, |a, n| a >> n),
        (_, ScalarType::U64) => by!(u64, |a, n| a >> n),
        (_, ScalarType::S16) => by!(i16, |a, n| a >> n),
        (_, ScalarType::S32) => by!(i32, |a, n| a >> n),
        (_, ScalarType::S64) => by!(i64, |a, n| a >> n),
        _ => return Err(Bad::new("an integer type is expected")),
    };
    cx.apply(twin, d, ty, &[(a, ty)], n)
}

pub(in crate::exec::decode) fn shf<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["l", "r", "wrap", "clamp"])?;
    let ty = mods.ty_of(WORDS)?;
    let [d, a, b, c] = args(ins)?;
    let twin = match (mods.has("l"), mods.has("wrap")) {
        (true, true) => map3(|a: u32, b: u32, c: u32| {
            ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
        }),
        (true, false) => map3(|a: u32, b: u32, c: u32| {
            ((u64::from(b) << 32 | u64::from(a)) << c.min(32) >> 32) as u32
        }),
        (false, true) => {
            map3(|a: u32, b: u32, c: u32| ((u64::from(b) << 32 | u64::from(a)) >> (c & 31)) as u32)
        }
        (false, false) => {
            map3(|a: u32, b: u32, c: u32| ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32)
        }
    };
    cx.apply(twin, d, ty, &[(a, ty), (b, ty), (c, ScalarType::U32)], 0)
}

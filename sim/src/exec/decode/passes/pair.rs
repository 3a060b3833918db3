//! Pairs of operations that are executed together: the first one's result is an
//! operand of the second one only. Each is what the two are, rounding included.

use crate::exec::inst::Tag;
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::map3x;
use crate::exec::num::float::nan32;
use crate::ptx::{Instr, Operand, ScalarType};

/// What an instruction is, if it is one that pairs are made of. The decoder must have made
/// one operation from it.
pub(in crate::exec::decode) fn tag(ins: &Instr<'_>) -> Tag {
    let Some((&last, rest)) = ins.op.mods.split_last() else {
        return Tag::Other;
    };
    let Some(ty) = ScalarType::from_token(last) else {
        return Tag::Other;
    };
    let narrow = match ty {
        ScalarType::B32 | ScalarType::U32 | ScalarType::S32 => true,
        ScalarType::B64 | ScalarType::U64 | ScalarType::S64 => false,
        _ => return float(ins.op.base, rest, ty),
    };
    let of = |narrow32: Tag, wide64: Tag| if narrow { narrow32 } else { wide64 };
    let signed = matches!(ty, ScalarType::S32 | ScalarType::S64);
    match (ins.op.base, rest) {
        ("add", []) => of(Tag::Add32, Tag::Add64),
        ("sub", []) => of(Tag::Sub32, Tag::Sub64),
        ("mul", ["lo"]) => of(Tag::Mul32, Tag::Mul64),
        ("and", []) => of(Tag::And32, Tag::And64),
        ("or", []) => of(Tag::Or32, Tag::Or64),
        ("xor", []) => of(Tag::Xor32, Tag::Xor64),
        ("shl", []) if in_range(ins, narrow) => of(Tag::Shl32, Tag::Shl64),
        ("shr", []) if !signed && in_range(ins, narrow) => of(Tag::Shr32, Tag::Shr64),
        ("mul", ["wide"]) if narrow && signed => Tag::MulWideS32,
        ("mul", ["wide"]) if narrow => Tag::MulWideU32,
        ("cvt", ["u64" | "s64"]) if ty == ScalarType::U32 => Tag::Widen,
        _ => Tag::Other,
    }
}

/// Whether a shift is by a constant that the decoder puts into `x`.
fn in_range(ins: &Instr<'_>, narrow: bool) -> bool {
    let bits = if narrow { 32 } else { 64 };
    matches!(ins.args[..], [_, _, Operand::Int(by)] if by < bits)
}

fn float(base: &str, mods: &[&str], ty: ScalarType) -> Tag {
    if !matches!(mods, [] | ["rn"]) {
        return Tag::Other;
    }
    match (base, ty) {
        ("add", ScalarType::F32) => Tag::AddF32,
        ("sub", ScalarType::F32) => Tag::SubF32,
        ("mul", ScalarType::F32) => Tag::MulF32,
        ("add", ScalarType::F64) => Tag::AddF64,
        ("sub", ScalarType::F64) => Tag::SubF64,
        ("mul", ScalarType::F64) => Tag::MulF64,
        _ => Tag::Other,
    }
}

/// `second(first(a, b), c)`, or `second(c, first(a, b))` if `swapped`. Shifts of the first
/// are by `x`.
pub(in crate::exec::decode) fn twin(first: Tag, second: Tag, swapped: bool) -> Option<Twin> {
    macro_rules! narrow {
        (|$a:ident, $b:ident, $x:ident| $first:expr) => {
            match (second, swapped) {
                (Tag::Add32, _) => {
                    map3x(|$a: u32, $b: u32, c: u32, $x: u64| c.wrapping_add($first))
                }
                (Tag::Sub32, false) => map3x(|$a: u32, $b: u32, c: u32, $x: u64| {
                    let t = $first;
                    t.wrapping_sub(c)
                }),
                (Tag::Sub32, true) => {
                    map3x(|$a: u32, $b: u32, c: u32, $x: u64| c.wrapping_sub($first))
                }
                (Tag::And32, _) => map3x(|$a: u32, $b: u32, c: u32, $x: u64| ($first) & c),
                (Tag::Or32, _) => map3x(|$a: u32, $b: u32, c: u32, $x: u64| ($first) | c),
                (Tag::Xor32, _) => map3x(|$a: u32, $b: u32, c: u32, $x: u64| ($first) ^ c),
                _ => return None,
            }
        };
    }
    macro_rules! wide {
        (|$a:ident, $b:ident, $x:ident| $first:expr) => {
            match (second, swapped) {
                (Tag::Add64, _) => {
                    map3x(|$a: u64, $b: u64, c: u64, $x: u64| c.wrapping_add($first))
                }
                (Tag::Sub64, false) => map3x(|$a: u64, $b: u64, c: u64, $x: u64| {
                    let t = $first;
                    t.wrapping_sub(c)
                }),
                (Tag::Sub64, true) => {
                    map3x(|$a: u64, $b: u64, c: u64, $x: u64| c.wrapping_sub($first))
                }
                (Tag::And64, _) => map3x(|$a: u64, $b: u64, c: u64, $x: u64| ($first) & c),
                (Tag::Or64, _) => map3x(|$a: u64, $b: u64, c: u64, $x: u64| ($first) | c),
                (Tag::Xor64, _) => map3x(|$a: u64, $b: u64, c: u64, $x: u64| ($first) ^ c),
                _ => return None,
            }
        };
    }
    // Addresses: an index is widened, scaled, and added to a base.
    macro_rules! address {
        (|$a:ident: $t:ty, $b:ident| $first:expr) => {
            match second {
                Tag::Add64 => map3x(|$a: $t, $b: $t, c: u64, _: u64| c.wrapping_add($first)),
                _ => return None,
            }
        };
    }
    macro_rules! float {
        ($t:ty, $add:ident $sub:ident $mul:ident, $fix:expr, |$a:ident, $b:ident| $first:expr) => {
            match (second, swapped) {
                (Tag::$add, _) => map3x(|$a: $t, $b: $t, c: $t, _: u64| $fix($fix($first) + c)),
                (Tag::$sub, false) => map3x(|$a: $t, $b: $t, c: $t, _: u64| $fix($fix($first) - c)),
                (Tag::$sub, true) => map3x(|$a: $t, $b: $t, c: $t, _: u64| $fix(c - $fix($first))),
                (Tag::$mul, _) => map3x(|$a: $t, $b: $t, c: $t, _: u64| $fix($fix($first) * c)),
                _ => return None,
            }
        };
    }
    macro_rules! single {
        (|$a:ident, $b:ident| $first:expr) => {
            float!(f32, AddF32 SubF32 MulF32, nan32, |$a, $b| $first)
        };
    }
    macro_rules! double {
        (|$a:ident, $b:ident| $first:expr) => {
            float!(f64, AddF64 SubF64 MulF64, |v: f64| v, |$a, $b| $first)
        };
    }
    Some(match first {
        Tag::Add32 => narrow!(|a, b, _x| a.wrapping_add(b)),
        Tag::Mul32 => narrow!(|a, b, _x| a.wrapping_mul(b)),
        Tag::And32 => narrow!(|a, b, _x| a & b),
        Tag::Xor32 => narrow!(|a, b, _x| a ^ b),
        Tag::Shl32 => narrow!(|a, _b, x| a << (x & 31)),
        Tag::Shr32 => narrow!(|a, _b, x| a >> (x & 31)),
        Tag::Add64 => wide!(|a, b, _x| a.wrapping_add(b)),
        Tag::Mul64 => wide!(|a, b, _x| a.wrapping_mul(b)),
        Tag::And64 => wide!(|a, b, _x| a & b),
        Tag::Xor64 => wide!(|a, b, _x| a ^ b),
        Tag::Shl64 => wide!(|a, _b, x| a << (x & 63)),
        Tag::Shr64 => wide!(|a, _b, x| a >> (x & 63)),
        Tag::MulWideU32 => address!(|a: u32, b| u64::from(a) * u64::from(b)),
        Tag::MulWideS32 => {
            address!(|a: i32, b| (i64::from(a) * i64::from(b)).cast_unsigned())
        }
        Tag::Widen => address!(|a: u32, _b| u64::from(a)),
        Tag::AddF32 => single!(|a, b| a + b),
        Tag::SubF32 => single!(|a, b| a - b),
        Tag::MulF32 => single!(|a, b| a * b),
        Tag::AddF64 => double!(|a, b| a + b),
        Tag::SubF64 => double!(|a, b| a - b),
        Tag::MulF64 => double!(|a, b| a * b),
        _ => return None,
    })
}

//! Extended-precision arithmetic: instructions that set or use the carry flag.

use crate::exec::decode::mods::{Mods, unsigned};
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::NONE;
use crate::exec::lanes::pred;
use crate::ptx::{Instr, ScalarType};

macro_rules! carry_op {
    ($ty:expr, |$a:ident, $b:ident, $c:ident, $cin:ident, $t:ident| $e:expr) => {
        match unsigned($ty) {
            ScalarType::U32 | ScalarType::S32 => {
                pred::carry(|$a: u32, $b: u32, $c: u32, $cin: bool| {
                    type $t = u32;
                    $e
                })
            }
            ScalarType::U64 | ScalarType::S64 => {
                pred::carry(|$a: u64, $b: u64, $c: u64, $cin: bool| {
                    type $t = u64;
                    $e
                })
            }
            _ => return Err(Bad::new("a 32- or 64-bit integer type is expected")),
        }
    };
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`. The carry of a
/// subtraction is its borrow.
pub(in crate::exec::decode) fn carry<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["cc", "lo", "hi"])?;
    let ty = mods.ty()?;
    let signed = matches!(ty, ScalarType::S32 | ScalarType::S64);
    let twin = match (ins.op.base, mods.has("hi")) {
        ("add" | "addc", _) => carry_op!(ty, |a, b, _c, cin, T| {
            let (s, c1) = a.overflowing_add(b);
            let (s, c2) = s.overflowing_add(T::from(cin));
            (s, c1 | c2)
        }),
        ("sub" | "subc", _) => carry_op!(ty, |a, b, _c, cin, T| {
            let (s, c1) = a.overflowing_sub(b);
            let (s, c2) = s.overflowing_sub(T::from(cin));
            (s, c1 | c2)
        }),
        (_, false) => carry_op!(ty, |a, b, c, cin, T| {
            let (s, c1) = a.wrapping_mul(b).overflowing_add(c);
            let (s, c2) = s.overflowing_add(T::from(cin));
            (s, c1 | c2)
        }),
        (_, true) if signed => carry_op!(ty, |a, b, c, cin, T| {
            let (s, c1) = Signed::high(a, b).overflowing_add(c);
            let (s, c2) = s.overflowing_add(T::from(cin));
            (s, c1 | c2)
        }),
        _ => carry_op!(ty, |a, b, c, cin, T| {
            let high = ((u128::from(a) * u128::from(b)) >> T::BITS) as T;
            let (s, c1) = high.overflowing_add(c);
            let (s, c2) = s.overflowing_add(T::from(cin));
            (s, c1 | c2)
        }),
    };
    let uses = matches!(ins.op.base, "addc" | "subc" | "madc");
    let mut regs = [NONE; 3];
    let [d, srcs @ ..] = &ins.args[..] else {
        return Err(Bad::new("operands are missing"));
    };
    let wanted = if ins.op.base.starts_with("mad") { 3 } else { 2 };
    if srcs.len() != wanted {
        return Err(Bad::new(format!("{} operands are expected", wanted + 1)));
    }
    for (reg, arg) in regs.iter_mut().zip(srcs) {
        *reg = cx.src(arg, ty)?;
    }
    // Sums have no third operand; the loop reads one all the same.
    if regs[2] == NONE {
        regs[2] = regs[0];
    }
    let dst = cx.dst(d, ty)?;
    let cc = cx.carry_flag()?;
    let mut inst = cx.blank(twin);
    (inst.d, inst.a, inst.b, inst.c, inst.p) = (dst.reg, regs[0], regs[1], regs[2], cc);
    inst.x = u64::from(uses) | u64::from(mods.has("cc")) << 1;
    cx.push(inst);
    cx.finish(&dst);
    Ok(())
}

/// The upper half of a product of signed values.
trait Signed {
    fn high(a: Self, b: Self) -> Self;
}

impl Signed for u32 {
    fn high(a: Self, b: Self) -> Self {
        ((i64::from(a.cast_signed()) * i64::from(b.cast_signed())) >> 32) as Self
    }
}

impl Signed for u64 {
    fn high(a: Self, b: Self) -> Self {
        ((i128::from(a.cast_signed()) * i128::from(b.cast_signed())) >> 64) as Self
    }
}

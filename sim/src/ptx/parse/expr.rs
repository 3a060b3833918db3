//! Constant expressions, folded while parsed. Integers are 64 bits and signed
//! unless an operand was too large for that or carried a `U` cast, which is what
//! C does with PTX's operators.

use super::{Parser, Result};
use crate::ptx::lexer::Tok;

/// A folded constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Const {
    Int(u64),
    F32(u32),
    F64(u64),
}

/// Binding power of a binary operator; higher binds tighter.
fn power(tok: Tok<'_>) -> Option<u8> {
    Some(match tok {
        Tok::OrOr => 1,
        Tok::AndAnd => 2,
        Tok::P(b'|') => 3,
        Tok::P(b'^') => 4,
        Tok::P(b'&') => 5,
        Tok::EqEq | Tok::Ne => 6,
        Tok::P(b'<' | b'>') | Tok::Le | Tok::Ge => 7,
        Tok::Shl | Tok::Shr => 8,
        Tok::P(b'+' | b'-') => 9,
        Tok::P(b'*' | b'/' | b'%') => 10,
        _ => return None,
    })
}

fn fold(op: Tok<'_>, a: u64, b: u64) -> Option<u64> {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    Some(match op {
        Tok::OrOr => u64::from(a != 0 || b != 0),
        Tok::AndAnd => u64::from(a != 0 && b != 0),
        Tok::P(b'|') => a | b,
        Tok::P(b'^') => a ^ b,
        Tok::P(b'&') => a & b,
        Tok::EqEq => u64::from(a == b),
        Tok::Ne => u64::from(a != b),
        Tok::P(b'<') => u64::from(sa < sb),
        Tok::P(b'>') => u64::from(sa > sb),
        Tok::Le => u64::from(sa <= sb),
        Tok::Ge => u64::from(sa >= sb),
        Tok::Shl => a.checked_shl(shift).unwrap_or(0),
        Tok::Shr => sa.checked_shr(shift).unwrap_or(sa >> 63).cast_unsigned(),
        Tok::P(b'+') => a.wrapping_add(b),
        Tok::P(b'-') => a.wrapping_sub(b),
        Tok::P(b'*') => a.wrapping_mul(b),
        Tok::P(b'/') => sa.checked_div(sb)?.cast_unsigned(),
        Tok::P(b'%') => sa.checked_rem(sb)?.cast_unsigned(),
        _ => return None,
    })
}

impl Parser<'_> {
    /// A constant expression.
    pub(super) fn constant(&mut self) -> Result<Const> {
        self.nested(|p| {
            let first = p.binary(1)?;
            if !p.is(b'?') {
                return Ok(first);
            }
            p.bump();
            let yes = p.constant()?;
            p.expect(b':')?;
            let no = p.constant()?;
            Ok(if first == Const::Int(0) { no } else { yes })
        })
    }

    /// A constant that must be an integer.
    pub(super) fn const_int(&mut self, what: &str) -> Result<u64> {
        match self.constant()? {
            Const::Int(v) => Ok(v),
            _ => self.error(what),
        }
    }

    fn binary(&mut self, min: u8) -> Result<Const> {
        let mut left = self.nested(Self::unary)?;
        while let Some(bp) = power(self.tok()).filter(|&bp| bp >= min) {
            let op = self.tok();
            self.bump();
            let right = self.nested(|p| p.binary(bp + 1))?;
            let (Const::Int(a), Const::Int(b)) = (left, right) else {
                return self.error("integer operands");
            };
            let Some(value) = fold(op, a, b) else {
                return self.error("a divisor other than zero");
            };
            left = Const::Int(value);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Const> {
        let value = match self.tok() {
            Tok::Int(v) => Const::Int(v),
            Tok::F32(v) => Const::F32(v),
            Tok::F64(v) => Const::F64(v),
            Tok::P(op @ (b'-' | b'~' | b'!' | b'+')) => {
                self.bump();
                return Ok(match (op, self.nested(Self::unary)?) {
                    (b'-', Const::Int(v)) => Const::Int(v.wrapping_neg()),
                    (b'-', Const::F32(v)) => Const::F32(v ^ (1 << 31)),
                    (b'-', Const::F64(v)) => Const::F64(v ^ (1 << 63)),
                    (b'~', Const::Int(v)) => Const::Int(!v),
                    (b'!', Const::Int(v)) => Const::Int(u64::from(v == 0)),
                    (b'+', v) => v,
                    _ => return self.error("an integer operand"),
                });
            }
            Tok::P(b'(') => {
                self.bump();
                // A cast to .s64 or .u64 changes nothing in 64-bit arithmetic.
                if self.eat_dot("s64") || self.eat_dot("u64") {
                    self.expect(b')')?;
                    return self.nested(Self::unary);
                }
                let inner = self.constant()?;
                self.expect(b')')?;
                return Ok(inner);
            }
            _ => return self.error("a constant"),
        };
        self.bump();
        Ok(value)
    }
}

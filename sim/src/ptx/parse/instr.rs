//! Instructions and operands.

use super::expr::Const;
use super::{Parser, Result};
use crate::ptx::ast::{Instr, Opcode, Operand, Pred};
use crate::ptx::lexer::Tok;

impl<'a> Parser<'a> {
    /// An instruction with its guard, up to and including `;`.
    pub(super) fn instr(&mut self) -> Result<Instr<'a>> {
        let mut pred = None;
        if self.eat(b'@') {
            let negated = self.eat(b'!');
            let name = self.ident("a predicate")?;
            pred = Some(Pred { name, negated });
        }
        let line = self.lex.line;
        let base = self.ident("an opcode")?;
        let mut mods = Vec::new();
        while let Tok::Dot(token) = self.tok() {
            mods.push(token);
            self.bump();
        }
        let mut args = Vec::new();
        if !self.eat(b';') {
            args.reserve(4);
            let call = base == "call";
            args = self.list(b';', |p| p.operand(call))?;
        }
        Ok(Instr {
            line,
            pred,
            op: Opcode { base, mods },
            args,
        })
    }

    /// A name with the component that follows it without a blank.
    fn name(&mut self) -> Result<&'a str> {
        let (start, mut end) = (self.lex.start, self.lex.end());
        let name = self.ident("a name")?;
        if let Tok::Dot(_) = self.tok()
            && self.lex.start == end
        {
            end = self.lex.end();
            self.bump();
            return Ok(self.lex.text.get(start..end).unwrap_or(name));
        }
        Ok(name)
    }

    fn operand(&mut self, call: bool) -> Result<Operand<'a>> {
        match self.tok() {
            Tok::Ident("_") => {
                self.bump();
                if self.eat(b'|') {
                    return Ok(Operand::Pair("_", self.name()?));
                }
                Ok(Operand::Sink)
            }
            Tok::Ident(_) => {
                let name = self.name()?;
                match self.tok() {
                    Tok::P(b'|') => {
                        self.bump();
                        Ok(Operand::Pair(name, self.name()?))
                    }
                    Tok::P(b'+' | b'-') => Ok(Operand::Sum(name, self.offset()?)),
                    Tok::P(b'[') => self.element(name),
                    _ => Ok(Operand::Name(name)),
                }
            }
            Tok::P(b'{') => {
                self.bump();
                self.nested(|p| Ok(Operand::Vector(p.list(b'}', |p| p.operand(false))?)))
            }
            Tok::P(b'[') => {
                self.bump();
                self.nested(Self::address)
            }
            Tok::P(b'(') if call => {
                self.bump();
                self.nested(|p| Ok(Operand::List(p.list(b')', |p| p.operand(false))?)))
            }
            Tok::P(b'!') if self.names_next() => {
                self.bump();
                Ok(Operand::Not(self.name()?))
            }
            Tok::P(b'-') if self.names_next() => {
                self.bump();
                Ok(Operand::Neg(self.name()?))
            }
            Tok::Int(_) | Tok::F32(_) | Tok::F64(_) | Tok::P(b'-' | b'~' | b'!' | b'(' | b'+') => {
                Ok(match self.constant()? {
                    Const::Int(v) => Operand::Int(v),
                    Const::F32(v) => Operand::F32(v),
                    Const::F64(v) => Operand::F64(v),
                })
            }
            _ => self.error("an operand"),
        }
    }

    /// The index of an array's element, after the array's name.
    fn element(&mut self, name: &'a str) -> Result<Operand<'a>> {
        let declared = self.strides.get(name).and_then(|strides| strides.last());
        let Some(stride) = declared.copied().flatten() else {
            return self.error("the name of a declared array before an index");
        };
        self.bump();
        let index = self.const_int("an index")?.cast_signed();
        let Some(offset) = index.checked_mul(stride) else {
            return self.error("an index within 64 bits of addresses");
        };
        self.expect(b']')?;
        Ok(Operand::Element {
            name,
            index,
            offset,
        })
    }

    fn names_next(&self) -> bool {
        matches!(self.lex.peek_byte(), b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%')
    }

    fn address(&mut self) -> Result<Operand<'a>> {
        let mut parts = self.list(b']', |p| match p.tok() {
            Tok::Ident(_) => {
                let name = p.name()?;
                Ok(Operand::Address(Some(name), p.offset()?))
            }
            Tok::P(b'{') => p.operand(false),
            _ => Ok(Operand::Address(
                None,
                p.const_int("an address")?.cast_signed(),
            )),
        })?;
        if parts.is_empty() {
            return self.error("an address");
        }
        if parts.len() == 1
            && let Some(one) = parts.pop()
        {
            return Ok(one);
        }
        Ok(Operand::Bracket(parts))
    }
}

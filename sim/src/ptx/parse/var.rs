//! Variables, their types and initialisers; parameters.

use super::expr::Const;
use super::{Parser, Result};
use crate::ptx::ast::{Init, Linkage, Param, RegDecl, ScalarType, Space, Var};
use crate::ptx::lexer::Tok;

/// Largest `.align` accepted, in bytes.
const MAX_ALIGN: u64 = 1 << 16;

/// What stands between the state space and the name.
struct TypeSpec {
    align: Option<u32>,
    ty: ScalarType,
    vector: u32,
    ptr: bool,
    managed: bool,
}

impl<'a> Parser<'a> {
    fn type_spec(&mut self) -> Result<TypeSpec> {
        let (mut align, mut ty, mut vector, mut ptr) = (None, None, 1, false);
        let mut managed = false;
        while let Tok::Dot(token) = self.tok() {
            match token {
                "align" => {
                    self.bump();
                    let value = self.int("an alignment")?;
                    if !value.is_power_of_two() || value > MAX_ALIGN {
                        return self.error("an alignment that is a power of two");
                    }
                    // After .ptr the alignment is the pointee's.
                    if !ptr {
                        align = Some(value as u32);
                    }
                    continue;
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "ptr" => ptr = true,
                "global" | "const" | "shared" | "local" if ptr => {}
                "attribute" => {
                    self.bump();
                    self.expect(b'(')?;
                    managed |= self.skip_parentheses("managed")?;
                    continue;
                }
                _ => match ScalarType::from_token(token) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    _ => return self.error("a type"),
                },
            }
            self.bump();
        }
        let Some(ty) = ty else {
            return self.error("a type");
        };
        Ok(TypeSpec {
            align,
            ty,
            vector,
            ptr,
            managed,
        })
    }

    fn declarator(&mut self, space: Space, linkage: Linkage, spec: &TypeSpec) -> Result<Var<'a>> {
        let line = self.lex.line;
        let name = self.ident("a name")?;
        let mut dims = Vec::new();
        while self.eat(b'[') {
            if self.eat(b']') {
                dims.push(None);
            } else {
                dims.push(Some(self.const_int("an array length")?));
                self.expect(b']')?;
            }
        }
        // Elements are those of the fundamental type, also of vectors and of several dimensions;
        // of an array without a length they are bytes (all seen on an H100).
        let stride = match dims.contains(&None) {
            true => 1,
            false => i64::from(spec.ty.size()),
        };
        let is_array = !dims.is_empty();
        self.declared.push(name);
        let strides = self.strides.entry(name).or_default();
        strides.push(is_array.then_some(stride));
        let init = match self.eat(b'=') {
            // `{ addr_mode_0 = wrap, ... }`: what a sampler does, and nothing here samples.
            true if spec.ty == ScalarType::Opaque && self.is(b'{') => {
                self.lex.skip_braces();
                None
            }
            true => Some(self.init()?),
            false => None,
        };
        let var = Var {
            space,
            linkage,
            managed: spec.managed,
            align: spec.align,
            ty: spec.ty,
            vector: spec.vector,
            name,
            dims,
            init,
            line,
        };
        if var.size().is_none() {
            return self.error("a variable of less than 2^46 bytes");
        }
        Ok(var)
    }

    /// Everything after the state space, up to and including `;`.
    pub(super) fn vars(
        &mut self,
        space: Space,
        linkage: Linkage,
        out: &mut Vec<Var<'a>>,
    ) -> Result<()> {
        // `.const[2]` of old versions names a bank.
        if self.eat(b'[') {
            self.int("a bank number")?;
            self.expect(b']')?;
        }
        let spec = self.type_spec()?;
        loop {
            let mut var = self.declarator(space, linkage, &spec)?;
            // `name<n>` declares a numbered family, as for registers.
            if self.eat(b'<') {
                self.int("a count")?;
                self.expect(b'>')?;
                return self.error("a single variable");
            }
            if var.space != Space::Global && var.space != Space::Const && var.init.is_some() {
                // ptxas ignores these too: only global and const memory is initialised.
                var.init = None;
            }
            out.push(var);
            if !self.eat(b',') {
                return self.expect(b';');
            }
        }
    }

    /// After `.reg`, up to and including `;`.
    pub(super) fn regs(&mut self) -> Result<Vec<RegDecl<'a>>> {
        let spec = self.type_spec()?;
        let mut regs = Vec::new();
        loop {
            let name = self.ident("a register name")?;
            let mut count = None;
            if self.eat(b'<') {
                count = Some(self.int("a count")?);
                self.expect(b'>')?;
            }
            regs.push(RegDecl {
                ty: spec.ty,
                vector: spec.vector,
                name,
                count,
            });
            if !self.eat(b',') {
                self.expect(b';')?;
                return Ok(regs);
            }
        }
    }

    /// One formal parameter.
    pub(super) fn param(&mut self) -> Result<Param<'a>> {
        let space = if self.eat_dot("param") {
            Space::Param
        } else if self.eat_dot("reg") {
            Space::Reg
        } else {
            return self.error("`.param` or `.reg`");
        };
        let spec = self.type_spec()?;
        let var = self.declarator(space, Linkage::Internal, &spec)?;
        Ok(Param { var, ptr: spec.ptr })
    }

    fn init(&mut self) -> Result<Init<'a>> {
        self.nested(|p| {
            if p.eat(b'{') {
                return Ok(Init::List(p.list(b'}', Self::init)?));
            }
            if matches!(p.tok(), Tok::Ident(_)) {
                return p.init_symbol();
            }
            let value = p.constant()?;
            if let (Const::Int(mask), true) = (value, p.is(b'(')) {
                p.bump();
                let of = Box::new(p.init_symbol()?);
                p.expect(b')')?;
                return Ok(Init::Masked { mask, of });
            }
            Ok(match value {
                Const::Int(v) => Init::Int(v),
                Const::F32(v) => Init::F32(v),
                Const::F64(v) => Init::F64(v),
            })
        })
    }

    fn init_symbol(&mut self) -> Result<Init<'a>> {
        let mut name = self.ident("a symbol")?;
        let generic = name == "generic" && self.is(b'(');
        if generic {
            self.bump();
            name = self.ident("a symbol")?;
            self.expect(b')')?;
        }
        let offset = self.offset()?;
        Ok(Init::Symbol {
            name,
            offset,
            generic,
        })
    }

    /// `+n`, `-n` or nothing.
    pub(super) fn offset(&mut self) -> Result<i64> {
        let negative = self.is(b'-');
        if !negative && !self.is(b'+') {
            return Ok(0);
        }
        self.bump();
        let value = self.const_int("an offset")?.cast_signed();
        Ok(if negative {
            value.wrapping_neg()
        } else {
            value
        })
    }
}

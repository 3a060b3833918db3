//! `.entry` and `.func`, and the statements inside them.

use super::{Parser, Result};
use crate::ptx::ast::{CallProto, Func, Linkage, Loc, Param, Space, Stmt};
use crate::ptx::lexer::Tok;

impl<'a> Parser<'a> {
    fn params(&mut self) -> Result<Vec<Param<'a>>> {
        if self.eat(b'(') {
            return self.list(b')', Self::param);
        }
        Ok(Vec::new())
    }

    /// After `.entry` or `.func`.
    pub(super) fn func(&mut self, entry: bool, linkage: Linkage) -> Result<Func<'a>> {
        let mut directives = Vec::new();
        // `.func .attribute(...) (ret) name`.
        self.directives(&mut directives)?;
        self.scoped(|p| p.signature_and_body(entry, linkage, directives))
    }

    fn signature_and_body(
        &mut self,
        entry: bool,
        linkage: Linkage,
        mut directives: Vec<(&'a str, Vec<u64>)>,
    ) -> Result<Func<'a>> {
        let returns = if entry { Vec::new() } else { self.params()? };
        let line = self.lex.line;
        let name = self.ident("a function name")?;
        let params = self.params()?;
        self.directives(&mut directives)?;
        let body = if self.eat(b';') {
            None
        } else {
            self.expect(b'{')?;
            Some(self.nested(Self::body)?)
        };
        Ok(Func {
            entry,
            linkage,
            name,
            returns,
            params,
            directives,
            body,
            line,
        })
    }

    /// Any number of `.name`, each with integers, strings or a bracketed list.
    fn directives(&mut self, out: &mut Vec<(&'a str, Vec<u64>)>) -> Result<()> {
        while let Tok::Dot(name) = self.tok() {
            self.bump();
            let mut values = Vec::new();
            if self.eat(b'(') {
                self.skip_parentheses("")?;
            }
            loop {
                match self.tok() {
                    Tok::Int(v) => values.push(v),
                    Tok::Str(_) => {}
                    _ => break,
                }
                self.bump();
                if !self.eat(b',') {
                    break;
                }
            }
            if name == "pragma" {
                self.eat(b';');
            }
            out.push((name, values));
        }
        Ok(())
    }

    /// Statements up to and including `}`.
    fn body(&mut self) -> Result<Vec<Stmt<'a>>> {
        let mut out = Vec::new();
        loop {
            match self.tok() {
                Tok::P(b'}') => {
                    self.bump();
                    return Ok(out);
                }
                Tok::P(b'{') => {
                    self.bump();
                    out.push(Stmt::Scope(self.nested(|p| p.scoped(Self::body))?));
                }
                Tok::P(b';') => self.bump(),
                Tok::Dot(name) => self.body_directive(name, &mut out)?,
                Tok::Ident(name) if self.lex.peek_byte() == b':' => {
                    let line = self.lex.line;
                    self.bump();
                    self.expect(b':')?;
                    out.push(self.labelled(name, line)?);
                }
                Tok::Ident(_) | Tok::P(b'@') => out.push(Stmt::Instr(self.instr()?)),
                _ => return self.error("a statement or `}`"),
            }
        }
    }

    fn labelled(&mut self, name: &'a str, line: u32) -> Result<Stmt<'a>> {
        if self.eat_dot("branchtargets") || self.eat_dot("calltargets") {
            let targets = self.list(b';', |p| p.ident("a label"))?;
            return Ok(Stmt::Targets(name, targets));
        }
        if self.eat_dot("callprototype") {
            let returns = self.scoped(Self::params)?;
            self.ident("`_`")?;
            let params = self.scoped(Self::params)?;
            self.directives(&mut Vec::new())?;
            self.expect(b';')?;
            return Ok(Stmt::Proto(CallProto {
                name,
                returns,
                params,
            }));
        }
        Ok(Stmt::Label(name, line))
    }

    fn body_directive(&mut self, name: &'a str, out: &mut Vec<Stmt<'a>>) -> Result<()> {
        let space = match name {
            "reg" => {
                self.bump();
                out.push(Stmt::Reg(self.regs()?));
                return Ok(());
            }
            "loc" => {
                self.bump();
                out.push(Stmt::Loc(self.loc()?));
                return Ok(());
            }
            "pragma" => {
                self.bump();
                self.list(b';', |p| match p.tok() {
                    Tok::Str(_) => {
                        p.bump();
                        Ok(())
                    }
                    _ => p.error("a string"),
                })?;
                return Ok(());
            }
            "local" => Space::Local,
            "shared" => Space::Shared,
            "param" => Space::Param,
            "global" => Space::Global,
            "const" => Space::Const,
            "file" => {
                self.bump();
                self.file()?;
                return Ok(());
            }
            _ => return self.error("a directive of a function body"),
        };
        self.bump();
        let mut vars = Vec::new();
        self.vars(space, Linkage::Internal, &mut vars)?;
        out.extend(vars.into_iter().map(Stmt::Var));
        Ok(())
    }

    /// After `.loc`: three numbers and, since version 7.2, where it was inlined.
    fn loc(&mut self) -> Result<Loc> {
        let loc = Loc {
            file: self.int("a file number")?,
            line: self.int("a line number")?,
            column: self.int("a column number")?,
        };
        while self.eat(b',') {
            match self.ident("`function_name` or `inlined_at`")? {
                "function_name" => {
                    self.ident("a label")?;
                    self.offset()?;
                }
                _ => {
                    for _ in 0..3 {
                        self.int("a number")?;
                    }
                }
            }
        }
        Ok(loc)
    }
}

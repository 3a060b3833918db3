//! The top level of a module.

use super::{Parser, Result};
use crate::ptx::ast::{Linkage, Module, Space};
use crate::ptx::lexer::Tok;

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Result<Module<'a>> {
        let mut module = Module {
            version: self.version()?,
            target: Vec::new(),
            address_size: 64,
            vars: Vec::new(),
            funcs: Vec::new(),
            aliases: Vec::new(),
            files: Vec::new(),
        };
        loop {
            match self.tok() {
                Tok::Eof => return Ok(module),
                Tok::Dot(name) => self.directive(name, &mut module)?,
                // `@@DWARF .byte ...` lines of old compilers.
                Tok::P(b'@') => {
                    self.lex.skip_line();
                    self.bump();
                }
                Tok::P(b';') => self.bump(),
                // A label between functions belongs to debug information.
                Tok::Ident(_) if self.lex.peek_byte() == b':' => {
                    self.bump();
                    self.expect(b':')?;
                }
                _ => return self.error("a directive"),
            }
        }
    }

    fn version(&mut self) -> Result<(u32, u32)> {
        if !self.eat_dot("version") {
            return self.error("`.version`, the first directive of every module");
        }
        let text = self.lex.text.get(self.lex.start..self.lex.end());
        let parsed = text.and_then(|t| t.split_once('.')).and_then(|(a, b)| {
            let major = a.parse().ok()?;
            Some((major, b.parse().ok()?))
        });
        let Some(version) = parsed else {
            return self.error("a version such as 7.0");
        };
        self.bump();
        Ok(version)
    }

    fn directive(&mut self, name: &'a str, module: &mut Module<'a>) -> Result<()> {
        self.bump();
        match name {
            "target" => loop {
                module.target.push(self.ident("a target")?);
                if !self.eat(b',') {
                    return Ok(());
                }
            },
            "address_size" => {
                let bits = self.int("32 or 64")?;
                if bits != 32 && bits != 64 {
                    return self.error("an address size of 32 or 64");
                }
                module.address_size = bits as u32;
                Ok(())
            }
            "file" => {
                module.files.push(self.file()?);
                Ok(())
            }
            "section" => {
                self.bump();
                if !self.is(b'{') {
                    return self.error("`{`");
                }
                self.lex.skip_braces();
                Ok(())
            }
            "pragma" => {
                self.list(b';', |p| {
                    p.bump();
                    Ok(())
                })?;
                Ok(())
            }
            "alias" => {
                let new = self.ident("a name")?;
                self.expect(b',')?;
                let old = self.ident("a name")?;
                module.aliases.push((new, old));
                self.expect(b';')
            }
            _ => self.linked(name, module),
        }
    }

    /// A variable or function, `name` being its first dot token, already taken.
    fn linked(&mut self, mut name: &'a str, module: &mut Module<'a>) -> Result<()> {
        let linkage = match name {
            "visible" => Linkage::Visible,
            "extern" => Linkage::Extern,
            "weak" => Linkage::Weak,
            "common" => Linkage::Common,
            _ => Linkage::Internal,
        };
        if linkage != Linkage::Internal {
            let Tok::Dot(next) = self.tok() else {
                return self.error("a state space, `.func` or `.entry`");
            };
            name = next;
            self.bump();
        }
        let space = match name {
            "global" | "tex" => Space::Global,
            "const" => Space::Const,
            "shared" => Space::Shared,
            "local" => Space::Local,
            "entry" | "func" => {
                let func = self.func(name == "entry", linkage)?;
                module.funcs.push(func);
                return Ok(());
            }
            _ => return self.error("a known directive before this place"),
        };
        self.vars(space, linkage, &mut module.vars)
    }

    /// After `.file`: an index, a path and, optionally, its time and size.
    pub(super) fn file(&mut self) -> Result<(u64, &'a str)> {
        let index = self.int("a file number")?;
        let Tok::Str(path) = self.tok() else {
            return self.error("a path in quotes");
        };
        self.bump();
        while self.eat(b',') {
            self.int("a number")?;
        }
        Ok((index, path))
    }
}

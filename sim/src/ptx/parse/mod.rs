//! Recursive descent over the token stream.
//!
//! Every rule that can contain itself (scopes, initialisers, expressions,
//! vectors) goes through [`Parser::nested`], which bounds the depth, so no input
//! can exhaust the stack, neither here nor when the tree is dropped.

mod expr;
mod func;
mod instr;
mod module;
mod var;

use std::collections::HashMap;

use super::ast::Module;
use super::error::ParseError;
use super::lexer::{Lexer, Tok};

/// Deepest nesting of braces and brackets together.
const MAX_DEPTH: u32 = 64;

type Result<T> = std::result::Result<T, ParseError>;

pub(super) fn module(text: &str) -> Result<Module<'_>> {
    let mut parser = Parser {
        lex: Lexer::new(text),
        depth: 0,
        declared: Vec::new(),
        strides: HashMap::new(),
    };
    parser.module()
}

struct Parser<'a> {
    lex: Lexer<'a>,
    depth: u32,
    /// Names of the variables that can be seen here, innermost last. PTX declares before it uses.
    declared: Vec<&'a str>,
    /// For each of them, innermost last, the bytes from one element to the next if it is an array:
    /// what `name[index]` needs.
    strides: HashMap<&'a str, Vec<Option<i64>>>,
}

impl<'a> Parser<'a> {
    fn tok(&self) -> Tok<'a> {
        self.lex.tok
    }

    fn bump(&mut self) {
        self.lex.advance();
    }

    fn error<T>(&self, expected: &str) -> Result<T> {
        let text = self.lex.text;
        let start = self.lex.start.min(text.len());
        let before = text.as_bytes().get(..start).unwrap_or(&[]);
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        let found = match self.tok() {
            Tok::Eof => "end of file".to_owned(),
            _ => {
                let rest = text.get(start..).unwrap_or("");
                let end = self.lex.end().saturating_sub(start).max(1);
                format!("`{}`", rest.chars().take(end.min(32)).collect::<String>())
            }
        };
        Err(ParseError {
            line: self.lex.line,
            column: u32::try_from(column).unwrap_or(u32::MAX),
            expected: expected.to_owned(),
            found,
        })
    }

    fn is(&self, p: u8) -> bool {
        self.tok() == Tok::P(p)
    }

    /// Takes `p` if it is there.
    fn eat(&mut self, p: u8) -> bool {
        let found = self.is(p);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, p: u8) -> Result<()> {
        if self.eat(p) {
            return Ok(());
        }
        self.error(&format!("`{}`", char::from(p)))
    }

    fn ident(&mut self, what: &str) -> Result<&'a str> {
        let Tok::Ident(name) = self.tok() else {
            return self.error(what);
        };
        self.bump();
        Ok(name)
    }

    fn eat_dot(&mut self, name: &str) -> bool {
        let found = self.tok() == Tok::Dot(name);
        if found {
            self.bump();
        }
        found
    }

    fn int(&mut self, what: &str) -> Result<u64> {
        let Tok::Int(v) = self.tok() else {
            return self.error(what);
        };
        self.bump();
        Ok(v)
    }

    /// After `(`: everything up to and including its partner; whether `.look` is in it.
    fn skip_parentheses(&mut self, look: &str) -> Result<bool> {
        let (mut depth, mut found) = (1u32, false);
        while depth > 0 {
            match self.tok() {
                Tok::P(b'(') => depth = depth.saturating_add(1),
                Tok::P(b')') => depth -= 1,
                Tok::Eof => return self.error("`)`"),
                other => found |= other == Tok::Dot(look),
            }
            self.bump();
        }
        Ok(found)
    }

    /// Runs `rule`, whose declarations nothing after it sees.
    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let seen = self.declared.len();
        let result = rule(self);
        for name in self.declared.drain(seen..) {
            if let Some(strides) = self.strides.get_mut(name) {
                strides.pop();
            }
        }
        result
    }

    /// Runs `rule` one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return self.error("less nesting (the limit is 64 levels)");
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// `item, item, ...` up to and including `close`; may be empty.
    fn list<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(b',') {
                continue;
            }
            self.expect(close)?;
            return Ok(items);
        }
    }
}

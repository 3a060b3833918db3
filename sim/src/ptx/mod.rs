//! Reading PTX: text to syntax tree.
//!
//! The grammar is generic on purpose: an opcode is a list of dot tokens and an
//! operand is whatever the syntax allows, so a module that uses an instruction
//! this crate does not know still parses. What an instruction means, and whether
//! it is known, is decided by [`exec`](crate::exec), one function at a time.
//!
//! Nothing here panics on any input: every failure is a [`ParseError`] with a
//! line, a column and what was expected.

mod ast;
mod error;
mod lexer;
pub mod link;
mod parse;
mod print;
mod target;

pub use ast::{
    CallProto, Func, Init, Instr, Linkage, Loc, Module, Opcode, Operand, Param, Pred, RegDecl,
    ScalarType, Space, Stmt, Var,
};
pub use error::ParseError;
pub use target::{Reach, Target};

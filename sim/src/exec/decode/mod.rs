//! From syntax tree to interpreter form, one function at a time.
//!
//! [`table`] maps an opcode's first word to the function that decodes it; that
//! line and that function are all an opcode needs. What cannot be decoded is an
//! error of the function it is in, found when the function is looked up.

mod arithmetic;
mod body;
mod control;
mod cvt;
mod cx;
mod logic;
mod memory;
mod mods;
mod operand;
mod passes;
mod table;

pub(crate) use body::{Input, function};
pub(crate) use control::call::{Layout, layout};
pub(crate) use cx::Cx;

use std::collections::HashMap;

/// Why one instruction cannot be decoded.
#[derive(Debug, Clone)]
pub(crate) struct Bad(pub(crate) String);

impl Bad {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Bad(text.into())
    }
}

/// The first instruction of a function that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecodeError {
    pub(crate) line: u32,
    pub(crate) opcode: String,
    pub(crate) reason: String,
}

/// Where a variable of module scope lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Device address.
    Device(u64),
    /// Offset in shared memory.
    Shared(u32),
    /// Start of dynamic shared memory.
    DynamicShared,
    /// Declared `.extern` and defined nowhere.
    Undefined,
}

/// A function as its callers see it.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    /// Index in the program; `None` for a declaration without a body.
    pub(crate) index: Option<u32>,
    pub(crate) layout: Layout,
}

/// Names of module scope.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    pub(crate) vars: HashMap<&'a str, Place>,
    pub(crate) funcs: HashMap<&'a str, Signature>,
}

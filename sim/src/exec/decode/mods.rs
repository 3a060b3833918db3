//! The dot tokens of an opcode, sorted into types and everything else.

use crate::exec::decode::Bad;
use crate::ptx::{Instr, ScalarType};

/// Types and modifiers of an opcode.
pub(crate) struct Mods<'a> {
    pub(crate) types: Vec<ScalarType>,
    rest: Vec<&'a str>,
}

impl<'a> Mods<'a> {
    /// Splits the tokens of `ins`. A token that is neither a type nor in
    /// `allowed` makes the instruction unknown.
    pub(crate) fn of(ins: &Instr<'a>, allowed: &[&str]) -> Result<Self, Bad> {
        let mut types = Vec::new();
        let mut rest = Vec::new();
        for &token in &ins.op.mods {
            if allowed.contains(&token) {
                rest.push(token);
            } else if let Some(ty) = ScalarType::from_token(token) {
                types.push(ty);
            } else {
                return Err(Bad::new(format!("modifier .{token} is not supported here")));
            }
        }
        Ok(Mods { types, rest })
    }

    pub(crate) fn has(&self, token: &str) -> bool {
        self.rest.contains(&token)
    }

    /// The first modifier that `f` maps to something.
    pub(crate) fn find<T>(&self, f: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        self.rest.iter().find_map(|&t| f(t))
    }

    /// The only type.
    pub(crate) fn ty(&self) -> Result<ScalarType, Bad> {
        match self.types[..] {
            [ty] => Ok(ty),
            _ => Err(Bad::new("one type is expected")),
        }
    }

    /// The only type, which must be one of `list`.
    pub(crate) fn ty_of(&self, list: &[ScalarType]) -> Result<ScalarType, Bad> {
        let ty = self.ty()?;
        if list.contains(&ty) {
            return Ok(ty);
        }
        Err(Bad::new("this type is not supported"))
    }

    /// The two types, destination first.
    pub(crate) fn two(&self) -> Result<(ScalarType, ScalarType), Bad> {
        match self.types[..] {
            [d, s] => Ok((d, s)),
            _ => Err(Bad::new("two types are expected")),
        }
    }
}

/// Types of instructions that take 32 bits, whatever they are.
pub(crate) const WORDS: &[ScalarType] = &[ScalarType::B32, ScalarType::U32, ScalarType::S32];

/// The integer type that a bit type stands for.
pub(crate) fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::B8 => ScalarType::U8,
        ScalarType::B16 => ScalarType::U16,
        ScalarType::B32 => ScalarType::U32,
        ScalarType::B64 => ScalarType::U64,
        _ => ty,
    }
}

/// Whether values are sign-extended when widened.
pub(crate) fn signed(ty: ScalarType) -> bool {
    matches!(
        ty,
        ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64
    )
}

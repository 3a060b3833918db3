//! The syntax tree. Names are slices of the source, so a tree lives as long as
//! the text it was read from.

use super::error::ParseError;

/// A parsed PTX module.
#[derive(Debug, Clone, PartialEq)]
pub struct Module<'a> {
    /// `.version`, as (major, minor).
    pub version: (u32, u32),
    /// The `.target` list, such as `["sm_60", "debug"]`.
    pub target: Vec<&'a str>,
    /// `.address_size` in bits: 32 or 64.
    pub address_size: u32,
    /// Module-scope variables in source order.
    pub vars: Vec<Var<'a>>,
    /// Functions and entries in source order, declarations included.
    pub funcs: Vec<Func<'a>>,
    /// `.alias` pairs: (new name, existing function).
    pub aliases: Vec<(&'a str, &'a str)>,
    /// `.file` entries: (index, path).
    pub files: Vec<(u64, &'a str)>,
}

impl<'a> Module<'a> {
    /// Parses a whole module.
    ///
    /// # Errors
    /// The first place where `text` is not PTX.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        super::parse::module(text)
    }
}

/// Fundamental PTX types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the PTX names")]
pub enum ScalarType {
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    B8,
    B16,
    B32,
    B64,
    B128,
    F16,
    F16x2,
    BF16,
    BF16x2,
    U16x2,
    S16x2,
    TF32,
    F32,
    F32x2,
    F64,
    Pred,
    /// `.texref`, `.samplerref` or `.surfref`: an opaque 64-bit handle.
    Opaque,
}

impl ScalarType {
    /// The type that a dot token (without its dot) names.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        Some(match token {
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::BF16,
            "bf16x2" => Self::BF16x2,
            "u16x2" => Self::U16x2,
            "s16x2" => Self::S16x2,
            "f32x2" => Self::F32x2,
            "tf32" => Self::TF32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "pred" => Self::Pred,
            "texref" | "samplerref" | "surfref" => Self::Opaque,
            _ => return None,
        })
    }

    /// Size in bytes; a predicate counts as one.
    #[must_use]
    pub fn size(self) -> u32 {
        match self {
            Self::U8 | Self::S8 | Self::B8 | Self::Pred => 1,
            Self::U16 | Self::S16 | Self::B16 | Self::F16 | Self::BF16 => 2,
            Self::U32
            | Self::S32
            | Self::B32
            | Self::F32
            | Self::F16x2
            | Self::BF16x2
            | Self::U16x2
            | Self::S16x2
            | Self::TF32 => 4,
            Self::U64 | Self::S64 | Self::B64 | Self::F64 | Self::F32x2 | Self::Opaque => 8,
            Self::B128 => 16,
        }
    }
}

/// State spaces that a declaration can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the PTX names")]
pub enum Space {
    Reg,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// Linking directive of a variable or function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the variants are the PTX names")]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A variable in any addressable state space.
#[derive(Debug, Clone, PartialEq)]
pub struct Var<'a> {
    /// State space.
    pub space: Space,
    /// Linking directive.
    pub linkage: Linkage,
    /// Whether it has `.attribute(.managed)`: the host reaches it too.
    pub managed: bool,
    /// Explicit `.align`, in bytes.
    pub align: Option<u32>,
    /// Element type.
    pub ty: ScalarType,
    /// Elements of `.v2`, `.v4` or `.v8`; 1 otherwise.
    pub vector: u32,
    /// Name.
    pub name: &'a str,
    /// Array dimensions, outermost first; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// Initial value.
    pub init: Option<Init<'a>>,
    /// Line of the name.
    pub line: u32,
}

impl Var<'_> {
    /// Size in bytes. An unsized dimension takes its length from the
    /// initialiser, and is empty without one. `None` if it does not fit.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let mut size = u64::from(self.ty.size()) * u64::from(self.vector);
        for dim in &self.dims {
            let n = match (dim, &self.init) {
                (Some(n), _) => *n,
                (None, Some(Init::List(list))) => list.len() as u64,
                (None, _) => 0,
            };
            size = size.checked_mul(n)?;
        }
        (size <= 1 << 46).then_some(size)
    }

    /// Alignment in bytes: the directive, or the natural one of the element.
    #[must_use]
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.ty.size() * self.vector).max(1)
    }
}

/// An initialiser.
#[derive(Debug, Clone, PartialEq)]
pub enum Init<'a> {
    /// An integer, as its 64 bits.
    Int(u64),
    /// A double, from decimal or `0d` syntax, as bits.
    F64(u64),
    /// A float from `0f` syntax, as bits.
    F32(u32),
    /// `symbol+offset` or `generic(symbol)+offset`.
    Symbol {
        /// The variable or function.
        name: &'a str,
        /// Byte offset added to its address.
        offset: i64,
        /// Whether `generic()` was written.
        generic: bool,
    },
    /// `0xFF00(symbol)`: some bits of an address, moved down to bit 0.
    Masked {
        /// Which bits.
        mask: u64,
        /// The address.
        of: Box<Init<'a>>,
    },
    /// `{ a, b, ... }`.
    List(Vec<Init<'a>>),
}

/// A formal parameter of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Param<'a> {
    /// `.param` or `.reg`, type, name and dimensions.
    pub var: Var<'a>,
    /// `.ptr` was given: the value is an address.
    pub ptr: bool,
}

/// `.entry` or `.func`, with or without a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Func<'a> {
    /// True for `.entry`.
    pub entry: bool,
    /// Linking directive.
    pub linkage: Linkage,
    /// Name.
    pub name: &'a str,
    /// Return parameters.
    pub returns: Vec<Param<'a>>,
    /// Parameters.
    pub params: Vec<Param<'a>>,
    /// Performance directives: name without dot, and its integer arguments.
    pub directives: Vec<(&'a str, Vec<u64>)>,
    /// Statements; `None` for a declaration.
    pub body: Option<Vec<Stmt<'a>>>,
    /// Line of the name.
    pub line: u32,
}

/// `.reg` declaration of one name or of a numbered family.
#[derive(Debug, Clone, PartialEq)]
pub struct RegDecl<'a> {
    /// Type.
    pub ty: ScalarType,
    /// Elements of `.v2` or `.v4`; 1 otherwise.
    pub vector: u32,
    /// Name, or the prefix of a family.
    pub name: &'a str,
    /// `n` of `name<n>`.
    pub count: Option<u64>,
}

/// `.loc`: position in the source language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loc {
    /// Index of the `.file`.
    pub file: u64,
    /// Line there.
    pub line: u64,
    /// Column there.
    pub column: u64,
}

/// `.callprototype`: the shape of an indirect call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProto<'a> {
    /// Label that names it.
    pub name: &'a str,
    /// Return parameters.
    pub returns: Vec<Param<'a>>,
    /// Parameters.
    pub params: Vec<Param<'a>>,
}

/// A statement of a function body.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt<'a> {
    /// `name:`.
    Label(&'a str, u32),
    /// An instruction.
    Instr(Instr<'a>),
    /// Register declarations.
    Reg(Vec<RegDecl<'a>>),
    /// A variable.
    Var(Var<'a>),
    /// `{ ... }` with its own names.
    Scope(Vec<Stmt<'a>>),
    /// `name: .branchtargets a, b;` or `.calltargets`.
    Targets(&'a str, Vec<&'a str>),
    /// `name: .callprototype ...;`.
    Proto(CallProto<'a>),
    /// `.loc`.
    Loc(Loc),
}

/// `@p` or `@!p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pred<'a> {
    /// Predicate register.
    pub name: &'a str,
    /// `!` was given.
    pub negated: bool,
}

/// An opcode: `ld`, `global`, `u32`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opcode<'a> {
    /// The part before the first dot.
    pub base: &'a str,
    /// The dot tokens, without dots; `::` stays inside a token.
    pub mods: Vec<&'a str>,
}

impl std::fmt::Display for Opcode<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.base)?;
        self.mods.iter().try_for_each(|m| write!(f, ".{m}"))
    }
}

/// An instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instr<'a> {
    /// Line of the opcode, from 1.
    pub line: u32,
    /// Guard.
    pub pred: Option<Pred<'a>>,
    /// Opcode.
    pub op: Opcode<'a>,
    /// Operands, destination first.
    pub args: Vec<Operand<'a>>,
}

/// An operand. Whether a name is a register, a variable, a label or a special
/// register is not known to the grammar.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand<'a> {
    /// A name, with its component if one was written (`%tid.x`).
    Name(&'a str),
    /// `name+offset`: the address of a variable, displaced.
    Sum(&'a str, i64),
    /// `name[index]`: an element of an array, which may lie outside of it.
    Element {
        /// The array.
        name: &'a str,
        /// As written.
        index: i64,
        /// In bytes from the array's start.
        offset: i64,
    },
    /// An integer, as its 64 bits.
    Int(u64),
    /// A `0f` float, as bits.
    F32(u32),
    /// A double, from decimal or `0d` syntax, as bits.
    F64(u64),
    /// `_`: a result that is not wanted.
    Sink,
    /// `!p`.
    Not(&'a str),
    /// `-r`.
    Neg(&'a str),
    /// `a|b`: two destinations.
    Pair(&'a str, &'a str),
    /// `{ a, b }`.
    Vector(Vec<Operand<'a>>),
    /// `[base+offset]`, base absent for an absolute address.
    Address(Option<&'a str>, i64),
    /// `[a, {b, c}]`: addresses of more than one part.
    Bracket(Vec<Operand<'a>>),
    /// `(a, b)`: the lists of a call.
    List(Vec<Operand<'a>>),
}

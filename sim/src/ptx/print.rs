//! Syntax tree to text: a module that was put together from several becomes PTX again.
//!
//! What the tree does not keep is not printed: comments, debug sections, pragmas, and
//! where `.loc` was inlined. Everything else reads back as the same tree, but for lines.

use std::fmt::{self, Display, Formatter};

use super::ast::{
    CallProto, Func, Init, Instr, Linkage, Module, Operand, Param, RegDecl, ScalarType, Space,
    Stmt, Var,
};

/// Items with a separator between them.
struct Joined<'x, T>(&'x [T], &'static str);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// A displacement with its sign; nothing for zero.
struct Offset(i64);

impl Display for Offset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            offset => write!(f, "{offset:+}"),
        }
    }
}

impl Display for ScalarType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::S8 => "s8",
            Self::S16 => "s16",
            Self::S32 => "s32",
            Self::S64 => "s64",
            Self::B8 => "b8",
            Self::B16 => "b16",
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::B128 => "b128",
            Self::F16 => "f16",
            Self::F16x2 => "f16x2",
            Self::BF16 => "bf16",
            Self::BF16x2 => "bf16x2",
            Self::U16x2 => "u16x2",
            Self::S16x2 => "s16x2",
            Self::F32x2 => "f32x2",
            Self::TF32 => "tf32",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Pred => "pred",
            // The tree does not tell the three apart: each is a handle of 64 bits.
            Self::Opaque => "texref",
        })
    }
}

impl Display for Space {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reg => "reg",
            Self::Global => "global",
            Self::Const => "const",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "param",
        })
    }
}

impl Display for Linkage {
    /// The directive with a blank after it; nothing for [`Linkage::Internal`].
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Internal => "",
            Self::Visible => ".visible ",
            Self::Extern => ".extern ",
            Self::Weak => ".weak ",
            Self::Common => ".common ",
        })
    }
}

impl Display for Init<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.cast_signed().fmt(f),
            Self::F64(bits) => write!(f, "0d{bits:016X}"),
            Self::F32(bits) => write!(f, "0f{bits:08X}"),
            Self::Symbol {
                name,
                offset,
                generic: true,
            } => write!(f, "generic({name}){}", Offset(*offset)),
            Self::Symbol {
                name,
                offset,
                generic: false,
            } => write!(f, "{name}{}", Offset(*offset)),
            Self::Masked { mask, of } => write!(f, "0x{mask:X}({of})"),
            Self::List(items) => write!(f, "{{{}}}", Joined(items, ", ")),
        }
    }
}

/// What follows the state space of a variable or parameter, but for the initial value.
/// No field is left out: a new one must be printed too.
fn declarator(f: &mut Formatter<'_>, var: &Var<'_>, pointer: bool) -> fmt::Result {
    let Var {
        space: _,
        linkage: _,
        managed,
        align,
        ty,
        vector,
        name,
        dims,
        init: _,
        line: _,
    } = var;
    if *managed {
        f.write_str(" .attribute(.managed)")?;
    }
    if let Some(align) = align {
        write!(f, " .align {align}")?;
    }
    if *vector > 1 {
        write!(f, " .v{vector}")?;
    }
    write!(f, " .{ty}")?;
    if pointer {
        f.write_str(" .ptr")?;
    }
    write!(f, " {name}")?;
    dims.iter().try_for_each(|dim| match dim {
        Some(len) => write!(f, "[{len}]"),
        None => f.write_str("[]"),
    })
}

impl Display for Var<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.linkage, self.space)?;
        declarator(f, self, false)?;
        if let Some(init) = &self.init {
            write!(f, " = {init}")?;
        }
        f.write_str(";")
    }
}

impl Display for Param<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.var.space)?;
        declarator(f, &self.var, self.ptr)
    }
}

impl Display for RegDecl<'_> {
    /// The name and count; the type is the whole statement's.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.count {
            Some(count) => write!(f, "{}<{count}>", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// `.reg` with the names that it declares, which have one type.
fn registers(f: &mut Formatter<'_>, decls: &[RegDecl<'_>]) -> fmt::Result {
    let Some(RegDecl { ty, vector, .. }) = decls.first() else {
        return writeln!(f);
    };
    f.write_str(".reg")?;
    if *vector > 1 {
        write!(f, " .v{vector}")?;
    }
    writeln!(f, " .{ty} {};", Joined(decls, ", "))
}

/// An operand as a part of an address, which has its brackets around all parts.
fn address_part(f: &mut Formatter<'_>, part: &Operand<'_>) -> fmt::Result {
    match part {
        Operand::Address(Some(base), offset) => write!(f, "{base}{}", Offset(*offset)),
        Operand::Address(None, at) => at.fmt(f),
        other => other.fmt(f),
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            // An offset of zero must stay: without it this is a plain name.
            Self::Sum(name, offset) => write!(f, "{name}{offset:+}"),
            Self::Element { name, index, .. } => write!(f, "{name}[{index}]"),
            Self::Int(value) => value.cast_signed().fmt(f),
            Self::F32(bits) => write!(f, "0f{bits:08X}"),
            Self::F64(bits) => write!(f, "0d{bits:016X}"),
            Self::Sink => f.write_str("_"),
            Self::Not(name) => write!(f, "!{name}"),
            Self::Neg(name) => write!(f, "-{name}"),
            Self::Pair(first, second) => write!(f, "{first}|{second}"),
            Self::Vector(items) => write!(f, "{{{}}}", Joined(items, ", ")),
            Self::List(items) => write!(f, "({})", Joined(items, ", ")),
            Self::Address(..) => {
                f.write_str("[")?;
                address_part(f, self)?;
                f.write_str("]")
            }
            Self::Bracket(parts) => {
                f.write_str("[")?;
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    address_part(f, part)?;
                }
                f.write_str("]")
            }
        }
    }
}

impl Display for Instr<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(pred) = self.pred {
            write!(f, "@{}{} ", if pred.negated { "!" } else { "" }, pred.name)?;
        }
        self.op.fmt(f)?;
        if !self.args.is_empty() {
            write!(f, " {}", Joined(&self.args, ", "))?;
        }
        f.write_str(";")
    }
}

impl Display for CallProto<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: .callprototype ", self.name)?;
        if !self.returns.is_empty() {
            write!(f, "({}) ", Joined(&self.returns, ", "))?;
        }
        write!(f, "_ ({});", Joined(&self.params, ", "))
    }
}

/// Statements, one a line.
fn statements(f: &mut Formatter<'_>, body: &[Stmt<'_>], depth: usize) -> fmt::Result {
    for stmt in body {
        write!(f, "{:depth$}", "", depth = depth * 4)?;
        match stmt {
            Stmt::Label(name, _) => writeln!(f, "{name}:")?,
            Stmt::Instr(instr) => writeln!(f, "{instr}")?,
            Stmt::Reg(decls) => registers(f, decls)?,
            Stmt::Var(var) => writeln!(f, "{var}")?,
            Stmt::Scope(inner) => {
                writeln!(f, "{{")?;
                statements(f, inner, depth + 1)?;
                writeln!(f, "{:depth$}}}", "", depth = depth * 4)?;
            }
            // The tree does not say whether they are labels or functions.
            Stmt::Targets(name, list) => {
                writeln!(f, "{name}: .branchtargets {};", Joined(list, ", "))?;
            }
            Stmt::Proto(proto) => writeln!(f, "{proto}")?,
            Stmt::Loc(loc) => writeln!(f, ".loc {} {} {}", loc.file, loc.line, loc.column)?,
        }
    }
    Ok(())
}

/// The directives whose values the tree does not keep; none changes what a function does.
const DROPPED: [&str; 2] = ["pragma", "attribute"];

impl Display for Func<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            linkage,
            name,
            returns,
            params,
            directives,
            body,
            line: _,
        } = self;
        let kind = if *entry { "entry" } else { "func" };
        write!(f, "{linkage}.{kind} ")?;
        if !returns.is_empty() {
            write!(f, "({}) ", Joined(returns, ", "))?;
        }
        write!(f, "{name}({})", Joined(params, ", "))?;
        for (directive, values) in directives {
            if !DROPPED.contains(directive) {
                write!(f, " .{directive}")?;
                if !values.is_empty() {
                    write!(f, " {}", Joined(values, ", "))?;
                }
            }
        }
        let Some(body) = body else {
            return f.write_str(";");
        };
        f.write_str(" {\n")?;
        statements(f, body, 1)?;
        f.write_str("}")
    }
}

impl Display for Module<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            version: (major, minor),
            target,
            address_size,
            vars,
            funcs,
            aliases,
            files,
        } = self;
        writeln!(f, ".version {major}.{minor}")?;
        if !target.is_empty() {
            writeln!(f, ".target {}", Joined(target, ", "))?;
        }
        writeln!(f, ".address_size {address_size}")?;
        for (index, path) in files {
            writeln!(f, ".file {index} \"{path}\"")?;
        }
        vars.iter().try_for_each(|var| writeln!(f, "{var}"))?;
        funcs.iter().try_for_each(|func| writeln!(f, "{func}"))?;
        let mut aliases = aliases.iter();
        aliases.try_for_each(|(new, old)| writeln!(f, ".alias {new}, {old};"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets all lines to zero: printing moves everything.
    fn forget_lines<'a>(module: &mut Module<'a>) {
        fn body(stmts: &mut [Stmt<'_>]) {
            for stmt in stmts {
                match stmt {
                    Stmt::Label(_, line) => *line = 0,
                    Stmt::Instr(instr) => instr.line = 0,
                    Stmt::Var(var) => var.line = 0,
                    Stmt::Scope(inner) => body(inner),
                    Stmt::Proto(proto) => {
                        params(&mut proto.returns);
                        params(&mut proto.params);
                    }
                    _ => {}
                }
            }
        }
        fn params(list: &mut [Param<'_>]) {
            list.iter_mut().for_each(|param| param.var.line = 0);
        }
        module.vars.iter_mut().for_each(|var| var.line = 0);
        for func in &mut module.funcs {
            func.line = 0;
            params(&mut func.params);
            params(&mut func.returns);
            func.directives.retain(|(name, _)| !DROPPED.contains(name));
            if let Some(stmts) = &mut func.body {
                body(stmts);
            }
        }
    }

    fn comes_back(text: &str) {
        let mut first = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let printed = first.to_string();
        let mut second =
            Module::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        forget_lines(&mut first);
        forget_lines(&mut second);
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{printed}");
    }

    /// Without it, linking could change what a kernel does: any part of a module that
    /// prints as something else would.
    #[test]
    fn every_construct_reads_back_as_it_was() {
        comes_back(
            r#"
.version 7.3
.target sm_60, debug
.address_size 64
.file 1 "a \"b\".cu"
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 8 .v4 .f32 g[2][3] = {{0f3F800000, -1.5, 2}, {1, 2, 3}};
.const .u64 c = -9223372036854775808;
.weak .global .u64 p[3] = {g+8, generic(g)-4, callee};
.common .global .u8 m[];
.global .b8 bytes[2] = {0xFF(g+4), 0xFF00(generic(g))};
.global .texref t;
.visible .func (.param .align 4 .b8 r[12], .reg .u32 q) callee(.param .b64 x) .noreturn;
.alias callee2, callee;
.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24])
    .maxntid 128, 2 .minnctapersm 3 .pragma "nounroll";;
.entry k2() .reqntid 32 {
    .reg .pred %p<4>, %q;
    .reg .b32 %c, %d;
    .reg .v2 .f32 v;
    .local .align 8 .b8 frame[16];
    .loc 1 7 3
again:
    @!%p1 bra.uni again;
    mov.b64 {%a, _}, %b;
    ld.global.v2.u32 {%c, %d}, [%a+-8];
    ld.shared.u32 %c, [dynamic+4];
    st.global.u32 [64], -1;
    mov.u64 %e, g+0;
    mov.f32 %f, 0f7FC00000;
    add.f64 %g, 1.5, 0d7FF8000000000000;
    setp.lt.and.u32 %p1|%q, %c, 0xffffffff, !%p2;
    setp.eq.u32 _|%p3, %tid.x, WARP_SZ;
    neg.s32 %c, -%d;
    tex.2d.v4.f32.f32 {%f, %f, %f, %f}, [t, {%x, %y}];
    { .param .b64 x; .reg .b32 %inner;
      call.uni (r, q), callee, (x), proto; }
list: .branchtargets again, again;
proto: .callprototype (.param .b32 _) _ (.param .b64 _, .reg .f32 _);
none: .callprototype _ ();
    call (%r), %fn, (1, %x), proto;
    brx.idx %c, list;
    atom.global.add.u32 _, [g], 1;
    ret;
}
"#,
        );
    }
}

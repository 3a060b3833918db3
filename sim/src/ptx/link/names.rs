//! The names in a module that mean something of module scope.
//!
//! A register, label, parameter or variable of a function hides what the module has under
//! the same name, so both finding references and renaming must know the scopes.

use std::collections::HashSet;

use crate::ptx::ast::{Func, Init, Module, Operand, Stmt};

/// Names that a function's block declares.
#[derive(Default)]
struct Scope<'a> {
    names: HashSet<&'a str>,
    /// `name<n>`: all of name0 to name(n-1).
    families: Vec<(&'a str, u64)>,
}

impl<'a> Scope<'a> {
    fn of(body: &[Stmt<'a>]) -> Self {
        let mut scope = Self::default();
        for stmt in body {
            match stmt {
                Stmt::Label(name, _) | Stmt::Targets(name, _) => scope.add(name),
                Stmt::Var(var) => scope.add(var.name),
                Stmt::Proto(proto) => scope.add(proto.name),
                Stmt::Reg(decls) => {
                    for decl in decls {
                        match decl.count {
                            Some(count) => scope.families.push((decl.name, count)),
                            None => scope.add(decl.name),
                        }
                    }
                }
                Stmt::Instr(_) | Stmt::Scope(_) | Stmt::Loc(_) => {}
            }
        }
        scope
    }

    fn add(&mut self, name: &'a str) {
        self.names.insert(name);
    }

    fn has(&self, name: &str) -> bool {
        let in_family = |(prefix, count): &(&str, u64)| {
            let digits = name.strip_prefix(prefix);
            digits.is_some_and(|digits| digits.parse().is_ok_and(|index: u64| index < *count))
        };
        self.names.contains(name) || self.families.iter().any(in_family)
    }
}

/// Calls `f` with each use of a name of module scope, which `f` may replace. The names
/// that declarations give are no uses.
pub(super) fn each_use<'a>(module: &mut Module<'a>, f: &mut dyn FnMut(&mut &'a str)) {
    for var in &mut module.vars {
        if let Some(init) = &mut var.init {
            in_init(init, f);
        }
    }
    for (_, old) in &mut module.aliases {
        f(old);
    }
    for func in &mut module.funcs {
        in_func(func, f);
    }
}

fn in_func<'a>(func: &mut Func<'a>, f: &mut dyn FnMut(&mut &'a str)) {
    let Some(body) = &mut func.body else {
        return;
    };
    let params = func.params.iter().chain(&func.returns);
    let outer = Scope {
        names: params.map(|param| param.var.name).collect(),
        families: Vec::new(),
    };
    in_body(body, &mut vec![outer], f);
}

/// The parser bounds the depth of the recursion.
fn in_body<'a>(
    body: &mut [Stmt<'a>],
    scopes: &mut Vec<Scope<'a>>,
    f: &mut dyn FnMut(&mut &'a str),
) {
    scopes.push(Scope::of(body));
    for stmt in body {
        if let Stmt::Scope(inner) = stmt {
            in_body(inner, scopes, f);
            continue;
        }
        let mut visible = |name: &mut &'a str| {
            if !scopes.iter().any(|scope| scope.has(name)) {
                f(name);
            }
        };
        match stmt {
            Stmt::Instr(instr) => {
                for arg in &mut instr.args {
                    in_operand(arg, &mut visible);
                }
            }
            Stmt::Targets(_, list) => list.iter_mut().for_each(visible),
            Stmt::Var(var) => {
                if let Some(init) = &mut var.init {
                    in_init(init, &mut visible);
                }
            }
            Stmt::Label(..) | Stmt::Reg(_) | Stmt::Scope(_) | Stmt::Proto(_) | Stmt::Loc(_) => {}
        }
    }
    scopes.pop();
}

fn in_operand<'a>(arg: &mut Operand<'a>, f: &mut dyn FnMut(&mut &'a str)) {
    match arg {
        Operand::Name(name)
        | Operand::Sum(name, _)
        | Operand::Element { name, .. }
        | Operand::Address(Some(name), _) => f(name),
        Operand::Vector(list) | Operand::Bracket(list) | Operand::List(list) => {
            list.iter_mut().for_each(|arg| in_operand(arg, f));
        }
        // The rest are registers and numbers.
        _ => {}
    }
}

fn in_init<'a>(init: &mut Init<'a>, f: &mut dyn FnMut(&mut &'a str)) {
    match init {
        Init::Symbol { name, .. } => f(name),
        Init::Masked { of, .. } => in_init(of, f),
        Init::List(items) => items.iter_mut().for_each(|item| in_init(item, f)),
        Init::Int(_) | Init::F32(_) | Init::F64(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, a register or label with the name of another module's static would be
    /// renamed, or keep a symbol from being found missing.
    #[test]
    fn local_names_hide_those_of_the_module() {
        let text = ".version 7.0\n.target sm_60\n.address_size 64
            .global .u64 table[2] = {f, generic(g)+8};
            .alias h, f;
            .func k(.param .u64 p) {
                .reg .b64 r<4>, q;
                ld.param.u64 r0, [p];
                mov.u64 r4, used;
            g:  bra g;
                { .reg .b32 inner; mov.u32 inner, r3; mov.u64 q, deep; }
                mov.u64 q, inner;
                call (q), callee, (r1, argument), shape;
            shape: .callprototype _ ();
            list: .branchtargets g, target;
                ld.global.v2.u64 {r0, r1}, [base+8];
            }";
        let mut module = Module::parse(text).unwrap();
        let mut seen = Vec::new();
        each_use(&mut module, &mut |name| seen.push(*name));
        let all = [
            "f", "g", "f", "r4", "used", "deep", "inner", "callee", "argument", "target", "base",
        ];
        assert_eq!(seen, all);
        let mut rename = |name: &mut &'static str| {
            if *name == "deep" {
                *name = "deeper";
            }
        };
        // The text outlives the module, so the new name may be static.
        let mut module: Module<'static> = Module::parse(Box::leak(text.into())).unwrap();
        each_use(&mut module, &mut rename);
        assert!(module.to_string().contains("mov.u64 q, deeper;"));
    }
}

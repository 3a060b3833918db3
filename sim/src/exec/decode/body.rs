//! A function's statements: scopes, declarations, labels, instructions.

use crate::exec::decode::control::branch::control;
use crate::exec::decode::control::call::{Layout, MAX_LOCAL};
use crate::exec::decode::cx::{Loc, Scope};
use crate::exec::decode::passes::{cfg, fuse};
use crate::exec::decode::{Bad, Cx, DecodeError, Names, Place, table};
use crate::exec::inst::{Class, Func, Kind, NONE};
use crate::exec::kernel::ParamInfo;
use crate::ptx::{self, Instr, Operand, RegDecl, Space, Stmt, Var};

/// What decoding a function needs besides the function.
pub(crate) struct Input<'a, 'n> {
    pub(crate) names: &'n Names<'a>,
    pub(crate) func: &'a ptx::Func<'a>,
    pub(crate) layout: &'n Layout,
    /// Parameters, for an entry.
    pub(crate) params: &'n [ParamInfo],
    /// Places of the shared and global variables declared inside.
    pub(crate) inner: &'n dyn Fn(&Var<'a>) -> Option<Place>,
    pub(crate) wide: bool,
    /// Put checks before accesses.
    pub(crate) checked: bool,
    /// The function's index in the program.
    pub(crate) index: u32,
}

/// Decodes one function.
pub(crate) fn function(input: &Input<'_, '_>) -> Result<Func, DecodeError> {
    let mut cx = Cx::new(input.func.name, input.names, input.wide);
    (cx.checked, cx.index) = (input.checked, input.index);
    let at_name = |bad: Bad| DecodeError {
        line: input.func.line,
        opcode: String::new(),
        reason: bad.0,
    };
    let mut scope = Scope::default();
    if input.func.entry {
        for (p, info) in input.func.params.iter().zip(input.params) {
            scope
                .vars
                .insert(p.var.name, Loc::Param(info.offset, info.size));
        }
    } else {
        cx.func.local_bytes = input.layout.bytes;
    }
    cx.scopes.push(scope);
    if !input.func.entry {
        params(&mut cx, input).map_err(at_name)?;
        cx.sound().map_err(at_name)?;
    }
    if let Some(body) = &input.func.body {
        statements(&mut cx, input, body)?;
    }
    cx.begin(input.func.line);
    emit_returns(&mut cx).map_err(at_name)?;
    cx.sound().map_err(at_name)?;
    cx.guard = NONE;
    let (ret, bra) = (control(&cx, Kind::Ret), control(&cx, Kind::Bra));
    let mut func = cx.func;
    func.local_bytes = func.local_bytes.next_multiple_of(16);
    cfg::arrange(&mut func, &cx.labels, *ret, *bra);
    fuse::finish(&mut func, &cx.mentions, input.wide);
    Ok(func)
}

/// Parameters of a function: in local memory, or loaded from there to registers.
fn params<'a>(cx: &mut Cx<'a, '_>, input: &Input<'a, '_>) -> Result<(), Bad> {
    let func = input.func;
    let all = func
        .returns
        .iter()
        .zip(&input.layout.returns)
        .map(|p| (p, true));
    let all = all.chain(
        func.params
            .iter()
            .zip(&input.layout.params)
            .map(|p| (p, false)),
    );
    for ((param, slot), is_return) in all {
        let name = param.var.name;
        if param.var.space == Space::Param {
            scope(cx).vars.insert(name, Loc::Local(slot.offset));
            continue;
        }
        let class = Class::of(slot.ty);
        if class == Class::Pred {
            return Err(Bad::new("a predicate cannot be a parameter"));
        }
        let at = cx.alloc(class)?;
        scope(cx).regs.insert(name, (class, Some(at)));
        cx.begin(func.line);
        if is_return {
            cx.returns.push((at, slot.offset, slot.ty));
            // Every `ret` reads it, without naming it.
            cx.mention(at);
        } else {
            cx.local_access(false, at, slot.offset, slot.ty)?;
        }
    }
    Ok(())
}

/// Stores results that the function keeps in registers.
pub(super) fn emit_returns(cx: &mut Cx<'_, '_>) -> Result<(), Bad> {
    for (reg, at, ty) in cx.returns.clone() {
        cx.local_access(true, reg, at, ty)?;
    }
    Ok(())
}

fn scope<'c, 'a>(cx: &'c mut Cx<'a, '_>) -> &'c mut Scope<'a> {
    if cx.scopes.is_empty() {
        cx.scopes.push(Scope::default());
    }
    let last = cx.scopes.len() - 1;
    &mut cx.scopes[last]
}

/// One scope. The parser bounds the depth of the recursion.
fn statements<'a>(
    cx: &mut Cx<'a, '_>,
    input: &Input<'a, '_>,
    body: &'a [Stmt<'a>],
) -> Result<(), DecodeError> {
    // Labels and lists may be used before they appear.
    for stmt in body {
        match stmt {
            Stmt::Label(name, _) => {
                let id = cx.labels.len() as u32;
                cx.labels.push(u32::MAX);
                scope(cx).labels.insert(name, id);
            }
            Stmt::Targets(name, list) => {
                scope(cx).targets.insert(name, list);
            }
            Stmt::Proto(proto) => {
                scope(cx).protos.insert(proto.name, proto);
            }
            _ => {}
        }
    }
    for stmt in body {
        match stmt {
            Stmt::Label(name, _) => {
                let here = cx.func.code.len() as u32;
                if let Some(&id) = scope(cx).labels.get(name) {
                    cx.labels[id as usize] = here;
                }
            }
            Stmt::Reg(decls) => declare(cx, decls),
            Stmt::Var(var) => variable(cx, input, var).map_err(|bad| DecodeError {
                line: var.line,
                opcode: String::new(),
                reason: bad.0,
            })?,
            Stmt::Scope(inner) => {
                cx.scopes.push(Scope::default());
                statements(cx, input, inner)?;
                cx.scopes.pop();
            }
            Stmt::Instr(ins) => instruction(cx, ins).map_err(|bad| DecodeError {
                line: ins.line,
                opcode: ins.op.to_string(),
                reason: bad.0,
            })?,
            Stmt::Targets(..) | Stmt::Proto(_) | Stmt::Loc(_) => {}
        }
    }
    Ok(())
}

fn declare<'a>(cx: &mut Cx<'a, '_>, decls: &[RegDecl<'a>]) {
    for decl in decls {
        // Vector registers are not supported: their uses are errors.
        if decl.vector != 1 {
            continue;
        }
        let class = Class::of(decl.ty);
        match decl.count {
            Some(count) => {
                scope(cx).families.insert(decl.name, (class, count));
            }
            None => {
                scope(cx).regs.insert(decl.name, (class, None));
            }
        }
    }
}

fn variable<'a>(cx: &mut Cx<'a, '_>, input: &Input<'a, '_>, var: &Var<'a>) -> Result<(), Bad> {
    let loc = match var.space {
        Space::Local | Space::Param => {
            let size = var.size().unwrap_or(MAX_LOCAL + 1);
            Loc::Local(cx.local(size, var.alignment())?)
        }
        _ => {
            let place = (input.inner)(var);
            Loc::Module(place.ok_or_else(|| Bad::new(format!("{} has no place", var.name)))?)
        }
    };
    scope(cx).vars.insert(var.name, loc);
    Ok(())
}

fn instruction<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    cx.begin(ins.line);
    if let Some(pred) = ins.pred {
        let (at, _) = cx.pred(&Operand::Name(pred.name))?;
        cx.guard = at * 2 + u32::from(pred.negated);
    }
    let before = cx.func.code.len();
    table::decode(cx, ins)?;
    keep_guard(cx, before)?;
    cx.sound()?;
    fuse::mark(&mut cx.func.code[before..], ins);
    Ok(())
}

/// Where an instruction became several and one before the last writes their guard, has them
/// ask a copy of it.
fn keep_guard(cx: &mut Cx<'_, '_>, before: usize) -> Result<(), Bad> {
    let guard = cx.guard;
    let Some((_, earlier)) = cx.func.code[before..].split_last() else {
        return Ok(());
    };
    let at = guard >> 1;
    if guard == NONE || !earlier.iter().any(|op| op.d == at || op.p == at) {
        return Ok(());
    }
    let copy = cx.temp(Class::Pred)?;
    for op in &mut cx.func.code[before..] {
        op.guard = copy << 1 | guard & 1;
    }
    cx.guard = NONE;
    cx.copy(Class::Pred, copy, at);
    cx.func.code[before..].rotate_right(1);
    Ok(())
}

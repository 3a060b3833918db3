//! Calls. Arguments and results travel through byte-addressable slots in local
//! memory: a frame's local memory begins with its results and parameters, laid
//! out by [`layout`] alike for caller and callee. Register arguments of the old
//! calling style are stored to such slots first.

use crate::exec::access::{MemSpace, load_store};
use crate::exec::decode::control::branch::control;
use crate::exec::decode::cx::Loc;
use crate::exec::decode::mods::Mods;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::{Call, Callee, Class, Kind, Move};
use crate::exec::lanes::sreg::{self, Sreg};
use crate::ptx::{Instr, Operand, Param, ScalarType};

/// Most local memory of one frame, in bytes per thread.
pub(crate) const MAX_LOCAL: u64 = 512 << 10;

/// A parameter's place in the callee's local memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) offset: u32,
    pub(crate) size: u32,
    pub(crate) ty: ScalarType,
}

/// Places of all results and parameters of a function.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    pub(crate) returns: Vec<Slot>,
    pub(crate) params: Vec<Slot>,
    pub(crate) bytes: u32,
}

/// Lays out a parameter list from `at` on; `None` if it is too large or
/// has a predicate, which no memory holds.
fn place(list: &[Param<'_>], at: &mut u64) -> Option<Vec<Slot>> {
    list.iter()
        .map(|p| {
            if p.var.ty == ScalarType::Pred {
                return None;
            }
            let size = p.var.size()?;
            *at = at.next_multiple_of(u64::from(p.var.alignment()));
            let offset = u32::try_from(*at).ok()?;
            *at += size;
            (*at <= MAX_LOCAL).then_some(Slot {
                offset,
                size: size as u32,
                ty: p.var.ty,
            })
        })
        .collect()
}

/// Where results and parameters lie: results first.
pub(crate) fn layout(returns: &[Param<'_>], params: &[Param<'_>]) -> Option<Layout> {
    let mut at = 0;
    let returns = place(returns, &mut at)?;
    let params = place(params, &mut at)?;
    Some(Layout {
        returns,
        params,
        bytes: at.next_multiple_of(16) as u32,
    })
}

impl<'a> Cx<'a, '_> {
    /// Room in the frame's local memory.
    pub(crate) fn local(&mut self, size: u64, align: u32) -> Result<u32, Bad> {
        let at = u64::from(self.func.local_bytes).next_multiple_of(u64::from(align.max(1)));
        let end = at.saturating_add(size);
        if end > MAX_LOCAL {
            return Err(Bad::new("the function uses too much local memory"));
        }
        self.func.local_bytes = end as u32;
        Ok(at as u32)
    }

    fn local_base(&mut self) -> Result<u32, Bad> {
        let base = self.temp(Class::W64)?;
        self.raw(
            sreg::read64(),
            base,
            &[],
            sreg::read64_code(Sreg::LocalBase),
        );
        Ok(base)
    }

    /// Copies register `reg` to local offset `at`, or back.
    pub(crate) fn local_access(
        &mut self,
        store: bool,
        reg: u32,
        at: u32,
        ty: ScalarType,
    ) -> Result<(), Bad> {
        if ty == ScalarType::B128 {
            self.local_access(store, reg, at, ScalarType::B64)?;
            let high = reg + Class::W64.bytes();
            return self.local_access(store, high, at + 8, ScalarType::B64);
        }
        let base = self.local_base()?;
        let twin = if store {
            load_store::store(MemSpace::Local, ty.size())
        } else {
            load_store::load(MemSpace::Local, ty.size(), false)
        };
        let mut inst = self.blank(twin);
        (inst.d, inst.a, inst.x) = (reg, base, u64::from(at));
        (inst.b, inst.p) = (ty.size() - 1, 0);
        self.push(inst);
        Ok(())
    }

    /// The local variable that an argument names, if it is one.
    fn local_var(&self, arg: &Operand<'a>) -> Option<u32> {
        match *arg {
            Operand::Name(name) => match self.var(name) {
                Some(Loc::Local(at)) => Some(at),
                _ => None,
            },
            _ => None,
        }
    }
}

fn list<'i, 'a>(arg: Option<&'i Operand<'a>>) -> &'i [Operand<'a>] {
    match arg {
        Some(Operand::List(items)) => items,
        _ => &[],
    }
}

pub(in crate::exec::decode) fn call<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    Mods::of(ins, &["uni"])?;
    let has_returns = matches!(ins.args.first(), Some(Operand::List(_)));
    let (returns, rest) = ins.args.split_at(usize::from(has_returns));
    let Some((Operand::Name(name), rest)) = rest.split_first() else {
        return Err(Bad::new("a function is expected"));
    };
    let has_args = matches!(rest.first(), Some(Operand::List(_)));
    let (args, rest) = rest.split_at(usize::from(has_args));
    let (returns, args) = (list(returns.first()), list(args.first()));
    let (callee, layout) = callee(cx, name, rest.first())?;
    if returns.len() != layout.returns.len() || args.len() != layout.params.len() {
        return Err(Bad::new(format!(
            "{name} takes {} arguments",
            layout.params.len()
        )));
    }
    let mut moves = Vec::new();
    for (arg, slot) in args.iter().zip(&layout.params) {
        let caller = match cx.local_var(arg) {
            Some(at) => at,
            None => {
                let reg = cx.src(arg, slot.ty)?;
                let at = cx.local(u64::from(slot.size), 16)?;
                cx.local_access(true, reg, at, slot.ty)?;
                at
            }
        };
        moves.push(Move {
            caller,
            callee: slot.offset,
            size: slot.size,
        });
    }
    let mut back = Vec::new();
    let mut loads = Vec::new();
    for (arg, slot) in returns.iter().zip(&layout.returns) {
        let caller = match cx.local_var(arg) {
            Some(at) => at,
            None => {
                let at = cx.local(u64::from(slot.size), 16)?;
                loads.push((arg, slot.ty, at));
                at
            }
        };
        back.push(Move {
            caller,
            callee: slot.offset,
            size: slot.size,
        });
    }
    let mut inst = control(cx, Kind::Call);
    inst.x = cx.func.calls.len() as u64;
    cx.func.calls.push(Call {
        callee,
        args: moves,
        rets: back,
    });
    cx.push(inst);
    for (arg, ty, at) in loads {
        let dst = cx.dst(arg, ty)?;
        cx.local_access(false, dst.reg, at, ty)?;
        cx.finish(&dst);
    }
    Ok(())
}

/// Whether a function takes and returns that many values, all of 64 bits.
fn shape(layout: &Layout, returns: usize, params: usize) -> bool {
    let wide = |slots: &[Slot], count| slots.len() == count && slots.iter().all(|s| s.size == 8);
    wide(&layout.returns, returns) && wide(&layout.params, params)
}

/// Whether a function takes a handle and a value, and returns nothing.
fn sets_conditional(layout: &Layout) -> bool {
    let sizes: Vec<_> = layout.params.iter().map(|slot| slot.size).collect();
    layout.returns.is_empty() && sizes == [8, 4]
}

fn callee<'a>(
    cx: &mut Cx<'a, '_>,
    name: &'a str,
    proto: Option<&Operand<'a>>,
) -> Result<(Callee, Layout), Bad> {
    let names = cx.names;
    if let Some((class, at)) = cx.reg(name)? {
        if class != Class::W64 {
            return Err(Bad::new("a function address has 64 bits"));
        }
        let Some(Operand::Name(proto)) = proto else {
            return Err(Bad::new("an indirect call needs a prototype"));
        };
        let found = cx
            .scopes
            .iter()
            .rev()
            .find_map(|s| s.protos.get(proto))
            .copied();
        let layout = match found {
            Some(p) => layout(&p.returns, &p.params),
            // A list of targets also gives the shape: they are all alike.
            None => cx
                .scopes
                .iter()
                .rev()
                .find_map(|s| s.targets.get(proto))
                .and_then(|t| names.funcs.get(t.first()?))
                .map(|f| f.layout.clone()),
        };
        let layout = layout.ok_or_else(|| Bad::new(format!("prototype {proto} is not usable")))?;
        return Ok((Callee::Indirect(at), layout));
    }
    let Some(f) = names.funcs.get(name) else {
        return Err(Bad::new(format!("function {name} is not declared")));
    };
    let callee = match (f.index, name) {
        (Some(index), _) => Callee::Direct(index),
        (None, "vprintf") if f.layout.params.len() == 2 => Callee::Printf,
        (None, "__assertfail") if f.layout.params.len() == 5 => Callee::AssertFail,
        (None, "malloc") if shape(&f.layout, 1, 1) => Callee::Malloc,
        (None, "free") if shape(&f.layout, 0, 1) => Callee::Free,
        (None, "cudaGraphSetConditional") if sets_conditional(&f.layout) => Callee::SetConditional,
        _ => {
            return Err(Bad::new(format!(
                "function {name} is extern and defined nowhere"
            )));
        }
    };
    Ok((callee, f.layout.clone()))
}

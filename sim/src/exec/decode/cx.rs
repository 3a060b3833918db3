//! The state of a function being decoded: its names, registers and code so far.

use super::mods::signed;
use super::{Bad, Names, Place};
use crate::exec::inst::{BarKind, Class, Func, Inst, Kind, NONE};
use crate::exec::lanes::Twin;
use crate::exec::lanes::map::map1;
use crate::exec::lanes::sreg::{self, SREGS, Sreg};
use crate::exec::memory::CODE_WINDOW;
use crate::ptx::{CallProto, Operand, ScalarType};
use std::collections::HashMap;

/// Largest register file of a frame, in bytes.
const MAX_FRAME: u32 = 64 << 20;

/// A variable as instructions of this function see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loc {
    /// Of module scope.
    Module(Place),
    /// Offset in the frame's local memory: `.local` variables, parameters of
    /// functions, arguments of calls.
    Local(u32),
    /// Offset in the kernel's parameters, and the size.
    Param(u32, u32),
}

/// Names of one `{ }`.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) regs: HashMap<&'a str, (Class, Option<u32>)>,
    pub(crate) families: HashMap<&'a str, (Class, u64)>,
    pub(crate) vars: HashMap<&'a str, Loc>,
    pub(crate) labels: HashMap<&'a str, u32>,
    pub(crate) targets: HashMap<&'a str, &'a [&'a str]>,
    pub(crate) protos: HashMap<&'a str, &'a CallProto<'a>>,
}

/// A destination register, and how to reach it if its class is not the type's.
pub(crate) struct Dst {
    pub(crate) reg: u32,
    widen: Option<(u32, bool)>,
}

/// A function being decoded.
pub(crate) struct Cx<'a, 'n> {
    pub(crate) names: &'n Names<'a>,
    pub(crate) scopes: Vec<Scope<'a>>,
    pub(crate) func: Func,
    /// Code index of each label.
    pub(crate) labels: Vec<u32>,
    /// Results kept in registers: register, local offset and type.
    pub(crate) returns: Vec<(u32, u32, ScalarType)>,
    /// Guard of the current instruction, as in [`Inst::guard`].
    pub(crate) guard: u32,
    pub(crate) line: u32,
    wide: bool,
    /// Predicates are packed 32 to a 128-byte unit.
    pred_unit: (u32, u32),
    temps: [Vec<u32>; 3],
    used: [usize; 3],
    pool: HashMap<(Class, u64), u32>,
    cc: Option<u32>,
    slots: u32,
}

impl<'a, 'n> Cx<'a, 'n> {
    pub(crate) fn new(name: &str, names: &'n Names<'a>, wide: bool) -> Self {
        Cx {
            names,
            scopes: Vec::new(),
            func: Func {
                name: name.to_owned(),
                code: Vec::new(),
                frame_bytes: 0,
                consts: Vec::new(),
                local_bytes: 0,
                calls: Vec::new(),
                tables: Vec::new(),
            },
            labels: Vec::new(),
            returns: Vec::new(),
            guard: NONE,
            line: 0,
            wide,
            pred_unit: (0, 32),
            temps: Default::default(),
            used: [0; 3],
            pool: HashMap::new(),
            cc: None,
            slots: 0,
        }
    }

    /// Forgets the temporaries of the last instruction.
    pub(crate) fn begin(&mut self, line: u32) {
        self.line = line;
        self.guard = NONE;
        self.used = [0; 3];
    }

    // Registers.

    /// A new register.
    pub(crate) fn alloc(&mut self, class: Class) -> Result<u32, Bad> {
        if class == Class::Pred {
            if self.pred_unit.1 == 32 {
                self.pred_unit = (self.alloc(Class::W32)?, 0);
            }
            let at = self.pred_unit.0 + 4 * self.pred_unit.1;
            self.pred_unit.1 += 1;
            return Ok(at);
        }
        let at = self.func.frame_bytes;
        if at > MAX_FRAME {
            return Err(Bad::new("the function uses too many registers"));
        }
        self.func.frame_bytes += class.bytes();
        Ok(at)
    }

    /// A register for use within this instruction.
    pub(crate) fn temp(&mut self, class: Class) -> Result<u32, Bad> {
        let c = class as usize;
        let n = self.used[c];
        self.used[c] += 1;
        if let Some(&at) = self.temps[c].get(n) {
            return Ok(at);
        }
        let at = self.alloc(class)?;
        self.temps[c].push(at);
        Ok(at)
    }

    /// A register that always holds `value`.
    pub(crate) fn konst(&mut self, class: Class, value: u64) -> Result<u32, Bad> {
        let value = if class == Class::W32 {
            value & 0xffff_ffff
        } else {
            value
        };
        if let Some(&at) = self.pool.get(&(class, value)) {
            return Ok(at);
        }
        let at = self.alloc(class)?;
        self.pool.insert((class, value), at);
        self.func.consts.push((at, class, value));
        Ok(at)
    }

    /// The carry flag.
    pub(crate) fn carry_flag(&mut self) -> Result<u32, Bad> {
        if let Some(cc) = self.cc {
            return Ok(cc);
        }
        let cc = self.alloc(Class::Pred)?;
        self.cc = Some(cc);
        Ok(cc)
    }

    /// A cache slot for a memory instruction.
    pub(crate) fn slot(&mut self) -> u32 {
        self.slots = (self.slots + 1) % crate::exec::ctx::CACHE as u32;
        self.slots
    }

    /// A declared register.
    pub(crate) fn reg(&mut self, name: &'a str) -> Result<Option<(Class, u32)>, Bad> {
        for depth in (0..self.scopes.len()).rev() {
            if let Some(&(class, at)) = self.scopes[depth].regs.get(name) {
                let at = match at {
                    Some(at) => at,
                    None => {
                        let at = self.alloc(class)?;
                        self.scopes[depth].regs.insert(name, (class, Some(at)));
                        at
                    }
                };
                return Ok(Some((class, at)));
            }
            if let Some(class) = self.family(depth, name) {
                let at = self.alloc(class)?;
                self.scopes[depth].regs.insert(name, (class, Some(at)));
                return Ok(Some((class, at)));
            }
        }
        Ok(None)
    }

    /// `%r12` of `.reg .b32 %r<20>`; the prefix may itself end in digits.
    fn family(&self, depth: usize, name: &str) -> Option<Class> {
        let families = &self.scopes[depth].families;
        if families.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let first = name.len() - digits;
        (first..name.len()).find_map(|split| {
            let (prefix, number) = name.split_at(split);
            let &(class, count) = families.get(prefix)?;
            let plain = number.len() == 1 || !number.starts_with('0');
            (plain && number.parse::<u64>().ok()? < count).then_some(class)
        })
    }

    /// A variable visible here.
    pub(crate) fn var(&self, name: &str) -> Option<Loc> {
        let local = self.scopes.iter().rev().find_map(|s| s.vars.get(name));
        local
            .copied()
            .or_else(|| self.names.vars.get(name).copied().map(Loc::Module))
    }

    // Code.

    /// The half of a twin that this CPU runs.
    pub(crate) fn pick(&self, twin: Twin) -> crate::exec::inst::OpFn {
        if self.wide { twin.wide } else { twin.base }
    }

    /// An instruction with every operand absent.
    pub(crate) fn blank(&self, twin: Twin) -> Inst {
        Inst {
            f: self.pick(twin),
            d: NONE,
            a: NONE,
            b: NONE,
            c: NONE,
            e: NONE,
            p: NONE,
            x: 0,
            guard: self.guard,
            line: self.line,
            kind: Kind::Op,
            bar: BarKind::Sync,
        }
    }

    pub(crate) fn push(&mut self, inst: Inst) {
        self.func.code.push(inst);
    }

    /// `d = op(srcs)`, registers already known.
    pub(crate) fn raw(&mut self, twin: Twin, d: u32, srcs: &[u32], x: u64) {
        let mut inst = self.blank(twin);
        inst.d = d;
        inst.x = x;
        let mut it = srcs.iter().copied();
        inst.a = it.next().unwrap_or(NONE);
        inst.b = it.next().unwrap_or(NONE);
        inst.c = it.next().unwrap_or(NONE);
        inst.e = it.next().unwrap_or(NONE);
        self.push(inst);
    }

    /// `d = op(srcs)` on operands of the given types.
    pub(crate) fn apply(
        &mut self,
        twin: Twin,
        d: &Operand<'a>,
        dty: ScalarType,
        srcs: &[(&Operand<'a>, ScalarType)],
        x: u64,
    ) -> Result<(), Bad> {
        let mut regs = [NONE; 4];
        for (reg, (arg, ty)) in regs.iter_mut().zip(srcs) {
            *reg = self.src(arg, *ty)?;
        }
        let dst = self.dst(d, dty)?;
        self.raw(twin, dst.reg, &regs[..srcs.len().min(4)], x);
        self.finish(&dst);
        Ok(())
    }

    // Operands.

    /// The register that holds an operand of type `ty`.
    pub(crate) fn src(&mut self, arg: &Operand<'a>, ty: ScalarType) -> Result<u32, Bad> {
        let class = Class::of(ty).ok_or_else(|| Bad::new("128-bit operands are not supported"))?;
        match *arg {
            Operand::Name(name) => {
                if let Some((have, at)) = self.reg(name)? {
                    return self.narrow(have, at, class, name);
                }
                if name == "WARP_SZ" {
                    return self.konst(class, 32);
                }
                if let Some((have, at)) = self.special(name)? {
                    return self.narrow(have, at, class, name);
                }
                let (have, at) = self.address_of(name, 0)?;
                self.narrow(have, at, class, name)
            }
            Operand::Sum(name, offset) => {
                let (have, at) = self.address_of(name, offset)?;
                self.narrow(have, at, class, name)
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let value = immediate(arg, ty)?;
                self.konst(class, value)
            }
            _ => Err(Bad::new("this form of operand is not supported here")),
        }
    }

    /// Makes a register of class `have` readable as `want`. PTX lets an operand
    /// be wider than the instruction's type, never narrower.
    fn narrow(&mut self, have: Class, at: u32, want: Class, name: &str) -> Result<u32, Bad> {
        if have == want {
            return Ok(at);
        }
        if (have, want) == (Class::W64, Class::W32) {
            let t = self.temp(Class::W32)?;
            self.raw(map1(|a: u64| a as u32), t, &[at], 0);
            return Ok(t);
        }
        Err(Bad::new(format!(
            "{name} has the wrong size for this instruction"
        )))
    }

    /// A special register, read into a temporary.
    fn special(&mut self, name: &str) -> Result<Option<(Class, u32)>, Bad> {
        let Some(index) = SREGS.iter().position(|(n, _)| *n == name) else {
            return Ok(None);
        };
        let class = SREGS[index].1.class();
        let t = self.temp(class)?;
        if class == Class::W64 {
            self.raw(sreg::read64(), t, &[], sreg::read64_code(SREGS[index].1));
        } else {
            self.raw(sreg::read32(), t, &[], index as u64);
        }
        Ok(Some((class, t)))
    }

    /// The address of a variable or function in its own state space.
    pub(crate) fn address_of(&mut self, name: &str, offset: i64) -> Result<(Class, u32), Bad> {
        let offset = offset.cast_unsigned();
        let at = match self.var(name) {
            Some(Loc::Module(Place::Device(at))) => {
                self.konst(Class::W64, at.wrapping_add(offset))?
            }
            Some(Loc::Module(Place::Shared(at))) => {
                self.konst(Class::W64, u64::from(at).wrapping_add(offset))?
            }
            Some(Loc::Param(at, _)) => {
                self.konst(Class::W64, u64::from(at).wrapping_add(offset))?
            }
            Some(Loc::Module(Place::DynamicShared)) => self.based(Sreg::DynamicBase, offset)?,
            Some(Loc::Local(at)) => {
                self.based(Sreg::LocalBase, u64::from(at).wrapping_add(offset))?
            }
            Some(Loc::Module(Place::Undefined)) => {
                return Err(Bad::new(format!("{name} is extern and defined nowhere")));
            }
            None => match self.names.funcs.get(name) {
                Some(f) => {
                    let index = f.index.ok_or_else(|| {
                        Bad::new(format!("function {name} is extern and defined nowhere"))
                    })?;
                    self.konst(Class::W64, CODE_WINDOW + 16 * u64::from(index))?
                }
                None => return Err(Bad::new(format!("{name} is not declared"))),
            },
        };
        Ok((Class::W64, at))
    }

    fn based(&mut self, base: Sreg, offset: u64) -> Result<u32, Bad> {
        let t = self.temp(Class::W64)?;
        self.raw(
            sreg::read64(),
            t,
            &[],
            sreg::read64_code(base) | offset << 8,
        );
        Ok(t)
    }

    /// The register for a result of type `ty`. [`Cx::finish`] must follow the
    /// instruction that writes it.
    pub(crate) fn dst(&mut self, arg: &Operand<'a>, ty: ScalarType) -> Result<Dst, Bad> {
        let class = Class::of(ty).ok_or_else(|| Bad::new("128-bit operands are not supported"))?;
        let name = match *arg {
            Operand::Name(name) => name,
            Operand::Sink => {
                let reg = self.temp(class)?;
                return Ok(Dst { reg, widen: None });
            }
            _ => return Err(Bad::new("the destination must be a register")),
        };
        let Some((have, at)) = self.reg(name)? else {
            return Err(Bad::new(format!("{name} is not a register")));
        };
        if have == class {
            return Ok(Dst {
                reg: at,
                widen: None,
            });
        }
        if (have, class) != (Class::W64, Class::W32) {
            return Err(Bad::new(format!(
                "{name} has the wrong size for this instruction"
            )));
        }
        let reg = self.temp(class)?;
        Ok(Dst {
            reg,
            widen: Some((at, signed(ty))),
        })
    }

    /// Widens a result into its register, if it needs that.
    pub(crate) fn finish(&mut self, dst: &Dst) {
        match dst.widen {
            Some((at, true)) => self.raw(map1(|a: i32| i64::from(a)), at, &[dst.reg], 0),
            Some((at, false)) => self.raw(map1(|a: u32| u64::from(a)), at, &[dst.reg], 0),
            None => {}
        }
    }

    /// A predicate operand and whether it is negated.
    pub(crate) fn pred(&mut self, arg: &Operand<'a>) -> Result<(u32, bool), Bad> {
        let (name, negated) = match *arg {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Int(v) => {
                let at = self.konst(Class::Pred, if v != 0 { 0xffff_ffff } else { 0 })?;
                return Ok((at, false));
            }
            _ => return Err(Bad::new("a predicate is expected")),
        };
        match self.reg(name)? {
            Some((Class::Pred, at)) => Ok((at, negated)),
            _ => Err(Bad::new(format!("{name} is not a predicate"))),
        }
    }

    /// A predicate destination, or a scratch one for `_`.
    pub(crate) fn pred_dst(&mut self, name: &'a str) -> Result<u32, Bad> {
        if name == "_" {
            return self.temp(Class::Pred);
        }
        match self.reg(name)? {
            Some((Class::Pred, at)) => Ok(at),
            _ => Err(Bad::new(format!("{name} is not a predicate"))),
        }
    }
}

/// The bits of an immediate used as a value of type `ty`.
fn immediate(arg: &Operand<'_>, ty: ScalarType) -> Result<u64, Bad> {
    use ScalarType::{F32, F64, Pred};
    Ok(match (arg, ty) {
        (&Operand::Int(v), Pred) => {
            if v != 0 {
                0xffff_ffff
            } else {
                0
            }
        }
        (&Operand::Int(v), F32) => u64::from((v.cast_signed() as f32).to_bits()),
        (&Operand::Int(v), F64) => (v.cast_signed() as f64).to_bits(),
        (&Operand::Int(v), _) => match ty.size() {
            1 => v & 0xff,
            2 => v & 0xffff,
            4 => v & 0xffff_ffff,
            _ => v,
        },
        (&Operand::F32(v), F64) => f64::from(f32::from_bits(v)).to_bits(),
        (&Operand::F32(v), _) if ty.size() == 4 => u64::from(v),
        (&Operand::F64(v), F32) => u64::from((f64::from_bits(v) as f32).to_bits()),
        (&Operand::F64(v), _) if ty.size() == 8 => v,
        _ => return Err(Bad::new("the immediate does not fit the type")),
    })
}

//! The state of a function being decoded: its names, registers and code so far.

use super::{Bad, Names, Place};
use crate::exec::inst::{BarKind, Class, Func, Inst, Kind, NONE, Tag};
use crate::exec::lanes::Twin;
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
    /// Put checks before accesses.
    pub(crate) checked: bool,
    /// The function's index in the program.
    pub(crate) index: u32,
    wide: bool,
    /// Predicates are packed 32 to a 128-byte unit.
    pred_unit: (u32, u32),
    temps: [Vec<u32>; 4],
    used: [usize; 4],
    pool: HashMap<(Class, u64), u32>,
    cc: Option<u32>,
    slots: u32,
    /// How often the program names each register, by its offset in units of 128 bytes.
    pub(crate) mentions: Vec<u8>,
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
            checked: false,
            index: 0,
            wide,
            pred_unit: (0, 32),
            temps: Default::default(),
            used: [0; 4],
            pool: HashMap::new(),
            cc: None,
            slots: 0,
            mentions: Vec::new(),
        }
    }

    /// Forgets the temporaries of the last instruction.
    pub(crate) fn begin(&mut self, line: u32) {
        self.line = line;
        self.guard = NONE;
        self.used = [0; 4];
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

    /// A declared register, because the program names it.
    pub(crate) fn reg(&mut self, name: &'a str) -> Result<Option<(Class, u32)>, Bad> {
        let found = self.declared(name)?;
        if let Some((_, at)) = found {
            let unit = at as usize / 128;
            if self.mentions.len() <= unit {
                self.mentions.resize(unit + 1, 0);
            }
            self.mentions[unit] = self.mentions[unit].saturating_add(1);
        }
        Ok(found)
    }

    fn declared(&mut self, name: &'a str) -> Result<Option<(Class, u32)>, Bad> {
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
            tag: Tag::Other,
            weight: 1,
            run: 0,
            steps: 0,
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
}

//! The state of a function being decoded: its names, registers and code so far.

use crate::exec::decode::{Bad, Names, Place};
use crate::exec::inst::{BarKind, Class, Func, Inst, Kind, NONE, Need, Shape, Tag};
use crate::exec::lanes::Twin;
use crate::ptx::{CallProto, Operand, ScalarType};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

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
    /// Which of the function's tables a list has become.
    pub(crate) tables: HashMap<&'a str, u32>,
    pub(crate) protos: HashMap<&'a str, &'a CallProto<'a>>,
}

/// An instruction that is not yet among the code, and what its operation expects of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draft {
    inst: Inst,
    shape: Shape,
}

impl Deref for Draft {
    type Target = Inst;

    fn deref(&self) -> &Inst {
        &self.inst
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut Inst {
        &mut self.inst
    }
}

/// What 128 bytes of the register file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// The beginning of a register of this class; up to 32 predicates.
    Start(Class),
    /// The inside of one.
    Inside,
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
    /// The register file so far.
    units: Vec<Unit>,
    /// The first instruction that does not have the registers its operation expects.
    unsound: Option<Bad>,
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
            units: Vec::new(),
            unsound: None,
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
                self.units.pop();
                self.units.push(Unit::Start(Class::Pred));
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
        let half = |class| [Unit::Start(class), Unit::Inside];
        match class {
            Class::W64 => self.units.extend(half(class)),
            // The upper half serves as a register of its own.
            Class::W128 => self.units.extend([half(class), half(Class::W64)].concat()),
            Class::W32 | Class::Pred => self.units.push(Unit::Start(class)),
        }
        Ok(at)
    }

    /// Whether a register of this class begins at `at`.
    fn holds(&self, at: u32, class: Class) -> bool {
        let Some(&Unit::Start(have)) = self.units.get(at as usize / 128) else {
            return false;
        };
        // So does the lower half of one of 128 bits.
        let alike = have == class || (have, class) == (Class::W128, Class::W64);
        alike && at.is_multiple_of(if class == Class::Pred { 4 } else { 128 })
    }

    /// Whether an instruction has the registers that its operation expects.
    fn fits(&self, draft: &Draft) -> bool {
        let (inst, shape) = (&draft.inst, draft.shape.and(draft.kind, draft.bar));
        let operands = [
            (shape.d, inst.d),
            (shape.a, inst.a),
            (shape.b, inst.b),
            (shape.c, inst.c),
            (shape.e, inst.e),
            (shape.p, inst.p),
        ];
        let guarded = inst.guard == NONE || self.holds(inst.guard >> 1, Class::Pred);
        guarded
            && operands.into_iter().all(|(need, at)| match need {
                Need::Nothing => true,
                Need::Reg(class) => self.holds(at, class),
                Need::Maybe(class) => at == NONE || self.holds(at, class),
            })
    }

    /// Fails if an instruction so far does not have the registers that its operation expects.
    pub(crate) fn sound(&mut self) -> Result<(), Bad> {
        self.unsound.take().map_or(Ok(()), Err)
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
            self.mention(at);
        }
        Ok(found)
    }

    /// Notes that a register is used.
    pub(crate) fn mention(&mut self, at: u32) {
        let unit = at as usize / 128;
        if self.mentions.len() <= unit {
            self.mentions.resize(unit + 1, 0);
        }
        self.mentions[unit] = self.mentions[unit].saturating_add(1);
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

    /// An instruction with every operand absent.
    pub(crate) fn blank(&self, twin: Twin) -> Draft {
        let inst = Inst {
            f: if self.wide { twin.wide } else { twin.base },
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
        };
        Draft {
            inst,
            shape: twin.shape,
        }
    }

    pub(crate) fn push(&mut self, draft: Draft) {
        if !self.fits(&draft) && self.unsound.is_none() {
            self.unsound = Some(Bad::new("an operand is not of the kind that is expected"));
        }
        self.func.code.push(draft.inst);
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

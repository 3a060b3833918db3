//! Operands: which register holds a source, which one takes a result, and the
//! conversions between them and the instruction's type.

use crate::exec::decode::cx::Loc;
use crate::exec::decode::mods::signed;
use crate::exec::decode::{Bad, Cx, Place};
use crate::exec::inst::Class;
use crate::exec::lanes::map::map1;
use crate::exec::lanes::pred;
use crate::exec::lanes::sreg::{self, SREGS, Sreg};
use crate::exec::memory::CODE_WINDOW;
use crate::ptx::{Instr, Operand, ScalarType};

/// `N` operands, or an error.
pub(super) fn args<'i, 'a, const N: usize>(
    ins: &'i Instr<'a>,
) -> Result<&'i [Operand<'a>; N], Bad> {
    ins.args[..]
        .try_into()
        .map_err(|_| Bad::new(format!("{N} operands are expected")))
}

/// A destination register, and how to reach it if its class is not the type's.
pub(crate) struct Dst {
    pub(crate) reg: u32,
    widen: Option<(u32, bool)>,
}

impl<'a> Cx<'a, '_> {
    /// The register that holds an operand of type `ty`.
    pub(crate) fn src(&mut self, arg: &Operand<'a>, ty: ScalarType) -> Result<u32, Bad> {
        let class = Class::of(ty);
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
            Operand::Sum(name, offset) | Operand::Element { name, offset, .. } => {
                let (have, at) = self.address_of(name, offset)?;
                self.narrow(have, at, class, name)
            }
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) if class != Class::W128 => {
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
        // A driver may define these; this one defines none, and they read as zero.
        let driver = name
            .strip_prefix("%envreg")
            .and_then(|n| n.parse::<u8>().ok());
        if driver.is_some_and(|n| n < 32) {
            return Ok(Some((Class::W32, self.konst(Class::W32, 0)?)));
        }
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
        let class = Class::of(ty);
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

    /// `to = from`.
    pub(crate) fn copy(&mut self, class: Class, to: u32, from: u32) {
        match class {
            Class::W32 => self.raw(map1(|a: u32| a), to, &[from], 0),
            Class::W64 => self.raw(map1(|a: u64| a), to, &[from], 0),
            Class::Pred => self.raw(pred::logic(|a, _| a), to, &[from, from], 0),
            Class::W128 => {
                self.copy(Class::W64, to, from);
                self.copy(
                    Class::W64,
                    to + Class::W64.bytes(),
                    from + Class::W64.bytes(),
                );
            }
        }
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

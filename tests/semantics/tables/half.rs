//! Half precision and bfloat16, single and packed (PTX ISA 9.7.4).

use crate::edges::{ones, pairs, triples};
use crate::form::{Expect, Form, Needs, Ty};
use crate::oracle::float::{self, Format, Mods, Op, Rounded};
use rustc_apfloat::Round;

const NEAR: Round = Round::NearestTiesToEven;

/// The type, its packed form, its flags for sums and products, and what its `add` needs.
const KINDS: [(Ty, Ty, &[&str], Needs); 2] = [
    (
        Ty::F16,
        Ty::F16x2,
        &["", ".ftz", ".sat", ".ftz.sat"],
        (78, 80),
    ),
    (Ty::BF16, Ty::BF16x2, &[""], (78, 90)),
];

pub(crate) fn all() -> Vec<Form> {
    let mut all = Vec::new();
    for (single, packed, flags, needs) in KINDS {
        for ty in [single, packed] {
            let t = ty.name();
            for flags in flags {
                for (op, what) in [("add", Op::Add), ("sub", Op::Sub), ("mul", Op::Mul)] {
                    for round in ["", ".rn"] {
                        let name = format!("{op}{round}{flags}.{t}");
                        let form = lanes(name, ty, 2, move |format, mods, a| {
                            float::apply(format, mods, &Expect::Nan, a, |a| {
                                float::arith(what, format, a[0], a[1], NEAR)
                            })
                        });
                        all.push(form.needs(needs.0, needs.1));
                    }
                }
                all.push(fma(format!("fma.rn{flags}.{t}"), ty));
            }
            all.push(fma(format!("fma.rn.relu.{t}"), ty));
            if single == Ty::F16 {
                all.push(fma(format!("fma.rn.ftz.relu.{t}"), ty));
            }
            all.extend(signs(ty, single == Ty::F16));
            all.extend(extremes(ty, single == Ty::F16));
        }
    }
    all
}

/// A form whose operands and result are single or packed, by an oracle of one half.
fn lanes(
    name: String,
    ty: Ty,
    operands: usize,
    oracle: impl Fn(Format, Mods, &[u64]) -> Expect + 'static,
) -> Form {
    let format = Format::of(ty);
    let mods = Mods::of(&name);
    let tries = match operands {
        1 => ones(ty),
        2 => pairs(ty, ty),
        _ => triples(ty, ty, ty),
    };
    Form::new(name, &vec![ty; operands], ty, tries, move |a| {
        let half = |shift: u32| {
            let a: Vec<u64> = a.iter().map(|v| v >> shift & 0xffff).collect();
            oracle(format, mods, &a)
        };
        if ty.bits() == 16 {
            half(0)
        } else {
            Expect::Halves(Box::new(half(0)), Box::new(half(16)))
        }
    })
}

fn fma(name: String, ty: Ty) -> Form {
    lanes(name, ty, 3, |format, mods, a| {
        float::apply(format, mods, &Expect::Nan, a, |a| {
            float::fma(format, a[0], a[1], a[2], NEAR)
        })
    })
}

/// `abs` and `neg`: what becomes of a NaN is open (9.7.4.5 and 9.7.4.6).
fn signs(ty: Ty, ftz: bool) -> Vec<Form> {
    let flags: &[&str] = if ftz { &["", ".ftz"] } else { &[""] };
    let mut all = Vec::new();
    for flags in flags {
        for (op, negate) in [("abs", false), ("neg", true)] {
            let name = format!("{op}{flags}.{}", ty.name());
            all.push(lanes(name, ty, 1, move |format, mods, a| {
                float::apply(format, mods, &Expect::Nan, a, |a| Rounded {
                    bits: if negate {
                        a[0] ^ format.sign()
                    } else {
                        float::magnitude(a[0], format)
                    },
                    inexact: false,
                })
            }));
        }
    }
    all
}

fn extremes(ty: Ty, ftz: bool) -> Vec<Form> {
    let flushes: &[&str] = if ftz { &["", ".ftz"] } else { &[""] };
    let mut all = Vec::new();
    for op in ["min", "max"] {
        for flush in flushes {
            for nan in ["", ".NaN"] {
                for xorsign in ["", ".xorsign.abs"] {
                    let name = format!("{op}{flush}{nan}{xorsign}.{}", ty.name());
                    let (max, nan) = (op == "max", !nan.is_empty());
                    let signs = !xorsign.is_empty();
                    let form = lanes(name, ty, 2, move |format, mods, a| {
                        float::extreme(format, mods.ftz, max, nan, signs, a[0], a[1])
                    });
                    all.push(if signs { form.needs(78, 86) } else { form });
                }
            }
        }
    }
    all
}

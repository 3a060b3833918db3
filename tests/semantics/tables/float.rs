//! `f32` and `f64` arithmetic that PTX wants exact (PTX ISA 9.7.3).

use crate::edges::{of, ones, pairs, triples};
use crate::form::{Expect, Form, Ty};
use crate::oracle::float::{self, Format, Mods, Op, ROUNDS, Rounded};
use rustc_apfloat::Round;

/// Every choice of flags that a type takes: `.ftz` and `.sat` are those of `f32`.
fn flags(ty: Ty, sat: bool) -> &'static [&'static str] {
    match (ty, sat) {
        (Ty::F32, true) => &["", ".ftz", ".sat", ".ftz.sat"],
        (Ty::F32, false) => &["", ".ftz"],
        _ => &[""],
    }
}

/// 9.7.3 calls the NaN of a single-precision instruction unspecified; GPUs give the canonical
/// one for sums and products, and code relies on it. Of quotients and roots, which are
/// sequences of instructions there, any NaN will do. Double precision keeps payloads, but
/// whose is open.
fn nan(ty: Ty, one_instruction: bool) -> Expect {
    if ty == Ty::F32 && one_instruction {
        Expect::Is(Format::F32.canonical_nan())
    } else {
        Expect::Nan
    }
}

pub(crate) fn all() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::F32, Ty::F64] {
        for (mode, round) in ROUNDS {
            for flags in flags(ty, true) {
                let suffix = format!("{mode}{flags}.{}", ty.name());
                for (op, what) in [("add", Op::Add), ("sub", Op::Sub), ("mul", Op::Mul)] {
                    all.push(two(format!("{op}.{suffix}"), what, ty, round));
                }
                for op in ["fma", "mad"] {
                    all.push(three(format!("{op}.{suffix}"), ty, round));
                }
            }
            for flags in flags(ty, false) {
                let suffix = format!("{mode}{flags}.{}", ty.name());
                all.push(two(format!("div.{suffix}"), Op::Div, ty, round));
                all.push(one(format!("rcp.{suffix}"), ty, move |format, a| {
                    float::arith(Op::Div, format, format.one(), a, round)
                }));
                all.push(one(format!("sqrt.{suffix}"), ty, move |format, a| {
                    float::sqrt(format, a, round)
                }));
            }
        }
        // No rounding modifier means `.rn`.
        let near = Round::NearestTiesToEven;
        for (op, what) in [("add", Op::Add), ("sub", Op::Sub), ("mul", Op::Mul)] {
            all.push(two(format!("{op}.{}", ty.name()), what, ty, near));
        }
        all.extend(signs(ty));
        all.extend(properties(ty));
        all.extend(extremes(ty));
    }
    all
}

fn two(name: String, op: Op, ty: Ty, round: Round) -> Form {
    let format = Format::of(ty);
    let (mods, nan) = (Mods::of(&name), nan(ty, op != Op::Div));
    Form::new(name, &[ty, ty], ty, pairs(ty, ty), move |a| {
        float::apply(format, mods, &nan, a, |a| {
            float::arith(op, format, a[0], a[1], round)
        })
    })
}

fn three(name: String, ty: Ty, round: Round) -> Form {
    let format = Format::of(ty);
    let (mods, nan) = (Mods::of(&name), nan(ty, true));
    let mut operands = triples(ty, ty, ty);
    // Products that a sum nearly cancels show whether the product was rounded first.
    let after = format.one() + 1;
    for (a, b) in [
        (after, after),
        (after, format.one() - 1),
        (after + 2, after + 4),
    ] {
        let product = float::arith(Op::Mul, format, a, b, Round::NearestTiesToEven).bits;
        for c in [product, product + 1, product - 1] {
            operands.push(vec![a, b, c ^ format.sign()]);
            operands.push(vec![a | format.sign(), b, c]);
        }
    }
    Form::new(name, &[ty, ty, ty], ty, operands, move |a| {
        float::apply(format, mods, &nan, a, |a| {
            float::fma(format, a[0], a[1], a[2], round)
        })
    })
}

fn one(name: String, ty: Ty, f: impl Fn(Format, u64) -> Rounded + 'static) -> Form {
    let format = Format::of(ty);
    let (mods, nan) = (Mods::of(&name), nan(ty, false));
    Form::new(name, &[ty], ty, ones(ty), move |a| {
        float::apply(format, mods, &nan, a, |a| f(format, a[0]))
    })
}

/// `abs`, `neg` and `copysign`. 9.7.3.9 and 9.7.3.10 leave the NaN open, `copysign` moves a bit.
fn signs(ty: Ty) -> Vec<Form> {
    let format = Format::of(ty);
    let mut all = Vec::new();
    for flags in flags(ty, false) {
        for (op, negate) in [("abs", false), ("neg", true)] {
            let name = format!("{op}{flags}.{}", ty.name());
            all.push(one(name, ty, move |format, a| Rounded {
                bits: if negate {
                    a ^ format.sign()
                } else {
                    float::magnitude(a, format)
                },
                inexact: false,
            }));
        }
    }
    let name = format!("copysign.{}", ty.name());
    all.push(Form::new(name, &[ty, ty], ty, pairs(ty, ty), move |a| {
        a[0] & format.sign() | float::magnitude(a[1], format)
    }));
    all
}

/// `testp` (9.7.3.1), where zeros count as normal.
fn properties(ty: Ty) -> Vec<Form> {
    let format = Format::of(ty);
    let form = |test: &str, f: fn(u64, Format) -> bool| {
        let name = format!("testp.{test}.{}", ty.name());
        Form::new(name, &[ty], Ty::Pred, ones(ty), move |a| {
            u64::from(f(a[0], format))
        })
    };
    let finite = |a, format: Format| float::magnitude(a, format) < format.infinity();
    vec![
        form("finite", finite),
        form("infinite", |a, format| {
            float::magnitude(a, format) == format.infinity()
        }),
        form("number", |a, format| !float::is_nan(a, format)),
        form("notanumber", float::is_nan),
        form("normal", |a, format| {
            float::magnitude(a, format) < format.infinity() && !float::is_subnormal(a, format)
        }),
        form("subnormal", float::is_subnormal),
    ]
}

/// `min` and `max` (9.7.3.11 and 9.7.3.12).
fn extremes(ty: Ty) -> Vec<Form> {
    let mut all = Vec::new();
    for op in ["min", "max"] {
        let ftz: &[&str] = flags(ty, false);
        for ftz in ftz {
            all.push(extreme(format!("{op}{ftz}.{}", ty.name()), ty));
            if ty == Ty::F32 {
                all.push(extreme(format!("{op}{ftz}.NaN.f32"), ty));
                all.push(extreme(format!("{op}{ftz}.xorsign.abs.f32"), ty).needs(78, 86));
                all.push(extreme(format!("{op}{ftz}.NaN.xorsign.abs.f32"), ty).needs(78, 86));
            }
        }
    }
    all
}

fn extreme(name: String, ty: Ty) -> Form {
    let max = name.starts_with("max");
    let format = Format::of(ty);
    let [nan, xorsign] = ["NaN", "xorsign"].map(|token| name.split('.').any(|t| t == token));
    let mods = Mods::of(&name);
    Form::new(name, &[ty, ty], ty, pairs(ty, ty), move |a| {
        float::extreme(format, mods.ftz, max, nan, xorsign, a[0], a[1])
    })
}

/// So that a list of edge values without infinities or NaNs is noticed here.
#[test]
fn edges_have_what_matters() {
    for ty in [Ty::F16, Ty::BF16, Ty::F32, Ty::F64] {
        let format = Format::of(ty);
        let edges = of(ty);
        assert!(edges.contains(&format.infinity()));
        assert!(edges.contains(&(format.sign() | 1)));
        assert!(edges.contains(&(format.infinity() - 1)));
        assert!(edges.iter().filter(|v| float::is_nan(**v, format)).count() >= 4);
    }
}

//! Comparison and selection (PTX ISA 9.7.6 and 9.7.7).

use cupola_random::Random;
use std::cmp::Ordering;

use crate::edges::{Operands, few, mixed, of, pairs};
use crate::form::{Expect, Form, Ty};
use crate::oracle::float::{self, Format};
use crate::oracle::int::number;

const INTEGERS: [Ty; 9] = [
    Ty::B16,
    Ty::B32,
    Ty::B64,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S16,
    Ty::S32,
    Ty::S64,
];

const FLOATS: [&str; 14] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

/// The comparisons that a type has.
fn operators(ty: Ty) -> &'static [&'static str] {
    match ty {
        Ty::B16 | Ty::B32 | Ty::B64 => &["eq", "ne"],
        Ty::U16 | Ty::U32 | Ty::U64 => {
            &["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"]
        }
        Ty::S16 | Ty::S32 | Ty::S64 => &["eq", "ne", "lt", "le", "gt", "ge"],
        _ => &FLOATS,
    }
}

/// How two values stand; `None` if one is a NaN.
fn order(a: u64, b: u64, ty: Ty, ftz: bool) -> Option<Ordering> {
    if INTEGERS.contains(&ty) {
        return Some(number(a, ty).cmp(&number(b, ty)));
    }
    let format = Format::of(ty);
    let value = |v| float::value(if ftz { float::flush(v, format) } else { v }, format);
    value(a).partial_cmp(&value(b))
}

fn holds(op: &str, order: Option<Ordering>) -> bool {
    match op {
        "num" => return order.is_some(),
        "nan" => return order.is_none(),
        _ => {}
    }
    // The unordered forms are true of NaNs, the others false.
    let unordered = op.len() == 3;
    let Some(order) = order else {
        return unordered;
    };
    match &op[..2] {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" | "lo" => order.is_lt(),
        "le" | "ls" => order.is_le(),
        "gt" | "hi" => order.is_gt(),
        _ => order.is_ge(),
    }
}

pub(crate) fn all() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in INTEGERS {
        for op in operators(ty) {
            all.push(setp(op, ty, false));
        }
    }
    for ty in [Ty::F32, Ty::F64, Ty::F16, Ty::BF16] {
        for op in FLOATS {
            all.push(setp(op, ty, false));
            if matches!(ty, Ty::F32 | Ty::F16) {
                all.push(setp(op, ty, true));
            }
        }
    }
    all.extend(combined());
    all.extend(sets());
    all.extend(sets_of_halves());
    all.extend(packed());
    all.extend(selections());
    all
}

fn needs(form: Form, ty: Ty) -> Form {
    // bfloat comparisons came with PTX 7.8 and sm_90.
    if ty == Ty::BF16 {
        form.needs(78, 90)
    } else {
        form
    }
}

/// Both destinations: the comparison and its complement. Halves have one (9.7.7.2).
fn setp(op: &'static str, ty: Ty, ftz: bool) -> Form {
    let name = format!("setp.{op}{}.{}", if ftz { ".ftz" } else { "" }, ty.name());
    if ty.bits() == 16 && operators(ty) == FLOATS {
        let form = Form::new(name, &[ty, ty], Ty::Pred, pairs(ty, ty), move |a| {
            u64::from(holds(op, order(a[0], a[1], ty, ftz)))
        });
        return needs(form, ty);
    }
    let body = format!("{name} %d0|%d1, %a0, %a1;");
    let form = Form::many(name, &[ty, ty], &[Ty::Pred; 2], pairs(ty, ty), move |a| {
        let t = holds(op, order(a[0], a[1], ty, ftz));
        vec![Expect::Is(t.into()), Expect::Is((!t).into())]
    });
    needs(form.body(body), ty)
}

fn boolean(op: &str, a: bool, b: bool) -> bool {
    match op {
        "and" => a & b,
        "or" => a | b,
        _ => a ^ b,
    }
}

/// With a boolean operator and a third predicate, plain and negated.
fn combined() -> Vec<Form> {
    let mut all = Vec::new();
    for (cmp, ty) in [
        ("lt", Ty::S32),
        ("hi", Ty::U64),
        ("gtu", Ty::F32),
        ("ne", Ty::F64),
    ] {
        for op in ["and", "or", "xor"] {
            for not in [false, true] {
                let types = [ty, ty, Ty::Pred];
                let operands = mixed(&[few(ty), few(ty), vec![0, 1]], &types);
                let bang = if not { "!" } else { "" };
                let name = format!("setp.{cmp}.{op}.{}", ty.name());
                let body = format!("{name} %d0|%d1, %a0, %a1, {bang}%a2;");
                let form = Form::many(
                    format!("{name} {bang}c"),
                    &types,
                    &[Ty::Pred; 2],
                    operands,
                    move |a| {
                        let t = holds(cmp, order(a[0], a[1], ty, false));
                        let c = (a[2] != 0) != not;
                        let p = [t, !t].map(|t| Expect::Is(boolean(op, t, c).into()));
                        p.to_vec()
                    },
                );
                all.push(form.body(body));
            }
        }
    }
    all
}

/// `set` gives all ones or 1.0.
fn sets() -> Vec<Form> {
    let mut all = Vec::new();
    for (to, truth) in [
        (Ty::U32, 0xffff_ffff),
        (Ty::S32, 0xffff_ffff),
        (Ty::F32, 0x3f80_0000),
    ] {
        for from in INTEGERS.into_iter().chain([Ty::F32, Ty::F64]) {
            for op in operators(from) {
                let name = format!("set.{op}.{}.{}", to.name(), from.name());
                let operands = mixed(&[few(from), few(from)], &[from, from]);
                all.push(Form::new(name, &[from, from], to, operands, move |a| {
                    truth * u64::from(holds(op, order(a[0], a[1], from, false)))
                }));
            }
        }
        for op in ["and", "or", "xor"] {
            let types = [Ty::F32, Ty::F32, Ty::Pred];
            let operands = mixed(&[few(Ty::F32), few(Ty::F32), vec![0, 1]], &types);
            let name = format!("set.leu.{op}.ftz.{}.f32", to.name());
            all.push(Form::new(name, &types, to, operands, move |a| {
                let t = holds("leu", order(a[0], a[1], Ty::F32, true));
                truth * u64::from(boolean(op, t, a[2] != 0))
            }));
        }
    }
    all
}

/// `set` of halves: the destination is one too, or an integer (9.7.7.1).
fn sets_of_halves() -> Vec<Form> {
    let mut all = Vec::new();
    for (from, one) in [(Ty::F16, 0x3c00), (Ty::BF16, 0x3f80)] {
        let kinds = [
            (from, one),
            (Ty::U16, 0xffff),
            (Ty::S16, 0xffff),
            (Ty::U32, 0xffff_ffff),
            (Ty::S32, 0xffff_ffff),
        ];
        for (to, truth) in kinds {
            for op in FLOATS {
                let name = format!("set.{op}.{}.{}", to.name(), from.name());
                let operands = mixed(&[few(from), few(from)], &[from, from]);
                let form = Form::new(name, &[from, from], to, operands, move |a| {
                    truth * u64::from(holds(op, order(a[0], a[1], from, false)))
                });
                all.push(needs(form, from));
            }
        }
    }
    all
}

/// Two halves compared into two predicates.
fn packed() -> Vec<Form> {
    let mut all = Vec::new();
    for (ty, half) in [(Ty::F16x2, Ty::F16), (Ty::BF16x2, Ty::BF16)] {
        for op in FLOATS {
            let name = format!("setp.{op}.{}", ty.name());
            let body = format!("{name} %d0|%d1, %a0, %a1;");
            let form = Form::many(name, &[ty, ty], &[Ty::Pred; 2], pairs(ty, ty), move |a| {
                let at = |shift: u32| {
                    let [a, b] = [a[0], a[1]].map(|v| v >> shift & 0xffff);
                    Expect::Is(holds(op, order(a, b, half, false)).into())
                };
                vec![at(0), at(16)]
            });
            all.push(needs(form.body(body), half));
        }
    }
    all
}

fn selections() -> Vec<Form> {
    let mut all = Vec::new();
    let types = INTEGERS.into_iter().chain([Ty::F32, Ty::F64]);
    for ty in types {
        let inputs = [ty, ty, Ty::Pred];
        let operands = mixed(&[of(ty), few(ty), vec![0, 1]], &inputs);
        let name = format!("selp.{}", ty.name());
        all.push(Form::new(name, &inputs, ty, operands, |a| {
            if a[2] != 0 { a[0] } else { a[1] }
        }));
        for (by, ftz) in [(Ty::S32, false), (Ty::F32, false), (Ty::F32, true)] {
            let inputs = [ty, ty, by];
            // What is chosen matters less than by what.
            let mut random = Random::new(3);
            let operands = of(by)
                .into_iter()
                .flat_map(|c| [c, c])
                .map(|c| vec![random.of(ty), random.of(ty), c])
                .collect();
            let flag = if ftz { ".ftz" } else { "" };
            let name = format!("slct{flag}.{}.{}", ty.name(), by.name());
            all.push(Form::new(name, &inputs, ty, operands, move |a| {
                // 9.7.6.4: a NaN selects b, and -0.0 is not below zero.
                let first = if by == Ty::S32 {
                    number(a[2], by) >= 0
                } else {
                    holds("ge", order(a[2], 0, by, ftz))
                };
                if first { a[0] } else { a[1] }
            }));
        }
    }
    all
}

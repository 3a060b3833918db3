//! `atom` and `red` (PTX ISA 9.7.13.5 and 9.7.13.6), one thread to a place: the old value
//! comes back, and the new one is there afterwards.

use crate::edges::{few, mixed, of, pairs};
use crate::form::{Expect, Form, Ty};
use crate::oracle::float::{self, Format, Mods, Op};
use crate::oracle::int::{number, wrap};
use rustc_apfloat::Round;

/// Where the place lies, and how it is written in the opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Global,
    Shared,
    Generic,
}

impl Place {
    fn dotted(self) -> &'static str {
        match self {
            Self::Global => ".global",
            Self::Shared => ".shared",
            Self::Generic => "",
        }
    }

    /// PTX that makes `%at` the thread's own 8 bytes.
    fn address(self) -> &'static str {
        match self {
            Self::Global => ".reg .b64 %at; mov.u64 %at, %out;",
            Self::Generic => ".reg .b64 %at; cvta.global.u64 %at, %out;",
            Self::Shared => {
                ".shared .align 8 .b8 cells[1024]; .reg .b64 %at; .reg .b32 %own;
                mov.u32 %own, %tid.x; mov.u64 %at, cells; mad.wide.u32 %at, %own, 8, %at;"
            }
        }
    }
}

const PLACES: [Place; 3] = [Place::Global, Place::Shared, Place::Generic];

type New = Box<dyn Fn(&[u64]) -> Expect>;

/// `atom` and, where there is one, `red`: the operands are the old value and the sources.
fn both(
    place: Place,
    op: &str,
    ty: Ty,
    operands: Vec<Vec<u64>>,
    red: bool,
    new: impl Fn() -> New,
) -> Vec<Form> {
    let count = operands.first().map_or(1, Vec::len);
    let sources: String = (1..count).map(|i| format!(", %a{i}")).collect();
    let space = place.dotted();
    let bits = ty.register();
    let (address, load) = (place.address(), format!("ld{space}.{bits} %d1, [%at];"));
    let f = new();
    let atom = Form::many(
        format!("atom{space}.{op}"),
        &vec![ty; count],
        &[ty, ty],
        operands.clone(),
        move |a| vec![Expect::Is(a[0]), f(a)],
    );
    let mut all = vec![atom.body(format!(
        "{address} st{space}.{bits} [%at], %a0; atom{space}.{op} %d0, [%at]{sources}; {load}"
    ))];
    if red {
        let f = new();
        let red = Form::many(
            format!("red{space}.{op}"),
            &vec![ty; count],
            &[ty, ty],
            operands,
            move |a| vec![Expect::Is(a[0]), f(a)],
        );
        all.push(red.body(format!(
            "{address} st{space}.{bits} [%at], %a0; red{space}.{op} [%at]{sources};
            mov.{bits} %d0, %a0; {load}"
        )));
    }
    all
}

pub(crate) fn all() -> Vec<Form> {
    let mut all = Vec::new();
    for place in PLACES {
        all.extend(integers(place));
        all.extend(exchanges(place));
        all.extend(floats(place));
    }
    all
}

fn integers(place: Place) -> Vec<Form> {
    let mut all = Vec::new();
    let mut one = |op: &str, ty: Ty, f: fn(i128, i128) -> i128| {
        let name = format!("{op}.{}", ty.name());
        all.extend(both(place, &name, ty, pairs(ty, ty), true, || {
            Box::new(move |a| Expect::Is(wrap(f(number(a[0], ty), number(a[1], ty)), ty)))
        }));
    };
    for ty in [Ty::U32, Ty::S32, Ty::U64] {
        one("add", ty, |a, b| a + b);
    }
    for ty in [Ty::U32, Ty::S32, Ty::U64, Ty::S64] {
        one("min", ty, i128::min);
        one("max", ty, i128::max);
    }
    for ty in [Ty::B32, Ty::B64] {
        one("and", ty, |a, b| a & b);
        one("or", ty, |a, b| a | b);
        one("xor", ty, |a, b| a ^ b);
    }
    // 9.7.13.5: `inc` wraps to 0 from b and above, `dec` to b from 0 and from above b.
    one("inc", Ty::U32, |a, b| if a >= b { 0 } else { a + 1 });
    one(
        "dec",
        Ty::U32,
        |a, b| if a == 0 || a > b { b } else { a - 1 },
    );
    all
}

fn exchanges(place: Place) -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::B32, Ty::B64] {
        let name = format!("exch.{}", ty.name());
        all.extend(both(place, &name, ty, pairs(ty, ty), false, || {
            Box::new(|a| Expect::Is(a[1]))
        }));
    }
    for ty in [Ty::B16, Ty::B32, Ty::B64] {
        let name = format!("cas.{}", ty.name());
        let mut operands = mixed(&[few(ty), few(ty), vec![1, 5]], &[ty; 3]);
        operands.extend(of(ty).into_iter().map(|v| vec![v, v, 9]));
        all.extend(both(place, &name, ty, operands, false, || {
            Box::new(|a| Expect::Is(if a[0] == a[1] { a[2] } else { a[0] }))
        }));
    }
    all
}

/// 9.7.13.5: sums round to nearest even. That of `f32` "on global memory flushes subnormal
/// inputs and results to sign-preserving zero", in the current implementation; on shared
/// memory it does not. The halves with `.noftz` never do.
fn floats(place: Place) -> Vec<Form> {
    let near = Round::NearestTiesToEven;
    let sum = move |format: Format, ftz: bool, a: u64, b: u64| {
        let mods = Mods {
            ftz,
            sat: false,
            relu: false,
        };
        float::apply(format, mods, &Expect::Nan, &[a, b], |a| {
            float::arith(Op::Add, format, a[0], a[1], near)
        })
    };
    let mut all = Vec::new();
    for ty in [Ty::F32, Ty::F64] {
        let name = format!("add.{}", ty.name());
        let format = Format::of(ty);
        let flushes = ty == Ty::F32 && place != Place::Shared;
        all.extend(both(place, &name, ty, pairs(ty, ty), true, || {
            Box::new(move |a| {
                // The sum that is stored is one that cannot be taken for the operand.
                sum(format, flushes, a[0], a[1])
            })
        }));
    }
    for (ty, bfloat) in [(Ty::F16, false), (Ty::BF16, true)] {
        let name = format!("add.noftz.{}", ty.name());
        let format = Format::of(ty);
        let forms = both(place, &name, ty, pairs(ty, ty), true, || {
            Box::new(move |a| sum(format, false, a[0], a[1]))
        });
        let aged = |form: Form| if bfloat { form.needs(78, 90) } else { form };
        all.extend(forms.into_iter().map(aged));
    }
    for (ty, bfloat) in [(Ty::F16x2, false), (Ty::BF16x2, true)] {
        let name = format!("add.noftz.{}", ty.name());
        let format = Format::of(ty);
        let forms = both(place, &name, ty, pairs(ty, ty), true, || {
            Box::new(move |a| {
                let half = |shift: u32| {
                    let [a, b] = [a[0], a[1]].map(|v| v >> shift & 0xffff);
                    Box::new(sum(format, false, a, b))
                };
                Expect::Halves(half(0), half(16))
            })
        });
        let aged = |form: Form| if bfloat { form.needs(78, 90) } else { form };
        all.extend(forms.into_iter().map(aged));
    }
    all
}

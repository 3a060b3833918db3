//! Logic, shifts, bit fields, counts, permutes and dot products (PTX ISA 9.7.1 and 9.7.8).

use crate::edges::{mixed, of, ones, pairs, product, triples};
use crate::form::{Expect, Form, Ty};
use crate::oracle::int::{number, wrap};
use cupola_random::Random;

pub(crate) fn all() -> Vec<Form> {
    let mut all = logic();
    all.extend(shifts());
    all.extend(funnels());
    all.extend(fields());
    all.extend(counts());
    all.extend(permutes());
    all.extend(dots());
    all
}

fn logic() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::Pred, Ty::B16, Ty::B32, Ty::B64] {
        let mask = if ty == Ty::Pred { 1 } else { ty.mask() };
        let two = |op: &str, f: fn(u64, u64) -> u64| {
            let name = format!("{op}.{}", ty.name());
            Form::new(name, &[ty, ty], ty, pairs(ty, ty), move |a| {
                f(a[0], a[1]) & mask
            })
        };
        all.push(two("and", |a, b| a & b));
        all.push(two("or", |a, b| a | b));
        all.push(two("xor", |a, b| a ^ b));
        let one = |op: &str, f: fn(u64) -> u64| {
            let name = format!("{op}.{}", ty.name());
            Form::new(name, &[ty], ty, ones(ty), move |a| f(a[0]) & mask)
        };
        all.push(one("not", |a| !a));
        if ty != Ty::Pred {
            all.push(one("cnot", |a| u64::from(a == 0)));
        }
    }
    let table = |lut: u64, a: u64, b: u64, c: u64| {
        (0..32).fold(0, |d, i| {
            let row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
            d | (lut >> row & 1) << i
        })
    };
    let t = Ty::B32;
    for lut in [
        0x00u64, 0x01, 0x1e, 0x3c, 0x80, 0x96, 0xca, 0xd8, 0xe8, 0xf0, 0xfe, 0xff,
    ] {
        let form = Form::new(
            format!("lop3.b32 {lut:#04x}"),
            &[t, t, t],
            t,
            triples(t, t, t),
            move |a| table(lut, a[0], a[1], a[2]),
        );
        all.push(form.body(format!("lop3.b32 %d0, %a0, %a1, %a2, {lut};")));
    }
    for (op, or) in [("or", true), ("and", false)] {
        let operands = product(&[of(t), vec![0, 0xffff_ffff], vec![0, 0x10], vec![0, 1]]);
        let form = Form::many(
            format!("lop3.{op}.b32 with a predicate"),
            &[t, t, t, Ty::Pred],
            &[t, Ty::Pred],
            operands,
            move |a| {
                let d = table(0x96, a[0], a[1], a[2]);
                let (any, q) = (d != 0, a[3] != 0);
                let p = if or { any | q } else { any & q };
                vec![Expect::Is(d), Expect::Is(p.into())]
            },
        );
        let body = format!("lop3.{op}.b32 %d0|%d1, %a0, %a1, %a2, 0x96, %a3;");
        all.push(form.body(body).needs(82, 80));
    }
    all
}

const SHIFTED: [Ty; 9] = [
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

/// 9.7.8.7 and 9.7.8.8: amounts above the width are clamped to it.
fn shifts() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in SHIFTED {
        let amounts = vec![
            0,
            1,
            u64::from(ty.bits()) - 1,
            ty.bits().into(),
            u64::from(ty.bits()) + 1,
            7,
            63,
            64,
            255,
            256,
            0x8000_0000,
            0xffff_ffff,
        ];
        let operands = mixed(&[of(ty), amounts], &[ty, Ty::U32]);
        let right = Form::new(
            format!("shr.{}", ty.name()),
            &[ty, Ty::U32],
            ty,
            operands.clone(),
            move |a| wrap(number(a[0], ty) >> a[1].min(127), ty),
        );
        all.push(right);
        if matches!(ty, Ty::B16 | Ty::B32 | Ty::B64) {
            let left = Form::new(
                format!("shl.{}", ty.name()),
                &[ty, Ty::U32],
                ty,
                operands,
                move |a| {
                    if a[1] < u64::from(ty.bits()) {
                        wrap(number(a[0], ty) << a[1], ty)
                    } else {
                        0
                    }
                },
            );
            all.push(left);
        }
        // The same with the amount in the instruction.
        for amount in [1, ty.bits() - 1, ty.bits(), ty.bits() + 3] {
            let form = Form::new(
                format!("shr.{} by {amount}", ty.name()),
                &[ty],
                ty,
                ones(ty),
                move |a| wrap(number(a[0], ty) >> amount.min(127), ty),
            );
            all.push(form.body(format!("shr.{} %d0, %a0, {amount};", ty.name())));
        }
    }
    all
}

fn funnels() -> Vec<Form> {
    let mut all = Vec::new();
    let t = Ty::B32;
    let amounts = vec![0, 1, 8, 31, 32, 33, 63, 64, 0xffff_ffff];
    for (mode, wrapping) in [("wrap", true), ("clamp", false)] {
        let amount = move |c: u64| if wrapping { c & 31 } else { c.min(32) };
        for left in [true, false] {
            let name = format!("shf.{}.{mode}.b32", if left { "l" } else { "r" });
            let operands = mixed(&[of(t), of(t), amounts.clone()], &[t, t, t]);
            all.push(Form::new(name, &[t, t, t], t, operands, move |a| {
                let both = u128::from(a[1] << 32 | a[0]);
                let shifted = if left {
                    both << amount(a[2]) >> 32
                } else {
                    both >> amount(a[2])
                };
                shifted as u64 & 0xffff_ffff
            }));
        }
    }
    all
}

/// The ISA restricts positions and lengths to 8 bits (9.7.1.19 and 9.7.1.20). The forms of
/// 64 bits, which are several instructions on a GPU, take all 32 bits on an H200; not judged.
fn beyond_the_field(ty: Ty, fields: &[u64]) -> bool {
    ty.bits() == 64 && fields.iter().any(|field| *field > 255)
}

fn fields() -> Vec<Form> {
    let places = vec![0, 1, 5, 31, 32, 33, 63, 64, 255, 256, 0xffff_ff04];
    let mut all = Vec::new();
    for ty in [Ty::U32, Ty::S32, Ty::U64, Ty::S64] {
        let lists = [of(ty), places.clone(), places.clone()];
        let operands = mixed(&lists, &[ty, Ty::U32, Ty::U32]);
        let name = format!("bfe.{}", ty.name());
        all.push(Form::new(
            name,
            &[ty, Ty::U32, Ty::U32],
            ty,
            operands,
            move |a| {
                // 9.7.1.19, with positions and lengths of 8 bits: the field of the number with
                // its sign without end, cut to its length, then signed again.
                if beyond_the_field(ty, &a[1..]) {
                    return Expect::Open;
                }
                let (place, length) = (a[1] & 255, a[2] & 255);
                if length == 0 {
                    return Expect::Is(0);
                }
                let field = number(a[0], ty) >> place.min(127);
                if length >= 64 {
                    return Expect::Is(wrap(field, ty));
                }
                let low = field & ((1 << length) - 1);
                let negative = ty.signed() && low >> (length - 1) & 1 == 1;
                Expect::Is(wrap(if negative { low - (1 << length) } else { low }, ty))
            },
        ));
    }
    for ty in [Ty::B32, Ty::B64] {
        let few = vec![0, ty.mask(), 0x1234_5678];
        let lists = [few.clone(), few, places.clone(), places.clone()];
        let types = [ty, ty, Ty::U32, Ty::U32];
        let name = format!("bfi.{}", ty.name());
        all.push(Form::new(
            name,
            &types,
            ty,
            mixed(&lists, &types),
            move |a| {
                if beyond_the_field(ty, &a[2..]) {
                    return Expect::Open;
                }
                let (place, length) = (a[2] & 255, a[3] & 255);
                let ones = |n: u64| {
                    if n >= 64 {
                        u128::from(u64::MAX)
                    } else {
                        (1 << n) - 1
                    }
                };
                let at = place.min(64);
                let mask = ones(length) << at;
                let field = (u128::from(a[0]) << at) & mask;
                Expect::Is((u128::from(a[1]) & !mask | field) as u64 & ty.mask())
            },
        ));
    }
    all.extend(masks());
    all
}

/// `bmsk` and `szext` (PTX ISA 9.7.1.21 and 9.7.1.22).
fn masks() -> Vec<Form> {
    let t = Ty::B32;
    let places = vec![0, 1, 5, 16, 31, 32, 33, 0xffff_ffff];
    let mut all = Vec::new();
    for (mode, wrapping) in [("wrap", true), ("clamp", false)] {
        let operands = product(&[places.clone(), places.clone()]);
        let name = format!("bmsk.{mode}.b32");
        all.push(Form::new(name, &[t, t], t, operands, move |a| {
            let (from, length) = if wrapping {
                (a[0] & 31, a[1] & 31)
            } else {
                (a[0].min(32), a[1].min(32))
            };
            ((1u64 << length) - 1) << from & 0xffff_ffff
        }));
        for ty in [Ty::U32, Ty::S32] {
            let operands = product(&[of(ty), places.clone()]);
            let name = format!("szext.{mode}.{}", ty.name());
            all.push(Form::new(name, &[ty, t], ty, operands, move |a| {
                let length = if wrapping { a[1] & 31 } else { a[1].min(32) };
                let low = i128::from(a[0]) & ((1 << length) - 1);
                let negative = ty.signed() && length > 0 && low >> (length - 1) & 1 == 1;
                wrap(if negative { low - (1 << length) } else { low }, ty)
            }));
        }
    }
    all.iter_mut().for_each(|form| form.needs = (76, 80));
    all
}

fn counts() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::B32, Ty::B64] {
        let one = |op: &str, f: fn(u64, u32) -> u64| {
            let name = format!("{op}.{}", ty.name());
            let to = if op == "brev" { ty } else { Ty::U32 };
            Form::new(name, &[ty], to, ones(ty), move |a| f(a[0], ty.bits()))
        };
        all.push(one("popc", |a, _| a.count_ones().into()));
        all.push(one("clz", |a, n| {
            u64::from(a.leading_zeros()) + u64::from(n) - 64
        }));
        all.push(one("brev", |a, n| a.reverse_bits() >> (64 - n)));
    }
    for ty in [Ty::U32, Ty::S32, Ty::U64, Ty::S64] {
        for shift in [false, true] {
            let name = format!(
                "bfind{}.{}",
                if shift { ".shiftamt" } else { "" },
                ty.name()
            );
            all.push(Form::new(name, &[ty], Ty::U32, ones(ty), move |a| {
                let n = number(a[0], ty);
                let magnitude = if n < 0 { !n } else { n };
                match magnitude.checked_ilog2() {
                    None => 0xffff_ffff,
                    Some(place) if shift => u64::from(ty.bits() - 1 - place),
                    Some(place) => place.into(),
                }
            }));
        }
    }
    all.push(nth_set());
    all
}

/// `fns` (9.7.1.17): the search as it is written there, for bases that it allows.
fn nth_set() -> Form {
    let t = Ty::B32;
    let offsets = [0i32, 1, -1, 2, -2, 5, -5, 31, 33].map(|v| u64::from(v.cast_unsigned()));
    let operands = product(&[of(t), vec![0, 1, 3, 16, 30, 31], offsets.to_vec()]);
    Form::new("fns.b32", &[t, t, t], t, operands, |a| {
        let (mask, base, offset) = (a[0], a[1], (a[2] as u32).cast_signed());
        let set = |p: &u64| mask >> p & 1 == 1;
        let found = match offset {
            0 => Some(base).filter(set),
            1.. => (base..32).filter(set).nth(offset as usize - 1),
            _ => (0..=base)
                .rev()
                .filter(set)
                .nth(offset.unsigned_abs() as usize - 1),
        };
        found.unwrap_or(0xffff_ffff)
    })
}

/// `prmt` (9.7.8.9): bytes of a pair of registers, picked by nibbles.
fn permutes() -> Vec<Form> {
    let t = Ty::B32;
    let mut all = Vec::new();
    let mut random = Random::new(7);
    let mut operands = product(&[of(t), vec![0x8899_aabb], vec![0x7654, 0xfedc, 0x3210]]);
    operands.extend((0..512).map(|_| (0..3).map(|_| random.next_u64() & 0xffff_ffff).collect()));
    all.push(Form::new("prmt.b32", &[t, t, t], t, operands, |a| {
        (0..4).fold(0, |d, i| {
            let pick = a[2] >> (4 * i);
            let byte = (a[1] << 32 | a[0]) >> (8 * (pick & 7)) & 255;
            let byte = match (pick & 8 != 0, byte >= 128) {
                (false, _) => byte,
                (true, negative) => 255 * u64::from(negative),
            };
            d | byte << (8 * i)
        })
    }));
    // The bytes of each mode, from the least: the tables of 9.7.8.9.
    let modes: [(&str, [[u64; 4]; 4]); 6] = [
        (
            "f4e",
            [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        ),
        (
            "b4e",
            [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        ),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        (
            "ecl",
            [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        ),
        (
            "ecr",
            [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        ),
        (
            "rc16",
            [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
        ),
    ];
    for (mode, picks) in modes {
        let operands = product(&[
            vec![0x0123_4567, 0x89ab_cdef, 0x8000_00ff],
            vec![0xfedc_ba98, 0x7654_3210, 0x00ff_7f80],
            vec![0, 1, 2, 3, 4, 7, 0xffff_fffe],
        ]);
        let name = format!("prmt.b32.{mode}");
        all.push(Form::new(name, &[t, t, t], t, operands, move |a| {
            let bytes = a[1] << 32 | a[0];
            let picked = picks[a[2] as usize & 3].iter().enumerate();
            picked.fold(0, |d, (i, pick)| d | (bytes >> (8 * pick) & 255) << (8 * i))
        }));
    }
    all
}

fn dots() -> Vec<Form> {
    let mut all = Vec::new();
    for ta in [Ty::U32, Ty::S32] {
        for tb in [Ty::U32, Ty::S32] {
            let part = |word: u64, i: u32, bits: u32, ty: Ty| {
                let narrow = match (bits, ty.signed()) {
                    (8, false) => Ty::U8,
                    (8, true) => Ty::S8,
                    (_, false) => Ty::U16,
                    (_, true) => Ty::S16,
                };
                number(word >> (bits * i), narrow)
            };
            let name = format!("dp4a.{}.{}", ta.name(), tb.name());
            let types = [ta, tb, Ty::U32];
            let operands = triples(Ty::U32, Ty::U32, Ty::U32);
            all.push(Form::new(
                name,
                &types,
                Ty::U32,
                operands.clone(),
                move |a| {
                    let dot: i128 = (0..4)
                        .map(|i| part(a[0], i, 8, ta) * part(a[1], i, 8, tb))
                        .sum();
                    wrap(dot + i128::from(a[2]), Ty::U32)
                },
            ));
            for (mode, first) in [("lo", 0), ("hi", 2)] {
                let name = format!("dp2a.{mode}.{}.{}", ta.name(), tb.name());
                all.push(Form::new(
                    name,
                    &types,
                    Ty::U32,
                    operands.clone(),
                    move |a| {
                        let dot: i128 = (0..2)
                            .map(|i| part(a[0], i, 16, ta) * part(a[1], first + i, 8, tb))
                            .sum();
                        wrap(dot + i128::from(a[2]), Ty::U32)
                    },
                ));
            }
        }
    }
    all
}

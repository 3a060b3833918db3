//! Instructions that look across a warp (PTX ISA 9.7.9.6, 9.7.14): whole warps are judged.

use crate::form::{Expect, Form, Ty};
use crate::oracle::int::number;
use cupola_random::Random;

const FULL: u64 = 0xffff_ffff;

/// Member masks that split a warp: all, halves, a mix, one lane.
const MASKS: [u64; 5] = [FULL, 0x0000_ffff, 0xffff_0000, 0x5a5a_a5a5, 0x0000_0100];

pub(crate) fn all() -> Vec<Form> {
    let mut all = shuffles();
    all.extend(votes());
    all.extend(matches());
    all.extend(reductions());
    all.push(active());
    all.extend(elections());
    all
}

/// Warps of random lanes: small numbers, so that values meet, and then full ones.
fn warps(count: usize, ty: Ty) -> Vec<Vec<u64>> {
    let mut random = Random::new(17);
    (0..32 * count)
        .map(|i| {
            let value = match i / 32 % 4 {
                0 => random.next_u64() % 4,
                1 => (random.next_u64() % 3).wrapping_neg(),
                2 => u64::from(i % 32 != 5),
                _ => random.next_u64(),
            };
            vec![value & ty.mask()]
        })
        .collect()
}

/// Only the members execute `ins`; what the others give is set before.
fn members(mask: u64, before: &str, ins: &str) -> String {
    if mask == FULL {
        return ins.to_owned();
    }
    format!(
        ".reg .b32 %lane; .reg .pred %in; {before} mov.u32 %lane, %laneid;
        shr.u32 %lane, {mask}, %lane; and.b32 %lane, %lane, 1; setp.eq.u32 %in, %lane, 1;
        @!%in bra.uni past; {ins}
        past:"
    )
    .replace("bra.uni", "bra")
}

fn inside(mask: u64, lane: usize) -> bool {
    mask >> lane & 1 == 1
}

/// 9.7.9.6, as it is written there.
fn shuffled(mode: &str, lane: u64, b: u64, c: u64) -> (u64, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let last = lane & segment | clamp & !segment & 31;
    let first = lane & segment;
    let signed = |v: u64| v.cast_signed();
    let (from, valid) = match mode {
        "up" => {
            let from = signed(lane) - signed(b);
            (from, from >= signed(last))
        }
        "down" => (signed(lane + b), lane + b <= last),
        "bfly" => (signed(lane ^ b), lane ^ b <= last),
        _ => {
            let from = first | b & !segment & 31;
            (signed(from), from <= last)
        }
    };
    if valid {
        (from.cast_unsigned(), true)
    } else {
        (lane, false)
    }
}

fn shuffles() -> Vec<Form> {
    let mut all = Vec::new();
    // Whole warps, and segments of 16, 8 and 4 lanes.
    for (width, segment) in [(32, 0u64), (16, 0x1000), (8, 0x1800), (4, 0x1c00)] {
        for mode in ["up", "down", "bfly", "idx"] {
            let clamp = if mode == "up" { 0 } else { 31 };
            for by in [0u64, 1, 3, 7, 31] {
                let c = segment | clamp;
                let ins = format!("shfl.sync.{mode}.b32 %d0|%d1, %a0, {by}, {c}, -1;");
                let form = Form::warp(
                    format!("shfl.sync.{mode}.b32 by {by} in {width}"),
                    &[Ty::B32],
                    &[Ty::B32, Ty::Pred],
                    warps(4, Ty::B32),
                    move |lanes| {
                        (0..32)
                            .map(|lane| {
                                let (from, valid) = shuffled(mode, lane, by, c);
                                let value = lanes[from as usize][0];
                                vec![Expect::Is(value), Expect::Is(valid.into())]
                            })
                            .collect()
                    },
                );
                all.push(form.body(ins));
            }
        }
    }
    // Each lane asks for another one, with the arguments in registers.
    let mut random = Random::new(19);
    let operands = (0..128)
        .map(|_| vec![random.next_u64() & FULL, random.next_u64() & FULL])
        .collect();
    let form = Form::warp(
        "shfl.sync.idx.b32 by registers",
        &[Ty::B32, Ty::B32],
        &[Ty::B32],
        operands,
        |lanes| {
            let value = |lane: &Vec<u64>| lanes[(lane[1] & 31) as usize][0];
            lanes
                .iter()
                .map(|lane| vec![Expect::Is(value(lane))])
                .collect()
        },
    );
    all.push(
        form.body(".reg .b32 %all; mov.u32 %all, -1; shfl.sync.idx.b32 %d0, %a0, %a1, 31, %all;"),
    );
    // Half a warp by itself.
    let body = members(
        0xffff_0000,
        "mov.u32 %d0, 77;",
        "shfl.sync.bfly.b32 %d0, %a0, 5, 31, 0xffff0000;",
    );
    let form = Form::warp(
        "shfl.sync.bfly.b32 of half a warp",
        &[Ty::B32],
        &[Ty::B32],
        warps(4, Ty::B32),
        |lanes| {
            let of = |lane: usize| if lane < 16 { 77 } else { lanes[lane ^ 5][0] };
            (0..32).map(|lane| vec![Expect::Is(of(lane))]).collect()
        },
    );
    all.push(form.body(body));
    all
}

/// What every member gets, and what the others have.
fn uniform(mask: u64, value: u64, other: u64) -> Vec<Vec<Expect>> {
    (0..32)
        .map(|lane| vec![Expect::Is(if inside(mask, lane) { value } else { other })])
        .collect()
}

fn votes() -> Vec<Form> {
    let mut all = Vec::new();
    for mask in MASKS {
        for mode in ["all", "any", "uni", "ballot"] {
            let ty = if mode == "ballot" { Ty::B32 } else { Ty::Pred };
            let before = if mode == "ballot" {
                "mov.u32 %d0, 0;"
            } else {
                "setp.ne.u32 %d0, 0, 0;"
            };
            let ins = format!("vote.sync.{mode}.{} %d0, %a0, {mask:#x};", ty.name());
            let form = Form::warp(
                format!("vote.sync.{mode}.{} {mask:#x}", ty.name()),
                &[Ty::Pred],
                &[ty],
                warps(8, Ty::Pred),
                move |lanes| {
                    let bits: u64 = (0..32).map(|i| (lanes[i][0] & 1) << i).sum::<u64>() & mask;
                    let value = match mode {
                        "all" => u64::from(bits == mask),
                        "any" => u64::from(bits != 0),
                        "uni" => u64::from(bits == mask || bits == 0),
                        _ => bits,
                    };
                    uniform(mask, value, 0)
                },
            );
            all.push(form.body(members(mask, before, &ins)));
        }
    }
    all
}

fn matches() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::B32, Ty::B64] {
        for mask in MASKS {
            let t = ty.name();
            let form = Form::warp(
                format!("match.any.sync.{t} {mask:#x}"),
                &[ty],
                &[Ty::B32],
                warps(8, ty),
                move |lanes| {
                    let same = |a: usize| {
                        (0..32)
                            .filter(|b| inside(mask, *b) && lanes[a][0] == lanes[*b][0])
                            .fold(0u64, |set, b| set | 1 << b)
                    };
                    (0..32)
                        .map(|lane| {
                            vec![Expect::Is(if inside(mask, lane) { same(lane) } else { 0 })]
                        })
                        .collect()
                },
            );
            let ins = format!("match.any.sync.{t} %d0, %a0, {mask:#x};");
            all.push(form.body(members(mask, "mov.u32 %d0, 0;", &ins)));
            let form = Form::warp(
                format!("match.all.sync.{t} {mask:#x}"),
                &[ty],
                &[Ty::B32, Ty::Pred],
                // And warps that agree.
                warps(8, ty)
                    .into_iter()
                    .chain((0..64).map(|i| vec![i / 32]))
                    .collect(),
                move |lanes| {
                    let mut members = (0..32).filter(|i| inside(mask, *i));
                    let first = members.next().map(|i| lanes[i][0]);
                    let agree = members.all(|i| Some(lanes[i][0]) == first);
                    let value = if agree { mask } else { 0 };
                    let outputs = |lane| {
                        let on = inside(mask, lane);
                        let p = u64::from(on && agree);
                        vec![Expect::Is(if on { value } else { 0 }), Expect::Is(p)]
                    };
                    (0..32).map(outputs).collect()
                },
            );
            let ins = format!("match.all.sync.{t} %d0|%d1, %a0, {mask:#x};");
            let before = "mov.u32 %d0, 0; setp.ne.u32 %d1, 0, 0;";
            all.push(form.body(members(mask, before, &ins)));
        }
    }
    all
}

/// Two values made one.
type Fold = fn(i128, i128) -> i128;

fn reductions() -> Vec<Form> {
    let mut all = Vec::new();
    let kinds: [(&str, Ty, Fold); 9] = [
        ("add", Ty::U32, |a, b| a + b),
        ("add", Ty::S32, |a, b| a + b),
        ("min", Ty::U32, i128::min),
        ("min", Ty::S32, i128::min),
        ("max", Ty::U32, i128::max),
        ("max", Ty::S32, i128::max),
        ("and", Ty::B32, |a, b| a & b),
        ("or", Ty::B32, |a, b| a | b),
        ("xor", Ty::B32, |a, b| a ^ b),
    ];
    for (op, ty, f) in kinds {
        for mask in MASKS {
            let name = format!("redux.sync.{op}.{}", ty.name());
            let ins = format!("{name} %d0, %a0, {mask:#x};");
            let form = Form::warp(
                format!("{name} {mask:#x}"),
                &[ty],
                &[ty],
                warps(8, ty),
                move |lanes| {
                    let members = (0..32).filter(|i| inside(mask, *i));
                    let values = members.map(|i| number(lanes[i][0], ty));
                    let all = values.reduce(f).unwrap_or(0);
                    uniform(mask, crate::oracle::int::wrap(all, ty), 0)
                },
            );
            all.push(form.body(members(mask, "mov.u32 %d0, 0;", &ins)));
        }
    }
    all
}

/// Lanes that a branch sent elsewhere are not active.
fn active() -> Form {
    let form = Form::warp(
        "activemask.b32 in a branch",
        &[Ty::Pred],
        &[Ty::B32],
        warps(8, Ty::Pred),
        |lanes| {
            let bits: u64 = (0..32).map(|i| (lanes[i][0] & 1) << i).sum();
            // PTX lets a compiler split the lanes further, but a lane is active to itself,
            // and none that went elsewhere is. Whole sets are seen in practice.
            (0..32)
                .map(|lane| vec![Expect::Is(if lanes[lane][0] & 1 == 1 { bits } else { 0 })])
                .collect()
        },
    );
    form.body(
        "mov.u32 %d0, 0; @!%a0 bra past; activemask.b32 %d0;
        past:",
    )
}

/// `elect.sync`: exactly one member is told so, and all learn which. The PTX ISA leaves open
/// which one; "deterministic" is all it says (9.7.14.15). GPUs take the lowest.
fn elections() -> Vec<Form> {
    let mut all = Vec::new();
    for mask in [FULL, 0xffff_0000, 0x5a5a_a5a4] {
        let form = Form::warp(
            format!("elect.sync {mask:#x}"),
            &[Ty::B32],
            &[Ty::B32, Ty::Pred],
            warps(2, Ty::B32),
            move |_| {
                let leader = mask.trailing_zeros() as usize;
                let outputs = |lane: usize| {
                    let value = if inside(mask, lane) {
                        leader as u64
                    } else {
                        99
                    };
                    vec![Expect::Is(value), Expect::Is(u64::from(lane == leader))]
                };
                (0..32).map(outputs).collect()
            },
        );
        let ins = format!("elect.sync %d0|%d1, {mask:#x};");
        let before = "mov.u32 %d0, 99; setp.ne.u32 %d1, 0, 0;";
        all.push(form.body(members(mask, before, &ins)).needs(80, 90));
    }
    all
}

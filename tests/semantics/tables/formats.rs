//! `cvt` between float formats (PTX ISA 9.7.9.21).

use crate::edges::{Operands, mixed, of, ones};
use crate::form::{Expect, Form, Ty};
use crate::oracle::float::{self, Format, Mods, ROUNDS, Rounded};
use cupola_random::Random;
use rustc_apfloat::Round;

pub(crate) fn all() -> Vec<Form> {
    let mut all = narrowing();
    all.extend(widening());
    all.extend(integral());
    all.extend(clamped());
    all.extend(packed());
    all.push(tensor_format());
    all
}

/// Operands whose conversion to a narrower format is a tie, or nearly one.
fn ties(from: Ty, to: Ty) -> Vec<Vec<u64>> {
    let (wide, narrow) = (Format::of(from), Format::of(to));
    let mut all = ones(from);
    let mut random = Random::new(5);
    let mut targets = of(to);
    targets.extend((0..64).map(|_| random.of(to)));
    for low in targets {
        if float::magnitude(low, narrow) >= narrow.infinity() {
            continue;
        }
        // Halfway to the next number away from zero, by doubles, which hold both.
        let (a, b) = (float::value(low, narrow), float::value(low + 1, narrow));
        let middle = float::nearest(
            if b.is_finite() {
                a / 2.0 + b / 2.0
            } else {
                a * 1.0005
            },
            wide,
        );
        for bits in [middle, middle.wrapping_add(1), middle.wrapping_sub(1)] {
            all.push(vec![bits & from.mask()]);
        }
    }
    all
}

/// Needs of a conversion between the two types.
fn aged(form: Form, from: Ty, to: Ty) -> Form {
    let bfloat = [from, to].contains(&Ty::BF16);
    let single = [from, to].contains(&Ty::F32);
    // `cvt.f32.bf16` and `cvt.bf16.f32` are of sm_80, the others of sm_90.
    if bfloat && !single {
        form.needs(78, 90)
    } else {
        form
    }
}

/// A conversion with flushes of `f32` operands and results only: `.ftz` "applies only to
/// single precision inputs and results".
fn conversion(name: String, from: Ty, to: Ty, round: Round) -> Form {
    let (source, target) = (Format::of(from), Format::of(to));
    let mods = Mods::of(&name);
    let directed = name.contains(".rm.") || name.contains(".rp.");
    let form = Form::new(name, &[from], to, ties(from, to), move |a| {
        let flushes = mods.ftz && from == Ty::F32;
        let a = match a[0] {
            // An H200 does not flush the operands of these: a subnormal one rounds away from
            // zero. The ISA (9.7.9.21) says that they are flushed. Not judged.
            a if flushes && to == Ty::F16 && directed && float::flush(a, source) != a => {
                return Expect::Open;
            }
            a if flushes => float::flush(a, source),
            a => a,
        };
        let result = float::convert(source, target, a, round);
        let mods = Mods {
            ftz: mods.ftz && to == Ty::F32,
            ..mods
        };
        float::finish(target, mods, &Expect::Nan, result)
    });
    aged(form, from, to)
}

fn narrowing() -> Vec<Form> {
    let pairs = [
        (Ty::F64, Ty::F32),
        (Ty::F64, Ty::F16),
        (Ty::F64, Ty::BF16),
        (Ty::F32, Ty::F16),
        (Ty::F32, Ty::BF16),
        (Ty::BF16, Ty::F16),
        (Ty::F16, Ty::BF16),
    ];
    let mut all = Vec::new();
    for (from, to) in pairs {
        for (mode, round) in ROUNDS {
            // From `f32` to bfloat there are `.rn` and `.rz` alone.
            if (from, to) == (Ty::F32, Ty::BF16) && matches!(mode, "rm" | "rp") {
                continue;
            }
            let types = format!("{}.{}", to.name(), from.name());
            all.push(conversion(format!("cvt.{mode}.{types}"), from, to, round));
            if [from, to].contains(&Ty::F32) && to != Ty::BF16 {
                all.push(conversion(
                    format!("cvt.{mode}.ftz.{types}"),
                    from,
                    to,
                    round,
                ));
            }
            if to != Ty::BF16 && from != Ty::BF16 {
                all.push(conversion(
                    format!("cvt.{mode}.sat.{types}"),
                    from,
                    to,
                    round,
                ));
            }
        }
    }
    all
}

/// Exact, so without rounding.
fn widening() -> Vec<Form> {
    let pairs = [
        (Ty::F16, Ty::F32),
        (Ty::F16, Ty::F64),
        (Ty::BF16, Ty::F32),
        (Ty::BF16, Ty::F64),
        (Ty::F32, Ty::F64),
        (Ty::F32, Ty::F32),
        (Ty::F64, Ty::F64),
    ];
    let mut all = Vec::new();
    let near = Round::NearestTiesToEven;
    for (from, to) in pairs {
        let types = format!("{}.{}", to.name(), from.name());
        all.push(conversion(format!("cvt.{types}"), from, to, near));
        if [from, to].contains(&Ty::F32) && from != Ty::BF16 {
            all.push(conversion(format!("cvt.ftz.{types}"), from, to, near));
        }
        if from != Ty::BF16 {
            all.push(conversion(format!("cvt.sat.{types}"), from, to, near));
        }
    }
    let late = conversion("cvt.ftz.f32.bf16".into(), Ty::BF16, Ty::F32, near);
    all.push(late.needs(78, 90));
    all
}

/// To an integral value in the same format.
fn integral() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::F16, Ty::BF16, Ty::F32, Ty::F64] {
        let format = Format::of(ty);
        for (mode, round) in ROUNDS {
            for flags in ["", ".ftz", ".sat", ".ftz.sat"] {
                if flags.contains("ftz") && ty != Ty::F32 || !flags.is_empty() && ty == Ty::BF16 {
                    continue;
                }
                let name = format!("cvt.{mode}i{flags}.{0}.{0}", ty.name());
                let mods = Mods::of(&name);
                let form = Form::new(name, &[ty], ty, ones(ty), move |a| {
                    float::apply(format, mods, &Expect::Nan, a, |a| Rounded {
                        bits: float::integral(format, a[0], round),
                        inexact: false,
                    })
                });
                all.push(if ty == Ty::BF16 {
                    form.needs(78, 90)
                } else {
                    form
                });
            }
        }
    }
    all
}

/// `.satfinite`: what is above the greatest number becomes it.
fn satfinite(format: Format, bits: u64) -> u64 {
    if float::magnitude(bits, format) == format.infinity() {
        bits - 1
    } else {
        bits
    }
}

/// One conversion of `f32` to a half with `.relu` and `.satfinite`. An overflow of `.rn` is
/// above the greatest number, and so is an infinity.
fn to_half(format: Format, mods: Mods, finite: bool, a: u64, round: Round) -> Expect {
    let result = float::convert(Format::F32, format, a, round);
    let bits = if finite && !float::is_nan(result.bits, format) {
        satfinite(format, result.bits)
    } else {
        result.bits
    };
    float::finish(format, mods, &Expect::Nan, Rounded { bits, ..result })
}

fn clamped() -> Vec<Form> {
    let mut all = Vec::new();
    for to in [Ty::F16, Ty::BF16] {
        let format = Format::of(to);
        for (mode, round) in &ROUNDS[..2] {
            for flags in [".relu", ".satfinite", ".relu.satfinite"] {
                let name = format!("cvt.{mode}{flags}.{}.f32", to.name());
                let mods = Mods::of(&name);
                let finite = flags.contains("satfinite");
                let round = *round;
                let form = Form::new(name, &[Ty::F32], to, ties(Ty::F32, to), move |a| {
                    to_half(format, mods, finite, a[0], round)
                });
                all.push(if finite { form.needs(81, 80) } else { form });
            }
        }
    }
    all
}

/// Two `f32` to two halves: the first operand goes to the upper half.
fn packed() -> Vec<Form> {
    let mut all = Vec::new();
    for (to, half) in [(Ty::F16x2, Ty::F16), (Ty::BF16x2, Ty::BF16)] {
        let format = Format::of(half);
        let mut values: Vec<u64> = ties(Ty::F32, half).into_iter().flatten().collect();
        values.rotate_left(1);
        let lists = [of(Ty::F32), values.into_iter().step_by(7).collect()];
        let operands = mixed(&lists, &[Ty::F32, Ty::F32]);
        for (mode, round) in &ROUNDS[..2] {
            for flags in ["", ".relu", ".satfinite"] {
                let name = format!("cvt.{mode}{flags}.{}.f32", to.name());
                let mods = Mods::of(&name);
                let finite = flags.contains("satfinite");
                let round = *round;
                let types = [Ty::F32, Ty::F32];
                let form = Form::new(name, &types, to, operands.clone(), move |a| {
                    let half = |a| Box::new(to_half(format, mods, finite, a, round));
                    Expect::Halves(half(a[1]), half(a[0]))
                });
                all.push(if finite { form.needs(81, 80) } else { form });
            }
        }
    }
    all
}

/// `tf32` has 10 bits of fraction. What its other 13 bits hold is the implementation's own
/// (PTX ISA 5.2.3), so they are masked away.
fn tensor_format() -> Form {
    let form = Form::new(
        "cvt.rna.tf32.f32",
        &[Ty::F32],
        Ty::F32,
        ones(Ty::F32),
        |a| {
            if float::is_nan(a[0], Format::F32) {
                // A NaN with nothing in the bits that are kept becomes an infinity on an H200.
                let kept = a[0] & 0x007f_e000 != 0;
                return if kept { Expect::Nan } else { Expect::Open };
            }
            // Ties go away from zero: half an ulp is added to the magnitude.
            if float::magnitude(a[0], Format::F32) == Format::F32.infinity() {
                return Expect::Is(a[0]);
            }
            Expect::Is((a[0] + 0x1000) & 0xffff_e000)
        },
    );
    form.body("cvt.rna.tf32.f32 %d0, %a0; and.b32 %d0, %d0, 0xffffe000;")
}

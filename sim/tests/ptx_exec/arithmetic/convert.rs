//! `cvt` between all types. Without these tests a wrong width, sign or rounding
//! of a conversion would go unnoticed.

use crate::device::{check, eval, rows};

const INTS: &[u64] = &[
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x0100_0001,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0x1234_5678_9abc_def1,
];

fn range(ty: &str) -> (i128, i128) {
    let bits: u32 = ty[1..].parse().unwrap();
    if ty.starts_with('s') {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// The value of the low bits of `v` as a `ty`.
fn value(v: u64, ty: &str) -> i128 {
    let (low, high) = range(ty);
    let v = i128::from(v) & (high - low);
    if v > high { v - (high - low + 1) } else { v }
}

fn mask(v: i128, ty: &str) -> u64 {
    let bits: u32 = ty[1..].parse().unwrap();
    v as u64 & (u64::MAX >> (64 - bits))
}

const TYPES: [&str; 8] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];

/// The register type for a memory type.
fn reg(ty: &str) -> &'static str {
    match &ty[1..] {
        "8" | "16" => "u16",
        "32" => "u32",
        _ => "u64",
    }
}

#[test]
fn integers_to_integers() {
    for s in TYPES {
        for d in TYPES {
            let all = rows(INTS, 1);
            let ins = format!("cvt.{d}.{s} %d, %a;");
            // An 8-bit result is extended to its 16-bit register.
            let out = reg(d);
            check(&ins, out, &[reg(s)], &all, |r| {
                let v = value(mask(value(r[0], s), d), d);
                mask(v, out)
            });
            let ins = format!("cvt.sat.{d}.{s} %d, %a;");
            check(&ins, out, &[reg(s)], &all, |r| {
                let (low, high) = range(d);
                mask(value(r[0], s).clamp(low, high), out)
            });
        }
    }
}

#[test]
fn floats_to_integers_clamp() {
    let values = [
        0.0,
        -0.0,
        0.4,
        0.5,
        0.6,
        1.5,
        2.5,
        -0.5,
        -1.5,
        -2.5,
        127.5,
        300.0,
        -300.0,
        65_535.9,
        2_147_483_648.0,
        4_294_967_296.0,
        -2_147_483_649.0,
        9.3e18,
        1.9e19,
        -9.3e18,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let f32s: Vec<Vec<u64>> = values
        .iter()
        .map(|&v| vec![u64::from((v as f32).to_bits())])
        .collect();
    let f64s: Vec<Vec<u64>> = values.iter().map(|v| vec![v.to_bits()]).collect();
    type Rounding = fn(f64) -> f64;
    let modes: [(&str, Rounding); 4] = [
        ("rzi", f64::trunc),
        ("rni", f64::round_ties_even),
        ("rmi", f64::floor),
        ("rpi", f64::ceil),
    ];
    for d in TYPES {
        for (mode, round) in modes {
            let want = |v: f64| {
                let (low, high) = range(d);
                mask((round(v) as i128).clamp(low, high), d)
            };
            let out = reg(d);
            let ext = |v: u64| mask(value(v, d), out);
            check(
                &format!("cvt.{mode}.{d}.f32 %d, %a;"),
                out,
                &["u32"],
                &f32s,
                |r| ext(want(f64::from(f32::from_bits(r[0] as u32)))),
            );
            check(
                &format!("cvt.{mode}.{d}.f64 %d, %a;"),
                out,
                &["u64"],
                &f64s,
                |r| ext(want(f64::from_bits(r[0]))),
            );
        }
    }
    // NaN: zero between 32-bit types, the top bit alone otherwise.
    let nan32 = [vec![u64::from(f32::NAN.to_bits())]];
    let nan64 = [vec![f64::NAN.to_bits()]];
    assert_eq!(
        eval("cvt.rzi.s32.f32 %d, %a;", "u32", &["u32"], &nan32),
        [0]
    );
    assert_eq!(
        eval("cvt.rzi.s64.f32 %d, %a;", "u64", &["u32"], &nan32),
        [1 << 63]
    );
    assert_eq!(
        eval("cvt.rzi.s32.f64 %d, %a;", "u32", &["u64"], &nan64),
        [1 << 31]
    );
    assert_eq!(
        eval("cvt.rzi.u64.f64 %d, %a;", "u64", &["u64"], &nan64),
        [1 << 63]
    );
}

#[test]
fn integers_to_floats() {
    for s in TYPES {
        let all = rows(INTS, 1);
        check(
            &format!("cvt.rn.f32.{s} %d, %a;"),
            "u32",
            &[reg(s)],
            &all,
            |r| u64::from((value(r[0], s) as f32).to_bits()),
        );
        check(
            &format!("cvt.rn.f64.{s} %d, %a;"),
            "u64",
            &[reg(s)],
            &all,
            |r| (value(r[0], s) as f64).to_bits(),
        );
        for (mode, up) in [("rm", false), ("rp", true)] {
            check(
                &format!("cvt.{mode}.f32.{s} %d, %a;"),
                "u32",
                &[reg(s)],
                &all,
                |r| {
                    let exact = value(r[0], s);
                    let near = exact as f32;
                    let fixed = match (near as i128).cmp(&exact) {
                        std::cmp::Ordering::Less if up => near.next_up(),
                        std::cmp::Ordering::Greater if !up => near.next_down(),
                        _ => near,
                    };
                    u64::from(fixed.to_bits())
                },
            );
        }
    }
}

#[test]
fn floats_to_floats() {
    let values = [
        0.0, -0.0, 1.0, 0.1, -0.1, 1e-40, 1e-50, 3.5e38, -1e300, 65_504.0, 65_520.0, 6e-8, 2.9e-8,
        1.5,
    ];
    let f64s: Vec<Vec<u64>> = values.iter().map(|v: &f64| vec![v.to_bits()]).collect();
    let single = |v: f32| u64::from(v.to_bits());
    check("cvt.rn.f32.f64 %d, %a;", "u32", &["u64"], &f64s, |r| {
        single(f64::from_bits(r[0]) as f32)
    });
    check("cvt.rz.f32.f64 %d, %a;", "u32", &["u64"], &f64s, |r| {
        let exact = f64::from_bits(r[0]);
        let near = exact as f32;
        let too_far = f64::from(near).abs() > exact.abs();
        single(if too_far {
            f32::from_bits(near.to_bits() - 1)
        } else {
            near
        })
    });
    let f32s: Vec<Vec<u64>> = values.iter().map(|&v| vec![single(v as f32)]).collect();
    check("cvt.f64.f32 %d, %a;", "u64", &["u32"], &f32s, |r| {
        f64::from(f32::from_bits(r[0] as u32)).to_bits()
    });
    check("cvt.rni.f32.f32 %d, %a;", "u32", &["u32"], &f32s, |r| {
        single(f32::from_bits(r[0] as u32).round_ties_even())
    });
    check("cvt.sat.f32.f32 %d, %a;", "u32", &["u32"], &f32s, |r| {
        let v = f32::from_bits(r[0] as u32);
        single(if v > 0.0 { v.min(1.0) } else { 0.0 })
    });
    let half = |v: f32| {
        eval(
            "cvt.rn.f16.f32 %d, %a;",
            "u16",
            &["u32"],
            &[vec![single(v)]],
        )[0]
    };
    assert_eq!(
        [
            half(1.0),
            half(65_504.0),
            half(65_520.0),
            half(6e-8),
            half(2.9e-8),
            half(-2.0)
        ],
        [0x3c00, 0x7bff, 0x7c00, 1, 0, 0xc000]
    );
    // Every half value survives the way to single and back.
    let halves: Vec<Vec<u64>> = (0..0x1_0000)
        .filter(|b| b & 0x7fff <= 0x7c00)
        .map(|b| vec![b])
        .collect();
    let back = "cvt.f32.f16 %t, %a;\ncvt.rn.f16.f32 %d, %t;";
    check(back, "u16", &["u16"], &halves, |r| r[0]);
    let pair = eval(
        "cvt.rn.f16x2.f32 %d, %a, %b;",
        "u32",
        &["u32"; 2],
        &[vec![single(1.0), single(2.0)]],
    );
    assert_eq!(pair, [0x3c00_4000]);
}

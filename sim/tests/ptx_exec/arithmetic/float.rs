//! Floating-point instructions against the host's own arithmetic, and directed
//! rounding against its definition. Without these tests a wrong rounding or a
//! wrong NaN would surface only as a slightly wrong result somewhere.

use crate::device::{check, eval, rows};

const F32: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.0,
    3.0,
    -3.0,
    0.1,
    1e10,
    -1e10,
    1e-10,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-40,
    -1e-45,
    16_777_216.0,
    16_777_217.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1.000_000_1,
    2.141_592,
];
const F64: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    3.0,
    0.1,
    -0.3,
    1e300,
    -1e300,
    1e-300,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-310,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.000_000_000_000_000_2,
    4_503_599_627_370_497.5,
];

fn bits32() -> Vec<u64> {
    F32.iter().map(|v| u64::from(v.to_bits())).collect()
}

fn bits64() -> Vec<u64> {
    F64.iter().map(|v| v.to_bits()).collect()
}

fn f(v: u64) -> f32 {
    f32::from_bits(v as u32)
}

fn d(v: u64) -> f64 {
    f64::from_bits(v)
}

/// A single as stored: PTX has one NaN.
fn single(v: f32) -> u64 {
    // By its bits, as in `double`.
    let bits = std::hint::black_box(v.to_bits());
    u64::from(if bits << 1 > 0xff << 24 {
        0x7fff_ffff
    } else {
        bits
    })
}

/// A double as stored, all NaNs alike.
fn double(v: f64) -> u64 {
    // By its bits: to the optimiser all NaNs are alike already.
    let bits = std::hint::black_box(v.to_bits());
    if bits << 1 > 0x7ff << 53 {
        0x7ff8_0000_0000_0000
    } else {
        bits
    }
}

fn flush(v: f32) -> f32 {
    if v.is_subnormal() {
        0.0f32.copysign(v)
    } else {
        v
    }
}

/// As `check`, with all NaN results alike.
#[track_caller]
fn check64(ins: &str, n: usize, oracle: impl Fn(&[u64]) -> f64) {
    let rows = rows(&bits64(), n);
    let got = eval(ins, "u64", &["u64"; 3][..n], &rows);
    for (row, got) in rows.iter().zip(got) {
        assert_eq!(double(d(got)), double(oracle(row)), "{ins} on {row:x?}");
    }
}

#[test]
fn nearest_is_the_hosts() {
    let two = rows(&bits32(), 2);
    let three = rows(&bits32(), 3);
    let t = &["u32"; 3];
    check("add.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        single(f(r[0]) + f(r[1]))
    });
    check("sub.rn.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        single(f(r[0]) - f(r[1]))
    });
    check("mul.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        single(f(r[0]) * f(r[1]))
    });
    check("div.rn.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        single(f(r[0]) / f(r[1]))
    });
    check("fma.rn.f32 %d, %a, %b, %c;", "u32", t, &three, |r| {
        single(f(r[0]).mul_add(f(r[1]), f(r[2])))
    });
    check(
        "sqrt.rn.f32 %d, %a;",
        "u32",
        &t[..1],
        &rows(&bits32(), 1),
        |r| single(f(r[0]).sqrt()),
    );
    check(
        "rcp.rn.f32 %d, %a;",
        "u32",
        &t[..1],
        &rows(&bits32(), 1),
        |r| single(1.0 / f(r[0])),
    );
    check64("add.f64 %d, %a, %b;", 2, |r| d(r[0]) + d(r[1]));
    check64("sub.f64 %d, %a, %b;", 2, |r| d(r[0]) - d(r[1]));
    check64("mul.f64 %d, %a, %b;", 2, |r| d(r[0]) * d(r[1]));
    check64("div.rn.f64 %d, %a, %b;", 2, |r| d(r[0]) / d(r[1]));
    check64("fma.rn.f64 %d, %a, %b, %c;", 3, |r| {
        d(r[0]).mul_add(d(r[1]), d(r[2]))
    });
    check64("sqrt.rn.f64 %d, %a;", 1, |r| d(r[0]).sqrt());
}

#[test]
fn flushing_and_saturation() {
    let two = rows(&bits32(), 2);
    let t = &["u32"; 3];
    check("add.ftz.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        single(flush(flush(f(r[0])) + flush(f(r[1]))))
    });
    check("mul.ftz.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        single(flush(flush(f(r[0])) * flush(f(r[1]))))
    });
    check(
        "fma.rn.ftz.f32 %d, %a, %b, %b;",
        "u32",
        &t[..2],
        &two,
        |r| {
            let (a, b) = (flush(f(r[0])), flush(f(r[1])));
            single(flush(a.mul_add(b, b)))
        },
    );
    check("add.sat.f32 %d, %a, %b;", "u32", &t[..2], &two, |r| {
        let v = f(r[0]) + f(r[1]);
        single(if v.is_nan() {
            0.0
        } else {
            v.clamp(0.0, 1.0) + 0.0
        })
    });
    let ins = "setp.eq.ftz.f32 %p, %a, 0f00000000;\nselp.u32 %d, 1, 0, %p;";
    check(ins, "u32", &t[..1], &rows(&bits32(), 1), |r| {
        u64::from(flush(f(r[0])) == 0.0)
    });
}

/// The result of a directed rounding, from the nearest one and the exact error's
/// sign: what the definition says, stepped by one unit where needed.
fn directed(nearest: f64, exact_minus_nearest: f64, mode: &str) -> f64 {
    match mode {
        "rm" if exact_minus_nearest < 0.0 => nearest.next_down(),
        "rp" if exact_minus_nearest > 0.0 => nearest.next_up(),
        "rz" if nearest > 0.0 && exact_minus_nearest < 0.0 => nearest.next_down(),
        "rz" if nearest < 0.0 && exact_minus_nearest > 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

#[test]
fn directed_rounding() {
    // Normal values far from overflow, where the error terms below are exact.
    let values: Vec<u64> = [
        1.0,
        -1.0,
        3.0,
        0.1,
        -0.7,
        1e10,
        -1e-10,
        1.000_000_000_000_000_2,
        12_345.678,
        -9.9e5,
    ]
    .map(f64::to_bits)
    .to_vec();
    let two = rows(&values, 2);
    for mode in ["rm", "rp", "rz"] {
        let ins = format!("add.{mode}.f64 %d, %a, %b;");
        check(&ins, "u64", &["u64"; 2], &two, |r| {
            let (a, b) = (d(r[0]), d(r[1]));
            let s = a + b;
            let t = s - a;
            let error = (a - (s - t)) + (b - t);
            // An exact zero is negative only when rounding down.
            if s == 0.0 {
                return if mode == "rm" { (-0.0f64).to_bits() } else { 0 };
            }
            directed(s, error, mode).to_bits()
        });
        let ins = format!("mul.{mode}.f64 %d, %a, %b;");
        check(&ins, "u64", &["u64"; 2], &two, |r| {
            let p = d(r[0]) * d(r[1]);
            directed(p, d(r[0]).mul_add(d(r[1]), -p), mode).to_bits()
        });
        let ins = format!("div.{mode}.f64 %d, %a, %b;");
        check(&ins, "u64", &["u64"; 2], &two, |r| {
            let (a, b) = (d(r[0]), d(r[1]));
            let q = a / b;
            let rest = (-q).mul_add(b, a);
            directed(q, if b < 0.0 { -rest } else { rest }, mode).to_bits()
        });
        let ins = format!("sqrt.{mode}.f64 %d, %a;");
        check(&ins, "u64", &["u64"], &rows(&values, 1), |r| {
            let a = d(r[0]);
            if a < 0.0 {
                return eval("sqrt.rn.f64 %d, %a;", "u64", &["u64"], &[vec![r[0]]])[0];
            }
            let s = a.sqrt();
            directed(s, (-s).mul_add(s, a), mode).to_bits()
        });
        // Single precision: the exact result is a double.
        let values: Vec<u64> = [1.0f32, -3.0, 0.1, 7e-20, 12_345.678]
            .map(|v| u64::from(v.to_bits()))
            .to_vec();
        let ins = format!("mul.{mode}.f32 %d, %a, %b;");
        check(&ins, "u32", &["u32"; 2], &rows(&values, 2), |r| {
            let exact = f64::from(f(r[0])) * f64::from(f(r[1]));
            let near = exact as f32;
            let error = exact - f64::from(near);
            let down = near.next_down();
            let up = near.next_up();
            single(match mode {
                "rm" if error < 0.0 => down,
                "rp" if error > 0.0 => up,
                "rz" if near > 0.0 && error < 0.0 => down,
                "rz" if near < 0.0 && error > 0.0 => up,
                _ => near,
            })
        });
    }
    // The two ends of the range.
    let max = f64::MAX.to_bits();
    assert_eq!(
        eval(
            "add.rz.f64 %d, %a, %b;",
            "u64",
            &["u64"; 2],
            &[vec![max, max]]
        ),
        [max]
    );
    assert_eq!(
        eval(
            "add.rp.f64 %d, %a, %b;",
            "u64",
            &["u64"; 2],
            &[vec![max, max]]
        ),
        [f64::INFINITY.to_bits()]
    );
    let tiny = 5e-324f64.to_bits();
    assert_eq!(
        eval(
            "mul.rp.f64 %d, %a, %b;",
            "u64",
            &["u64"; 2],
            &[vec![tiny, tiny]]
        ),
        [tiny]
    );
    assert_eq!(
        eval(
            "mul.rm.f64 %d, %a, %b;",
            "u64",
            &["u64"; 2],
            &[vec![tiny, tiny]]
        ),
        [0]
    );
    // fma keeps what the product alone would lose.
    let (a, b) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
    let row = vec![a.to_bits(), b.to_bits(), (-1.0f64).to_bits()];
    assert_eq!(
        eval("fma.rz.f64 %d, %a, %b, %c;", "u64", &["u64"; 3], &[row]),
        [a.mul_add(b, -1.0).to_bits()]
    );
}

#[test]
fn minimum_and_maximum() {
    let two = rows(&bits32(), 2);
    let order = |r: &[u64], max: bool| {
        let (a, b) = (f(r[0]), f(r[1]));
        match (a.is_nan(), b.is_nan()) {
            (true, true) => f32::NAN,
            (true, false) => b,
            (false, true) => a,
            // total_cmp puts -0 below +0.
            _ if (a.total_cmp(&b) == std::cmp::Ordering::Less) != max => a,
            _ => b,
        }
    };
    check("min.f32 %d, %a, %b;", "u32", &["u32"; 2], &two, |r| {
        single(order(r, false))
    });
    check("max.f32 %d, %a, %b;", "u32", &["u32"; 2], &two, |r| {
        single(order(r, true))
    });
    check("max.NaN.f32 %d, %a, %b;", "u32", &["u32"; 2], &two, |r| {
        single(if f(r[0]).is_nan() || f(r[1]).is_nan() {
            f32::NAN
        } else {
            order(r, true)
        })
    });
    check64("min.f64 %d, %a, %b;", 2, |r| {
        let (a, b) = (d(r[0]), d(r[1]));
        match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (_, true) => a,
            _ if a.total_cmp(&b).is_lt() => a,
            _ => b,
        }
    });
}

#[test]
fn comparisons_ordered_and_not() {
    let two = rows(&bits32(), 2);
    type Test = fn(f32, f32) -> bool;
    let ordered: [(&str, Test); 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for (op, test) in ordered {
        for unordered in [false, true] {
            let suffix = if unordered { "u" } else { "" };
            let ins = format!("setp.{op}{suffix}.f32 %p, %a, %b;\nselp.u32 %d, 1, 0, %p;");
            check(&ins, "u32", &["u32"; 2], &two, |r| {
                let nan = f(r[0]).is_nan() || f(r[1]).is_nan();
                u64::from(if nan {
                    unordered
                } else {
                    test(f(r[0]), f(r[1]))
                })
            });
        }
    }
    let ins = "setp.nan.f64 %p|%q, %a, %b;\nselp.u32 %t, 1, 0, %p;\nselp.u32 %u, 2, 0, %q;\nor.b32 %d, %t, %u;";
    check(ins, "u32", &["u64"; 2], &rows(&bits64(), 2), |r| {
        if d(r[0]).is_nan() || d(r[1]).is_nan() {
            1
        } else {
            2
        }
    });
    let ins = "testp.subnormal.f32 %p, %a;\nselp.u32 %d, 1, 0, %p;";
    check(ins, "u32", &["u32"], &rows(&bits32(), 1), |r| {
        u64::from(f(r[0]).is_subnormal())
    });
    check("copysign.f32 %d, %a, %b;", "u32", &["u32"; 2], &two, |r| {
        u64::from(f(r[1]).copysign(f(r[0])).to_bits())
    });
}

#[test]
fn signs_and_selection() {
    let one = rows(&bits32(), 1);
    check("abs.f32 %d, %a;", "u32", &["u32"], &one, |r| {
        r[0] & 0x7fff_ffff
    });
    check("neg.f32 %d, %a;", "u32", &["u32"], &one, |r| {
        r[0] ^ 0x8000_0000
    });
    check("abs.s32 %d, %a;", "u32", &["u32"], &one, |r| {
        u64::from((r[0] as i32).wrapping_abs().cast_unsigned())
    });
    check(
        "neg.s64 %d, %a;",
        "u64",
        &["u64"],
        &rows(&bits64(), 1),
        |r| r[0].wrapping_neg(),
    );
    check(
        "slct.f32.f32 %d, %a, %b, %c;",
        "u32",
        &["u32"; 3],
        &rows(&bits32()[..12], 3),
        |r| {
            if f(r[2]) >= 0.0 { r[0] } else { r[1] }
        },
    );
}

#[test]
fn approximations_are_close() {
    // PTX bounds the errors; these bounds are looser than any of them.
    let values: Vec<u64> = [0.1f32, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0]
        .map(|v| u64::from(v.to_bits()))
        .to_vec();
    let rows = rows(&values, 1);
    type Function = fn(f64) -> f64;
    let all: [(&str, Function); 7] = [
        ("sin.approx", f64::sin),
        ("cos.approx", f64::cos),
        ("lg2.approx", f64::log2),
        ("ex2.approx", f64::exp2),
        ("rsqrt.approx", |v| 1.0 / v.sqrt()),
        ("rcp.approx", |v| 1.0 / v),
        ("tanh.approx", f64::tanh),
    ];
    for (op, exact) in all {
        for ftz in ["", ".ftz"] {
            if op == "tanh.approx" && ftz == ".ftz" {
                continue;
            }
            let got = eval(&format!("{op}{ftz}.f32 %d, %a;"), "u32", &["u32"], &rows);
            for (row, got) in rows.iter().zip(got) {
                let want = exact(f64::from(f(row[0])));
                assert!(
                    (f64::from(f(got)) - want).abs() <= 1e-6 * want.abs().max(1.0),
                    "{op} of {}",
                    f(row[0])
                );
            }
        }
    }
}

#[test]
fn half_precision_arithmetic() {
    let t = &["u16"; 3];
    let h = |bits: u64| eval("cvt.f32.f16 %d, %a;", "u32", &["u16"], &[vec![bits]])[0];
    assert_eq!(f(h(0x3c00)), 1.0);
    assert_eq!(f(h(0x0001)), 2f32.powi(-24));
    assert_eq!(f(h(0xfc00)), f32::NEG_INFINITY);
    // 1 + 2^-11 is a tie and goes to even; 1 + 3*2^-11 goes up.
    let row = |a: u64, b: u64| vec![vec![a, b, 0]];
    assert_eq!(
        eval("add.f16 %d, %a, %b;", "u16", t, &row(0x3c00, 0x1000)),
        [0x3c00]
    );
    assert_eq!(
        eval("add.f16 %d, %a, %b;", "u16", t, &row(0x3c00, 0x1600)),
        [0x3c02]
    );
    assert_eq!(
        eval("mul.f16 %d, %a, %b;", "u16", t, &row(0x7bff, 0x4000)),
        [0x7c00]
    );
    assert_eq!(
        eval("fma.rn.f16 %d, %a, %b, %a;", "u16", t, &row(0x4000, 0x4200)),
        [0x4800]
    );
    let packed = eval(
        "add.f16x2 %d, %a, %b;",
        "u32",
        &["u32"; 2],
        &[vec![0x3c00_4000, 0x4000_3c00]],
    );
    assert_eq!(packed, [0x4200_4200]);
    assert_eq!(
        eval(
            "fma.rn.bf16 %d, %a, %b, %c;",
            "u16",
            t,
            &[vec![0x3f80, 0x4000, 0x3f80]]
        ),
        [0x4040]
    );
}

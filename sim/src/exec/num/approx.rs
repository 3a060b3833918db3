//! The functions that PTX approximates, on doubles, without branches: so a loop over lanes
//! becomes vector code, which calls of the C library's scalar functions do not.
//!
//! Arguments and results are single precision at heart. The errors here are below 2^-40
//! relative, so a result rounded to single precision is almost always the correctly rounded
//! one: far within every bound that PTX documents, and bit-equal to no GPU.

/// Adding it to a double of moderate size rounds to an integer, which is then in the low
/// bits of the sum.
const SHIFTER: f64 = 6_755_399_441_055_744.0;
const SHIFTER_BITS: u64 = 0x4338_0000_0000_0000;

/// The nearest integer, as a double and as bits.
#[inline(always)]
fn nearest(v: f64) -> (f64, u64) {
    let sum = v + SHIFTER;
    (sum - SHIFTER, sum.to_bits().wrapping_sub(SHIFTER_BITS))
}

#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut r = 0.0;
    for c in coefficients {
        r = r * x + c;
    }
    r
}

/// `2^x`; what single precision cannot hold becomes something that it rounds to zero or
/// infinity.
#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    let x = if x > 1000.0 { 1000.0 } else { x };
    let x = if x < -1000.0 { -1000.0 } else { x };
    let (n, bits) = nearest(x);
    let y = (x - n) * std::f64::consts::LN_2;
    let p = polynomial(
        y,
        [
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ],
    );
    p * f64::from_bits(bits.wrapping_add(1023) << 52)
}

/// The logarithm to base 2 of a value that is not subnormal as a double: of any single.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    let exponent = f64::from_bits((bits >> 52).wrapping_add(SHIFTER_BITS)) - SHIFTER - 1023.0;
    // Around 1, so that nothing cancels there.
    let high = m > std::f64::consts::SQRT_2;
    let m = if high { m * 0.5 } else { m };
    let exponent = if high { exponent + 1.0 } else { exponent };
    let s = (m - 1.0) / (m + 1.0);
    let series = polynomial(
        s * s,
        [
            1.0 / 17.0,
            1.0 / 15.0,
            1.0 / 13.0,
            1.0 / 11.0,
            1.0 / 9.0,
            1.0 / 7.0,
            1.0 / 5.0,
            1.0 / 3.0,
            1.0,
        ],
    );
    let r = exponent + s * series * (2.0 * std::f64::consts::LOG2_E);
    let r = if x == f64::INFINITY { x } else { r };
    let r = if x == 0.0 { f64::NEG_INFINITY } else { r };
    // Negative, or a NaN.
    if x >= 0.0 { r } else { f64::NAN }
}

/// Below this magnitude the reduction of [`sin_cos`] is exact enough.
const REDUCED: f64 = 1_048_576.0;

/// Whether [`sin`] and [`cos`] take `x`.
#[inline(always)]
pub(crate) fn reducible(x: f64) -> bool {
    x.abs() < REDUCED
}

/// `sin(x + quarters * pi / 2)` for |x| below 2^20.
#[inline(always)]
fn sin_cos(x: f64, quarters: u64) -> f64 {
    // Pi / 2 in two parts, the first with so few bits that its product with n is exact.
    const HIGH: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
    const LOW: f64 = f64::from_bits(0x3dd0_b461_1a62_6331);
    let (n, bits) = nearest(x * std::f64::consts::FRAC_2_PI);
    let r = (x - n * HIGH) - n * LOW;
    let z = r * r;
    let sin = r * polynomial(
        z,
        [
            -1.0 / 1_307_674_368_000.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 39_916_800.0,
            1.0 / 362_880.0,
            -1.0 / 5_040.0,
            1.0 / 120.0,
            -1.0 / 6.0,
            1.0,
        ],
    );
    let cos = polynomial(
        z,
        [
            1.0 / 20_922_789_888_000.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 479_001_600.0,
            -1.0 / 3_628_800.0,
            1.0 / 40_320.0,
            -1.0 / 720.0,
            1.0 / 24.0,
            -0.5,
            1.0,
        ],
    );
    let quadrant = bits.wrapping_add(quarters);
    let v = if quadrant & 1 != 0 { cos } else { sin };
    f64::from_bits(v.to_bits() ^ (quadrant & 2) << 62)
}

/// Sine of a [`reducible`] angle.
#[inline(always)]
pub(crate) fn sin(x: f64) -> f64 {
    sin_cos(x, 0)
}

/// Cosine of a [`reducible`] angle.
#[inline(always)]
pub(crate) fn cos(x: f64) -> f64 {
    sin_cos(x, 1)
}

/// Hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    let t = exp2(x.abs() * (2.0 * std::f64::consts::LOG2_E));
    let large = 1.0 - 2.0 / (t + 1.0);
    let z = x * x;
    let small = x.abs() * polynomial(z, [-17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0, 1.0]);
    let r = if x.abs() < 0.0625 { small } else { large };
    r.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles() -> impl Iterator<Item = f64> {
        (0..=u32::MAX / 4099).map(|k| f64::from(f32::from_bits(k * 4099)))
    }

    /// Relative error, of results that single precision can hold.
    fn close(got: f64, want: f64, bound: f64) -> bool {
        if want.is_nan() || got.is_nan() {
            return want.is_nan() && got.is_nan();
        }
        let (a, b) = (got as f32, want as f32);
        if a == b || !b.is_finite() {
            return a == b;
        }
        (got - want).abs() <= bound * want.abs().max(f64::from(f32::MIN_POSITIVE))
    }

    /// Without it a coefficient could be wrong by enough to pass PTX's bounds somewhere.
    #[test]
    fn errors_are_far_below_a_single_s_precision() {
        let bound = 1.0 / (1u64 << 36) as f64;
        for x in singles() {
            assert!(close(exp2(x), x.exp2(), bound), "exp2 {x:e}");
            assert!(close(log2(x), x.log2(), bound), "log2 {x:e}");
            assert!(close(tanh(x), x.tanh(), bound), "tanh {x:e}");
            if reducible(x) {
                assert!(close(sin(x), x.sin(), bound), "sin {x:e}");
                assert!(close(cos(x), x.cos(), bound), "cos {x:e}");
            }
        }
    }

    /// Without it exact values and the signs of zeros could be lost.
    #[test]
    fn exact_values_are_exact() {
        for k in -149..128 {
            let power = 2f64.powi(k);
            assert_eq!((exp2(f64::from(k)), log2(power)), (power, f64::from(k)));
        }
        assert_eq!(sin(-0.0).to_bits(), (-0f64).to_bits());
        assert_eq!(tanh(-0.0).to_bits(), (-0f64).to_bits());
        assert_eq!((cos(0.0), tanh(f64::INFINITY)), (1.0, 1.0));
        assert_eq!(log2(-0.0), f64::NEG_INFINITY);
    }
}

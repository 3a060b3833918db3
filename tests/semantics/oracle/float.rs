//! Floats in software: `rustc_apfloat` for arithmetic and conversions, integers for roots.
//! Flushing and saturation are written out here, as PTX ISA 9.7.3 and 9.7.4 word them.

use rustc_apfloat::ieee::{BFloat, Double, Half, IeeeFloat, Quad, Semantics, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

use crate::form::{Expect, Ty};

/// The rounding modifiers of floats.
pub(crate) const ROUNDS: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// The format of a float in its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    F16,
    BF16,
    F32,
    F64,
}

impl Format {
    pub(crate) fn of(ty: Ty) -> Self {
        match ty {
            Ty::F16 | Ty::F16x2 => Self::F16,
            Ty::BF16 | Ty::BF16x2 => Self::BF16,
            Ty::F32 => Self::F32,
            Ty::F64 => Self::F64,
            _ => panic!("{} is no float", ty.name()),
        }
    }

    /// Bits of the fraction, and of the exponent.
    fn widths(self) -> (u32, u32) {
        match self {
            Self::F16 => (10, 5),
            Self::BF16 => (7, 8),
            Self::F32 => (23, 8),
            Self::F64 => (52, 11),
        }
    }

    pub(crate) fn sign(self) -> u64 {
        let (fraction, exponent) = self.widths();
        1 << (fraction + exponent)
    }

    pub(crate) fn infinity(self) -> u64 {
        let (fraction, exponent) = self.widths();
        ((1 << exponent) - 1) << fraction
    }

    /// The least positive normal number.
    pub(crate) fn least_normal(self) -> u64 {
        1 << self.widths().0
    }

    pub(crate) fn one(self) -> u64 {
        let (fraction, exponent) = self.widths();
        ((1 << (exponent - 1)) - 1) << fraction
    }

    /// The NaN that PTX calls canonical.
    pub(crate) fn canonical_nan(self) -> u64 {
        self.sign() - 1
    }
}

/// A result, and whether it is not exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    pub(crate) bits: u64,
    pub(crate) inexact: bool,
}

impl<S: Semantics> From<StatusAnd<IeeeFloat<S>>> for Rounded {
    fn from(result: StatusAnd<IeeeFloat<S>>) -> Self {
        Self {
            bits: result.value.to_bits() as u64,
            inexact: result.status.intersects(Status::INEXACT),
        }
    }
}

/// Evaluates an expression with `$t` as the soft float of a format.
macro_rules! soft {
    ($format:expr, $t:ident => $value:expr) => {
        match $format {
            Format::F16 => {
                type $t = Half;
                $value
            }
            Format::BF16 => {
                type $t = BFloat;
                $value
            }
            Format::F32 => {
                type $t = Single;
                $value
            }
            Format::F64 => {
                type $t = Double;
                $value
            }
        }
    };
}

/// An operation of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
}

pub(crate) fn arith(op: Op, format: Format, a: u64, b: u64, round: Round) -> Rounded {
    soft!(format, F => {
        let (a, b) = (F::from_bits(a.into()), F::from_bits(b.into()));
        match op {
            Op::Add => a.add_r(b, round),
            Op::Sub => a.sub_r(b, round),
            Op::Mul => a.mul_r(b, round),
            Op::Div => a.div_r(b, round),
        }
        .into()
    })
}

pub(crate) fn fma(format: Format, a: u64, b: u64, c: u64, round: Round) -> Rounded {
    soft!(format, F => {
        let [a, b, c] = [a, b, c].map(|v| F::from_bits(v.into()));
        a.mul_add_r(b, c, round).into()
    })
}

/// The square root: the root of an integer, its remainder as a sticky bit, one rounding.
pub(crate) fn sqrt(format: Format, a: u64, round: Round) -> Rounded {
    let exact = |bits| Rounded {
        bits,
        inexact: false,
    };
    if is_nan(a, format) || a == format.infinity() || magnitude(a, format) == 0 {
        return exact(a);
    }
    if a & format.sign() != 0 {
        return exact(format.canonical_nan());
    }
    let (fraction, width) = format.widths();
    let field = (a >> fraction).cast_signed();
    let hidden = if field == 0 { 0 } else { 1u64 << fraction };
    let bias = (1i64 << (width - 1)) - 1;
    let mut significand = u128::from(a & ((1 << fraction) - 1) | hidden);
    let mut exponent = field.max(1) - bias - i64::from(fraction);
    if exponent % 2 != 0 {
        significand <<= 1;
        exponent -= 1;
    }
    let shift = (significand.leading_zeros() - 2) & !1;
    let wide = significand << shift;
    let root = wide.isqrt();
    let sticky = u128::from(root * root != wide);
    let exponent = (exponent - i64::from(shift)) / 2 - 1;
    // 65 bits at most, so it is exact in a quad; and roots are far from the exponent's ends.
    let exact = Quad::from_u128_r(root << 1 | sticky, Round::NearestTiesToEven).value;
    let exact = exact.scalbn(i32::try_from(exponent).expect("a small exponent"));
    let mut loses = false;
    soft!(format, F => {
        let result: StatusAnd<F> = exact.convert_r(round, &mut loses);
        result.into()
    })
}

pub(crate) fn convert(from: Format, to: Format, a: u64, round: Round) -> Rounded {
    let mut loses = false;
    soft!(from, F => soft!(to, T => {
        let result: StatusAnd<T> = F::from_bits(a.into()).convert_r(round, &mut loses);
        result.into()
    }))
}

pub(crate) fn from_int(number: i128, to: Format, round: Round) -> Rounded {
    soft!(to, T => T::from_i128_r(number, round).into())
}

/// The integral float that rounding gives.
pub(crate) fn integral(format: Format, a: u64, round: Round) -> u64 {
    soft!(format, F => F::from_bits(a.into()).round_to_integral(round).value.to_bits() as u64)
}

/// The integer that rounding gives, as far as 128 bits go; `None` for a NaN.
pub(crate) fn to_int(format: Format, a: u64, round: Round) -> Option<i128> {
    // Every format is a part of double precision.
    (!is_nan(a, format)).then(|| value(integral(format, a, round), format) as i128)
}

/// The value in the host's double precision, which holds every format exactly.
pub(crate) fn value(a: u64, format: Format) -> f64 {
    f64::from_bits(convert(format, Format::F64, a, Round::NearestTiesToEven).bits)
}

/// The bits of a host's double, rounded to a format.
pub(crate) fn nearest(value: f64, format: Format) -> u64 {
    convert(
        Format::F64,
        format,
        value.to_bits(),
        Round::NearestTiesToEven,
    )
    .bits
}

pub(crate) fn magnitude(a: u64, format: Format) -> u64 {
    a & (format.sign() - 1)
}

pub(crate) fn is_nan(a: u64, format: Format) -> bool {
    magnitude(a, format) > format.infinity()
}

pub(crate) fn is_subnormal(a: u64, format: Format) -> bool {
    (1..format.least_normal()).contains(&magnitude(a, format))
}

/// A subnormal becomes the zero of its sign.
pub(crate) fn flush(a: u64, format: Format) -> u64 {
    if is_subnormal(a, format) {
        a & format.sign()
    } else {
        a
    }
}

/// Clamps to [0, 1]: NaN, and everything below, is +0.
pub(crate) fn saturate(a: u64, format: Format) -> u64 {
    if is_nan(a, format) || a & format.sign() != 0 {
        0
    } else {
        a.min(format.one())
    }
}

/// What becomes of an operation by its modifiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mods {
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) relu: bool,
}

impl Mods {
    /// From the dotted name of an instruction form.
    pub(crate) fn of(name: &str) -> Self {
        let has = |token| name.split('.').any(|t| t == token);
        Self {
            ftz: has("ftz"),
            sat: has("sat"),
            relu: has("relu"),
        }
    }
}

/// Applies an operation as its modifiers say; `nan` is what a NaN result must look like.
pub(crate) fn apply(
    format: Format,
    mods: Mods,
    nan: &Expect,
    operands: &[u64],
    operation: impl Fn(&[u64]) -> Rounded,
) -> Expect {
    let operands: Vec<u64> = operands
        .iter()
        .map(|v| if mods.ftz { flush(*v, format) } else { *v })
        .collect();
    finish(format, mods, nan, operation(&operands))
}

/// Flushes, saturates and clamps a result.
pub(crate) fn finish(format: Format, mods: Mods, nan: &Expect, result: Rounded) -> Expect {
    if is_nan(result.bits, format) && !mods.sat {
        return if mods.relu {
            // 9.7.4: "NaN result is converted to canonical NaN".
            Expect::Is(format.canonical_nan())
        } else {
            nan.clone()
        };
    }
    let clamp = |bits: u64| {
        if mods.sat {
            saturate(bits, format)
        } else if mods.relu && bits & format.sign() != 0 {
            // 9.7.4: "clamps the result to 0 if negative"; that of a negative zero is open.
            0
        } else {
            bits
        }
    };
    let bits = if mods.ftz {
        flush(result.bits, format)
    } else {
        result.bits
    };
    let mut all = vec![clamp(bits)];
    if mods.ftz && result.inexact && magnitude(result.bits, format) == format.least_normal() {
        // 9.7.3 does not say whether a result is subnormal before or after its rounding.
        all.push(clamp(result.bits & format.sign()));
    }
    if mods.relu && magnitude(bits, format) == 0 {
        all.push(bits);
    }
    all.dedup();
    match all[..] {
        [bits] => Expect::Is(bits),
        _ => Expect::OneOf(all),
    }
}

/// `min` and `max` as 9.7.3.11, 9.7.4.7 and their neighbours write them: a NaN loses against a
/// number unless `.NaN` says otherwise, and +0 is above -0.
pub(crate) fn extreme(
    format: Format,
    ftz: bool,
    max: bool,
    nan: bool,
    xorsign: bool,
    a: u64,
    b: u64,
) -> Expect {
    let [a, b] = [a, b].map(|v| if ftz { flush(v, format) } else { v });
    let sign = (a ^ b) & format.sign();
    let [a, b] = [a, b].map(|v| if xorsign { magnitude(v, format) } else { v });
    let chosen = match (is_nan(a, format), is_nan(b, format)) {
        (true, true) if !nan => return Expect::Nan,
        (false, false) => {
            // In the order of signed magnitudes -0 is below +0.
            let key = |v: u64| {
                let m = magnitude(v, format).cast_signed();
                if v & format.sign() != 0 { -1 - m } else { m }
            };
            if (key(a) > key(b)) == max { a } else { b }
        }
        _ if nan => return Expect::Is(format.canonical_nan()),
        (true, _) => b,
        _ => a,
    };
    Expect::Is(if xorsign {
        magnitude(chosen, format) | sign
    } else {
        chosen
    })
}

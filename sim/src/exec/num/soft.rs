//! Floating-point operations with every rounding mode, in integer arithmetic.
//!
//! Values of all formats are held in an `f64`, which represents each of them
//! exactly. Used only where the host's round-to-nearest will not do.

/// Rounding modes in the order of PTX's `.rn .rz .rm .rp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Round {
    pub(crate) fn from_code(code: u64) -> Self {
        match code & 3 {
            0 => Self::Nearest,
            1 => Self::Zero,
            2 => Self::Down,
            _ => Self::Up,
        }
    }

    pub(crate) fn from_token(token: &str) -> Option<Self> {
        Some(match token {
            "rn" | "rna" => Self::Nearest,
            "rz" => Self::Zero,
            "rm" => Self::Down,
            "rp" => Self::Up,
            _ => return None,
        })
    }
}

/// A binary format: bits of precision, exponent of the least subnormal, and the
/// largest exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    precision: i32,
    least: i32,
    largest: i32,
}

pub(crate) const F64: Format = Format {
    precision: 53,
    least: -1074,
    largest: 1023,
};
pub(crate) const F32: Format = Format {
    precision: 24,
    least: -149,
    largest: 127,
};
pub(crate) const F16: Format = Format {
    precision: 11,
    least: -24,
    largest: 15,
};
pub(crate) const BF16: Format = Format {
    precision: 8,
    least: -133,
    largest: 127,
};

/// A finite value as sign, integer and power of two.
fn parts(v: f64) -> (bool, u64, i32) {
    let bits = v.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let neg = bits >> 63 != 0;
    if exponent == 0 {
        (neg, fraction, -1074)
    } else {
        (neg, fraction | 1 << 52, exponent - 1075)
    }
}

/// `mantissa * 2^exponent`, which must be representable.
fn compose(neg: bool, mut mantissa: u64, mut exponent: i32) -> f64 {
    while mantissa >> 53 != 0 {
        mantissa >>= 1;
        exponent += 1;
    }
    while mantissa >> 52 == 0 && exponent > -1074 && mantissa != 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    let bits = if mantissa >> 52 == 0 {
        mantissa
    } else {
        (mantissa & ((1 << 52) - 1)) | (((exponent + 1075) as u64) << 52)
    };
    f64::from_bits(bits | u64::from(neg) << 63)
}

/// Rounds `m * 2^e` to a format. Bit 0 of `m` may stand for lost lower bits.
fn pack(neg: bool, m: u128, e: i32, format: Format, mode: Round) -> f64 {
    if m == 0 {
        return if neg { -0.0 } else { 0.0 };
    }
    let top = e + 127 - m.leading_zeros() as i32;
    let quantum = (top - format.precision + 1).max(format.least);
    let shift = quantum - e;
    let mut mantissa;
    if shift <= 0 {
        // At most precision bits remain, so this cannot overflow.
        mantissa = (m << -shift) as u64;
    } else {
        let shift = shift as u32;
        let (kept, lost) = if shift > 127 {
            (0, m)
        } else {
            (m >> shift, m & ((1 << shift) - 1))
        };
        let half = 1u128.checked_shl(shift - 1).unwrap_or(u128::MAX);
        let up = match mode {
            Round::Nearest => shift <= 128 && (lost > half || lost == half && kept & 1 != 0),
            Round::Zero => false,
            Round::Down => neg && lost != 0,
            Round::Up => !neg && lost != 0,
        };
        mantissa = kept as u64 + u64::from(up);
    }
    if mantissa == 0 {
        return if neg { -0.0 } else { 0.0 };
    }
    let top = quantum + 63 - mantissa.leading_zeros() as i32;
    if top > format.largest {
        let to_infinity = match mode {
            Round::Nearest => true,
            Round::Zero => false,
            Round::Down => neg,
            Round::Up => !neg,
        };
        if to_infinity {
            return if neg {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            };
        }
        mantissa = (1 << format.precision) - 1;
        return compose(neg, mantissa, format.largest - format.precision + 1);
    }
    compose(neg, mantissa, quantum)
}

fn shift_right_jam(m: u128, by: u32) -> u128 {
    if by == 0 {
        return m;
    }
    if by > 127 {
        return u128::from(m != 0);
    }
    m >> by | u128::from(m & ((1 << by) - 1) != 0)
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(a: f64, b: f64, c: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return a.mul_add(b, c);
    }
    let (na, ma, ea) = parts(a);
    let (nb, mb, eb) = parts(b);
    let (nc, mc, ec) = parts(c);
    let np = na != nb;
    let mp = u128::from(ma) * u128::from(mb);
    let mc = u128::from(mc);
    let zero_sign = if np == nc { np } else { mode == Round::Down };
    if mp == 0 && mc == 0 {
        return pack(zero_sign, 0, 0, format, mode);
    }
    if mp == 0 {
        return pack(nc, mc, ec, format, mode);
    }
    if mc == 0 {
        return pack(np, mp, ea + eb, format, mode);
    }
    // Both with their top bit at 125: the sum fits, and a value has enough zeros
    // below it that a subtraction that cancels loses nothing.
    let place = |m: u128, e: i32| {
        let up = m.leading_zeros() - 2;
        (m << up, e - up as i32)
    };
    let (mut mp, mut ep) = place(mp, ea + eb);
    let (mut mc, ec) = place(mc, ec);
    if ep >= ec {
        mc = shift_right_jam(mc, (ep - ec) as u32);
    } else {
        mp = shift_right_jam(mp, (ec - ep) as u32);
        ep = ec;
    }
    if np == nc {
        pack(np, mp + mc, ep, format, mode)
    } else if mp == mc {
        pack(mode == Round::Down, 0, 0, format, mode)
    } else if mp > mc {
        pack(np, mp - mc, ep, format, mode)
    } else {
        pack(nc, mc - mp, ep, format, mode)
    }
}

/// `a + b`, rounded once.
pub(crate) fn add(a: f64, b: f64, format: Format, mode: Round) -> f64 {
    fma(a, 1.0, b, format, mode)
}

/// `a * b`, rounded once.
pub(crate) fn mul(a: f64, b: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return a * b;
    }
    // A zero of the product's sign keeps that sign.
    let zero = if a.is_sign_negative() == b.is_sign_negative() {
        0.0
    } else {
        -0.0
    };
    fma(a, b, zero, format, mode)
}

/// `a / b`, rounded once.
pub(crate) fn div(a: f64, b: f64, format: Format, mode: Round) -> f64 {
    if !(a.is_finite() && b.is_finite()) || a == 0.0 || b == 0.0 {
        return a / b;
    }
    let (na, ma, ea) = parts(a);
    let (nb, mb, eb) = parts(b);
    let up = ma.leading_zeros() + 63;
    let numerator = u128::from(ma) << up;
    let quotient = numerator / u128::from(mb);
    let rest = numerator % u128::from(mb) != 0;
    // The quotient has at least 73 bits, so bit 0 is free to carry the rest.
    pack(
        na != nb,
        quotient | u128::from(rest),
        ea - eb - up as i32,
        format,
        mode,
    )
}

/// Square root, rounded once.
pub(crate) fn sqrt(a: f64, format: Format, mode: Round) -> f64 {
    if !a.is_finite() || a <= 0.0 {
        return a.sqrt();
    }
    let (_, m, e) = parts(a);
    let mut up = m.leading_zeros() + 62;
    if (e - up as i32) % 2 != 0 {
        up -= 1;
    }
    let wide = u128::from(m) << up;
    let root = wide.isqrt();
    // One more bit below the root tells exact roots from others.
    let rest = root * root != wide;
    pack(
        false,
        root << 1 | u128::from(rest),
        (e - up as i32) / 2 - 1,
        format,
        mode,
    )
}

/// A value in another format.
pub(crate) fn convert(a: f64, format: Format, mode: Round) -> f64 {
    if !a.is_finite() {
        return a;
    }
    let (neg, m, e) = parts(a);
    pack(neg, u128::from(m), e, format, mode)
}

/// An integer in a format.
pub(crate) fn from_int(neg: bool, magnitude: u64, format: Format, mode: Round) -> f64 {
    pack(
        neg && magnitude != 0,
        u128::from(magnitude),
        0,
        format,
        mode,
    )
}

/// The bits of a value that is representable in half precision.
pub(crate) fn to_f16_bits(v: f64) -> u16 {
    small_bits(v, 10, 15)
}

/// The bits of a value that is representable as bfloat16.
pub(crate) fn to_bf16_bits(v: f64) -> u16 {
    ((v as f32).to_bits() >> 16) as u16
}

fn small_bits(v: f64, fraction_bits: i32, bias: i32) -> u16 {
    if v.is_nan() {
        return 0x7fff;
    }
    let sign = u16::from(v.is_sign_negative()) << 15;
    let exponent_mask = (2 * bias + 1) as u16;
    if v.is_infinite() {
        return sign | exponent_mask << fraction_bits;
    }
    let (_, m, e) = parts(v);
    if m == 0 {
        return sign;
    }
    let top = e + 63 - m.leading_zeros() as i32;
    let exponent = (top + bias).max(0);
    let quantum = (top - fraction_bits).max(1 - bias - fraction_bits);
    let shift = quantum - e;
    let mantissa = if shift >= 0 {
        m.checked_shr(shift as u32).unwrap_or(0)
    } else {
        m << -shift
    };
    let fraction = mantissa as u16 & ((1 << fraction_bits) - 1);
    sign | (exponent as u16) << fraction_bits | fraction
}

/// Half-precision bits as a value.
pub(crate) fn from_f16_bits(bits: u16) -> f32 {
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = i32::from(bits & 0x3ff);
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        31 if fraction != 0 => f32::from_bits(0x7fff_ffff),
        31 => f32::INFINITY,
        _ => (fraction | 0x400) as f32 * f32::from_bits(((127 + exponent - 25) as u32) << 23),
    };
    if bits >> 15 != 0 {
        -magnitude
    } else {
        magnitude
    }
}

//! Per-lane floating-point pieces shared by the opcode tables.

/// PTX's quiet NaN for single precision: payloads are not kept. On bits, because
/// the compiler may take all NaN floats for equal and drop a choice between them.
#[inline(always)]
pub(crate) fn nan32(v: f32) -> f32 {
    let bits = v.to_bits();
    // Signed, because that is one comparison for most vector units. Not `is_nan`: for the
    // compiler all NaNs are alike.
    let nan = (bits & 0x7fff_ffff).cast_signed() > 0x7f80_0000;
    f32::from_bits(if nan { 0x7fff_ffff } else { bits })
}

/// `.ftz`: subnormals become zeros of the same sign.
#[inline(always)]
pub(crate) fn ftz(v: f32) -> f32 {
    let bits = v.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    })
}

/// Flushes if bit 2 of an instruction's mode says so.
#[inline(always)]
pub(crate) fn flush(v: f32, x: u64) -> f32 {
    if x & 4 != 0 { ftz(v) } else { v }
}

/// `.ftz` of half-precision bits.
#[inline(always)]
pub(crate) fn ftz16(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

/// `.ftz` of packed half-precision bits.
#[inline(always)]
pub(crate) fn ftz16x2(bits: u32) -> u32 {
    u32::from(ftz16(bits as u16)) | u32::from(ftz16((bits >> 16) as u16)) << 16
}

/// `.sat`: into [0, 1], NaN to 0.
#[inline(always)]
pub(crate) fn sat32(v: f32) -> f32 {
    if v > 0.0 {
        if v < 1.0 { v } else { 1.0 }
    } else {
        0.0
    }
}

/// `.sat` for doubles.
#[inline(always)]
pub(crate) fn sat64(v: f64) -> f64 {
    if v > 0.0 {
        if v < 1.0 { v } else { 1.0 }
    } else {
        0.0
    }
}

macro_rules! min_max {
    ($min:ident, $max:ident, $t:ty, $nan:expr) => {
        /// A NaN loses against a number; -0 is below +0.
        #[inline(always)]
        pub(crate) fn $min(a: $t, b: $t) -> $t {
            if a.is_nan() {
                if b.is_nan() { $nan } else { b }
            } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
                a
            } else {
                b
            }
        }

        /// A NaN loses against a number; +0 is above -0.
        #[inline(always)]
        pub(crate) fn $max(a: $t, b: $t) -> $t {
            if a.is_nan() {
                if b.is_nan() { $nan } else { b }
            } else if b.is_nan() || a > b || (a == b && b.is_sign_negative()) {
                a
            } else {
                b
            }
        }
    };
}

min_max!(min32, max32, f32, f32::from_bits(0x7fff_ffff));
min_max!(min64, max64, f64, f64::from_bits(0x7fff_ffff_ffff_ffff));

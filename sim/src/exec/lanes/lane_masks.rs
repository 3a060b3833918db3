//! Truth values of eight lanes, as bits of a mask and as a vector. LLVM does not find the
//! instruction that packs them in a loop, so the wide twins name it.

use crate::exec::inst::Class;
use crate::exec::lanes::CHUNK;

/// For each mask of eight lanes, all ones in those lanes. It is read and not computed so that
/// the compiler cannot tell what it holds: it would make masked stores of what is then a
/// selection between old and new values, and those are slow on some CPUs.
static SPREAD: [[u32; CHUNK]; 256] = {
    let mut table = [[0; CHUNK]; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut lane = 0;
        while lane < CHUNK {
            if bits >> lane & 1 != 0 {
                table[bits][lane] = u32::MAX;
            }
            lane += 1;
        }
        bits += 1;
    }
    table
};

/// A register slot that holds a truth value as all ones or zero.
pub(crate) trait Truth: Copy + 'static {
    /// The class of registers with such slots.
    const CLASS: Class;

    /// All ones, or zero.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "the paths with AVX2 use it")
    )]
    fn of(truth: bool) -> Self;

    /// The same for each of eight lanes whose bits are in a mask.
    fn spread(bits: u8) -> [Self; CHUNK];

    /// `yes` where this value's bits are ones, else `no`.
    fn pick(self, yes: Self, no: Self) -> Self;

    /// One bit for each lane.
    ///
    /// # Safety
    /// The CPU must have AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn pack(lanes: [Self; CHUNK]) -> u32;
}

impl Truth for u32 {
    const CLASS: Class = Class::W32;

    #[inline(always)]
    fn of(truth: bool) -> Self {
        Self::from(truth).wrapping_neg()
    }

    #[inline(always)]
    fn spread(bits: u8) -> [Self; CHUNK] {
        SPREAD[usize::from(bits)]
    }

    #[inline(always)]
    fn pick(self, yes: Self, no: Self) -> Self {
        yes & self | no & !self
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pack(lanes: [Self; CHUNK]) -> u32 {
        use std::arch::x86_64::{__m256, _mm256_movemask_ps};
        // SAFETY: both are 32 bytes without invalid values.
        let vector = unsafe { std::mem::transmute::<[Self; CHUNK], __m256>(lanes) };
        _mm256_movemask_ps(vector).cast_unsigned()
    }
}

impl Truth for u64 {
    const CLASS: Class = Class::W64;

    #[inline(always)]
    fn of(truth: bool) -> Self {
        Self::from(truth).wrapping_neg()
    }

    #[inline(always)]
    fn spread(bits: u8) -> [Self; CHUNK] {
        let mut out = [0; CHUNK];
        let lanes = &SPREAD[usize::from(bits)];
        for l in 0..CHUNK {
            out[l] = i64::from(lanes[l].cast_signed()).cast_unsigned();
        }
        out
    }

    #[inline(always)]
    fn pick(self, yes: Self, no: Self) -> Self {
        yes & self | no & !self
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn pack(lanes: [Self; CHUNK]) -> u32 {
        use std::arch::x86_64::{__m256d, _mm256_movemask_pd};
        // SAFETY: both are 64 bytes without invalid values.
        let [low, high] = unsafe { std::mem::transmute::<[Self; CHUNK], [__m256d; 2]>(lanes) };
        (_mm256_movemask_pd(low) | _mm256_movemask_pd(high) << 4).cast_unsigned()
    }
}

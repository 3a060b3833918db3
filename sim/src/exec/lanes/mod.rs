//! Per-lane operations as generic loops over the 32 lanes of a warp.
//!
//! A loop is written once, as a [`Body`], and compiled twice: for the baseline
//! CPU and, on x86-64, for AVX2 and FMA. The decoder picks one of the [`Twin`]s
//! when it decodes. Loops read a chunk of each source, compute, then write the
//! chunk: so a destination may be one of the sources, and LLVM sees short
//! fixed-size arrays that it turns into vector code.

mod lane_masks;
pub(crate) mod map;
pub(crate) mod pred;
pub(crate) mod sreg;
pub(crate) mod warp;

use super::ctx::Ctx;
use super::inst::{Class, Flow, Inst, OpFn, Shape};
use lane_masks::Truth;

/// Lanes handled at a time.
pub(crate) const CHUNK: usize = 8;

/// A value of one lane and how it is kept in a register.
pub(crate) trait Lane: Copy + 'static {
    /// The class of its registers.
    const CLASS: Class = <Self::Slot as Truth>::CLASS;
    /// `u32` or `u64`.
    type Slot: Truth + Default;
    fn get(slot: Self::Slot) -> Self;
    fn put(self) -> Self::Slot;
}

macro_rules! lanes {
    ($($t:ty, $slot:ty, |$g:ident| $get:expr, |$p:ident| $put:expr;)*) => {$(
        impl Lane for $t {
            type Slot = $slot;
            #[inline(always)]
            fn get($g: $slot) -> Self { $get }
            #[inline(always)]
            fn put(self) -> $slot { let $p = self; $put }
        }
    )*};
}

lanes! {
    u8, u32, |s| s as u8, |v| u32::from(v);
    i8, u32, |s| s as i8, |v| i32::from(v).cast_unsigned();
    u16, u32, |s| s as u16, |v| u32::from(v);
    i16, u32, |s| s as i16, |v| i32::from(v).cast_unsigned();
    u32, u32, |s| s, |v| v;
    i32, u32, |s| s.cast_signed(), |v| v.cast_unsigned();
    f32, u32, |s| f32::from_bits(s), |v| v.to_bits();
    u64, u64, |s| s, |v| v;
    i64, u64, |s| s.cast_signed(), |v| v.cast_unsigned();
    f64, u64, |s| f64::from_bits(s), |v| v.to_bits();
}

/// The code of an operation, generic over the instruction set it is inlined into.
pub(crate) trait Body: 'static {
    /// The registers that it takes.
    const SHAPE: Shape;

    /// # Safety
    /// As for [`OpFn`].
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow;

    /// The same for the wide twin, where that is better written differently.
    ///
    /// # Safety
    /// As for [`OpFn`]; the CPU must have what [`wide_available`] asks for.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_wide(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: by contract.
        unsafe { Self::run(cx, i, m) }
    }
}

/// An operation compiled for both instruction sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Twin {
    pub(crate) base: OpFn,
    pub(crate) wide: OpFn,
    /// What both expect of an instruction.
    pub(crate) shape: Shape,
}

impl Twin {
    /// Compiles `B` twice.
    pub(crate) fn of<B: Body>() -> Self {
        Twin {
            base: base::<B>,
            #[cfg(target_arch = "x86_64")]
            wide: wide::<B>,
            #[cfg(not(target_arch = "x86_64"))]
            wide: base::<B>,
            shape: B::SHAPE,
        }
    }

    /// Compiles `B` once, where vectors do not help.
    pub(crate) fn single<B: Body>() -> Self {
        Twin {
            base: base::<B>,
            wide: base::<B>,
            shape: B::SHAPE,
        }
    }
}

/// Whether the wide twins can run on this CPU.
pub(crate) fn wide_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// # Safety
/// As for [`OpFn`].
unsafe fn base<B: Body>(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
    // SAFETY: the caller's contract is the body's.
    unsafe { B::run(cx, i, m) }
}

/// # Safety
/// As for [`OpFn`]; the CPU must have the features named here.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn wide<B: Body>(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
    // SAFETY: the caller's contract is the body's.
    unsafe { B::run_wide(cx, i, m) }
}

/// Another copy of a closure that captures nothing. Operations are closures
/// passed to the decoder by value; the compiled loop needs one of its own.
///
/// # Safety
/// A value of `F` must exist or have existed.
#[inline(always)]
pub(crate) unsafe fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "operations must not capture") };
    // SAFETY: F has no bytes, is Copy, and by contract is inhabited, so a read
    // from any aligned address is a copy of that value.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

impl Ctx<'_> {
    /// A register as slots of `S`.
    ///
    /// # Safety
    /// `offset` must be a register of the current frame, of the class of `S`.
    #[inline(always)]
    pub(crate) unsafe fn reg<S>(&self, offset: u32) -> *mut S {
        // SAFETY: the frame's file is longer than any offset decoded for it, and
        // registers are aligned to 128 bytes (predicates to 4).
        unsafe { self.regs.add(offset as usize).cast::<S>() }
    }

    /// Lanes `k * CHUNK ..` of a register.
    ///
    /// # Safety
    /// As for [`Ctx::reg`]; `k` below `32 / CHUNK`.
    #[inline(always)]
    pub(crate) unsafe fn chunk<S: Copy>(&self, offset: u32, k: usize) -> [S; CHUNK] {
        // SAFETY: by contract the register has 32 slots.
        unsafe { self.reg::<[S; CHUNK]>(offset).add(k).read() }
    }

    /// Writes a chunk in all lanes.
    ///
    /// # Safety
    /// As for [`Ctx::chunk`].
    #[inline(always)]
    pub(crate) unsafe fn put_chunk<S: Copy>(&mut self, offset: u32, k: usize, v: [S; CHUNK]) {
        // SAFETY: by contract the register has 32 slots.
        unsafe { self.reg::<[S; CHUNK]>(offset).add(k).write(v) };
    }

    /// Writes a chunk, in the lanes of `m` only.
    ///
    /// # Safety
    /// As for [`Ctx::chunk`].
    #[inline(always)]
    pub(crate) unsafe fn set_chunk<S: Truth>(
        &mut self,
        offset: u32,
        k: usize,
        m: u32,
        v: [S; CHUNK],
    ) {
        let mut out = v;
        if m != u32::MAX {
            // SAFETY: by contract the register has 32 slots.
            let old = unsafe { self.chunk::<S>(offset, k) };
            let part = S::spread((m >> (k * CHUNK)) as u8);
            for l in 0..CHUNK {
                out[l] = part[l].pick(v[l], old[l]);
            }
        }
        // SAFETY: as above.
        unsafe { self.put_chunk(offset, k, out) };
    }

    /// A predicate register.
    ///
    /// # Safety
    /// `offset` must be a predicate of the current frame.
    #[inline(always)]
    pub(crate) unsafe fn pred(&self, offset: u32) -> u32 {
        // SAFETY: by contract.
        unsafe { self.reg::<u32>(offset).read() }
    }

    /// Writes a predicate in the lanes of `m`.
    ///
    /// # Safety
    /// `offset` must be a predicate of the current frame.
    #[inline(always)]
    pub(crate) unsafe fn set_pred(&mut self, offset: u32, m: u32, value: u32) {
        // SAFETY: by contract.
        unsafe {
            let at = self.reg::<u32>(offset);
            at.write(at.read() & !m | value & m);
        }
    }
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn bits(mut m: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if m == 0 {
            return None;
        }
        let lane = m.trailing_zeros() as usize;
        m &= m - 1;
        Some(lane)
    })
}

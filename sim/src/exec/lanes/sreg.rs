//! Special registers, kernel parameters and other values that an instruction
//! reads from its surroundings.

use super::{Body, CHUNK, Twin};
use crate::exec::ctx::Ctx;
use crate::exec::inst::{Class, Flow, Inst, Need, Shape};
use std::time::{SystemTime, UNIX_EPOCH};

/// Special registers that are the same for all threads, or follow from the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Sreg {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    Eq,
    Le,
    Lt,
    Ge,
    Gt,
    Clock,
    ClockHi,
    Clock64,
    Globaltimer,
    GlobaltimerLo,
    GlobaltimerHi,
    DynamicSmem,
    TotalSmem,
    /// Not PTX: where dynamic shared memory begins.
    DynamicBase,
    /// Not PTX: where the frame's local memory begins.
    LocalBase,
    Zero,
    One,
}

/// Names and classes.
pub(crate) const SREGS: &[(&str, Sreg)] = &[
    ("%tid.x", Sreg::TidX),
    ("%tid", Sreg::TidX),
    ("%tid.y", Sreg::TidY),
    ("%tid.z", Sreg::TidZ),
    ("%ntid.x", Sreg::NtidX),
    ("%ntid", Sreg::NtidX),
    ("%ntid.y", Sreg::NtidY),
    ("%ntid.z", Sreg::NtidZ),
    ("%ctaid.x", Sreg::CtaidX),
    ("%ctaid", Sreg::CtaidX),
    ("%ctaid.y", Sreg::CtaidY),
    ("%ctaid.z", Sreg::CtaidZ),
    ("%nctaid.x", Sreg::NctaidX),
    ("%nctaid", Sreg::NctaidX),
    ("%nctaid.y", Sreg::NctaidY),
    ("%nctaid.z", Sreg::NctaidZ),
    ("%laneid", Sreg::Laneid),
    ("%warpid", Sreg::Warpid),
    ("%nwarpid", Sreg::Nwarpid),
    ("%smid", Sreg::Smid),
    ("%nsmid", Sreg::Nsmid),
    ("%gridid", Sreg::Gridid),
    ("%lanemask_eq", Sreg::Eq),
    ("%lanemask_le", Sreg::Le),
    ("%lanemask_lt", Sreg::Lt),
    ("%lanemask_ge", Sreg::Ge),
    ("%lanemask_gt", Sreg::Gt),
    ("%clock", Sreg::Clock),
    ("%clock_hi", Sreg::ClockHi),
    ("%clock64", Sreg::Clock64),
    ("%globaltimer", Sreg::Globaltimer),
    ("%globaltimer_lo", Sreg::GlobaltimerLo),
    ("%globaltimer_hi", Sreg::GlobaltimerHi),
    ("%dynamic_smem_size", Sreg::DynamicSmem),
    ("%total_smem_size", Sreg::TotalSmem),
    ("%aggr_smem_size", Sreg::TotalSmem),
    // No shared memory is reserved for the system.
    ("%reserved_smem_offset_begin", Sreg::Zero),
    ("%reserved_smem_offset_end", Sreg::Zero),
    ("%reserved_smem_offset_cap", Sreg::Zero),
    ("%reserved_smem_offset_0", Sreg::Zero),
    ("%reserved_smem_offset_1", Sreg::Zero),
    // The fourth element of these vectors is zero.
    ("%tid.w", Sreg::Zero),
    ("%ntid.w", Sreg::Zero),
    ("%ctaid.w", Sreg::Zero),
    ("%nctaid.w", Sreg::Zero),
    // A grid without clusters is one of clusters of one block.
    ("%cluster_ctaid.x", Sreg::Zero),
    ("%cluster_ctaid.y", Sreg::Zero),
    ("%cluster_ctaid.z", Sreg::Zero),
    ("%cluster_nctaid.x", Sreg::One),
    ("%cluster_nctaid.y", Sreg::One),
    ("%cluster_nctaid.z", Sreg::One),
    ("%cluster_ctarank", Sreg::Zero),
    ("%cluster_nctarank", Sreg::One),
    ("%clusterid.x", Sreg::CtaidX),
    ("%clusterid.y", Sreg::CtaidY),
    ("%clusterid.z", Sreg::CtaidZ),
    ("%nclusterid.x", Sreg::NctaidX),
    ("%nclusterid.y", Sreg::NctaidY),
    ("%nclusterid.z", Sreg::NctaidZ),
];

impl Sreg {
    pub(crate) fn class(self) -> Class {
        match self {
            Self::Clock64
            | Self::Globaltimer
            | Self::LocalBase
            | Self::DynamicBase
            | Self::Gridid => Class::W64,
            _ => Class::W32,
        }
    }
}

impl Ctx<'_> {
    fn ids(&self) -> &super::super::ctx::WarpIds {
        // SAFETY: the scheduler sets `ids` to the running warp's before any
        // instruction runs, and the warp outlives the instruction.
        unsafe { &*self.ids }
    }

    fn ticks(&self) -> u64 {
        self.told()
            .unwrap_or_else(|| self.env.started.elapsed().as_nanos() as u64)
    }

    fn timer(&self) -> u64 {
        self.told().unwrap_or_else(unix_nanos)
    }

    /// The time of a stepped launch. Each reading is later than the one before, so a loop
    /// that waits for time to pass ends.
    fn told(&self) -> Option<u64> {
        let time = self.clock.get()?;
        self.clock.set(Some(time + 1));
        Some(time)
    }

    fn sreg32(&self, r: Sreg) -> [u32; 32] {
        let c = &self.env.config;
        let ids = self.ids();
        let lane = |f: fn(u32) -> u32| std::array::from_fn(|l| f(l as u32));
        let value = match r {
            Sreg::TidX => return ids.tid[0],
            Sreg::TidY => return ids.tid[1],
            Sreg::TidZ => return ids.tid[2],
            Sreg::Laneid => return lane(|l| l),
            Sreg::Eq => return lane(|l| 1 << l),
            Sreg::Le => return lane(|l| u32::MAX >> (31 - l)),
            Sreg::Lt => return lane(|l| (1 << l) - 1),
            Sreg::Ge => return lane(|l| u32::MAX << l),
            Sreg::Gt => return lane(|l| (u32::MAX << l) << 1),
            Sreg::NtidX => c.block[0],
            Sreg::NtidY => c.block[1],
            Sreg::NtidZ => c.block[2],
            Sreg::CtaidX => self.ctaid[0],
            Sreg::CtaidY => self.ctaid[1],
            Sreg::CtaidZ => self.ctaid[2],
            Sreg::NctaidX => c.grid[0],
            Sreg::NctaidY => c.grid[1],
            Sreg::NctaidZ => c.grid[2],
            Sreg::Warpid => ids.warp,
            Sreg::Nwarpid => c.block.iter().product::<u32>().div_ceil(32),
            Sreg::Smid => self.smid,
            Sreg::Nsmid => self.env.multiprocessors,
            Sreg::Clock => self.ticks() as u32,
            Sreg::ClockHi => (self.ticks() >> 32) as u32,
            Sreg::GlobaltimerLo => self.timer() as u32,
            Sreg::GlobaltimerHi => (self.timer() >> 32) as u32,
            Sreg::DynamicSmem => self.env.config.dynamic_shared,
            Sreg::TotalSmem => self.env.shared_bytes,
            Sreg::One => 1,
            _ => 0,
        };
        [value; 32]
    }

    fn sreg64(&self, r: Sreg) -> u64 {
        match r {
            Sreg::Clock64 => self.ticks(),
            Sreg::Globaltimer => self.timer(),
            Sreg::LocalBase => self.local_base,
            Sreg::DynamicBase => u64::from(self.env.dynamic_base),
            _ => 0,
        }
    }
}

fn unix_nanos() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64)
}

struct Read32;

impl Body for Read32 {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W32),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let Some(&(_, which)) = SREGS.get(i.x as usize) else {
            return Flow::Next;
        };
        let v = cx.sreg32(which);
        let (chunks, _) = v.as_chunks::<CHUNK>();
        for (k, part) in chunks.iter().enumerate() {
            // SAFETY: d is a 32-bit register.
            unsafe { cx.set_chunk(i.d, k, m, *part) };
        }
        Flow::Next
    }
}

/// Reads entry `x` of [`SREGS`], 32 bits.
pub(crate) fn read32() -> Twin {
    Twin::single::<Read32>()
}

struct Read64;

impl Body for Read64 {
    const SHAPE: Shape = Shape {
        d: Need::Reg(Class::W64),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // Byte 0 of x is the register, the rest an offset to add.
        let which = match i.x & 0xff {
            0 => Sreg::LocalBase,
            1 => Sreg::DynamicBase,
            2 => Sreg::Clock64,
            3 => Sreg::Globaltimer,
            _ => Sreg::Gridid,
        };
        let offset = (i.x.cast_signed() >> 8).cast_unsigned();
        let v = cx.sreg64(which).wrapping_add(offset);
        for k in 0..32 / CHUNK {
            // SAFETY: d is a 64-bit register.
            unsafe { cx.set_chunk(i.d, k, m, [v; CHUNK]) };
        }
        Flow::Next
    }
}

/// Reads a 64-bit special register: `x` is [`read64_code`] plus an offset
/// shifted by 8.
pub(crate) fn read64() -> Twin {
    Twin::single::<Read64>()
}

pub(crate) fn read64_code(r: Sreg) -> u64 {
    match r {
        Sreg::LocalBase => 0,
        Sreg::DynamicBase => 1,
        Sreg::Clock64 => 2,
        Sreg::Globaltimer => 3,
        _ => 4,
    }
}

struct Param<const N: usize, const SIGNED: bool>;

impl<const N: usize, const SIGNED: bool> Body for Param<N, SIGNED> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(if N == 8 { Class::W64 } else { Class::W32 }),
        ..Shape::NONE
    };

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let at = i.x as usize;
        let mut raw = [0u8; 8];
        // Launch checked the length of the parameters against the kernel's.
        if let Some(bytes) = cx.env.params.get(at..at + N) {
            raw[..N].copy_from_slice(bytes);
        }
        let mut v = u64::from_le_bytes(raw);
        if SIGNED {
            let unused = 64 - 8 * N as u32;
            v = (v << unused)
                .cast_signed()
                .wrapping_shr(unused)
                .cast_unsigned();
        }
        for k in 0..32 / CHUNK {
            // SAFETY: d is a register of the class of N bytes.
            unsafe {
                if N == 8 {
                    cx.set_chunk(i.d, k, m, [v; CHUNK]);
                } else {
                    cx.set_chunk(i.d, k, m, [v as u32; CHUNK]);
                }
            }
        }
        Flow::Next
    }
}

/// Reads `size` bytes at offset `x` of the kernel's parameters.
pub(crate) fn param(size: u32, signed: bool) -> Twin {
    match (size, signed) {
        (1, false) => Twin::of::<Param<1, false>>(),
        (1, true) => Twin::of::<Param<1, true>>(),
        (2, false) => Twin::of::<Param<2, false>>(),
        (2, true) => Twin::of::<Param<2, true>>(),
        (4, _) => Twin::of::<Param<4, false>>(),
        _ => Twin::of::<Param<8, false>>(),
    }
}

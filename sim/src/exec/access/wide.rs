//! Loads and stores of the wide twins: eight lanes at a time, by the pattern of their
//! addresses. Compilers make threads access neighbours or the same place, so most chunks are
//! one vector or one element.

// Plain loops over arrays here: adaptors of the standard library are not inlined into code
// for another instruction set.
#![allow(
    clippy::needless_range_loop,
    reason = "two arrays and a lane number advance together"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_sub_epi64,
    _mm256_testz_si256, _mm256_xor_si256,
};

use super::load_store::Element;
use crate::exec::ctx::Ctx;
use crate::exec::inst::Inst;
use crate::exec::lanes::{CHUNK, bits};

/// How the addresses of eight lanes lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    /// One element after the other.
    Row,
    /// All at the same place.
    Same,
    Other,
}

/// The pattern of addresses with elements of `size` bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn pattern(addresses: &[u64; CHUNK], size: i64) -> Pattern {
    // SAFETY: both are 64 bytes without invalid values.
    let [low, high] = unsafe { std::mem::transmute::<[u64; CHUNK], [__m256i; 2]>(*addresses) };
    let first = _mm256_set1_epi64x(addresses[0].cast_signed());
    let (low, high) = (_mm256_sub_epi64(low, first), _mm256_sub_epi64(high, first));
    let row_low = _mm256_xor_si256(low, _mm256_set_epi64x(3 * size, 2 * size, size, 0));
    let row_high = _mm256_xor_si256(
        high,
        _mm256_set_epi64x(7 * size, 6 * size, 5 * size, 4 * size),
    );
    let row = _mm256_or_si256(row_low, row_high);
    if _mm256_testz_si256(row, row) != 0 {
        return Pattern::Row;
    }
    let same = _mm256_or_si256(low, high);
    if _mm256_testz_si256(same, same) != 0 {
        return Pattern::Same;
    }
    Pattern::Other
}

/// Copies 32 bytes. Others may access them at the same time, as long as they do so through
/// whole, aligned elements: this is assembly because for the compiler such a race would be
/// undefined. The CPU reads and writes aligned elements of up to 8 bytes whole, also as parts
/// of a vector; virtual machines that vectorise programs' loops rely on the same.
///
/// # Safety
/// `from` must be valid for reads of 32 bytes and `to` for writes.
#[inline]
#[target_feature(enable = "avx")]
unsafe fn copy(from: *const u8, to: *mut u8) {
    // SAFETY: reads and writes what the contract says, and nothing else.
    unsafe {
        asm!(
            "vmovdqu {vector}, [{from}]",
            "vmovdqu [{to}], {vector}",
            from = in(reg) from,
            to = in(reg) to,
            vector = out(ymm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Where an access of one piece of memory may go.
struct Piece {
    base: u64,
    limit: u64,
    host: *mut u8,
    align: u64,
}

impl Piece {
    /// The offset of an address if `extent` more bytes than the element's may follow.
    #[inline(always)]
    fn offset(&self, address: u64, extent: u64) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        let inside = offset <= self.limit && self.limit - offset >= extent;
        (inside && address & self.align == 0).then_some(offset as usize)
    }

    /// The offsets of eight addresses.
    #[inline(always)]
    fn offsets(&self, addresses: &[u64; CHUNK]) -> Option<[usize; CHUNK]> {
        let mut wrong = 0;
        let mut offsets = [0; CHUNK];
        for l in 0..CHUNK {
            let offset = addresses[l].wrapping_sub(self.base);
            wrong |= u64::from(offset > self.limit) | addresses[l] & self.align;
            offsets[l] = offset as usize;
        }
        (wrong == 0).then_some(offsets)
    }
}

/// Addresses of chunk `k`.
///
/// # Safety
/// `i.a` must be a 64-bit register.
#[inline(always)]
unsafe fn addresses(cx: &Ctx<'_>, i: &Inst, k: usize) -> [u64; CHUNK] {
    // SAFETY: by contract.
    let mut addresses = unsafe { cx.chunk::<u64>(i.a, k) };
    for address in &mut addresses {
        *address = address.wrapping_add(i.x);
    }
    addresses
}

/// Whether elements lie in memory as they do in registers, so that eight that follow each
/// other are vectors. Their alignment must be the element's own.
#[inline(always)]
fn whole<T: Element>() -> bool {
    size_of::<T>() == size_of::<T::Slot>()
}

/// Loads what lies in `piece`; the lanes that are left to do.
///
/// # Safety
/// As for [`OpFn`](crate::exec::inst::OpFn), with AVX2. `piece` must be a base address, the
/// largest offset of an element, and a host address that agrees with the base modulo 16;
/// its elements must be valid for reads.
#[inline(always)]
pub(super) unsafe fn load<T: Element>(
    cx: &mut Ctx<'_>,
    i: &Inst,
    m: u32,
    (base, limit, host): (u64, u64, *mut u8),
) -> u32 {
    let size = size_of::<T>();
    let piece = Piece {
        base,
        limit,
        host,
        align: u64::from(i.b),
    };
    for k in 0..32 / CHUNK {
        let left = m & u32::MAX << (k * CHUNK);
        let part = (m >> (k * CHUNK)) as u8;
        // SAFETY: a is a 64-bit register, d one of T's class; offsets are checked against
        // the piece before they are used.
        unsafe {
            let addresses = addresses(cx, i, k);
            let d = cx.reg::<T::Slot>(i.d).add(k * CHUNK);
            if part != u8::MAX {
                for lane in bits(u32::from(part)) {
                    let Some(offset) = piece.offset(addresses[lane], 0) else {
                        // Not again the lanes that are done: their addresses may be gone.
                        return left & u32::MAX << (k * CHUNK + lane);
                    };
                    d.add(lane).write(T::load(piece.host.add(offset)).put());
                }
                continue;
            }
            match pattern(&addresses, size as i64) {
                Pattern::Row if piece.align == size as u64 - 1 => {
                    let Some(offset) = piece.offset(addresses[0], 7 * size as u64) else {
                        return left;
                    };
                    let from = piece.host.add(offset);
                    if !whole::<T>() {
                        for lane in 0..CHUNK {
                            d.add(lane).write(T::load(from.add(lane * size)).put());
                        }
                        continue;
                    }
                    for vector in 0..size * CHUNK / 32 {
                        copy(from.add(32 * vector), d.cast::<u8>().add(32 * vector));
                    }
                }
                Pattern::Same => {
                    let Some(offset) = piece.offset(addresses[0], 0) else {
                        return left;
                    };
                    let value = T::load(piece.host.add(offset)).put();
                    cx.put_chunk(i.d, k, [value; CHUNK]);
                }
                _ => {
                    let Some(offsets) = piece.offsets(&addresses) else {
                        return left;
                    };
                    for lane in 0..CHUNK {
                        d.add(lane)
                            .write(T::load(piece.host.add(offsets[lane])).put());
                    }
                }
            }
        }
    }
    0
}

/// Stores what lies in `piece`; the lanes that are left to do.
///
/// # Safety
/// As for [`load`], with elements that are valid for writes.
#[inline(always)]
pub(super) unsafe fn store<T: Element>(
    cx: &mut Ctx<'_>,
    i: &Inst,
    m: u32,
    (base, limit, host): (u64, u64, *mut u8),
) -> u32 {
    let size = size_of::<T>();
    let piece = Piece {
        base,
        limit,
        host,
        align: u64::from(i.b),
    };
    for k in 0..32 / CHUNK {
        let left = m & u32::MAX << (k * CHUNK);
        let part = (m >> (k * CHUNK)) as u8;
        // SAFETY: as in `load`.
        unsafe {
            let addresses = addresses(cx, i, k);
            let d = cx.reg::<T::Slot>(i.d).add(k * CHUNK);
            if part != u8::MAX {
                for lane in bits(u32::from(part)) {
                    let Some(offset) = piece.offset(addresses[lane], 0) else {
                        // Not again the lanes that are done: their addresses may be gone.
                        return left & u32::MAX << (k * CHUNK + lane);
                    };
                    T::store(piece.host.add(offset), T::get(d.add(lane).read()));
                }
                continue;
            }
            let elementwise = piece.align == size as u64 - 1;
            if elementwise && pattern(&addresses, size as i64) == Pattern::Row {
                let Some(offset) = piece.offset(addresses[0], 7 * size as u64) else {
                    return left;
                };
                let to = piece.host.add(offset);
                if !whole::<T>() {
                    for lane in 0..CHUNK {
                        T::store(to.add(lane * size), T::get(d.add(lane).read()));
                    }
                    continue;
                }
                for vector in 0..size * CHUNK / 32 {
                    copy(d.cast::<u8>().add(32 * vector), to.add(32 * vector));
                }
                continue;
            }
            let Some(offsets) = piece.offsets(&addresses) else {
                return left;
            };
            for lane in 0..CHUNK {
                T::store(piece.host.add(offsets[lane]), T::get(d.add(lane).read()));
            }
        }
    }
    0
}

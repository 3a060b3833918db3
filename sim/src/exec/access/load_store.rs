//! Loads and stores. Device memory is accessed with relaxed atomics of the
//! access's size: blocks on different workers may race, as on a GPU. Races of accesses
//! of one size are defined, here and in Rust. Racing accesses of different sizes to the
//! same bytes are a data race of the kernel, to which PTX gives no meaning; Rust's memory
//! model does not define such atomics either. This relies on the hosts' CPUs, on which
//! each access sees some mixture of whole bytes, and on the compiler keeping a relaxed
//! atomic one access of its size.

#[cfg(target_arch = "x86_64")]
use super::wide;
use super::{Access, MemSpace, Sharing};
use crate::exec::ctx::{CACHE, Ctx};
use crate::exec::fault::FaultKind;
use crate::exec::inst::{Class, Flow, Inst, Need, Shape};
use crate::exec::lanes::{Body, CHUNK, Lane, Twin, bits};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A memory element.
pub(crate) trait Element: Lane {
    /// # Safety
    /// `at` must be valid for an atomic access of this size, and aligned.
    unsafe fn load(at: *mut u8) -> Self;
    /// # Safety
    /// As for `load`.
    unsafe fn store(at: *mut u8, value: Self);
}

macro_rules! elements {
    ($($t:ty, $atomic:ty, $raw:ty;)*) => {$(
        impl Element for $t {
            #[inline(always)]
            unsafe fn load(at: *mut u8) -> Self {
                // SAFETY: by contract.
                unsafe { <$atomic>::from_ptr(at.cast()) }.load(Relaxed) as $t
            }
            #[inline(always)]
            unsafe fn store(at: *mut u8, value: Self) {
                // SAFETY: by contract.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(value as $raw, Relaxed);
            }
        }
    )*};
}

elements! {
    u8, AtomicU8, u8;
    i8, AtomicU8, u8;
    u16, AtomicU16, u16;
    i16, AtomicU16, u16;
    u32, AtomicU32, u32;
    u64, AtomicU64, u64;
}

/// Reads `size` bytes as an integer.
///
/// # Safety
/// `at` must be valid for reads of `size` bytes (1, 2, 4 or 8) and aligned to it.
pub(crate) unsafe fn read(at: *mut u8, size: u64, sharing: Sharing) -> u64 {
    // SAFETY: by contract; parameters are never written while a kernel runs, so
    // plain reads of block-private memory do not race.
    unsafe {
        match (size, sharing) {
            (1, Sharing::Device) => u64::from(u8::load(at)),
            (2, Sharing::Device) => u64::from(u16::load(at)),
            (4, Sharing::Device) => u64::from(u32::load(at)),
            (_, Sharing::Device) => u64::load(at),
            (1, Sharing::Block) => u64::from(at.read()),
            (2, Sharing::Block) => u64::from(at.cast::<u16>().read_unaligned()),
            (4, Sharing::Block) => u64::from(at.cast::<u32>().read_unaligned()),
            (_, Sharing::Block) => at.cast::<u64>().read_unaligned(),
        }
    }
}

/// Addresses of the 32 lanes and whether every lane of `m` is in
/// `base ..= base + limit` and aligned.
///
/// # Safety
/// `i.a` must be a 64-bit register.
#[inline(always)]
#[allow(
    clippy::needless_range_loop,
    reason = "two arrays and a lane number advance together"
)]
unsafe fn addresses(cx: &Ctx<'_>, i: &Inst, m: u32, base: u64, limit: u64) -> ([u64; 32], bool) {
    let align = u64::from(i.b);
    let mut addr = [0u64; 32];
    let mut bad = 0u64;
    for k in 0..32 / CHUNK {
        // SAFETY: by contract.
        let a = unsafe { cx.chunk::<u64>(i.a, k) };
        for l in 0..CHUNK {
            let lane = k * CHUNK + l;
            let at = a[l].wrapping_add(i.x);
            let offset = at.wrapping_sub(base);
            addr[lane] = offset;
            let wrong = u64::from(offset > limit) | at & align;
            bad |= wrong & 0u64.wrapping_sub(u64::from(m >> lane & 1));
        }
    }
    (addr, bad == 0)
}

/// The one contiguous piece that all lanes are expected to be in: its first address, the
/// largest offset of an access, and its host address.
#[inline(always)]
fn expected<const SPACE: u8>(
    cx: &Ctx<'_>,
    i: &Inst,
    size: u64,
    write: bool,
) -> Option<(u64, u64, *mut u8)> {
    if SPACE == SHARED {
        let limit = cx.shared_len.checked_sub(size)?;
        return Some((0, limit, cx.shared));
    }
    if SPACE == LOCAL {
        return None;
    }
    let r = &cx.cache[i.p as usize % CACHE];
    if write && !r.writable {
        return None;
    }
    Some((r.base, r.len.checked_sub(size)?, r.host))
}

const GENERIC: u8 = 0;
const SHARED: u8 = 1;
const LOCAL: u8 = 2;

fn space_of(space: u8) -> MemSpace {
    match space {
        SHARED => MemSpace::Shared,
        LOCAL => MemSpace::Local,
        _ => MemSpace::Generic,
    }
}

struct Load<T, const SPACE: u8>(PhantomData<T>);

impl<T: Element, const SPACE: u8> Body for Load<T, SPACE> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(T::CLASS),
        a: Need::Reg(Class::W64),
        ..Shape::NONE
    };

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_wide(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let left = match expected::<SPACE>(cx, i, size_of::<T>() as u64, false) {
            // SAFETY: by contract, and the piece is readable.
            Some(piece) => unsafe { wide::load::<T>(cx, i, m, piece) },
            None => m,
        };
        if left == 0 {
            return Flow::Next;
        }
        // SAFETY: as for this function.
        unsafe { load_slow::<T>(cx, i, left, space_of(SPACE)) }
    }

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let size = size_of::<T>() as u64;
        if let Some((base, limit, host)) = expected::<SPACE>(cx, i, size, false) {
            // SAFETY: a is a 64-bit register.
            let (offset, good) = unsafe { addresses(cx, i, m, base, limit) };
            if good {
                // SAFETY: each active lane's offset leaves room for T in the
                // range, is aligned because range and host agree modulo 16; d
                // is a register of T's class.
                unsafe {
                    let d = cx.reg::<T::Slot>(i.d);
                    if m == u32::MAX {
                        for (lane, &at) in offset.iter().enumerate() {
                            d.add(lane).write(T::load(host.add(at as usize)).put());
                        }
                    } else {
                        for lane in bits(m) {
                            d.add(lane)
                                .write(T::load(host.add(offset[lane] as usize)).put());
                        }
                    }
                }
                return Flow::Next;
            }
        }
        // SAFETY: as for this function.
        unsafe { load_slow::<T>(cx, i, m, space_of(SPACE)) }
    }
}

/// # Safety
/// As for [`OpFn`](crate::exec::inst::OpFn).
#[inline(never)]
unsafe fn load_slow<T: Element>(cx: &mut Ctx<'_>, i: &Inst, m: u32, space: MemSpace) -> Flow {
    let size = size_of::<T>() as u64;
    for lane in bits(m) {
        // SAFETY: a is a 64-bit register.
        let addr = unsafe { cx.reg::<u64>(i.a).add(lane).read() }.wrapping_add(i.x);
        let access = Access {
            space,
            addr,
            size,
            align: u64::from(i.b),
            write: false,
            slot: i.p as usize,
            line: i.line,
        };
        match cx.resolve(lane, access) {
            // SAFETY: the pointer is valid and aligned for T in device memory;
            // block-private memory is not accessed by anyone else meanwhile, and
            // may be parameters, which are aligned to nothing.
            Ok((at, Sharing::Device)) => unsafe {
                cx.reg::<T::Slot>(i.d).add(lane).write(T::load(at).put());
            },
            // SAFETY: as above.
            Ok((at, Sharing::Block)) => unsafe {
                cx.reg::<T::Slot>(i.d)
                    .add(lane)
                    .write(at.cast::<T>().read_unaligned().put());
            },
            Err(kind) => return memory_fault(cx, kind, lane, addr),
        }
    }
    Flow::Next
}

#[cold]
fn memory_fault(cx: &mut Ctx<'_>, kind: FaultKind, lane: usize, addr: u64) -> Flow {
    cx.fail(kind, lane as u32, Some(addr))
}

struct Store<T, const SPACE: u8>(PhantomData<T>);

impl<T: Element, const SPACE: u8> Body for Store<T, SPACE> {
    const SHAPE: Shape = Shape {
        d: Need::Reg(T::CLASS),
        a: Need::Reg(Class::W64),
        ..Shape::NONE
    };

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_wide(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let left = match expected::<SPACE>(cx, i, size_of::<T>() as u64, true) {
            // SAFETY: by contract, and the piece is writable.
            Some(piece) => unsafe { wide::store::<T>(cx, i, m, piece) },
            None => m,
        };
        if left == 0 {
            return Flow::Next;
        }
        // SAFETY: as for this function.
        unsafe { store_slow::<T>(cx, i, left, space_of(SPACE)) }
    }

    #[inline(always)]
    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let size = size_of::<T>() as u64;
        if let Some((base, limit, host)) = expected::<SPACE>(cx, i, size, true) {
            // SAFETY: a is a 64-bit register.
            let (offset, good) = unsafe { addresses(cx, i, m, base, limit) };
            if good {
                // SAFETY: as in Load, and the range is writable.
                unsafe {
                    let d = cx.reg::<T::Slot>(i.d);
                    if m == u32::MAX {
                        for (lane, &at) in offset.iter().enumerate() {
                            T::store(host.add(at as usize), T::get(d.add(lane).read()));
                        }
                    } else {
                        for lane in bits(m) {
                            T::store(host.add(offset[lane] as usize), T::get(d.add(lane).read()));
                        }
                    }
                }
                return Flow::Next;
            }
        }
        // SAFETY: as for this function.
        unsafe { store_slow::<T>(cx, i, m, space_of(SPACE)) }
    }
}

/// # Safety
/// As for [`OpFn`](crate::exec::inst::OpFn).
#[inline(never)]
unsafe fn store_slow<T: Element>(cx: &mut Ctx<'_>, i: &Inst, m: u32, space: MemSpace) -> Flow {
    let size = size_of::<T>() as u64;
    for lane in bits(m) {
        // SAFETY: a is a 64-bit register.
        let addr = unsafe { cx.reg::<u64>(i.a).add(lane).read() }.wrapping_add(i.x);
        let access = Access {
            space,
            addr,
            size,
            align: u64::from(i.b),
            write: true,
            slot: i.p as usize,
            line: i.line,
        };
        match cx.resolve(lane, access) {
            // SAFETY: the pointer is valid, aligned and writable for T.
            Ok((at, sharing)) => unsafe {
                let value = T::get(cx.reg::<T::Slot>(i.d).add(lane).read());
                match sharing {
                    Sharing::Device => T::store(at, value),
                    Sharing::Block => at.cast::<T>().write(value),
                }
            },
            Err(kind) => return memory_fault(cx, kind, lane, addr),
        }
    }
    Flow::Next
}

macro_rules! by_space {
    ($space:expr, $body:ident, $t:ty) => {
        match $space {
            MemSpace::Generic => Twin::of::<$body<$t, GENERIC>>(),
            MemSpace::Shared => Twin::of::<$body<$t, SHARED>>(),
            MemSpace::Local => Twin::single::<$body<$t, LOCAL>>(),
        }
    };
}

/// Loads `size` bytes at `a + x` into `d`; `b` is the alignment mask and `p` the
/// cache slot.
pub(crate) fn load(space: MemSpace, size: u32, signed: bool) -> Twin {
    match (size, signed) {
        (1, false) => by_space!(space, Load, u8),
        (1, true) => by_space!(space, Load, i8),
        (2, false) => by_space!(space, Load, u16),
        (2, true) => by_space!(space, Load, i16),
        (4, _) => by_space!(space, Load, u32),
        _ => by_space!(space, Load, u64),
    }
}

/// Stores `size` bytes of `d` at `a + x`.
pub(crate) fn store(space: MemSpace, size: u32) -> Twin {
    match size {
        1 => by_space!(space, Store, u8),
        2 => by_space!(space, Store, u16),
        4 => by_space!(space, Store, u32),
        _ => by_space!(space, Store, u64),
    }
}

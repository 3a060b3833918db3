//! Atomic read-modify-write operations, on the host's atomics for device memory
//! and plainly for memory that only the running block can reach. All are
//! sequentially consistent, which is stronger than any PTX asks for.

use super::{Access, MemSpace, Sharing};
use crate::exec::ctx::Ctx;
use crate::exec::inst::{Class, Flow, Inst, NONE, Need, Shape};
use crate::exec::lanes::{Body, Lane, Twin, bits, conjure};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// Bits that an atomic instruction exchanges as a whole.
pub(crate) trait Cell: Copy + Eq + 'static {
    /// # Safety
    /// `at` must be valid for atomics of this size, and aligned.
    unsafe fn update(at: *mut u8, f: impl Fn(Self) -> Self) -> Self;
}

macro_rules! cells {
    ($($t:ty, $atomic:ty;)*) => {$(
        impl Cell for $t {
            #[inline(always)]
            unsafe fn update(at: *mut u8, f: impl Fn(Self) -> Self) -> Self {
                // SAFETY: by contract.
                let cell = unsafe { <$atomic>::from_ptr(at.cast()) };
                let mut old = cell.load(SeqCst);
                while let Err(now) = cell.compare_exchange_weak(old, f(old), SeqCst, SeqCst) {
                    old = now;
                }
                old
            }
        }
    )*};
}

cells! {
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}

struct Atom<T, C, F, G>(PhantomData<(T, C, F, G)>);

impl<T, C, F, G> Body for Atom<T, C, F, G>
where
    T: Lane,
    C: Cell,
    T::Slot: Into<u64>,
    F: Fn(C, T, T) -> C + Copy + 'static,
    G: Fn(C, T, T) -> C + Copy + 'static,
    C: Widen<T::Slot>,
{
    const SHAPE: Shape = Shape {
        d: Need::Maybe(T::CLASS),
        a: Need::Reg(Class::W64),
        b: Need::Reg(T::CLASS),
        c: Need::Reg(T::CLASS),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        // SAFETY: made only by `atom_split`, which is given an F and a G.
        let (f, g) = unsafe { (conjure::<F>(), conjure::<G>()) };
        let size = size_of::<C>() as u64;
        let space = space_of(i);
        for lane in bits(m) {
            // SAFETY: a is a 64-bit register, b and c registers of T.
            let (addr, b, c) = unsafe {
                (
                    cx.reg::<u64>(i.a).add(lane).read().wrapping_add(i.x),
                    T::get(cx.reg::<T::Slot>(i.b).add(lane).read()),
                    T::get(cx.reg::<T::Slot>(i.c).add(lane).read()),
                )
            };
            let access = Access {
                space,
                addr,
                size,
                align: u64::from(i.e),
                write: true,
                slot: (i.p & 0xffff) as usize,
                line: i.line,
            };
            let room = cx.shared_len.saturating_sub(addr);
            let resolved = if space == MemSpace::Shared && room >= size && addr & (size - 1) == 0 {
                // The usual case, without asking further. SAFETY: shared_len bytes are
                // allocated at shared, and the cell ends within them.
                Ok((unsafe { cx.shared.add(addr as usize) }, Sharing::Block))
            } else {
                cx.resolve(lane, access)
            };
            let old = match resolved {
                // SAFETY: the pointer is valid, aligned and writable; block
                // memory is reached by no other thread of the host meanwhile.
                Ok((at, Sharing::Device)) => unsafe { C::update(at, |old| f(old, b, c)) },
                // SAFETY: as above.
                Ok((at, Sharing::Block)) => unsafe {
                    let cell = at.cast::<C>();
                    let old = cell.read();
                    cell.write(g(old, b, c));
                    old
                },
                Err(kind) => return cx.fail(kind, lane as u32, Some(addr)),
            };
            if i.d != NONE {
                // SAFETY: d is a register of T's class.
                unsafe { cx.reg::<T::Slot>(i.d).add(lane).write(old.widen()) };
            }
        }
        Flow::Next
    }
}

/// A cell's bits as a register slot.
pub(crate) trait Widen<S> {
    fn widen(self) -> S;
}

impl Widen<u32> for u16 {
    fn widen(self) -> u32 {
        u32::from(self)
    }
}

impl Widen<u32> for u32 {
    fn widen(self) -> u32 {
        self
    }
}

impl Widen<u64> for u64 {
    fn widen(self) -> u64 {
        self
    }
}

/// `atom` or `red`: the memory at `a + x` becomes `f(old, b, c)`, `d` (or
/// nothing, if [`NONE`]) becomes old. `e` is the alignment mask; `p` holds the cache
/// slot and, from bit 16, the space.
pub(crate) fn atom<T, C, F>(f: F) -> Twin
where
    T: Lane,
    C: Cell + Widen<T::Slot>,
    T::Slot: Into<u64>,
    F: Fn(C, T, T) -> C + Copy + 'static,
{
    atom_split(f, f)
}

/// [`atom`] with `f` in memory that others reach, and `g` in the block's own.
pub(crate) fn atom_split<T, C, F, G>(_: F, _: G) -> Twin
where
    T: Lane,
    C: Cell + Widen<T::Slot>,
    T::Slot: Into<u64>,
    F: Fn(C, T, T) -> C + Copy + 'static,
    G: Fn(C, T, T) -> C + Copy + 'static,
{
    Twin::single::<Atom<T, C, F, G>>()
}

fn space_of(i: &Inst) -> MemSpace {
    match i.p >> 16 {
        0 => MemSpace::Generic,
        1 => MemSpace::Shared,
        _ => MemSpace::Local,
    }
}

/// The space field of `p`.
pub(crate) fn space_bits(space: MemSpace) -> u32 {
    match space {
        MemSpace::Generic => 0,
        MemSpace::Shared => 1 << 16,
        MemSpace::Local => 2 << 16,
    }
}

/// Taken for every access of 128 bits to memory that other workers reach: hosts have no
/// such atomics that Rust can name. So they are atomic among each other; to narrower
/// accesses their halves become visible one after the other.
static WIDE: Mutex<()> = Mutex::new(());

struct Atom128<const COMPARE: bool>;

impl<const COMPARE: bool> Body for Atom128<COMPARE> {
    const SHAPE: Shape = Shape {
        d: Need::Maybe(Class::W128),
        a: Need::Reg(Class::W64),
        b: Need::Reg(Class::W128),
        c: Need::Reg(Class::W128),
        ..Shape::NONE
    };

    unsafe fn run(cx: &mut Ctx<'_>, i: &Inst, m: u32) -> Flow {
        let space = space_of(i);
        let high = Class::W64.bytes();
        for lane in bits(m) {
            // SAFETY: a is a 64-bit register, b and c are 128-bit ones: two halves.
            let (addr, [b, c]) = unsafe {
                let half = |at: u32| cx.reg::<u64>(at).add(lane).read();
                let whole = |at: u32| [half(at), half(at + high)];
                (half(i.a).wrapping_add(i.x), [whole(i.b), whole(i.c)])
            };
            let access = Access {
                space,
                addr,
                size: 16,
                align: 15,
                write: true,
                slot: (i.p & 0xffff) as usize,
                line: i.line,
            };
            let (at, sharing) = match cx.resolve(lane, access) {
                Ok(found) => found,
                Err(kind) => return cx.fail(kind, lane as u32, Some(addr)),
            };
            let at = at.cast::<u64>();
            let new = |old: [u64; 2]| match (COMPARE, old == b) {
                (false, _) => b,
                (true, true) => c,
                (true, false) => old,
            };
            let old = match sharing {
                Sharing::Device => {
                    let guard = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
                    // SAFETY: the pointer is valid for both halves, and aligned.
                    let cells =
                        unsafe { [AtomicU64::from_ptr(at), AtomicU64::from_ptr(at.add(1))] };
                    let old = cells.map(|cell| cell.load(SeqCst));
                    let new = new(old);
                    if new != old {
                        cells[0].store(new[0], SeqCst);
                        cells[1].store(new[1], SeqCst);
                    }
                    drop(guard);
                    old
                }
                // SAFETY: as above, and only this worker reaches block memory.
                Sharing::Block => unsafe {
                    let cell = at.cast::<[u64; 2]>();
                    let old = cell.read();
                    cell.write(new(old));
                    old
                },
            };
            if i.d != NONE {
                // SAFETY: d is a 128-bit register.
                unsafe {
                    cx.reg::<u64>(i.d).add(lane).write(old[0]);
                    cx.reg::<u64>(i.d + high).add(lane).write(old[1]);
                }
            }
        }
        Flow::Next
    }
}

/// `atom.exch.b128`, operands as for [`atom`].
pub(crate) fn exchange128() -> Twin {
    Twin::single::<Atom128<false>>()
}

/// `atom.cas.b128`.
pub(crate) fn compare128() -> Twin {
    Twin::single::<Atom128<true>>()
}

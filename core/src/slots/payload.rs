//! How a slot keeps its value: in a cell that is looked at under a lease, or in an atomic
//! word that can be read without one.

use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::sync::{AtomicU64, Ordering, UnsafeCell};

/// How a slot keeps its value. Sealed: [`InCell`] or [`InWord`].
pub trait Payload: Keep {}

pub(crate) mod sealed {
    pub trait Keep: Sized {
        type Value;

        /// Empty.
        #[cfg(not(loom))]
        const EMPTY: Self;
        #[cfg(loom)]
        fn empty() -> Self;

        /// Puts a value in.
        ///
        /// # Safety
        /// The caller owns the slot, which holds no value.
        unsafe fn write(&self, value: Self::Value);

        /// Moves the value out.
        ///
        /// # Safety
        /// The caller owns the slot, and it holds a value that nobody uses afterwards.
        unsafe fn take(&self) -> Self::Value;
    }
}
use sealed::Keep;

/// A value's place.
pub(crate) type ValueCell<T> = UnsafeCell<MaybeUninit<T>>;

/// A value of any type, looked at under a [`Lease`](crate::Lease); with it the place where
/// a failure to make it is left for those that waited.
pub struct InCell<T, E = Infallible> {
    pub(crate) value: ValueCell<T>,
    /// While the slot is `Failed`: why, or `None` when whoever made the value gave up.
    pub(crate) failure: UnsafeCell<MaybeUninit<Option<E>>>,
}

// SAFETY: a shared cell gives out `&T` and `&E` on any thread (Sync) and moves both in and
// out through `&self` (Send). The slot's state word keeps readers and movers apart: a value
// or failure is moved only by the slot's owner, and there is an owner only while nobody
// reads.
unsafe impl<T: Send + Sync, E: Send + Sync> Sync for InCell<T, E> {}

impl<T, E> Payload for InCell<T, E> {}

impl<T, E> Keep for InCell<T, E> {
    type Value = T;

    #[cfg(not(loom))]
    const EMPTY: Self = Self {
        value: UnsafeCell::new(MaybeUninit::uninit()),
        failure: UnsafeCell::new(MaybeUninit::uninit()),
    };

    #[cfg(loom)]
    fn empty() -> Self {
        Self {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            failure: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    unsafe fn write(&self, value: T) {
        self.value.with_mut(|cell| {
            // SAFETY: the caller owns the slot, so nobody else touches the cell; it holds
            // no value that this write could leak.
            unsafe { (*cell).write(value) };
        });
    }

    unsafe fn take(&self) -> T {
        // SAFETY: as the caller promises. `with_mut`, because a move out is a write: loom
        // then checks it against every reader.
        self.value
            .with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }
}

impl<T, E> fmt::Debug for InCell<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InCell").finish_non_exhaustive()
    }
}

/// A value of at most one word, read without a lease by [`peek`](crate::Slots::peek).
pub struct InWord<W> {
    pub(crate) bits: AtomicU64,
    value: PhantomData<fn(W) -> W>,
}

impl<W: Bits> Payload for InWord<W> {}

impl<W: Bits> Keep for InWord<W> {
    type Value = W;

    #[cfg(not(loom))]
    const EMPTY: Self = Self {
        bits: AtomicU64::new(0),
        value: PhantomData,
    };

    #[cfg(loom)]
    fn empty() -> Self {
        Self {
            bits: AtomicU64::new(0),
            value: PhantomData,
        }
    }

    unsafe fn write(&self, value: W) {
        let order = if mutant!("slots_word_stored_relaxed") {
            Ordering::Relaxed
        } else {
            // Release: whoever peeks at these bits also sees that the life before is over.
            Ordering::Release
        };
        self.bits.store(value.to_bits(), order);
    }

    unsafe fn take(&self) -> W {
        W::from_bits(self.bits.load(Ordering::Relaxed))
    }
}

impl<W> fmt::Debug for InWord<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InWord").finish_non_exhaustive()
    }
}

/// A value that fits a word and needs no destructor, such as the number or the address by
/// which a driver names an object. (A raw pointer is not `Send`: wrap it in a type that is.)
/// The conversions must not panic: the slot would be lost.
pub trait Bits: Copy + Send + Sync {
    /// The value as a word.
    fn to_bits(self) -> u64;
    /// The value that [`to_bits`](Self::to_bits) gave `bits` for.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! bits {
    ($($type:ty)*) => {$(
        impl Bits for $type {
            #[inline]
            fn to_bits(self) -> u64 {
                self.into()
            }
            #[inline]
            fn from_bits(bits: u64) -> Self {
                // It came from `to_bits`, so nothing is cut off.
                bits as $type
            }
        }
    )*};
}
bits!(u8 u16 u32 u64);

macro_rules! signed_bits {
    ($($type:ty)*) => {$(
        impl Bits for $type {
            #[inline]
            fn to_bits(self) -> u64 {
                self as u64
            }
            #[inline]
            fn from_bits(bits: u64) -> Self {
                // As above: what was extended is cut off again.
                bits as $type
            }
        }
    )*};
}
signed_bits!(i8 i16 i32 i64 isize);

impl Bits for usize {
    #[inline]
    fn to_bits(self) -> u64 {
        self as u64
    }
    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits as usize
    }
}

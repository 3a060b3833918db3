//! The cell of a slot: its value, or the error of the attempt to make it.

use core::convert::Infallible;
use core::fmt;
use core::mem::MaybeUninit;

use crate::sync::UnsafeCell;

/// The cell of a slot, which a [`ChunkSource`](crate::ChunkSource) is generic over. Sealed:
/// [`InCell`] implements it.
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
        /// The caller owns the slot, and it holds a value that no code uses afterwards.
        unsafe fn take(&self) -> Self::Value;
    }
}
use sealed::Keep;

/// A value's place.
pub(crate) type ValueCell<T> = UnsafeCell<MaybeUninit<T>>;

/// A value of any type, looked at under a [`Lease`](crate::Lease); with it the place where
/// a failure to make it is left for the threads that wait for it.
pub struct InCell<T, E = Infallible> {
    pub(crate) value: ValueCell<T>,
    /// While the slot is `Failed`: the error, or `None` when the maker panicked or its value
    /// was refused.
    pub(crate) failure: UnsafeCell<MaybeUninit<Option<E>>>,
}

// SAFETY: a shared cell gives out `&T` and `&E` on any thread (Sync) and moves both in and
// out through `&self` (Send). The slot's state word keeps readers and movers apart: a value
// or failure is moved only by the slot's owner, and a slot has an owner only while no thread
// reads its cell.
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
            // SAFETY: writing needs exclusive access, which `write`'s contract gives: the
            // caller owns the slot, so no other thread touches the cell. The slot holds no
            // value, so this leaks none.
            unsafe { (*cell).write(value) };
        });
    }

    unsafe fn take(&self) -> T {
        // SAFETY: reading out needs exclusive access and a value, both of which `take`'s
        // contract gives. `with_mut`, because a move out is a write: loom then checks it
        // against every reader.
        self.value
            .with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }
}

impl<T, E> fmt::Debug for InCell<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InCell").finish_non_exhaustive()
    }
}

//! `LazyBox`: an optional box in one word, filled through a shared reference.

use std::marker::PhantomData;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

pub(crate) struct LazyBox<T> {
    /// From `Box::into_raw`, or null.
    boxed: AtomicPtr<T>,
    /// Shared as a `OnceLock` is: the thread that fills the box may be another than the one that
    /// takes the value out.
    owned: PhantomData<(Box<T>, std::sync::Mutex<T>)>,
}

impl<T> LazyBox<T> {
    pub(crate) fn new() -> Self {
        Self {
            boxed: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// The value, if the box was filled.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: from `Box::into_raw`, and there as long as the box may be shared.
        unsafe { self.boxed.load(Ordering::Acquire).as_ref() }
    }

    /// The value; `value` if the box was empty. One of several threads that fill it wins.
    pub(crate) fn get_or_put(&self, value: T) -> &T {
        let ours = Box::into_raw(Box::new(value));
        // Release: a thread that sees the box sees the value. Acquire, when another was first: as in
        // `get`.
        let put = self.boxed.compare_exchange(
            ptr::null_mut(),
            ours,
            Ordering::Release,
            Ordering::Acquire,
        );
        let there = put.map_or_else(
            |first| {
                // SAFETY: from `into_raw` above, and the exchange failed, so no other thread has seen it.
                drop(unsafe { Box::from_raw(ours) });
                first
            },
            |_| ours,
        );
        // SAFETY: as in `get`.
        unsafe { &*there }
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// No other thread uses the box during the call, the last use by another thread happens before
    /// it, and there is no reference to the value.
    #[inline]
    pub(crate) unsafe fn take(&self) -> Option<Box<T>> {
        let there = self.boxed.load(Ordering::Relaxed);
        if there.is_null() {
            return None;
        }
        self.boxed.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: from `Box::into_raw`; the caller has the box and the value alone, so the null
        // that was just stored is seen by every later use.
        Some(unsafe { Box::from_raw(there) })
    }

    /// The value, for the box's only user.
    ///
    /// # Safety
    /// As `take`, for as long as the reference lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    pub(crate) unsafe fn get_mut(&self) -> Option<&mut T> {
        // SAFETY: from `Box::into_raw`; the caller has the value alone for as long as the reference
        // lives.
        unsafe { self.boxed.load(Ordering::Relaxed).as_mut() }
    }
}

impl<T> Drop for LazyBox<T> {
    fn drop(&mut self) {
        // SAFETY: this is the only reference.
        drop(unsafe { self.take() });
    }
}

//! `LazyBox`: a box that the first who needs it makes, in one word.

use std::marker::PhantomData;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

pub(crate) struct LazyBox<T> {
    /// From `Box::into_raw`, or null.
    boxed: AtomicPtr<T>,
    /// It is shared as `OnceLock` is: whoever fills it may be another than who takes it out.
    owned: PhantomData<(Box<T>, std::sync::Mutex<T>)>,
}

impl<T> LazyBox<T> {
    pub(crate) fn new() -> Self {
        Self {
            boxed: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// What is in it, if somebody has made it.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: from `Box::into_raw`, and there as long as the box may be shared.
        unsafe { self.boxed.load(Ordering::Acquire).as_ref() }
    }

    /// What is in it; `value`, if there was nothing.
    pub(crate) fn get_or_put(&self, value: T) -> &T {
        let ours = Box::into_raw(Box::new(value));
        let publish = if mutant!("lazy_box_is_seen_before_it_is_made") {
            Ordering::Relaxed
        } else {
            Ordering::AcqRel
        };
        let put = self
            .boxed
            .compare_exchange(ptr::null_mut(), ours, publish, Ordering::Acquire);
        let there = put.map_or_else(
            |first| {
                // SAFETY: from `into_raw` above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(ours) });
                first
            },
            |_| ours,
        );
        // SAFETY: as in `get`.
        unsafe { &*there }
    }

    /// Takes out what is in it.
    ///
    /// # Safety
    /// The caller alone has the box, and what others did with it came before; nobody has a
    /// reference to what is in it.
    #[inline]
    pub(crate) unsafe fn take(&self) -> Option<Box<T>> {
        let there = self.boxed.load(Ordering::Relaxed);
        if there.is_null() {
            return None;
        }
        self.boxed.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: from `Box::into_raw`, and the caller's promise.
        Some(unsafe { Box::from_raw(there) })
    }

    /// What is in it, for its only owner.
    ///
    /// # Safety
    /// As `take`, for as long as the reference lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    pub(crate) unsafe fn get_mut(&self) -> Option<&mut T> {
        // SAFETY: from `Box::into_raw`, and the caller's promise.
        unsafe { self.boxed.load(Ordering::Relaxed).as_mut() }
    }
}

impl<T> Drop for LazyBox<T> {
    fn drop(&mut self) {
        // SAFETY: this is the only reference.
        drop(unsafe { self.take() });
    }
}

//! `LazyArc`: an optional `Arc` in one word, put in and taken out through a shared reference.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use crate::sync::{AtomicPtr, Ordering};

pub(crate) struct LazyArc<T> {
    /// From `Arc::into_raw`, or null.
    shared: AtomicPtr<T>,
    owned: PhantomData<Arc<T>>,
}

impl<T> LazyArc<T> {
    pub(crate) fn new() -> Self {
        Self {
            shared: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// Whether there is nothing in it, as far as this thread has seen.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.shared.load(Ordering::Relaxed).is_null()
    }

    /// The value, if there is one.
    ///
    /// # Safety
    /// No thread takes the value out for as long as the reference lives.
    pub(crate) unsafe fn get(&self) -> Option<&T> {
        // SAFETY: null or from `Arc::into_raw`, by a thread that has released it; it stays: the
        // condition of `get`.
        unsafe { self.shared.load(Ordering::Acquire).as_ref() }
    }

    /// Puts a value in, unless there is one: then it comes back.
    pub(crate) fn put(&self, value: Arc<T>) -> Result<(), Arc<T>> {
        let ours = Arc::into_raw(value).cast_mut();
        // Release: a thread that finds the value sees all of it.
        let put = self.shared.compare_exchange(
            ptr::null_mut(),
            ours,
            Ordering::Release,
            Ordering::Relaxed,
        );
        // SAFETY: from `into_raw` above, and the exchange failed, so no other thread has seen it.
        put.map(drop).map_err(|_| unsafe { Arc::from_raw(ours) })
    }

    /// Takes the value out.
    pub(crate) fn take(&self) -> Option<Arc<T>> {
        // Acquire: pairs with the Release in `put`.
        let taken = self.shared.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: from `into_raw` in `put`, and the exchange took it out, so it is taken once.
        (!taken.is_null()).then(|| unsafe { Arc::from_raw(taken) })
    }
}

impl<T> Drop for LazyArc<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

//! The one place that knows about loom: atomics and cells, core's or loom's.
//!
//! Under `cfg(loom)` constructors cannot be `const` and every atomic costs the model
//! time, so this module also supplies `const fn` on demand, array initialisation, and
//! the number of slots that share one bitmap word.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering},
};

/// Slots that share one bitmap word: the width of the word. Under loom two, so that
/// models with several groups stay small.
pub(crate) const GROUP: usize = if cfg!(loom) { 2 } else { 64 };

/// `core::cell::UnsafeCell` behind the closure interface that loom's cell has.
#[cfg(not(loom))]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Lends a pointer to read through. The caller proves that reading is allowed.
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Lends a pointer to write through. The caller proves that writing is allowed.
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Declares functions `const`, except under loom.
macro_rules! const_fn {
    ($($(#[$attr:meta])* $vis:vis fn $name:ident($($args:tt)*) -> $ret:ty $body:block)*) => {$(
        #[cfg(not(loom))]
        $(#[$attr])* $vis const fn $name($($args)*) -> $ret $body
        #[cfg(loom)]
        $(#[$attr])* $vis fn $name($($args)*) -> $ret $body
    )*};
}

/// An array of `n` equal values, built in a constant except under loom.
macro_rules! repeat {
    ($value:expr; $n:expr) => {{
        #[cfg(not(loom))]
        let array = [const { $value }; $n];
        #[cfg(loom)]
        let array = core::array::from_fn::<_, { $n }, _>(|_| $value);
        array
    }};
}

pub(crate) use {const_fn, repeat};

/// Hints that the caller waits for another thread. loom needs it to run that thread.
pub(crate) fn spin() {
    #[cfg(not(loom))]
    core::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

//! The policy of a store, as types: the error of making a value, and how a thread waits
//! while another makes one.

use core::convert::Infallible;
use core::marker::PhantomData;

use crate::sync;

/// The types that a store goes by; implemented by [`StorePolicy`].
pub trait Policy: 'static {
    /// The error that [`ensure_alive`](crate::Slots::ensure_alive) passes on when making a
    /// value fails.
    type Error: Clone + Send + Sync;
    /// How a thread waits for a value that another thread makes.
    type Park: Park;
}

/// A store's policy: the error of making a value, and the way to wait for one. Only a name;
/// has no values.
#[derive(Debug)]
pub struct StorePolicy<E = Infallible, W = Spin>(PhantomData<fn() -> (E, W)>);

impl<E, W> Policy for StorePolicy<E, W>
where
    E: Clone + Send + Sync + 'static,
    W: Park,
{
    type Error = E;
    type Park = W;
}

/// How a thread waits until another has made a value. `no_std` code cannot put a thread to
/// sleep, so the store's user says how.
///
/// ```
/// use cupola_core::Park;
/// use std::sync::{Condvar, Mutex, PoisonError};
///
/// /// Threads sleep; every wake-up has all of them look again.
/// struct Sleep;
///
/// static LOCK: Mutex<()> = Mutex::new(());
/// static CHANGED: Condvar = Condvar::new();
///
/// impl Park for Sleep {
///     fn wait(_key: usize, ready: &mut dyn FnMut() -> bool) {
///         let mut guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
///         while !ready() {
///             guard = CHANGED.wait(guard).unwrap_or_else(PoisonError::into_inner);
///         }
///     }
///     fn wake(_key: usize) {
///         // Taken so that a thread between looking and sleeping is not missed.
///         drop(LOCK.lock().unwrap_or_else(PoisonError::into_inner));
///         CHANGED.notify_all();
///     }
/// }
/// ```
#[doc(alias("futex", "parking lot"))]
pub trait Park: 'static {
    /// Returns once `ready` has returned true; if it returns earlier, it is called again.
    /// `ready` becomes true before `wake` is called with the same `key`, so a thread that
    /// looks, sleeps, and looks again at every wake-up misses nothing. `ready` is cheap, takes
    /// no lock and does not panic.
    fn wait(key: usize, ready: &mut dyn FnMut() -> bool);

    /// Has every thread that waits under `key` look again. Must not panic: the waiting
    /// threads might never be woken.
    fn wake(key: usize);
}

/// Waits by looking again and again: for values that are made in no time, and for machines
/// without threads to put to sleep.
#[derive(Debug)]
#[doc(alias = "busy waiting")]
pub enum Spin {}

impl Park for Spin {
    fn wait(_: usize, ready: &mut dyn FnMut() -> bool) {
        while !ready() {
            sync::spin();
        }
    }

    fn wake(_: usize) {}
}

//! What a store does differently by type: which free slot goes next, how making a value
//! may fail, and how a thread waits while another makes one.

use core::convert::Infallible;
use core::marker::PhantomData;

use crate::sync;

/// The types that a store goes by; implemented by [`With`].
pub trait Policy: 'static {
    /// Which free slot is used next.
    type Reuse: Reuse;
    /// What [`ensure_alive`](crate::Slots::ensure_alive) passes on when making a value fails.
    type Error: Clone + Send + Sync;
    /// How a thread waits for a value that another thread makes.
    type Park: Park;
}

/// A store's policy: [`Hot`] or [`Late`] reuse, the error of making a value, the way to
/// wait for one. Only a name; has no values.
///
/// ```
/// use cupola_core::{FixedSlots, Late, With, tag};
///
/// // A released slot is used again only when no other is free.
/// static EVENTS: FixedSlots<u64, 256, tag::Event, With<Late>> = FixedSlots::new();
/// let first = EVENTS.insert(1).unwrap();
/// assert_eq!(EVENTS.release(first).unwrap().now(), Some(1));
/// assert_ne!(EVENTS.insert(2).unwrap().index(), first.index());
/// ```
#[derive(Debug)]
#[expect(clippy::type_complexity, reason = "a name made of three")]
pub struct With<R = Hot, E = Infallible, W = Spin>(PhantomData<fn() -> (R, E, W)>);

impl<R, E, W> Policy for With<R, E, W>
where
    R: Reuse,
    E: Clone + Send + Sync + 'static,
    W: Park,
{
    type Reuse = R;
    type Error = E;
    type Park = W;
}

/// Which free slot is used next. Sealed: [`Hot`] or [`Late`].
pub trait Reuse: sealed::Reuse + 'static {}

pub(crate) mod sealed {
    pub trait Reuse {
        /// A released slot rests until no other is free.
        fn is_round() -> bool;
    }
}

/// The lowest free slot of a group goes first, as with a last-in-first-out list: few cache
/// lines are in use, and they stay hot. A slot whose life ends with its last lease waits
/// until no other is free.
#[derive(Debug)]
pub enum Hot {}

/// A released slot rests, as at the end of a first-in-first-out list: slots that rest are
/// used again when no other slot is free, those of a group of 64 together, and before the
/// store grows.
/// Generations are used up evenly, and a stray use of what a slot named before has long to
/// be noticed.
#[derive(Debug)]
pub enum Late {}

impl sealed::Reuse for Hot {
    #[inline(always)]
    fn is_round() -> bool {
        false
    }
}
impl Reuse for Hot {}
impl sealed::Reuse for Late {
    #[inline(always)]
    fn is_round() -> bool {
        !mutant!("slots_late_is_hot")
    }
}
impl Reuse for Late {}

/// How a thread waits until another has made a value. `no_std` code cannot put a thread to
/// sleep, so its user says how.
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
pub trait Park: 'static {
    /// Returns once `ready` has returned true; if it returns earlier, it is called again.
    /// `ready` becomes true before `wake` is called with the same `key`, so a thread that
    /// looks, sleeps, and looks again at every wake-up misses nothing. `ready` is cheap, takes
    /// no lock and does not panic.
    fn wait(key: usize, ready: &mut dyn FnMut() -> bool);

    /// Has every thread that waits under `key` look again. Must not panic: those who wait
    /// might never be woken.
    fn wake(key: usize);
}

/// Waits by looking again and again: for values that are made in no time, and for machines
/// without threads to put to sleep.
#[derive(Debug)]
pub enum Spin {}

impl Park for Spin {
    fn wait(_: usize, ready: &mut dyn FnMut() -> bool) {
        while !ready() {
            sync::spin();
        }
    }

    fn wake(_: usize) {}
}

//! A bounded queue with any number of producers and consumers, in place.
//!
//! D. Vyukov's bounded MPMC queue (2010): each place carries a stamp that says whose turn
//! it is, so the two ends meet only in the places and not in a shared count. Two things
//! differ. A stamp holds twice the number of the lap instead of a position, which makes
//! any `N` from 1 work and zeroed memory an empty queue. And a place that another thread
//! is still busy with is reported as such, where others say "empty" or "full", or wait.

use core::fmt;
use core::hint::spin_loop;
use core::mem::MaybeUninit;

use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, const_fn, repeat};

/// A first-in, first-out queue of at most `N` values that any number of threads push to
/// and pop from. It is in place and never allocates.
///
/// Positions are counted in 64 bits and do not wrap. `N` is any number from 1; a power of
/// two turns the division by `N` in every operation into a shift.
///
/// # What "full" and "empty" mean
/// A thread first claims a place and then moves the value in or out. If it is suspended in
/// between, the threads that come round to this place cannot go on before it does: the
/// queue is not lock-free in the strict sense. No operation waits, though. It returns
/// [`PushError::Busy`] or [`PopError::Busy`], so that `Full` and `Empty` are always true
/// of one instant during the call: `N` values were in the queue, or none.
///
/// Do not use such a queue as a list of free slots. Slots can be free behind a place that
/// is busy, so `Busy` there is a failure to allocate for no reason; the slot stores of
/// this crate find every free slot.
///
/// # Sleeping until there is something
/// `Empty` and `Full` do not order the caller against a producer that is about to look
/// whether the caller sleeps. Put a sequentially consistent fence between announcing the
/// sleep and the last `pop`, and between a `push` and looking for sleepers.
///
/// ```
/// use cupola_core::queue::{Bounded, PopError, PushError};
///
/// static READY: Bounded<u32, 2> = Bounded::new();
///
/// READY.push(7).unwrap();
/// READY.push(8).unwrap();
/// assert_eq!(READY.push(9), Err(PushError::Full(9)));
/// assert_eq!(READY.pop(), Ok(7));
/// assert_eq!(READY.pop(), Ok(8));
/// assert_eq!(READY.pop(), Err(PopError::Empty));
/// ```
pub struct Bounded<T, const N: usize> {
    /// Position of the next pop.
    head: Padded<AtomicU64>,
    /// Position of the next push.
    tail: Padded<AtomicU64>,
    /// The place of a position is its remainder by `N`, its lap the quotient.
    places: [Place<T>; N],
}

/// Room for one value.
struct Place<T> {
    /// `2 * lap` while the push of that lap may have it, `2 * lap + 1` while it holds the
    /// value of that lap.
    stamp: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: values go in and out through `&self` on any thread (T: Send) and no reference to
// one is given out. The stamps and positions let one thread at a time touch a value.
unsafe impl<T: Send, const N: usize> Sync for Bounded<T, N> {}

/// Why a value was not pushed. It comes back.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum PushError<T> {
    /// `N` values were in the queue.
    Full(T),
    /// There is room, but another thread has not finished the pop that makes it: try again
    /// a little later.
    Busy(T),
}

/// Why nothing was popped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PopError {
    /// No value was in the queue.
    Empty,
    /// There is a value, but another thread has not finished its push: try again a little
    /// later.
    Busy,
}

/// How a position is looked at, and how it is passed on. The value needs neither, it goes by
/// the stamp, but `Full` and `Empty` do: whoever sees a position sees the other one at least
/// as it was when this one came about, and so never judges by two that no instant had.
#[inline(always)]
fn look() -> Ordering {
    if mutant!("bounded_relaxed_look") {
        Ordering::Relaxed
    } else {
        Ordering::Acquire
    }
}

#[inline(always)]
fn pass() -> Ordering {
    if mutant!("bounded_relaxed_pass") {
        Ordering::Relaxed
    } else {
        Ordering::Release
    }
}

/// How often an operation has lost its position to another thread.
struct Backoff(u32);

impl Backoff {
    /// Looks at `position` again after a while, 8 to 128 turns, longer from loss to loss:
    /// whoever lost keeps the line away from those who get on. Nobody is waited for.
    #[cold]
    fn reload(&mut self, position: &AtomicU64) -> u64 {
        (0..8_u32 << self.0).for_each(|_| spin_loop());
        self.0 = (self.0 + 1).min(4);
        position.load(look())
    }
}

impl<T> Place<T> {
    const_fn! {
        fn new() -> Self {
            Self { stamp: AtomicU64::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
        }
    }
}

impl<T, const N: usize> Bounded<T, N> {
    /// How many values fit.
    pub const CAPACITY: usize = N;

    const FITS: () = assert!(N > 0, "a queue has at least one place");

    const_fn! {
        /// An empty queue.
        #[must_use]
        pub fn new() -> Self {
            let () = Self::FITS;
            Self {
                head: Padded(AtomicU64::new(0)),
                tail: Padded(AtomicU64::new(0)),
                places: repeat![Place::new(); N],
            }
        }
    }

    /// The place of `position`, and the stamp that it has when the push of this position
    /// may fill it.
    fn place(&self, position: u64) -> (&Place<T>, u64) {
        let length = N as u64;
        (
            &self.places[(position % length) as usize],
            position / length * 2,
        )
    }

    /// Puts `value` at the end of the queue. Everything before this in the calling thread
    /// comes before everything after the pop that returns the value.
    ///
    /// # Errors
    /// [`PushError::Full`] when `N` values were in the queue at one instant during the
    /// call, [`PushError::Busy`] when the place is not ready yet; both return the value.
    pub fn push(&self, value: T) -> Result<(), PushError<T>> {
        let mut tail = self.tail.load(look());
        let mut backoff = Backoff(0);
        loop {
            let (place, vacant) = self.place(tail);
            let acquire = if mutant!("bounded_relaxed_stamp") {
                Ordering::Relaxed
            } else {
                // Pairs with the Release in `pop`: the last value has been moved out.
                Ordering::Acquire
            };
            let stamp = place.stamp.load(acquire);
            if stamp == vacant {
                let exchange =
                    self.tail
                        .compare_exchange_weak(tail, tail + 1, pass(), Ordering::Relaxed);
                match exchange {
                    Ok(_) => {
                        place.value.with_mut(|cell| {
                            // SAFETY: the stamp said that this push may have the place, and
                            // the exchange that no other push has; pops wait for the stamp.
                            unsafe { (*cell).write(value) };
                        });
                        let release = if mutant!("bounded_relaxed_publish") {
                            Ordering::Relaxed
                        } else {
                            // Whoever sees the stamp sees the value.
                            Ordering::Release
                        };
                        place.stamp.store(vacant + 1, release);
                        return Ok(());
                    }
                    Err(_) => tail = backoff.reload(&self.tail),
                }
            } else if stamp < vacant {
                // The value of the last lap is there. The head has not passed it, or it has
                // and the pop is under way. Relaxed: the pops that the pushes up to `tail`
                // had to wait for come before, so only a head before their end is old.
                let head = self.head.load(Ordering::Relaxed);
                return Err(if tail - head.min(tail) >= N as u64 {
                    PushError::Full(value)
                } else {
                    PushError::Busy(value)
                });
            } else {
                // Another push had this position.
                tail = backoff.reload(&self.tail);
            }
        }
    }

    /// Takes the value at the front of the queue.
    ///
    /// # Errors
    /// [`PopError::Empty`] when no value was in the queue at one instant during the call,
    /// [`PopError::Busy`] when the first value is not ready yet.
    pub fn pop(&self) -> Result<T, PopError> {
        let mut head = self.head.load(look());
        let mut backoff = Backoff(0);
        loop {
            let (place, vacant) = self.place(head);
            // Acquire: pairs with the Release in `push`, so the value is seen.
            let stamp = place.stamp.load(Ordering::Acquire);
            if stamp == vacant + 1 {
                let exchange =
                    self.head
                        .compare_exchange_weak(head, head + 1, pass(), Ordering::Relaxed);
                match exchange {
                    Ok(_) => {
                        let value = place.value.with(|cell| {
                            // SAFETY: the stamp said that the value is there, and the
                            // exchange that no other pop has it; pushes wait for the stamp.
                            unsafe { (*cell).assume_init_read() }
                        });
                        // Release: the value is out before the next push writes over it.
                        place.stamp.store(vacant + 2, Ordering::Release);
                        return Ok(value);
                    }
                    Err(_) => head = backoff.reload(&self.head),
                }
            } else if stamp <= vacant {
                // Nothing is there. The tail has not passed the place, or it has and the
                // push is under way. Relaxed: as in `push`.
                let tail = self.tail.load(Ordering::Relaxed);
                let empty = mutant!("bounded_busy_is_empty") || tail <= head;
                return Err(if empty {
                    PopError::Empty
                } else {
                    PopError::Busy
                });
            } else {
                // Another pop had this position.
                head = backoff.reload(&self.head);
            }
        }
    }

    /// Values in the queue, those under way included; a hint while other threads use it.
    #[must_use]
    pub fn len(&self) -> usize {
        let head = self.head.load(Ordering::Relaxed);
        let tail = self.tail.load(Ordering::Relaxed);
        tail.saturating_sub(head).min(N as u64) as usize
    }

    /// Whether the queue holds nothing; a hint while other threads use it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T, const N: usize> Drop for Bounded<T, N> {
    fn drop(&mut self) {
        // Nobody else is here, so nothing is under way.
        while self.pop().is_ok() {}
    }
}

impl<T, const N: usize> Default for Bounded<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> fmt::Debug for Bounded<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("len", &self.len())
            .field("capacity", &N)
            .finish_non_exhaustive()
    }
}

impl<T> PushError<T> {
    /// The value that was not pushed.
    pub fn into_value(self) -> T {
        match self {
            Self::Full(value) | Self::Busy(value) => value,
        }
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Busy(_) => "Busy(..)",
        })
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the queue is full",
            Self::Busy(_) => "another thread has not finished the pop that makes room",
        })
    }
}

impl<T> core::error::Error for PushError<T> {}

impl fmt::Display for PopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the queue is empty",
            Self::Busy => "another thread has not finished its push",
        })
    }
}

impl core::error::Error for PopError {}

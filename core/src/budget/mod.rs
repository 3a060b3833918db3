//! `Budget`: bytes charged against a limit before anything is created. A pool of
//! `cupola-managers` has one, and pools that share a limit share one.
//!
//! Bytes in use and an epoch of the limit share one word. Charging is a compare-exchange
//! on that word, so the bytes never pass the limit for an instant, and a charge that
//! looked at an old limit fails its exchange and looks again. Adding first and checking
//! afterwards would let a doomed request push out one that fits.

mod error;
mod reservation;
mod size;

use core::fmt;

pub use error::{OverBudget, OverRelease};
pub use reservation::Reservation;
pub use size::{ParseBytesError, parse_bytes};

use crate::pressure::Pressure;
use crate::sync::{AtomicU64, Ordering, const_fn};

const BYTES_BITS: u32 = 48;
const EPOCH: u64 = 1 << BYTES_BITS;
const BYTES: u64 = EPOCH - 1;

/// A limit in bytes, and the bytes charged against it.
///
/// Lock-free. The bytes in use exceed the limit only when [`set_limit`](Self::set_limit)
/// lowers it below them; nothing is granted then until they fit again. A refused request
/// changes nothing, so it makes no other request fail.
///
/// ```
/// use cupola_core::{Budget, Pressure};
///
/// let budget = Budget::new(1000);
/// let reservation = budget.reserve(600).unwrap();
/// let refusal = budget.reserve(500).unwrap_err();
/// assert_eq!((refusal.requested, refusal.used, refusal.limit), (500, 600, 1000));
///
/// let bytes = reservation.commit(); // the memory exists: it stays charged
/// assert_eq!(budget.pressure(), Pressure::Medium);
/// budget.release(bytes).unwrap(); // the memory is gone
/// assert_eq!((budget.used(), budget.peak()), (0, 600));
/// ```
pub struct Budget {
    /// Epoch of the limit (16 bits) above the bytes in use (48 bits).
    state: AtomicU64,
    limit: AtomicU64,
    peak: AtomicU64,
}

impl Budget {
    /// The largest limit: 2^48 - 1 bytes (256 TiB). A larger one means this one.
    pub const MAX_LIMIT: u64 = BYTES;

    const_fn! {
        /// A budget of `limit` bytes (at most [`MAX_LIMIT`](Self::MAX_LIMIT)) with nothing
        /// in use.
        #[must_use]
        pub fn new(limit: u64) -> Self {
            Self {
                state: AtomicU64::new(0),
                limit: AtomicU64::new(clamp(limit)),
                peak: AtomicU64::new(0),
            }
        }
    }

    /// Charges `bytes`. They are given back when the reservation is dropped, unless it is
    /// committed.
    ///
    /// # Errors
    /// [`OverBudget`] when `bytes` do not fit; nothing is charged then.
    #[inline]
    pub fn reserve(&self, bytes: u64) -> Result<Reservation<'_>, OverBudget> {
        self.charge(bytes)?;
        Ok(Reservation::new(self, bytes))
    }

    #[inline]
    fn charge(&self, requested: u64) -> Result<(), OverBudget> {
        if mutant!("budget_add_then_check") {
            let (before, limit) = (
                self.state.fetch_add(requested, Ordering::Acquire),
                self.limit(),
            );
            let used = before & BYTES;
            if used + requested > limit {
                self.state.fetch_sub(requested, Ordering::Release);
                return Err(OverBudget {
                    requested,
                    used,
                    limit,
                });
            }
            return Ok(());
        }
        // Acquire, here and on failure: pairs with the Release in `set_limit`, so the limit
        // that is read next is at least as new as the epoch just read.
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let used = state & BYTES;
            // Acquire: the changes of `state` before this limit was set are seen when `state`
            // is looked at once more.
            let limit = self.limit.load(Ordering::Acquire);
            if limit.checked_sub(used).is_none_or(|room| room < requested) {
                // The limit may be newer than the bytes in use, and the request have fitted
                // all the time: into the old limit with the old bytes, and into the new.
                let now = self.state.load(Ordering::Acquire);
                if now != state && !mutant!("budget_torn_refusal") {
                    state = now;
                    continue;
                }
                return Err(OverBudget {
                    requested,
                    used,
                    limit,
                });
            }
            // The new sum is at most the limit, so it leaves the epoch alone.
            match self.state.compare_exchange_weak(
                state,
                state + requested,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// Gives back `bytes` of a committed reservation.
    ///
    /// # Errors
    /// [`OverRelease`] when fewer bytes are in use; nothing is given back then.
    #[inline]
    pub fn release(&self, bytes: u64) -> Result<(), OverRelease> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let used = state & BYTES;
            if bytes > used {
                return Err(OverRelease {
                    requested: bytes,
                    used,
                });
            }
            // Before the exchange: a thread that sees fewer bytes in use sees the peak too.
            if !mutant!("budget_late_peak") {
                self.raise_peak(used);
            }
            // Release: the freeing of the memory comes before the reservation that reuses its
            // bytes.
            match self.state.compare_exchange_weak(
                state,
                state - bytes,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    if mutant!("budget_late_peak") {
                        self.raise_peak(used);
                    }
                    return Ok(());
                }
                Err(now) => state = now,
            }
        }
    }

    /// Changes the limit (at most [`MAX_LIMIT`](Self::MAX_LIMIT)) and returns the bytes in
    /// use at that instant. From then on nothing is granted beyond the new limit, not even
    /// to a request that had already begun. Bytes in use stay in use: when they are more
    /// than the limit, the difference is the caller's to free.
    pub fn set_limit(&self, limit: u64) -> u64 {
        // Release: pairs with the Acquire loads of the limit in `charge` and `look`.
        self.limit.store(clamp(limit), Ordering::Release);
        // A new epoch: exchanges that looked at an older limit fail. It wraps, which is
        // harmless: a charge would have to sleep through exactly 65 536 changes.
        let step = if mutant!("budget_no_epoch") { 0 } else { EPOCH };
        // Release: a charge that sees this epoch sees this limit.
        self.state.fetch_add(step, Ordering::Release) & BYTES
    }

    /// The limit in bytes.
    #[must_use]
    #[inline]
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Bytes in use: reserved or committed.
    #[must_use]
    #[inline]
    pub fn used(&self) -> u64 {
        self.state.load(Ordering::Relaxed) & BYTES
    }

    /// The most bytes that were ever in use at a time. It never falls.
    #[must_use]
    #[inline]
    pub fn peak(&self) -> u64 {
        // Fewer bytes are in use than before only after a release, which has raised the peak
        // first. Acquire: so that the peaks of all releases up to this state are seen.
        let used = self.state.load(Ordering::Acquire) & BYTES;
        used.max(self.peak.load(Ordering::Relaxed))
    }

    /// Bytes that would still fit.
    #[must_use]
    #[inline]
    pub fn available(&self) -> u64 {
        let (used, limit) = self.look();
        limit.saturating_sub(used)
    }

    /// The level of usage.
    #[must_use]
    #[inline]
    pub fn pressure(&self) -> Pressure {
        let (used, limit) = self.look();
        Pressure::of(used, limit)
    }

    /// Bytes in use and the limit that they are counted against, at one instant. Starts
    /// again when other threads have changed the budget meanwhile.
    #[inline]
    fn look(&self) -> (u64, u64) {
        // Acquire: the limit is at least as new as the epoch, and changes of the word before
        // the limit was set show in the second look at the word.
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let limit = self.limit.load(Ordering::Acquire);
            let now = self.state.load(Ordering::Acquire);
            if now == state || mutant!("budget_torn_look") {
                return (state & BYTES, limit);
            }
            state = now;
        }
    }

    /// Counts `used` bytes, which soon will not be in use, towards the peak. Charges need not
    /// raise it: the bytes that they have charged are in use.
    ///
    /// Looks before it writes: in a steady state the peak does not move, and a word that
    /// no thread writes is not contended for.
    #[inline]
    fn raise_peak(&self, used: u64) {
        if self.peak.load(Ordering::Relaxed) < used {
            self.peak.fetch_max(used, Ordering::Relaxed);
        }
    }
}

#[inline]
const fn clamp(limit: u64) -> u64 {
    if limit > BYTES { BYTES } else { limit }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("used", &self.used())
            .field("peak", &self.peak())
            .field("limit", &self.limit())
            .finish()
    }
}

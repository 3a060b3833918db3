//! `Budget`: bytes charged against a limit before anything is created.
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
        self.reserve_up_to(bytes, bytes)
    }

    /// Charges as many bytes as fit, at most `most` and at least `least`: for a cache or a
    /// staging buffer that makes do with less. A `most` below `least` counts as `least`.
    ///
    /// # Errors
    /// [`OverBudget`] when `least` bytes do not fit; nothing is charged then.
    #[inline]
    pub fn reserve_up_to(&self, least: u64, most: u64) -> Result<Reservation<'_>, OverBudget> {
        let bytes = self.charge(least, most)?;
        Ok(Reservation::new(self, bytes))
    }

    /// Charges from `least` to `most` bytes, and says how many.
    #[inline]
    fn charge(&self, least: u64, most: u64) -> Result<u64, OverBudget> {
        if mutant!("budget_add_then_check") {
            let (before, limit) = (self.state.fetch_add(least, Ordering::Acquire), self.limit());
            let used = before & BYTES;
            if used + least > limit {
                self.state.fetch_sub(least, Ordering::Release);
                let requested = least;
                return Err(OverBudget {
                    requested,
                    used,
                    limit,
                });
            }
            return Ok(least);
        }
        // Acquire, here and on failure: pairs with the Release in `set_limit`, so the limit
        // that is read next is at least as new as the epoch just read.
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let used = state & BYTES;
            // Acquire: what came before this limit was set is seen when `state` is looked at
            // once more.
            let limit = self.limit.load(Ordering::Acquire);
            let Some(room) = limit.checked_sub(used).filter(|&room| least <= room) else {
                // The limit may be newer than the bytes in use, and the request have fitted
                // all the time: into the old limit with the old bytes, and into the new.
                let now = self.state.load(Ordering::Acquire);
                if now != state && !mutant!("budget_torn_refusal") {
                    state = now;
                    continue;
                }
                return Err(OverBudget {
                    requested: least,
                    used,
                    limit,
                });
            };
            let bytes = room.min(most.max(least));
            // What is in use then is at most the limit, so the sum leaves the epoch alone.
            match self.state.compare_exchange_weak(
                state,
                state + bytes,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return Ok(bytes),
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
            // Before the exchange: whoever sees less in use sees how much it was.
            if !mutant!("budget_late_peak") {
                self.raise_peak(used);
            }
            // Release: what freed the memory comes before the reservation that reuses its
            // bytes. Acquire: see `settle`.
            match self.state.compare_exchange_weak(
                state,
                state - bytes,
                Ordering::AcqRel,
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
    /// to a request that had already begun. What is in use stays in use: when that is more
    /// than the limit, the difference is the caller's to free.
    pub fn set_limit(&self, limit: u64) -> u64 {
        // Release: pairs with the Acquire of those who look at the limit.
        self.limit.store(clamp(limit), Ordering::Release);
        // A new epoch: exchanges that looked at an older limit fail. It wraps, which is
        // harmless: a charge would have to sleep through exactly 65 536 changes.
        let step = if mutant!("budget_no_epoch") { 0 } else { EPOCH };
        // Acquire: see `settle`.
        self.state.fetch_add(step, Ordering::AcqRel) & BYTES
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
        // What is in use is less than it was only after a release, which has raised the peak
        // before. Acquire: so that this is seen, of all releases up to this state.
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

    /// How full the budget is.
    #[must_use]
    #[inline]
    pub fn pressure(&self) -> Pressure {
        let (used, limit) = self.look();
        Pressure::of(used, limit)
    }

    /// Bytes in use and the limit that they are counted against, at one instant. Starts
    /// again when others have changed the budget meanwhile.
    #[inline]
    pub(crate) fn look(&self) -> (u64, u64) {
        // Acquire: the limit is at least as new as the epoch, and what came before the limit
        // was set shows in the second look at the word.
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

    /// Takes a place among the changes of this budget without changing it: each change
    /// either comes before, and is seen from here on, or its maker sees from then on what
    /// the caller has done so far.
    #[inline]
    pub(crate) fn settle(&self) {
        self.state.fetch_add(0, Ordering::AcqRel);
    }

    /// `used` bytes were in use, and soon will not be. Charges need not raise the peak: what
    /// they have charged is in use.
    ///
    /// Looks before it writes: in a steady state the peak does not move, and a word that
    /// nobody writes is not fought over.
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

//! `Ledger`: who holds which lease, for those who want to know.
//!
//! A slot counts its leases and no more; a place for a name in each would cost everybody.
//! A ledger is a store of its own, beside any number of others, in which leases that are
//! taken through it are written down.

use core::fmt;
use core::ops::Deref;

use super::{FixedSlots, HandleError, InCell, Layout, Lease, Policy, Slots, WeakLease};
use crate::handle::{Handle, Tag, tag};
use crate::sync::{AtomicU64, Ordering, const_fn};

/// Leases on record, at most `N` at a time, each with the `H` (a name, a number) of its
/// holder. A lease beyond them is granted and counted as [`missed`](Self::missed). One ledger
/// serves any number of stores.
///
/// ```
/// use cupola_core::{FixedSlots, Ledger, tag};
///
/// static STREAMS: FixedSlots<u64, 64, tag::Stream> = FixedSlots::new();
/// static LEDGER: Ledger<&str, 128> = Ledger::new();
///
/// let handle = STREAMS.insert(7).unwrap();
/// let lease = LEDGER.get(&STREAMS, handle, "download of frame 12").unwrap();
///
/// STREAMS.close();
/// let held = STREAMS.drain(|_, stream| println!("destroyed {stream}"));
/// assert_eq!((held.slots, held.leases), (1, 1));
/// for slot in STREAMS.still_held() {
///     let holders: Vec<_> = LEDGER.holders(&STREAMS, slot.handle).collect();
///     assert_eq!(holders, ["download of frame 12"]);
/// }
/// assert_eq!(lease.release(), Some(7));
/// ```
pub struct Ledger<H, const N: usize> {
    entries: FixedSlots<Entry<H>, N>,
    missed: AtomicU64,
}

struct Entry<H> {
    /// The handle that is leased.
    handle: u64,
    /// The address of its slot: handles of different stores can be equal.
    slot: usize,
    holder: H,
}

impl<H: Copy + Send + Sync, const N: usize> Ledger<H, N> {
    const_fn! {
        /// An empty ledger.
        #[must_use]
        pub fn new() -> Self {
            Self { entries: FixedSlots::new(), missed: AtomicU64::new(0) }
        }
    }

    /// As [`Slots::get`], on record as held by `holder` until the lease ends.
    ///
    /// # Errors
    /// As `get`.
    pub fn get<'s, L, G, P, T>(
        &'s self,
        store: &'s Slots<L, G, P>,
        handle: Handle<G>,
        holder: H,
    ) -> Result<LedgerLease<'s, T, G, H, N>, HandleError>
    where
        L: Layout<Cell = InCell<T, P::Error>>,
        G: Tag,
        P: Policy,
    {
        let weak = store.weak(handle).ok_or(HandleError::Stale)?;
        self.promote(weak, holder)
    }

    /// As [`WeakLease::promote`], on record as held by `holder` until the lease ends.
    ///
    /// # Errors
    /// As `promote`.
    pub fn promote<'s, T, G: Tag>(
        &'s self,
        weak: WeakLease<'s, T, G>,
        holder: H,
    ) -> Result<LedgerLease<'s, T, G, H, N>, HandleError> {
        // First the record, then the lease: no lease is without one, not for an instant.
        let entry = self.entries.insert(Entry {
            handle: weak.handle().to_bits(),
            slot: weak.slot_address(),
            holder,
        });
        let record = Record {
            ledger: self,
            entry: entry.ok(),
        };
        let order = if mutant!("ledger_relaxed_record") {
            Ordering::Acquire
        } else {
            Ordering::AcqRel
        };
        let lease = weak.promote_with(order)?;
        if record.entry.is_none() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(LedgerLease { lease, record })
    }

    /// Those who hold leases on what `handle` names in `store`, in no order. While leases come
    /// and go, one that is about to be granted or has just ended may be among them.
    pub fn holders<'s, L, G, P, T>(
        &'s self,
        store: &Slots<L, G, P>,
        handle: Handle<G>,
    ) -> impl Iterator<Item = H> + use<'s, L, G, P, T, H, N>
    where
        L: Layout<Cell = InCell<T, P::Error>>,
        G: Tag,
        P: Policy,
    {
        let slot = store.weak(handle).map(|weak| weak.slot_address());
        self.entries.iter().filter_map(move |entry| {
            let entry = self.entries.get(entry).ok()?;
            let ours = entry.handle == handle.to_bits() && Some(entry.slot) == slot;
            let holder = ours.then_some(entry.holder);
            // Not dropped: an entry that was taken out meanwhile goes with this look at it.
            drop(entry.release());
            holder
        })
    }

    /// Leases that were granted while the ledger was full, since it was made.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

impl<H: Copy + Send + Sync, const N: usize> Default for Ledger<H, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H, const N: usize> fmt::Debug for Ledger<H, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("entries", &self.entries.live())
            .field("missed", &self.missed.load(Ordering::Relaxed))
            .finish()
    }
}

/// An entry of a ledger, taken out when dropped.
struct Record<'s, H, const N: usize> {
    ledger: &'s Ledger<H, N>,
    entry: Option<Handle<tag::Slot>>,
}

impl<H, const N: usize> Drop for Record<'_, H, N> {
    fn drop(&mut self) {
        if let Some(entry) = self.entry {
            // Whoever looks at the entry at this instant takes it out.
            let _ = self.ledger.entries.release(entry);
        }
    }
}

/// A [`Lease`] that is on record in a [`Ledger`].
pub struct LedgerLease<'s, T, G, H, const N: usize> {
    // In this order: the lease ends before its record.
    lease: Lease<'s, T, G>,
    record: Record<'s, H, N>,
}

impl<T, G, H, const N: usize> LedgerLease<'_, T, G, H, N> {
    /// The handle that this is a lease of.
    #[must_use]
    pub fn handle(&self) -> Handle<G> {
        self.lease.handle()
    }

    /// As [`Lease::release`].
    #[must_use = "the value of a released slot is the caller's to destroy"]
    pub fn release(self) -> Option<T> {
        let Self { lease, record } = self;
        let value = lease.release();
        drop(record);
        value
    }
}

impl<T, G, H, const N: usize> Deref for LedgerLease<'_, T, G, H, N> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.lease
    }
}

impl<T, G: Tag, H, const N: usize> fmt::Debug for LedgerLease<'_, T, G, H, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LedgerLease").field(&self.handle()).finish()
    }
}

//! `LeaseStock`: leases of one object that a thread hands out and takes back without writing to a
//! word that other threads write.
//!
//! A lease is counted in the word of its node, so taking and ending one costs a locked instruction
//! each, on a cache line that all users of the object share. A stock takes many at a time, as a
//! magazine does with memory, and each of them is a lease like any other: the object is alive as
//! long as there is one. This is weighted reference counting (Bevan; Watson and Watson, 1987).
//!
//! But no user has the leases in stock, and an object whose last user goes must end then. So the
//! node also says how many leases stocks have taken ([`Node::stocked`]). A thread whose lease's end
//! would leave no more than those has all stocks given back first, while its own lease keeps the
//! object; after that the count is exact. No last user is missed:
//!
//! * A growth raises the count and the figure alike. A stock that is given back lowers the count by no
//!   more than the figure. A lease that goes from a user into stock, or back, changes neither. So
//!   what the count has over the figure falls with the end of a lease alone.
//! * A lease that ends while there is a stock ([`Word::has_stock`]) ends under the lock that growths
//!   take. Within it the figure only falls, so the one that was read is no lower than the true one.
//!
//! A thread that ends gives its stock back itself. A last user that goes meanwhile finds no holder to
//! ask: the object ends with that stock then, a moment later.

use std::mem::ManuallyDrop;
use std::sync::{PoisonError, Weak};

use cupola_core::Tag;

use super::node::Node;
use super::word::{MOST_LEASES, STOCK, Word};
use super::{Leased, Reusable};
use crate::sync::{Mutex, MutexGuard, Ordering};

/// Requests in a row without a lease in stock, before a stock is worth its making and its end.
const PATIENCE: i32 = if cfg!(loom) { 1 } else { 8 };
/// Where that count begins after a growth that was refused.
const REFUSED: i32 = -1000;
/// Leases of the first growth; each further one doubles the stock.
const FIRST: u32 = if cfg!(loom) { 2 } else { 16 };
/// Leases that one stock may have or have handed out.
const MOST: u32 = if cfg!(loom) { 2 } else { 4096 };

/// The owner of a [`LeaseStock`].
pub(crate) trait LeaseHolder: Send + Sync {
    /// Gives all its leases up, and ends the one that is left then, outside of locks.
    fn give_back(&self);
}

type Known = Vec<Weak<dyn LeaseHolder>>;

/// Those that have leases of an object in stock, as the object knows them.
pub(crate) struct LeaseHolders {
    known: Mutex<Known>,
    /// Tells loom that the lock is used, and when it goes.
    #[cfg(loom)]
    memory: crate::sync::UnsafeCell<()>,
}

#[cfg(loom)]
// SAFETY: the cell is only ever marked and holds nothing.
unsafe impl Sync for LeaseHolders {}

impl LeaseHolders {
    pub(crate) fn new() -> Self {
        Self {
            known: Mutex::new(Vec::new()),
            #[cfg(loom)]
            memory: crate::sync::UnsafeCell::new(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells loom that the lock is used.
    #[cfg_attr(not(loom), expect(clippy::unused_self, reason = "for loom"))]
    fn touch(&self) {
        #[cfg(loom)]
        self.memory.with(|_| ());
    }
}

#[cfg(loom)]
impl Drop for LeaseHolders {
    fn drop(&mut self) {
        self.memory.with_mut(|_| ());
    }
}

/// Has these give back what they have, outside of locks. The caller has a lease.
fn give_back(known: &[Weak<dyn LeaseHolder>]) {
    let there = known.iter().filter_map(Weak::upgrade);
    there.for_each(|holder| holder.give_back());
}

/// Leases of one object, for one thread at a time. All are of one life: they keep it.
pub(crate) struct LeaseStock<T: Reusable, G: Tag> {
    /// One of the leases, which names the node and stays here; there if `quota` is not 0.
    first: Option<Leased<T, G>>,
    /// How many more there are.
    more: u32,
    /// How many leases the node counts as this stock's.
    quota: u32,
    /// Requests in a row that found nothing here.
    missed: i32,
    /// The node and the life that get no stock here any more: another thread had it given back,
    /// which costs a barrier.
    barred: Option<(u32, u64)>,
}

impl<T: Reusable, G: Tag> LeaseStock<T, G> {
    pub(crate) const EMPTY: Self = Self {
        first: None,
        more: 0,
        quota: 0,
        missed: 0,
        barred: None,
    };

    /// A lease of the object that `of` leases.
    #[inline(always)]
    pub(crate) fn take(&mut self, of: &Leased<T, G>) -> Option<Leased<T, G>> {
        if self.more > 0
            && let Some(first) = &self.first
            && first.is(of)
        {
            self.more -= 1;
            // SAFETY: the word counts this lease: it was one of `more`.
            return Some(unsafe { first.again() });
        }
        self.missed = self.missed.saturating_add(1);
        None
    }

    /// Takes a lease in; gives it back where it is another object's, or one too many.
    #[inline(always)]
    pub(crate) fn put(&mut self, lease: Leased<T, G>) -> Option<Leased<T, G>> {
        if let Some(first) = &self.first
            && first.is(&lease)
            && self.more + 1 < self.quota
        {
            self.more += 1;
            // It stays counted, as one of `more`.
            let _counted = ManuallyDrop::new(lease);
            return None;
        }
        Some(lease)
    }

    /// Whether it has nothing.
    #[cfg(all(test, loom))]
    pub(crate) fn is_empty(&self) -> bool {
        self.quota == 0
    }

    /// Whether [`grow`](Self::grow) is worth a try.
    #[inline]
    pub(crate) fn wants_more(&self) -> bool {
        self.missed >= PATIENCE
    }

    /// Takes more leases of the object that `of` leases, which knows the stock by its holder.
    pub(crate) fn grow(&mut self, of: &Leased<T, G>, holder: Weak<dyn LeaseHolder>) {
        self.missed = REFUSED;
        let is_others = |first: &Leased<T, G>| !first.is(of);
        let more = self.quota.max(FIRST).min(MOST - self.quota);
        if more == 0 || self.first.as_ref().is_some_and(is_others) || self.barred == Some(of.life())
        {
            return;
        }
        let Some(holders) = T::holders(of) else {
            return;
        };
        let mut known = holders.lock();
        // SAFETY: this thread has the lock, and the leases are put in here.
        if !unsafe { of.take_stock(more) } {
            return;
        }
        (self.quota, self.more, self.missed) = (self.quota + more, self.more + more, 0);
        if self.first.is_none() {
            self.more -= 1;
            // SAFETY: the word counts this lease, which was just taken from `more`.
            self.first = Some(unsafe { of.again() });
            known.retain(|holder| holder.strong_count() > 0);
            known.push(holder);
        }
    }

    /// Gives all leases up but one, which is the caller's to end: outside of locks, because the
    /// object may end with it. With `barred` this stock gets none of this life any more.
    #[must_use]
    pub(crate) fn drain(&mut self, barred: bool) -> Option<Leased<T, G>> {
        let first = self.first.take()?;
        if barred {
            self.barred = Some(first.life());
        }
        // SAFETY: the word counts `more` leases of this stock beside the first, which stays.
        unsafe { first.give_stock(self.more, self.quota) };
        (self.more, self.quota, self.missed) = (0, 0, 0);
        Some(first)
    }
}

impl<T: Reusable, G: Tag> Drop for LeaseStock<T, G> {
    fn drop(&mut self) {
        drop(self.drain(false));
    }
}

impl<T: Reusable, G: Tag> Leased<T, G> {
    /// The node and its life.
    fn life(&self) -> (u32, u64) {
        let node = self.node();
        (node.index, node.word().lives())
    }

    /// Counts so many leases more, as those of a stock. False where there would be too many.
    ///
    /// # Safety
    /// The thread has the lock of the holders, and puts the leases into a stock within it.
    unsafe fn take_stock(&self, count: u32) -> bool {
        let node = self.node();
        let word = node.word();
        if word.leases() + u64::from(count) > MOST_LEASES / 2 {
            return false;
        }
        node.stocked.fetch_add(count, Ordering::Relaxed);
        // The mark changes under the lock only.
        let is_marked = word.has_stock() || mutant!("lease_stock_without_a_mark");
        let mark = if is_marked { 0 } else { STOCK };
        node.word
            .fetch_add(mark + u64::from(count), Ordering::Relaxed);
        true
    }

    /// Ends so many leases of a stock of `quota`.
    ///
    /// # Safety
    /// The word counts them beside this one, and no other code has them.
    unsafe fn give_stock(&self, count: u32, quota: u32) {
        let node = self.node();
        // Relaxed: the caller ends this lease after it, with Release.
        node.word.fetch_sub(u64::from(count), Ordering::Relaxed);
        node.stocked.fetch_sub(quota, Ordering::Relaxed);
    }

    /// Ends this lease where there are stocks, and it is not the last. False when it is, or there are
    /// none any more: then it has not ended.
    #[cold]
    #[inline(never)]
    pub(super) fn end_beside_stock(&self) -> bool {
        while let Some(holders) = T::holders(self) {
            let known = match self.try_end_beside_stock(holders) {
                Ok(ended) => return ended,
                Err(known) => known,
            };
            give_back(&known);
        }
        // In a fork no thread looks for stocks.
        loop {
            let word = self.node().word();
            if word.leases() <= 1 || self.end_at(word) {
                return word.leases() > 1;
            }
        }
    }

    /// Ends this lease, which is not the last, if this is the word still.
    fn end_at(&self, word: Word) -> bool {
        let fewer = word.without_lease().0;
        // Release as of any other end.
        let node = &self.node().word;
        node.compare_exchange(word.0, fewer, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// The part of [`end_beside_stock`](Self::end_beside_stock) within the lock. With an error no
    /// user may be left beside this lease: these are to give back first.
    fn try_end_beside_stock(&self, holders: &LeaseHolders) -> Result<bool, Known> {
        let mut known = holders.lock();
        loop {
            let word = self.node().word();
            if word.leases() <= 1 || !is_beside_stock(self.node(), word) {
                return Ok(false);
            }
            // Where the object knows of no stock, another thread has taken them to give them back,
            // or a holder ends. It has a lease of its own, and looks when it ends that: under this
            // lock, so not before this one has ended.
            let is_free = self.leaves_users(word) || known.is_empty();
            if !(is_free || mutant!("lease_stock_stays")) {
                return Err(std::mem::take(&mut *known));
            }
            if self.end_at(word) {
                // The lock is the object's, which has no lease of this thread's any more: whichever
                // thread ends the last one takes the lock before the object goes.
                holders.touch();
                return Ok(true);
            }
        }
    }

    /// Whether this is the only lease but for those in stock, which are given back if it may be.
    pub(super) fn is_alone(&self) -> bool {
        while let Some(holders) = T::holders(self) {
            let known = {
                let mut known = holders.lock();
                let word = self.node().word();
                if !is_beside_stock(self.node(), word)
                    || self.leaves_users(word)
                    || known.is_empty()
                {
                    break;
                }
                std::mem::take(&mut *known)
            };
            give_back(&known);
        }
        self.node().look().0.leases() == 1
    }

    /// Has all stocks given back.
    pub(super) fn recall(&self) {
        if let Some(holders) = T::holders(self) {
            let known = std::mem::take(&mut *holders.lock());
            give_back(&known);
        }
    }

    /// Whether the end of this lease leaves more than stocks may have, under the lock of the
    /// holders.
    fn leaves_users(&self, word: Word) -> bool {
        let stocked = self.node().stocked.load(Ordering::Relaxed);
        word.leases() > u64::from(stocked) + 1
    }
}

/// Before the last lease ends: waits for threads that have ended theirs under the lock of the
/// holders, which is the object's, and takes the mark away.
///
/// # Safety
/// The node is full, and the caller has a lease of it.
#[cold]
#[inline(never)]
pub(super) unsafe fn end_stocks<T: Reusable>(node: &Node<T>) {
    // SAFETY: the node is full, and stays so while it has the caller's lease.
    let object = unsafe { &node.content().value };
    if let Some(holders) = object.holders()
        && !mutant!("lease_stock_lock_goes_early")
    {
        let _known = holders.lock();
        is_beside_stock(node, node.word());
    }
}

/// Whether there are stocks. Under the lock of the holders: takes the mark away if not.
fn is_beside_stock<T>(node: &Node<T>, word: Word) -> bool {
    if word.has_stock() && node.stocked.load(Ordering::Relaxed) == 0 {
        // Relaxed: a thread that does not see the mark does not take the lock. What was done under it
        // before comes before the object's end there too, because the caller has a lease, and ends it
        // with Release.
        node.word.fetch_sub(STOCK, Ordering::Relaxed);
        return false;
    }
    word.has_stock()
}

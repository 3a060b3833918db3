//! `ThreadCache`: memory of one stream that one thread keeps, ready to hand out again.
//!
//! A hit takes a piece out of a magazine, or puts one in: no driver call, no lock, no atomic
//! read-modify-write, no cache line that another thread writes. The cache's thread owns it by a
//! [`BiasedLock`]; another thread may revoke that, to give the kept pieces back to all threads.

mod leases;

use std::ptr::{self, NonNull};
use std::sync::{Arc, Weak};

pub(crate) use leases::Leased;

use crate::pool::cache::counters::{CacheCounters, add};
use crate::pool::cache::magazine::Magazines;
use crate::pool::cache::size_class::Slot;
use crate::pool::cache::thread_local::List;
use crate::pool::heap::arena::{Arena, Drained};
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::streams::free_stamp::Stamp;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::{Stream, StreamStock};
use crate::sync::UnsafeCell;
use crate::sync::biased_lock::{BiasedLock, Revocation};

/// Flag of the lock: its pool is closed, or its thread has ended.
const CLOSED: u32 = 1;

/// Flag of the lock: requests and frees through the cache are recorded, off the hit path.
pub(crate) const RECORDED: u32 = 2;

/// Flag of the lock: requests of the stream go elsewhere, off the hit path.
pub(crate) const ROUTED: u32 = 4;

/// Flag of the lock: the pool has more than its limit, and threads keep nothing.
pub(crate) const OVER_LIMIT: u32 = 8;

/// The pool of a cache, as a thread that ends sees it.
pub(crate) trait CacheOwner: Send + Sync {
    /// Whether its locks may be taken: not in the child of a fork.
    fn is_here(&self) -> bool;

    /// Takes back what a cache has kept, which its stream has used until `stamp`.
    fn take_back(&self, drained: Drained, stamp: Stamp);

    /// Takes a closed cache off the books.
    fn remove(&self, cache: &Arc<ThreadCache>);
}

/// A cache that only its holder touches.
pub(crate) struct RevokedCache<'a> {
    cache: &'a ThreadCache,
    revocation: Revocation<'a>,
}

impl RevokedCache<'_> {
    /// The number of its driver's stream.
    pub(crate) fn serial(&self) -> u64 {
        self.cache.state.serial()
    }

    /// Bytes that it keeps.
    pub(crate) fn kept(&self) -> u64 {
        // SAFETY: the revocation keeps the owner and other revoking threads out, and nothing is
        // changed.
        let content = self.cache.content.with(|content| unsafe { &*content });
        content.kept()
    }

    /// The pieces that it keeps.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = *const BlockHeader> {
        // SAFETY: the revocation keeps the owner and other revoking threads out, and nothing is
        // changed.
        let content = self.cache.content.with(|content| unsafe { &*content });
        content.pieces()
    }

    /// The arena that it has.
    pub(crate) fn arena(&self) -> Option<&Arena> {
        // SAFETY: the revocation keeps the owner and other revoking threads out, and nothing is
        // changed.
        let content = self.cache.content.with(|content| unsafe { &*content });
        content.arena()
    }

    /// Takes everything out: `give` gets it part by part, with its stamp.
    pub(crate) fn drain(&mut self, give: impl FnMut(Drained, Stamp)) {
        // No earlier stamp: until the revocation the owner may have put a piece in, and the batch
        // of an earlier stamp may be complete without the work on that piece.
        self.drain_at(self.cache.state.stamp(), give);
    }

    fn drain_at(&mut self, stamp: Stamp, mut give: impl FnMut(Drained, Stamp)) {
        self.cache.content.with_mut(|content| {
            // SAFETY: the revocation keeps the owner and other revoking threads out.
            let content = unsafe { &mut *content };
            content.drain().for_each(|drained| give(drained, stamp));
        });
    }

    /// Closes the cache, which keeps nothing from now on, and drains it. The lease is the caller's
    /// to end, outside of locks.
    #[must_use]
    pub(crate) fn close(&mut self, give: impl FnMut(Drained, Stamp)) -> Option<Stream> {
        self.revocation.set_flags(CLOSED);
        self.drain(give);
        // SAFETY: the revocation keeps the owner and other revoking threads out.
        unsafe { self.cache.drain_leases(false) }
    }

    /// Sets flags, which stay when the revocation ends.
    pub(crate) fn set_flags(&self, bits: u32) {
        self.revocation.set_flags(bits);
    }
}

// Cache lines of its own: other threads' caches must not slow it down.
#[repr(align(128))]
pub(crate) struct ThreadCache {
    lock: BiasedLock,
    state: Arc<StreamState>,
    counters: CacheCounters,
    owner: Weak<dyn CacheOwner>,
    /// Where its thread looks for it, and its pool's number there.
    list: (Weak<List>, u64),
    content: UnsafeCell<Magazines>,
    /// Leases of the stream, for buffers: under the lock, as the content.
    leases: UnsafeCell<StreamStock>,
}

// SAFETY: the content is touched under the lock only, and a header by the owner of its piece.
unsafe impl Send for ThreadCache {}
// SAFETY: the lock lets one thread touch the content at a time, and a header has one owner.
unsafe impl Sync for ThreadCache {}

impl AsRef<BiasedLock> for ThreadCache {
    fn as_ref(&self) -> &BiasedLock {
        &self.lock
    }
}

impl ThreadCache {
    pub(crate) fn new(owner: Weak<dyn CacheOwner>, state: &Arc<StreamState>) -> Self {
        Self {
            lock: BiasedLock::new(),
            owner,
            list: (Weak::new(), 0),
            state: Arc::clone(state),
            counters: CacheCounters::default(),
            content: UnsafeCell::new(Magazines::new()),
            leases: UnsafeCell::new(StreamStock::EMPTY),
        }
    }

    /// Makes it a cache that its thread finds in this list, by the number of the pool.
    pub(crate) fn of_thread(mut self, list: &Arc<List>, pool: u64) -> Self {
        self.list = (Arc::downgrade(list), pool);
        self
    }

    /// Its stream, as the pool sees it.
    #[inline]
    pub(crate) fn state(&self) -> &Arc<StreamState> {
        &self.state
    }

    /// Figures of the blocks that went through it.
    #[inline]
    pub(crate) fn counters(&self) -> &CacheCounters {
        &self.counters
    }

    /// Sets flags of the lock; see [`BiasedLock::set_flags`].
    pub(crate) fn set_flags(&self, bits: u32) {
        self.lock.set_flags(bits);
    }

    /// Clears flags of the lock.
    pub(crate) fn clear_flags(&self, bits: u32) {
        self.lock.clear_flags(bits);
    }

    /// Takes it out of its thread's list, where that would keep its bytes.
    pub(crate) fn leave_thread(&self) {
        let (list, pool) = &self.list;
        if let Some(list) = list.upgrade() {
            list.forget(*pool, self);
        }
    }

    /// A number that no other cache of the pool has: not 0.
    #[inline]
    pub(crate) fn name(&self) -> u64 {
        ptr::from_ref(self).addr() as u64
    }

    /// Whether it may keep memory for later. Within `with`, where the flags stay as they are.
    pub(crate) fn may_keep(&self) -> bool {
        self.lock.flags() & OVER_LIMIT == 0
    }

    /// Runs `work` as the owner, unless another thread has revoked that or the cache is closed.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within another call of this or `with`.
    #[inline(always)]
    pub(crate) unsafe fn own<R>(&self, work: impl FnOnce(&mut Magazines) -> R) -> Option<R> {
        // SAFETY: needs the lock's owner, outside of it: the two conditions of `own`.
        if !unsafe { self.lock.enter_as_owner() } {
            return None;
        }
        // SAFETY: the owner is inside, so no other thread touches the content.
        let result = self
            .content
            .with_mut(|content| work(unsafe { &mut *content }));
        // SAFETY: needs the owner, inside: `enter_as_owner` has returned true.
        unsafe { self.lock.leave_as_owner() };
        Some(result)
    }

    /// Runs `work` as the owner, and waits where a revocation or a flag keeps the owner out.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within another call of this or `own`.
    pub(crate) unsafe fn with<R>(&self, work: impl FnOnce(&mut Magazines) -> R) -> R {
        // SAFETY: needs the lock's owner, outside of it: the two conditions of `with`.
        if unsafe { self.lock.enter_as_owner() } {
            // SAFETY: the owner is inside, so no other thread touches the content.
            let result = self
                .content
                .with_mut(|content| work(unsafe { &mut *content }));
            // SAFETY: needs the owner, inside: `enter_as_owner` has returned true.
            unsafe { self.lock.leave_as_owner() };
            return result;
        }
        // SAFETY: needs the lock's owner, outside of it: the caller's thread is, and did not enter.
        let _held = unsafe { self.lock.lock_as_owner() };
        // SAFETY: the owner holds the lock, so no other thread touches the content.
        self.content
            .with_mut(|content| work(unsafe { &mut *content }))
    }

    /// Runs `work` as the owner, with the lock held; `None` where the cache is closed.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`. The cache
    /// outlives the call, even if it is closed and its pool ends meanwhile.
    pub(crate) unsafe fn with_open<R>(&self, work: impl FnOnce(&mut Magazines) -> R) -> Option<R> {
        // SAFETY: needs the lock's owner, outside of it: conditions of this function.
        let _held = unsafe { self.lock.lock_as_owner() };
        if self.lock.flags() & CLOSED != 0 {
            return None;
        }
        // SAFETY: the owner holds the lock, so no other thread touches the content.
        let result = self
            .content
            .with_mut(|content| work(unsafe { &mut *content }));
        Some(result)
    }

    /// All of these, with their owners and all other threads kept out, for one barrier. The caller
    /// holds the lock of the caches, or no other thread revokes several of these.
    pub(crate) fn revoke_all(caches: &[Arc<Self>]) -> Vec<RevokedCache<'_>> {
        let revocations = BiasedLock::revoke_all(caches.iter().map(|cache| &cache.lock));
        let mut revoked = Vec::with_capacity(caches.len());
        for (cache, revocation) in caches.iter().zip(revocations) {
            revoked.push(RevokedCache { cache, revocation });
        }
        revoked
    }

    /// Revokes this cache alone, and takes everything out.
    #[cfg(all(test, loom))]
    pub(crate) fn drain(&self, give: impl FnMut(Drained, Stamp)) {
        let early =
            mutant!("thread_cache_stamps_before_the_revocation").then(|| self.state.stamp());
        let mut cache = RevokedCache {
            cache: self,
            revocation: self.lock.revoke(),
        };
        match early {
            Some(stamp) => cache.drain_at(stamp, give),
            None => cache.drain(give),
        }
    }

    /// Takes everything out, and nothing is kept here from now on: its thread ends. It waits for
    /// threads that hold a revocation, and needs no barrier, because the owner is the caller.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`.
    #[must_use]
    unsafe fn close_own(&self, mut give: impl FnMut(Drained, Stamp)) -> Option<Stream> {
        // SAFETY: needs the lock's owner, outside of it: conditions of this function.
        let _held = unsafe { self.lock.lock_as_owner() };
        self.lock.set_own_flags(CLOSED);
        let stamp = self.state.stamp();
        self.content.with_mut(|content| {
            // SAFETY: the owner holds the lock, so no other thread touches the content.
            let content = unsafe { &mut *content };
            content.drain().for_each(|drained| give(drained, stamp));
        });
        // SAFETY: the owner holds the lock.
        unsafe { self.drain_leases(false) }
    }

    /// The thread ends: the cache is emptied, and leaves its pool's books.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`.
    pub(crate) unsafe fn retire(self: Arc<Self>) {
        if let Some(pool) = self.owner.upgrade()
            && pool.is_here()
        {
            // SAFETY: the calling thread is the cache's own and not inside it, by this function's
            // own condition.
            let lease = unsafe { self.close_own(|drained, stamp| pool.take_back(drained, stamp)) };
            pool.remove(&self);
            drop(lease);
        }
    }

    /// A hit of an allocation. A buffer's piece has a lease of its stream, if one was in stock.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`. The stream is
    /// the cache's.
    #[inline(always)]
    pub(crate) unsafe fn pop(
        &self,
        (slot, bytes): (Slot, u64),
        requested: u64,
        buffer_on: Option<&Stream>,
    ) -> Option<(NonNull<BlockHeader>, Leased)> {
        // SAFETY: `own` needs the cache's thread, outside of it: the same two conditions here.
        unsafe {
            self.own(|content| {
                let piece = content.pop(slot, bytes)?;
                self.counters.note_out(requested, buffer_on.is_some(), add);
                let leased =
                    buffer_on.map_or(Leased::No, |stream| self.lease_inside(piece, stream));
                Some((piece, leased))
            })
        }?
    }

    /// A hit of a free; false when it is none.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`. The piece
    /// is the caller's to give, has no lease, and its use ends in stream order on the cache's stream.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, piece: NonNull<BlockHeader>) -> bool {
        // SAFETY: `own` needs the cache's thread, outside of it: the same two conditions here; the
        // piece is the caller's.
        unsafe { self.own(|content| self.push_inside(content, piece)) == Some(true) }
    }

    /// The same of a buffer's piece, whose lease goes into stock; one that there is no room for is
    /// the caller's to end.
    ///
    /// # Safety
    /// As of [`push`](Self::push), but that the piece has its lease, to which there is no reference.
    #[inline(always)]
    pub(crate) unsafe fn push_leased(&self, piece: NonNull<BlockHeader>) -> Option<Option<Stream>> {
        let push = |content: &mut Magazines| {
            // SAFETY: the piece is the caller's until it is pushed, and its link is not touched by
            // that; after it, it is this thread's as long as it is within the cache.
            unsafe {
                self.push_inside(content, piece).then(|| {
                    let lease = piece.as_ref().take_lease();
                    (self.leases).with_mut(|leases| (&mut *leases).put(lease))
                })
            }
        };
        // SAFETY: `own` needs the cache's thread, outside of it: the same two conditions here.
        unsafe { self.own(push) }?
    }

    /// # Safety
    /// The calling thread is within the cache, and the piece is the caller's to give.
    #[inline(always)]
    unsafe fn push_inside(&self, content: &mut Magazines, piece: NonNull<BlockHeader>) -> bool {
        // SAFETY: the piece is the caller's.
        let header = unsafe { piece.as_ref() };
        let (slot, bytes) = (header.slot(), header.bytes());
        // A thread that names buffers holds a revocation: so this is looked at in here.
        let pushed = !header.is_named() && content.push(slot, bytes, piece);
        if pushed {
            self.counters.note_in(header.end_life(), add);
        }
        pushed
    }
}

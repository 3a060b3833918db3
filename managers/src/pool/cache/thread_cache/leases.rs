//! The leases of its stream that a thread cache has in stock, for buffers.

use std::ptr::{self, NonNull};

use super::ThreadCache;
use crate::object_pool::LeaseHolder;
use crate::pool::cache::magazine::Magazines;
use crate::pool::cache::thread_local;
use crate::pool::heap::block_header::BlockHeader;
use crate::stream::Stream;

/// Whether a piece got a lease of its stream out of stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leased {
    Yes,
    No,
    /// It did not, and there should be more in stock.
    Grow,
}

impl ThreadCache {
    /// Puts a lease into a buffer's piece that did not come from here, if there is one in stock.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`. The caller
    /// has the piece, in which there is no lease, and the stream is the cache's.
    pub(crate) unsafe fn lease(&self, piece: NonNull<BlockHeader>, stream: &Stream) -> Leased {
        // SAFETY: the conditions of this function, within `own`.
        let leased = unsafe { self.own(|_| self.lease_inside(piece, stream)) };
        leased.unwrap_or(Leased::No)
    }

    /// Takes the lease of a piece in that did not end here; one that there is no room for is the
    /// caller's to end.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`.
    pub(crate) unsafe fn keep_lease(&self, lease: Stream) -> Option<Stream> {
        let mut lease = Some(lease);
        let keep = |_: &mut Magazines| {
            self.leases.with_mut(|leases| {
                // SAFETY: the thread is within the cache, so no other touches the leases.
                let leases = unsafe { &mut *leases };
                lease = lease.take().and_then(|lease| leases.put(lease));
            });
        };
        // SAFETY: needs the cache's thread, outside of it: the two conditions here.
        let _ = unsafe { self.own(keep) };
        lease
    }

    /// Puts a lease into a buffer's piece.
    ///
    /// # Safety
    /// The calling thread is within the cache, and has the piece, in which there is no lease.
    #[inline(always)]
    pub(super) unsafe fn lease_inside(
        &self,
        piece: NonNull<BlockHeader>,
        stream: &Stream,
    ) -> Leased {
        self.leases.with_mut(|leases| {
            // SAFETY: the thread is within the cache, so no other touches the leases.
            let leases = unsafe { &mut *leases };
            match leases.take(stream) {
                Some(lease) => {
                    // SAFETY: the piece is the caller's, and has no lease.
                    unsafe { piece.as_ref().put_lease(lease) };
                    Leased::Yes
                }
                None if leases.wants_more() => Leased::Grow,
                None => Leased::No,
            }
        })
    }

    /// Takes leases of the stream in stock, for buffers to come: the stream keeps its life until its
    /// last user has them given back.
    ///
    /// # Safety
    /// The calling thread is the cache's own, and not within a call of `own` or `with`. The stream is
    /// the cache's, and the pool is there.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn stock_leases(&self, stream: &Stream) {
        let Some(holder) = thread_local::entered(self.list.1, self.state.serial()) else {
            return;
        };
        let grow = |_: &mut Magazines| {
            // SAFETY: the thread is within the cache, so no other touches the leases.
            (self.leases).with_mut(|leases| unsafe { &mut *leases }.grow(stream, holder));
        };
        // SAFETY: the conditions of this function; the pool outlives the call.
        let _ = unsafe { self.with_open(grow) };
    }

    /// Takes the leases out, see [`StreamStock::drain`].
    ///
    /// # Safety
    /// The caller holds the lock: it has a revocation, or is the owner and has locked.
    pub(super) unsafe fn drain_leases(&self, barred: bool) -> Option<Stream> {
        self.leases.with_mut(|leases| {
            // SAFETY: the caller holds the lock, under which alone the leases are touched.
            unsafe { &mut *leases }.drain(barred)
        })
    }
}

impl LeaseHolder for ThreadCache {
    fn give_back(&self) {
        let here = thread_local::recent(self.list.1, self.state.serial());
        let lease = if here.is_some_and(|cache| ptr::eq(cache, self)) {
            // SAFETY: the cache is this thread's, which is not within it: leases end outside of
            // caches.
            let _held = unsafe { self.lock.lock_as_owner() };
            // SAFETY: the owner holds the lock.
            unsafe { self.drain_leases(false) }
        } else {
            let _held = self.lock.revoke();
            // SAFETY: this thread holds the revocation.
            unsafe { self.drain_leases(true) }
        };
        drop(lease);
    }
}

//! A pool among others: the questions of pools that share a limit or a context with it.

use std::any::Any;

use crate::driver::Holds;
use crate::pool::alloc::progress::MemberProgress;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::member::Member;
use crate::pool::state::Pool;

impl Pool {
    /// The pool that a member is.
    pub(crate) fn of_member(member: &dyn Member) -> Option<&Self> {
        member.as_any().downcast_ref()
    }
}

impl Member for Pool {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn is_of_graph(&self) -> bool {
        self.parent.is_some()
    }

    fn sign(&self) -> MemberProgress {
        self.sign_for(false)
    }

    fn bytes_out(&self) -> u64 {
        self.traffic().bytes_out()
    }

    fn bytes_in(&self) -> u64 {
        self.traffic().bytes_in()
    }

    fn reusable(&self) -> u64 {
        self.reusable_now()
    }

    fn buffers_alive(&self) -> usize {
        self.traffic().buffers().0 as usize
    }

    fn buffers_made(&self) -> u64 {
        self.traffic().buffers_out()
    }

    /// A thread that frees a buffer has its cache, or the central lock.
    fn with_buffers(&self, work: &mut dyn FnMut(&BlockHeader)) {
        let caches = self.caches.lock();
        self.caches.heavy();
        let _seized = ThreadCache::revoke_all(&caches);
        self.with_headers(|header| {
            if header.is_buffer() {
                work(header);
            }
        });
    }
}

impl Holds for Pool {
    fn buffers(&self) -> (u64, u64) {
        self.traffic().buffers()
    }
}

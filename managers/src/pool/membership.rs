//! A pool among others: the questions of pools that share a limit or a context with it.

use std::sync::atomic::Ordering;

use crate::driver::Holds;
use crate::error::Result;
use crate::pool::alloc::progress::MemberProgress;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::member::Member;
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::sync::lock;

impl Member for Pool {
    fn number(&self) -> u64 {
        self.number
    }

    fn is_of_graph(&self) -> bool {
        self.parent.is_some()
    }

    fn sign(&self) -> MemberProgress {
        self.sign_for(false)
    }

    #[track_caller]
    fn is_under_way(&self) -> Result<bool> {
        Self::is_under_way(self)
    }

    fn bytes_out(&self) -> u64 {
        self.traffic().bytes_out.load(Ordering::Relaxed)
    }

    fn bytes_in(&self) -> u64 {
        self.traffic().bytes_in.load(Ordering::Relaxed)
    }

    fn reusable(&self) -> u64 {
        self.reusable_now()
    }

    #[track_caller]
    fn give_up_idle(&self, wanted: u64, wait: Wait) -> Result<u64> {
        Self::give_up_idle(self, wanted, wait)
    }

    fn buffers_alive(&self) -> usize {
        self.traffic().buffers().0 as usize
    }

    fn buffers_made(&self) -> u64 {
        self.traffic().buffers_out.load(Ordering::Relaxed)
    }

    /// A thread that frees a buffer has its cache, or the central lock.
    fn with_buffers(&self, work: &mut dyn FnMut(&BlockHeader)) {
        let caches = lock(&self.caches);
        // A buffer's owner that allocates it after this call sees all stores from before it.
        self.barrier.heavy();
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

//! A pool among others: what those that share a limit or a context with it may ask.

use std::sync::atomic::Ordering;

use super::header::Header;
use super::lane::Lane;
use super::member::Member;
use super::patience::Wait;
use super::pool::Pool;
use super::signs::Sign;
use crate::driver::Holds;
use crate::error::Result;
use crate::sync::lock;

impl Member for Pool {
    fn number(&self) -> u64 {
        self.number
    }

    fn is_of_graph(&self) -> bool {
        self.parent.is_some()
    }

    fn sign(&self) -> Sign {
        self.sign_for(false)
    }

    #[track_caller]
    fn is_under_way(&self) -> Result<bool> {
        Self::is_under_way(self)
    }

    fn bytes_out(&self) -> u64 {
        self.flow().bytes_out.load(Ordering::Relaxed)
    }

    fn bytes_in(&self) -> u64 {
        self.flow().bytes_in.load(Ordering::Relaxed)
    }

    fn reusable(&self) -> u64 {
        self.reusable_now()
    }

    #[track_caller]
    fn give_up_idle(&self, wanted: u64, wait: Wait) -> Result<u64> {
        Self::give_up_idle(self, wanted, wait)
    }

    fn buffers_alive(&self) -> usize {
        self.flow().buffers().0 as usize
    }

    fn buffers_made(&self) -> u64 {
        self.flow().buffers_out.load(Ordering::Relaxed)
    }

    /// A thread that frees a buffer has its lane, or the central lock.
    fn with_buffers(&self, work: &mut dyn FnMut(&Header)) {
        let lanes = lock(&self.lanes);
        // What was stored before this call is seen by a buffer's owner that allocates it after.
        self.barrier.heavy();
        let _seized = Lane::revoke_all(&lanes);
        self.with_headers(|header| {
            if header.is_buffer() {
                work(header);
            }
        });
    }
}

impl Holds for Pool {
    fn buffers(&self) -> (u64, u64) {
        self.flow().buffers()
    }
}

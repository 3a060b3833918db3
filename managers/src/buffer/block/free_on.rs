//! The end of a block in the order of another stream than its own.

use std::mem::ManuallyDrop;

use super::Block;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::stream::Stream;

impl Block {
    /// Frees the block in the order of this stream, behind all uses, or gives it back with the
    /// error, like [`free`](Self::free).
    #[track_caller]
    pub(crate) fn free_on(self, stream: &Stream) -> Result<(), (Self, Error)> {
        if stream.is(self.home()) || self.address() == 0 {
            return self.free();
        }
        if let Err(error) = self.check_context(stream) {
            return Err((self, error));
        }
        let mut block = ManuallyDrop::new(self);
        if block.put_behind_on(stream) {
            return Ok(());
        }
        let freed = match block.join_uses_on(stream) {
            Ok(()) => block.put_on(stream),
            refused => refused,
        };
        freed.map_err(|error| (ManuallyDrop::into_inner(block), error))
    }

    /// Gives the piece back to this stream, where [`put_behind`](Self::put_behind) gives it to the
    /// block's own: behind all uses, if that can be done without a call of the driver.
    #[cold]
    #[track_caller]
    fn put_behind_on(&mut self, stream: &Stream) -> bool {
        if self.give_to_graph() {
            return true;
        }
        // SAFETY: the piece is the block's, the lease is there until the block's end, and the pool
        // as long as the piece is out.
        let (header, home, pool) = unsafe {
            let header = &*self.piece.as_ptr();
            (header, header.lease(), &*Pool::of(header))
        };
        let mut others: Vec<&Stream> = Vec::new();
        if let Some(rest) = self.rest_mut() {
            for used in rest.uses_mut() {
                if !used.is(stream) {
                    others.push(used);
                }
            }
        }
        // Its own stream too: work that was there before the block may still use the memory.
        others.push(home);
        let Some(behind) = pool.behind(stream, others.iter().copied()) else {
            return false;
        };
        if let Some(region_hooks) = pool.region_hooks() {
            for other in others {
                region_hooks.behind(header, other);
            }
            region_hooks.end(header, stream, None);
        }
        self.end_peer_uses();
        // After the piece, as in `put_behind_uses`.
        let _leases = self.end();
        // SAFETY: the piece was the block's, which is over; work that uses it is on these streams
        // by now.
        unsafe { Pool::free_behind(self.piece, &behind, None) };
        true
    }

    /// Makes this stream wait for every stream that used the block, and for the block's own;
    /// [`join_uses`](Self::join_uses) does so for the block's own stream.
    #[cold]
    #[track_caller]
    fn join_uses_on(&mut self, stream: &Stream) -> Result<()> {
        // SAFETY: the lease is there until the block's end, and the pool as long as the piece is
        // out.
        let (home, pool) = unsafe {
            let header = self.piece.as_ref();
            (header.lease(), &*Pool::of(header))
        };
        if home.core().poison().is_some() {
            // A lost context takes no order, and needs none, see `join_uses`.
            return Ok(());
        }
        // They stay written down: after an error the block's own stream has not waited for them.
        if let Some(rest) = self.rest_mut() {
            for used in rest.uses_mut() {
                if !used.is(stream) {
                    pool.order(used, stream)?;
                }
            }
        }
        pool.order(home, stream)?;
        if let Some(rest) = self.rest_mut() {
            rest.end_peer_uses(stream);
        }
        Ok(())
    }

    /// Gives the piece back to this stream, which has been made to wait for all uses, where
    /// [`put`](Self::put) gives it to the block's own.
    #[cold]
    #[track_caller]
    fn put_on(&mut self, stream: &Stream) -> Result<()> {
        let (home, rest) = self.end();
        // SAFETY: the piece was the block's, which ends here; the stream has been made to wait for
        // all uses and for the block's own stream, or the context is lost.
        let freed = unsafe { Pool::free_at(self.piece, stream, None) };
        if freed.is_err() {
            self.keep(home, rest);
        }
        freed
    }
}

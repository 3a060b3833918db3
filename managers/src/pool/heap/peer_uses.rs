//! `PeerUses`: which uses of a pool's memory by one context of another device may not be over.
//!
//! A context that loses the access to memory under its work meets a fault. So a block that is used by
//! another context is counted, from before its first use until its end; and its end leaves the place on a
//! stream of the pool that all its uses come before.

use std::sync::{Arc, PoisonError};

use crate::driver::Identity;
use crate::error::Result;
use crate::stream::DeferredTicket;
use crate::sync::{Mutex, MutexGuard};

/// The uses by one context.
#[derive(Default)]
pub(crate) struct PeerUses(Mutex<State>);

#[derive(Default)]
struct State {
    /// Blocks that it has used and that are not freed.
    blocks: usize,
    /// What its uses of blocks that were freed come before.
    freed: Vec<DeferredTicket>,
}

/// What may still use a pool's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InUse {
    blocks: usize,
    freed: usize,
}

impl InUse {
    /// Blocks that were used and that are not freed.
    pub(crate) fn blocks(self) -> usize {
        self.blocks
    }

    /// Blocks that were freed, whose uses are not known to be over.
    pub(crate) fn freed(self) -> usize {
        self.freed
    }
}

impl PeerUses {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block is about to be used by the context.
    pub(crate) fn begin(self: &Arc<Self>, context: Identity) -> PeerUse {
        if !mutant!("peer_use_not_counted") {
            self.lock().blocks += 1;
        }
        PeerUse {
            context,
            uses: Arc::clone(self),
        }
    }

    /// Asks the driver how far the uses of freed blocks have come.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(crate) fn poll(&self) -> Result<()> {
        let freed = self.lock().freed.clone();
        for work in freed {
            work.ticket()?.is_done()?;
        }
        Ok(())
    }

    /// What may not be over, as far as is known without a call of the driver.
    pub(crate) fn in_use(&self) -> Option<InUse> {
        let mut state = self.lock();
        state.freed.retain(|work| !work.is_known_done());
        let in_use = InUse {
            blocks: match mutant!("peer_close_ignores_blocks") {
                true => 0,
                false => state.blocks,
            },
            freed: match mutant!("peer_close_ignores_freed") {
                true => 0,
                false => state.freed.len(),
            },
        };
        (in_use.blocks + in_use.freed > 0).then_some(in_use)
    }
}

/// A block's uses by one context, which the pool stays open to until they are [ended](Self::end). Those that
/// are not, of memory that is left alone for ever, keep it open.
pub(crate) struct PeerUse {
    context: Identity,
    uses: Arc<PeerUses>,
}

impl PeerUse {
    pub(crate) fn context(&self) -> Identity {
        self.context
    }

    /// The block is freed: its uses are over, or come before this.
    pub(crate) fn end(self, behind: DeferredTicket) {
        let mut state = self.uses.lock();
        state.blocks = state.blocks.saturating_sub(1);
        state.freed.retain(|work| !work.is_known_done());
        state.freed.push(behind);
    }
}

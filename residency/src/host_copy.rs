//! `HostCopy`: a slot's bytes in pinned host memory, charged to the host's limit.

use std::sync::Arc;

use cupola_core::Budget;
use cupola_managers::{Context, PinnedBuffer};

use crate::error::{ResidencyError, Result};

/// Pinned memory under a limit, which it is charged to before it is asked for.
#[derive(Debug)]
pub(crate) struct HostMemory {
    /// `None` when it is being dropped.
    buffer: Option<PinnedBuffer<u8>>,
    bytes: u64,
    budget: Arc<Budget>,
}

impl HostMemory {
    /// `bytes` zeros.
    ///
    /// # Errors
    /// That there is no room, or what the driver returned.
    #[track_caller]
    pub(crate) fn new(
        context: &Context,
        budget: &Arc<Budget>,
        bytes: u64,
        slot: &str,
    ) -> Result<Self> {
        let over = || ResidencyError::HostLimit {
            slot: slot.to_owned(),
            bytes,
            left: budget.available(),
        };
        let charge = budget.reserve(bytes).map_err(|_| over())?;
        let len = usize::try_from(bytes).map_err(|_| over())?;
        let buffer = context.buffers().pinned::<u8>(len)?;
        let _: u64 = charge.commit();
        Ok(Self {
            buffer: Some(buffer),
            bytes,
            budget: Arc::clone(budget),
        })
    }

    pub(crate) fn buffer(&self) -> Option<&PinnedBuffer<u8>> {
        self.buffer.as_ref()
    }

    pub(crate) fn buffer_mut(&mut self) -> Option<&mut PinnedBuffer<u8>> {
        self.buffer.as_mut()
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // The pages go first: the limit is on what there is.
        drop(self.buffer.take());
        let _ = self.budget.release(self.bytes);
    }
}

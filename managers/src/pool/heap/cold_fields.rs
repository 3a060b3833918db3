//! `ColdFields`: the fields that few blocks need, apart from their header.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::stream::Stream;
use crate::sync::capacity::Permit;

/// The fields that few blocks need.
#[derive(Default)]
pub(crate) struct ColdFields {
    /// Its place among a limited number of buffers.
    _permit: Option<Permit>,
    /// Streams other than its own that work with the block was put on.
    uses: Mutex<Vec<Stream>>,
}

impl ColdFields {
    /// Of a buffer that has a place among a limited number.
    pub(crate) fn of_permit(permit: Permit) -> Self {
        Self {
            _permit: Some(permit),
            uses: Mutex::default(),
        }
    }

    /// Streams other than its own that work with the block was put on.
    pub(crate) fn lock_uses(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for the block's only user.
    pub(crate) fn uses_mut(&mut self) -> &mut Vec<Stream> {
        self.uses.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn assert_shared<T: Send + Sync>() {}
const _: () = {
    assert_shared::<ColdFields>();
    assert_shared::<Stream>();
};

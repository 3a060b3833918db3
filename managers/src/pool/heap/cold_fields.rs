//! `ColdFields`: the fields that few blocks need, apart from their header.

use std::sync::Mutex;

use crate::stream::Stream;
use crate::sync::capacity::Permit;

/// The fields that few blocks need.
#[derive(Default)]
pub(crate) struct ColdFields {
    /// Its place among a limited number of buffers.
    pub(crate) _permit: Option<Permit>,
    /// Streams other than its own that work with the block was put on.
    pub(crate) uses: Mutex<Vec<Stream>>,
}

const fn assert_shared<T: Send + Sync>() {}
const _: () = {
    assert_shared::<ColdFields>();
    assert_shared::<Stream>();
};

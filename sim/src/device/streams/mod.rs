//! Streams and events.

pub(super) mod event;
pub(super) mod stream;

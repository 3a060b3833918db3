//! Streams and events.

pub(super) mod attributes;
pub(super) mod capture;
pub(super) mod event;
pub(super) mod memop;
pub(super) mod semaphore;
pub(super) mod stream;

//! The way of a call into the device: its arguments, its scope, and the log of those that failed.

pub(super) mod args;
pub(super) mod call;
pub(super) mod logs;

//! Copies and memsets, within a context and between contexts.

pub(super) mod batch;
pub(super) mod copy;
pub(super) mod copy2d;
pub(super) mod copy3d;
pub(super) mod copy_endpoint;
pub(super) mod fill;
pub(super) mod peer;
pub(super) mod region;

pub(in crate::device) use copy_endpoint::Plan;
pub(in crate::device) use fill::check_fill;

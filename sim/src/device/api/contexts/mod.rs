//! Contexts: primary, created and green ones.

pub(super) mod context;
pub(super) mod green;
pub(super) mod primary;

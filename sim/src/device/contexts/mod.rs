//! Contexts: primary, created and green ones, which is current, and whether it still works.

pub(super) mod captured;
pub(super) mod context;
pub(super) mod current;
pub(super) mod green;
pub(super) mod health;
pub(super) mod multiprocessors;

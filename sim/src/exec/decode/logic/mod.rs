//! Comparison, selection, logic and shifts.

pub(super) mod bits;
pub(super) mod compare;
pub(super) mod shift;

//! Arithmetic of integers and floating point.

pub(super) mod approx;
pub(super) mod carry;
pub(super) mod float;
pub(super) mod half;
pub(super) mod integer;
pub(super) mod minmax;
pub(super) mod sign;

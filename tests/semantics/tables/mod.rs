//! The tables, one file for each kind of instruction.

pub(crate) mod approx;
pub(crate) mod atomic;
pub(crate) mod bits;
pub(crate) mod carry;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod formats;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod memory;
pub(crate) mod warp;

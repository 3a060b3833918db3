//! The scenarios of the k-th-call sweep.

mod lifecycle;
pub(crate) mod memory;
mod work;

pub(crate) use lifecycle::lifecycle;
pub(crate) use work::work;

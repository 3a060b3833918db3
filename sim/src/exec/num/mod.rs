//! Arithmetic that the host's instructions do not give directly: directed
//! rounding, small floats, flushing, and the integer corner cases of PTX.

pub(crate) mod float;
pub(crate) mod soft;

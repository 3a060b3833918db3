//! Arithmetic that the host's instructions do not give directly: directed
//! rounding, small floats, flushing, approximations, and the corner cases of PTX.

pub(crate) mod approx;
pub(crate) mod float;
pub(crate) mod soft;

//! What results must be. Nothing here comes from the software device.

pub(crate) mod float;
pub(crate) mod int;

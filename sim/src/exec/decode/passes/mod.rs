//! Passes over a decoded function's code: its layout, and fewer steps.

pub(super) mod cfg;
pub(super) mod fuse;
mod pair;

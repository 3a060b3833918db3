//! Warps, barriers and blocks as data that a worker steps.

pub(crate) mod barrier;
pub(crate) mod block;
mod builtin;
mod calls;
pub(crate) mod frame;
pub(crate) mod warp;

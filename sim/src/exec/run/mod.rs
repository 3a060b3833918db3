//! Warps, barriers and blocks as data that a worker steps.

pub(crate) mod barrier;
pub(crate) mod block;
mod builtin;
mod calls;
mod deadlock;
mod frame;
mod groups;
mod inner_loop;
mod sync;
pub(crate) mod warp;

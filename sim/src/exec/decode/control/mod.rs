//! Control flow: branches, barriers, calls, and what looks across a warp.

pub(super) mod branch;
pub(super) mod call;
pub(super) mod warp;

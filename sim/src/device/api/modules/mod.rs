//! Code: modules, libraries and the linker.

pub(super) mod jit;
pub(super) mod library;
pub(super) mod link;
pub(super) mod module;

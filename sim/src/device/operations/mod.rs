//! What a stream executes: operations, launches, values in memory, and the engines of copies.

pub(super) mod branch;
pub(super) mod engine;
pub(super) mod launch;
pub(super) mod op;
pub(super) mod value;

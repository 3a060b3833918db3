//! Access of one context to another's memory, and the check of its first use.

mod access;
mod first_use;
mod pool;
pub(super) mod switch;

//! Access of one context to another's memory, and the check of its first use.

mod access;
mod first_use;
pub(super) mod switch;

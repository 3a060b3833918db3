//! Limits, of one pool and of several.

mod lowered;
mod many;
mod refusal;
mod shared;

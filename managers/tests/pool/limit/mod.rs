//! Limits, of one pool and of several.

mod lowered;
mod many;
mod processes;
mod refusal;
mod shared;

//! The current context of each thread, and the one state of a context.

mod core;
mod current;
mod intern;
mod reactor;

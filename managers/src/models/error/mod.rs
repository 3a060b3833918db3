//! The first error of a context, what it is blamed on, and what is done about it.

mod latch;
mod launches;
mod policy;

//! Queues between threads that never allocate.
//!
//! [`Bounded`] has places for `N` values and any number of threads at both ends. [`Mpsc`]
//! has no bound, because its nodes are the caller's, and one consumer that takes
//! everything at once: the way home for what other threads free.

mod bounded;
mod mpsc;
mod node;

pub use bounded::{Bounded, PopError, PushError};
pub use mpsc::{Batch, Chain, Mpsc};
pub use node::{Link, Linked, Node};

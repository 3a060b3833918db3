//! The ways in which a program gives items to a pipeline and takes them: all over one engine.

pub(crate) mod feed;
mod flow;
mod iter;
mod multi;
mod producer;
mod run;
#[cfg(feature = "futures")]
mod stream;

pub use multi::{MultiInput, MultiPipeline};
pub use producer::{Consumer, InputSlot, Producer};

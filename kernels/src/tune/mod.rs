//! Which of several ways to launch a kernel is the fastest: measured once, and remembered.
//!
//! ```text
//!   Tuner::choose ── task, device, driver, candidates ── SHA-256 ──> Key
//!                                                                    │
//!                              memory ─> private folder ─> the race of the candidates
//! ```
//!
//! - [`Candidate`]: one of the ways, such as a block size ([`block_sizes`] takes those of an occupancy
//!   curve).
//! - [`TuneTask`]: the kernel, and the class of problems that one winner is good for.
//! - [`Tuner`]: answers from its [cache](crate::cache), or measures: by events on a stream, in rounds of
//!   all candidates, of which slow ones leave early and the one with the lowest median wins.
//!
//! The cache is that of compiled code, with its folder, owner checks, checksums and locks: a file that is
//! damaged, another user's or cannot be written costs a measurement and nothing else.

mod candidate;
mod error;
mod race;
mod report;
mod task;
mod tuner;

pub use candidate::{Candidate, block_sizes};
pub use error::TuneError;
pub use race::TuneConfig;
pub use report::{Trial, TrialOutcome, TuneReport};
pub use task::{ProblemClass, TuneTask};
pub use tuner::{Choice, Tuner};

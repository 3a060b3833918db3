//! `TuneError`: why there is no winner.

use cupola_managers::Error;

use super::report::TuneReport;
use crate::cache::{Failure, Fault};

/// Why no candidate was chosen.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// There was no candidate to choose from.
    #[error("there is no candidate to choose from: name at least one")]
    NoCandidates,
    /// Two candidates have one label, so that one could be taken for the other.
    #[error("two candidates are called {0}: give each a label of its own")]
    SameLabel(String),
    /// Each candidate's launch was refused.
    #[error("no candidate could be launched\n{0}")]
    AllRefused(TuneReport),
    /// A call for the measurement itself failed, or the context is lost.
    #[error(transparent)]
    Driver(#[from] Error),
}

impl Failure for TuneError {
    fn fault(&self) -> Fault<'_> {
        // The next attempt measures again.
        Fault::Machine
    }
}

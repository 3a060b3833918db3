//! Work that a value chooses when its stream gets there: conditional nodes of graphs.
//!
//! The chosen work goes to the front of the stream's queue, and a loop after it once more. So it
//! consists of ordinary operations for threads, schedules, virtual time and faults.

use std::sync::Arc;

use crate::device::graphs::{Choice, Condition};
use crate::device::operations::op::Op;
use crate::device::strict::Trace;

/// An operation of a body.
#[derive(Clone, Debug)]
pub(in crate::device) struct Task {
    pub(in crate::device) op: Op,
    pub(in crate::device) trace: Trace,
}

/// A conditional node of a launch.
#[derive(Debug)]
pub(in crate::device) struct Branch {
    pub(in crate::device) condition: Arc<Condition>,
    pub(in crate::device) choice: Choice,
    /// The work of each of its graphs, in an order that the edges permit.
    pub(in crate::device) bodies: Vec<Vec<Task>>,
}

impl Branch {
    /// What the stream does next, and whether it comes back here after that. Nothing to do is
    /// the end of the branch.
    pub(in crate::device) fn next(&self) -> (&[Task], Again) {
        let body = self.choice.of(self.condition.value());
        let body = body.and_then(|body| self.bodies.get(body));
        match (body, self.choice) {
            (None, _) => (&[], Again::No),
            (Some(body), Choice::While) => (body, Again::Yes),
            (Some(body), Choice::If | Choice::Switch) => (body, Again::No),
        }
    }
}

/// Whether a branch is decided once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Again {
    Yes,
    No,
}

//! What a machine with an order of its own has done.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use crate::device::machine::config::mix;
use crate::device::schedule::clock::Time;

/// How many of the latest steps are kept.
const KEPT: usize = 4096;

/// How many departures are kept.
const DEPARTURES: usize = 64;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Act {
    /// A copy or memset took its engine, or its time began.
    Begin,
    /// An operation that is no kernel took place.
    Do,
    /// A kernel started.
    Launch,
    /// A slice of a block ran: the block's linear index and the instructions, counted once
    /// per warp.
    Slice {
        /// Linear index of the block in its grid.
        block: u64,
        /// Instructions of the slice.
        instructions: u64,
    },
    /// A kernel ended, with or without a fault.
    End,
    /// A function of the host was called.
    Call,
    /// An operation was dropped, because its context has faulted or ends.
    Drop,
}

/// One step: an operation of a stream, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The stream's number in the machine, as `cuStreamGetId` gives it.
    pub stream: u64,
    /// The operation's number in its stream, from 1.
    pub operation: u64,
    /// What happened.
    pub act: Act,
    /// When, in virtual time since the machine was made.
    pub at: Duration,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stream, operation, ..
        } = self;
        write!(f, "{:?}: stream {stream}, operation {operation}: ", self.at)?;
        match self.act {
            Act::Begin => f.write_str("begins"),
            Act::Do => f.write_str("done"),
            Act::Launch => f.write_str("kernel starts"),
            Act::Slice {
                block,
                instructions,
            } => write!(f, "block {block} runs {instructions} instructions"),
            Act::End => f.write_str("kernel ends"),
            Act::Call => f.write_str("host function called"),
            Act::Drop => f.write_str("dropped"),
        }
    }
}

/// What a machine has done, in order. Two runs of a program with the same seed that make the
/// same calls in the same order have equal digests, unless a departure says why not. Several
/// threads of a program make their calls in the same order only if the program sees to it:
/// that they do not is no departure unless two calls overlap.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    digest: u64,
    count: u64,
    steps: VecDeque<Step>,
    departures: Vec<String>,
    pub(super) now: Duration,
}

impl Trace {
    /// A hash of all steps, in order. It is the same on every platform, and may change with
    /// the version of this crate.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// How many steps there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latest steps, oldest first; 4096 at most.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.steps.iter()
    }

    /// What the machine saw that made the order depend on the host's time, so that the same
    /// seed may not replay it: each kind once, 64 at most.
    #[must_use]
    pub fn departures(&self) -> &[String] {
        &self.departures
    }

    /// What the program's clock shows, in virtual time since the machine was made: it
    /// advances when the program waits.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    pub(super) fn add(&mut self, stream: u64, operation: u64, act: Act, at: Time) {
        let (code, block, instructions) = match act {
            Act::Begin => (0, 0, 0),
            Act::Do => (1, 0, 0),
            Act::Launch => (2, 0, 0),
            Act::Slice {
                block,
                instructions,
            } => (3, block, instructions),
            Act::End => (4, 0, 0),
            Act::Call => (5, 0, 0),
            Act::Drop => (6, 0, 0),
        };
        for part in [stream, operation, code, block, instructions, at.picos()] {
            self.digest = mix(self.digest ^ part);
        }
        self.count += 1;
        if self.steps.len() == KEPT {
            self.steps.pop_front();
        }
        self.steps.push_back(Step {
            stream,
            operation,
            act,
            at: at.duration(),
        });
    }

    pub(super) fn depart(&mut self, why: &str) {
        let known = self.departures.iter().any(|departure| departure == why);
        if !known && self.departures.len() < DEPARTURES {
            self.departures.push(why.into());
        }
    }
}

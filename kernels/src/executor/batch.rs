//! `Batch`: executions that were put one after the other, and end in any order.

use std::fmt;
use std::slice;
use std::vec;

use cupola_managers::{Error, Result};

use super::execution::Execution;

/// Executions of [`Executor::batch`](super::Executor::batch), in the order in which they were put.
///
/// Where one was refused, those before it are here, and those after it were not put:
/// [`refusal`](Self::refusal) tells at once, [`join`](Self::join) when the others have ended.
#[derive(Debug)]
#[must_use = "a batch that is dropped runs, and tells nothing"]
pub struct Batch<R> {
    executions: Vec<Execution<R>>,
    refusal: Option<BatchError>,
}

/// The first error of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchError {
    /// The place of the execution in the batch, from 0.
    pub index: usize,
    /// Whether it was put, and failed or could not be waited for; else it was refused, and those after
    /// it were not put. A kernel that fails takes the context with it, and the place is that of the
    /// first execution which was not known to have ended: [`Cause::blame`](cupola_managers::Cause)
    /// names launches.
    pub was_put: bool,
    /// The error.
    pub error: Error,
}

impl<R> Batch<R> {
    pub(super) fn new() -> Self {
        Self {
            executions: Vec::new(),
            refusal: None,
        }
    }

    pub(super) fn add(&mut self, execution: Execution<R>) {
        self.executions.push(execution);
    }

    /// Notes that the next one was refused.
    pub(super) fn refuse(&mut self, error: Error) {
        self.refusal = Some(BatchError {
            index: self.executions.len(),
            was_put: false,
            error,
        });
    }

    /// The execution that was refused, if one was.
    #[must_use]
    pub fn refusal(&self) -> Option<&BatchError> {
        self.refusal.as_ref()
    }

    /// The executions that were put.
    pub fn executions(&self) -> &[Execution<R>] {
        &self.executions
    }

    /// Waits for all that were put, and returns their outputs in order.
    ///
    /// # Errors
    /// The first error, by place. All that were put have ended by then, or are lost with the context.
    #[track_caller]
    pub fn join(self) -> Result<Vec<R>, BatchError> {
        let mut first = None;
        let mut outputs = Vec::with_capacity(self.executions.len());
        for (index, execution) in self.executions.into_iter().enumerate() {
            match execution.join() {
                Ok(output) => outputs.push(output),
                Err(error) => {
                    first.get_or_insert(BatchError {
                        index,
                        was_put: true,
                        error,
                    });
                }
            }
        }
        match first.or(self.refusal) {
            None => Ok(outputs),
            Some(error) => Err(error),
        }
    }
}

/// Each with its own end.
impl<R> IntoIterator for Batch<R> {
    type Item = Execution<R>;
    type IntoIter = vec::IntoIter<Execution<R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.executions.into_iter()
    }
}

impl<'a, R> IntoIterator for &'a Batch<R> {
    type Item = &'a Execution<R>;
    type IntoIter = slice::Iter<'a, Execution<R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.executions.iter()
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, error, .. } = self;
        match self.was_put {
            true => write!(f, "execution {index} of the batch: {error}"),
            false => write!(f, "execution {index} of the batch was not put: {error}"),
        }
    }
}

impl std::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

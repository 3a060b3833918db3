//! `PoisonPolicy`: the action at the moment when a context is lost.
//!
//! A program that goes on with a lost context serves errors until an operator notices. So a
//! supervisor may ask to be told, or to have the process ended.

use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use super::Error;
use super::loss::{OnLoss, contain};
use crate::sync::deferred::run_or_defer;

/// The action, once, when an error makes a context unusable.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum PoisonPolicy {
    /// Nothing: operations return [`Error::Poisoned`].
    #[default]
    Keep,
    /// Log the error with `tracing`, write it to standard error, and abort the process, so that its
    /// supervisor starts another. No value is dropped and no file flushed.
    Abort,
    /// Call this function with the [`Error::Poisoned`] that every operation returns from
    /// now on.
    ///
    /// It runs on the thread whose operation failed, which may be dropping an object, when the
    /// crate holds no lock that the operation took: it may use the crate. A panic ends in it.
    Call(Arc<dyn Fn(&Error) + Send + Sync>),
}

impl PoisonPolicy {
    /// Calls `function`, see [`Call`](Self::Call).
    pub fn call(function: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self::Call(Arc::new(function))
    }

    fn carry_out(&self, error: &Error) {
        match self {
            Self::Keep => {}
            Self::Abort => {
                tracing::error!("{error}; aborting");
                // A program without a subscriber would end without a word. Standard error may
                // be closed, and a panic here could be in a drop.
                let _ = writeln!(std::io::stderr(), "{error}; aborting");
                std::process::abort();
            }
            Self::Call(function) => {
                // This may be a drop.
                contain(|| function(error));
            }
        }
    }
}

impl fmt::Debug for PoisonPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "Keep",
            Self::Abort => "Abort",
            Self::Call(_) => "Call",
        })
    }
}

/// The loss of a context, and the steps that follow: the policy first, then the watchers.
pub(crate) struct Loss {
    pub(crate) policy: PoisonPolicy,
    pub(crate) watchers: Vec<Arc<dyn OnLoss>>,
    pub(crate) error: Error,
}

impl Loss {
    /// Tells of it, as soon as this thread holds no lock.
    #[cold]
    pub(crate) fn tell(self) {
        run_or_defer(move || self.carry_out());
    }

    fn carry_out(self) {
        self.policy.carry_out(&self.error);
        for watcher in self.watchers {
            watcher.lost(&self.error);
        }
    }
}

//! `Loss`: why a worker was lost, or did not start.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::Failure;
use crate::frame::FrameError;

/// Why a worker was lost, or did not start.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// The handler returned an error after which no work is possible in its process.
    #[error("{0}")]
    Sticky(Failure),
    /// The handler panicked. Nothing is known of what it left behind, so its process ended.
    #[error("the handler panicked: {0}")]
    Panicked(Failure),
    /// The process ended by itself, or was made to end, with this exit code.
    #[error("its process ended with exit code {0}, without a word")]
    Exited(i32),
    /// A signal ended the process.
    #[error("its process was ended by signal {signal}{}", signal_hint(*.signal))]
    Killed {
        /// The signal.
        signal: i32,
        /// Whether the system wrote a core dump.
        core_dumped: bool,
    },
    /// The process ended, and how is not known: the program ignores the ends of its children
    /// (`SIGCHLD`), or another part of it waits for all of them.
    #[error("its process ended; how is not known, as something else waited for it")]
    Gone,
    /// The worker was told to end by [`shutdown`](crate::Supervisor::shutdown) and did not
    /// within this time, so it was killed.
    #[error("it did not end within {0:?} of being told to; it was killed")]
    NotStopped(Duration),
    /// Nothing was heard for so long while an item was with the worker, so it was killed.
    #[error("nothing was heard of it for {0:?} while it had an item; it was killed")]
    Hung(Duration),
    /// The worker closed the connection and its process went on, until it was killed.
    #[error("it closed the connection and did not end; it was killed")]
    Closed,
    /// The worker sent what is not in the protocol, so it was killed.
    #[error("{0}; it was killed")]
    Protocol(FrameError),
    /// The process could not be started.
    #[error("{program} cannot be started: {error}")]
    NotSpawned {
        /// The program.
        program: String,
        /// What the system said.
        error: Arc<io::Error>,
    },
    /// The program was started and did not say that it is a worker of this job.
    #[error(
        "the program did not report as the worker within {0:?}: it must call worker::serve with \
         the name of the job at the start of main"
    )]
    NoHello(Duration),
    /// The worker reported, and its handler was not made in time.
    #[error("its handler was not made within {0:?}; raise WorkerConfig::start_deadline")]
    NotReady(Duration),
    /// The handler could not be made.
    #[error("its handler could not be made: {0}")]
    NotOpened(Failure),
    /// The process ended with this exit code before it had a handler.
    #[error(
        "the program ended with exit code {0} before it had a handler: it must call \
         worker::serve with the name of the job at the start of main"
    )]
    EndedEarly(i32),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(Arc<io::Error>),
}

fn signal_hint(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        9 => " (kill: the system ran out of memory, or a process sent it)",
        11 => " (invalid memory reference)",
        15 => " (terminate)",
        _ => "",
    }
}

impl Loss {
    /// Whether a process that is lost by this has said that it is about to end.
    pub(super) fn ends_by_itself(&self) -> bool {
        matches!(
            self,
            Self::Sticky(_) | Self::Panicked(_) | Self::NotOpened(_)
        )
    }

    /// What the handler said, where it said something.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Sticky(failure) | Self::Panicked(failure) | Self::NotOpened(failure) => {
                Some(failure)
            }
            _ => None,
        }
    }
}

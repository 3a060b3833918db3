//! One worker process and the connection to it: Unix alone has such.

mod left;
#[cfg(not(unix))]
mod none;
#[cfg(unix)]
mod unix;

use std::process::ExitStatus;

pub(super) use left::LEFT;
#[cfg(not(unix))]
pub(super) use none::{Link, loss_of};
#[cfg(unix)]
pub(super) use unix::{Link, loss_of, send};

/// What came of an attempt to read.
#[derive(Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
pub(super) enum Received {
    /// So many bytes are in the inbox.
    Bytes(usize),
    /// Nothing is there now.
    Nothing,
    /// Nothing will come any more.
    End,
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
pub(super) enum Ended {
    /// The system said it.
    Status(ExitStatus),
    /// It is gone, and something else in the program was told.
    Unknown,
}

impl Ended {
    pub(super) fn is_success(self) -> bool {
        matches!(self, Self::Status(status) if status.success())
    }
}

//! `CopyThreads` and `CopyThread`: whether a thread of its own puts the downloads of a pipeline, as it
//! is wanted and as it is.

use std::fmt;

use crate::error::Error;

/// Whether a thread of its own puts the downloads of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyThreads {
    /// Where copies of pinned memory block the thread that puts them
    /// ([`CopyMode::Blocking`](crate::CopyMode)), if more than one item may be in flight. The pipeline
    /// knows it once [`Context::copy_mode`](crate::Context::copy_mode) was asked for the context, by
    /// the program or by a pipeline: one whose first downloads take long to put asks.
    #[default]
    WhereCopiesBlock,
    /// The thread that submits items puts all of their work.
    Never,
    /// In any case: for measurements, and for a program that knows that its copies block.
    Always,
}

/// Which thread puts the downloads of a pipeline, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CopyThread {
    /// The one that submits items: no copy was seen to block it.
    NotNeeded,
    /// The one that submits items, because only one may be in flight.
    OneSlot,
    /// The one that submits items: [`CopyThreads::Never`].
    Off,
    /// One of their own, because copies of pinned memory block the thread that puts them.
    CopiesBlock,
    /// One of their own: [`CopyThreads::Always`].
    Always,
    /// The one that submits items, because there can be no other, or because it could not be
    /// found out whether copies block: this is why.
    Refused(Error),
}

impl CopyThread {
    /// Whether it is a thread of their own.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self, Self::CopiesBlock | Self::Always)
    }
}

impl fmt::Display for CopyThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_running() {
            true => "downloads are put by a thread of their own, because ",
            false => "downloads are put by the thread that submits items, because ",
        })?;
        match self {
            Self::NotNeeded => f.write_str("no copy was seen to block it"),
            Self::OneSlot => f.write_str("only one may be in flight"),
            Self::Off | Self::Always => f.write_str("the configuration says so"),
            Self::CopiesBlock => f.write_str("copies of pinned memory block here"),
            Self::Refused(error) => write!(f, "no other can be had: {error}"),
        }
    }
}

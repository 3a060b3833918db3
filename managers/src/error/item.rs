//! `ItemError`: an error of a pipeline, with its item and stage.

use std::fmt;

use super::Error;

/// The stage in which an item was when an error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemStage {
    /// Before the first item of a run: what an earlier run left is waited for, and the clock set.
    Begin,
    /// The input is filled on the host.
    Fill,
    /// The copy to the device.
    Upload,
    /// The kernels: the position in their [chain](crate::pipeline::KernelChain), from 0; 0 in a step
    /// that is one closure.
    Kernel(usize),
    /// All of these at once, launched as a [graph](crate::pipeline::Graphs).
    Launch,
    /// The copy to the host, and the wait for it.
    Download,
    /// The output is consumed on the host.
    Sink,
    /// After the last item of a run.
    End,
}

impl fmt::Display for ItemStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin => f.write_str("begin"),
            Self::Fill => f.write_str("fill"),
            Self::Upload => f.write_str("upload"),
            Self::Kernel(position) => write!(f, "kernel {position}"),
            Self::Launch => f.write_str("launch as a graph"),
            Self::Download => f.write_str("download"),
            Self::Sink => f.write_str("sink"),
            Self::End => f.write_str("end"),
        }
    }
}

/// An error in a pipeline, with the item and the stage that it came in.
///
/// A device reports the error of a kernel at a later call, so an item whose copy or kernel has
/// failed on the device may be an earlier one that was in flight: [`Error::cause`] has the
/// launches that may be to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemError<E> {
    /// The number of the item.
    pub index: u64,
    /// The stage.
    pub stage: ItemStage,
    /// The error: of the device, or what a closure returned.
    pub error: E,
}

impl<E> ItemError<E> {
    pub(crate) fn new(index: u64, stage: ItemStage, error: impl Into<E>) -> Self {
        Self {
            index,
            stage,
            error: error.into(),
        }
    }
}

impl<E: fmt::Display> fmt::Display for ItemError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_place(f)?;
        self.error.fmt(f)
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ItemError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<E> ItemError<E> {
    /// Writes where the error came, before its own text.
    pub(super) fn fmt_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {} of the pipeline, {}: ", self.index, self.stage)
    }
}

impl From<ItemError<Self>> for Error {
    fn from(error: ItemError<Self>) -> Self {
        Self::Item(Box::new(error))
    }
}

//! `Graphs`, `GraphReport` and `DirectReason`: which steps are launched as graphs, and why others are
//! not.

use std::fmt;

use crate::error::Error;
use crate::pipeline::telemetry::scope;

/// Which steps a pipeline launches as graphs: the upload, the kernels and the download of an item
/// by one call (`cuGraphLaunch`).
///
/// A step is captured when an item comes as long as an earlier one, to the same places in memory. What
/// its closure put on [`Step::stream`](super::super::Step::stream) then is put again with each item of
/// that length, and the closure is not called for them. So the closure must do the same whenever the
/// length is: the same launches and copies on that stream and no other one, with the same arguments,
/// which depend on neither [`Step::index`](super::super::Step::index) nor anything that changes. It
/// returns the same number of elements. It may be called twice for an item, of which one call does
/// not run: while it is captured (see [`CaptureMode::ThreadLocal`](crate::graph::CaptureMode)), and,
/// where that fails, once more.
///
/// Other buffers that the step uses are kept alive by its graphs. Their launches come after the
/// allocation of these buffers, and not after later work on them on other streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Graphs {
    /// None.
    Never,
    /// Steps that are a [chain](super::super::KernelChain) of kernels, all of which are said to
    /// [repeat](super::super::PipelineBuilder::repeating).
    #[default]
    Chains,
    /// All: the caller says that every step repeats.
    Steps,
}

/// How the items of a run were submitted: since the pipeline was made or
/// [cancelled](super::super::Pipeline::cancel), or in its last run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GraphReport {
    /// Items that were launched as a graph.
    pub launched: u64,
    /// Items that were put by calls of their own.
    pub direct: u64,
    /// Graphs that were made.
    pub captured: u64,
    /// Why the last item that was put by calls of its own was not launched.
    pub reason: Option<DirectReason>,
}

impl GraphReport {
    /// Notes why an item was put by calls.
    pub(super) fn note(&mut self, reason: &DirectReason) {
        if self.reason.as_ref() != Some(reason) {
            scope::direct(reason);
            self.reason = Some(reason.clone());
        }
    }
}

impl fmt::Display for GraphReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            launched,
            direct,
            captured,
            reason,
        } = self;
        write!(
            f,
            "{launched} items as graphs ({captured} made), {direct} by calls"
        )?;
        match reason {
            Some(reason) => write!(f, "; the last of these because {reason}"),
            None => Ok(()),
        }
    }
}

/// Why an item was put by calls of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DirectReason {
    /// [`Graphs::Never`].
    Off,
    /// The pipeline is [measured](super::super::PipelineConfig::measured): the events of each stage are
    /// recorded between calls.
    Measured,
    /// A [thread](super::super::CopyThread) of its own puts the download, which a graph would have with the
    /// rest of the step: where copies block, a launch may too.
    CopyThread,
    /// The step is not known to repeat: it is not a chain of kernels of which all are said to.
    Opaque,
    /// No item lately was as long, in the same memory and behind the same items.
    New,
    /// The step's closure failed while it was captured, and did not when it was called for the same
    /// item again. No step is captured any more.
    Step,
    /// The step could not be captured, or its graph not be made: this is why. No step is captured any
    /// more.
    Refused(Error),
}

impl fmt::Display for DirectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("graphs are switched off"),
            Self::Measured => f.write_str("the stages of each item are measured"),
            Self::CopyThread => f.write_str("a thread of its own puts the download"),
            Self::Opaque => f.write_str("the step is not known to repeat"),
            Self::New => f.write_str("no item lately was as long, in the same memory"),
            Self::Step => f.write_str("the step fails while it is captured"),
            Self::Refused(error) => write!(f, "there can be no graph: {error}"),
        }
    }
}

//! `StepGraphs`: items whose work repeats, each launched as one graph.
//!
//! The upload, the kernels and the download of an item are one row of nodes, launched on a stream
//! that belongs to its slot. What orders items by their stages on three streams orders them here
//! too: the events of the slots, recorded and waited for by nodes of the graphs. So items that are
//! launched and items that are put by calls of their own can follow each other in any order.

mod capture;
mod kernel_copy;
mod report;
mod shape;

pub(super) use capture::{Captured, Order, Refusal, captured};
pub use report::{DirectReason, GraphReport, Graphs};
pub(super) use shape::Shape;

pub(super) use kernel_copy::KernelCopy;

use super::config::PipelineConfig;
use super::downloads::CopyThread;
use super::telemetry::{Sampling, scope};
use crate::context::Context;
use crate::error::{Result, Site};
use crate::graph::GraphExec;
use crate::lists;
use crate::stream::submit;
use crate::stream::{Stream, StreamConfig};

/// So many graphs are kept for a slot: items may have as many lengths, or as many places in rings
/// that are not as long as the pipeline is deep.
const GRAPHS: usize = 8;

/// And so many shapes are remembered that came once.
const SEEN: usize = 8;

/// How an item is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// By calls of its own.
    Direct,
    /// As a graph that is to be captured for this shape.
    Capture(Shape),
    /// As the graph that is kept at this place for its slot.
    Launch(usize),
}

/// The graphs of a pipeline's steps, and why there are no others.
pub(super) struct StepGraphs {
    slots: Vec<SlotGraphs>,
    mode: Graphs,
    /// Bytes up to which a kernel makes the copies; 0 for none.
    kernel_copies: usize,
    /// Loaded for the first graph.
    kernel_copy: Option<KernelCopy>,
    /// Why the item that is put now could not be captured.
    doubt: Option<DirectReason>,
    /// Why no step is captured any more.
    refused: Option<DirectReason>,
    report: GraphReport,
}

/// What belongs to one slot.
#[derive(Default)]
struct SlotGraphs {
    /// Where its graphs are launched; made for the first of them.
    lane: Option<Stream>,
    graphs: Vec<StepGraph>,
    /// Shapes of items that came once, the oldest first.
    seen: Vec<Shape>,
    /// Whether its last item was launched.
    is_launched: bool,
}

/// The executable of the items of one shape.
struct StepGraph {
    shape: Shape,
    /// Elements that the step writes.
    written: usize,
    exec: GraphExec,
    /// The slot's.
    lane: Stream,
    /// The item that it was launched as last.
    used: u64,
}

impl StepGraphs {
    /// None yet, of a pipeline of this configuration, whose downloads this thread puts.
    pub(super) fn new(config: &PipelineConfig, copy_thread: &CopyThread) -> Self {
        let refused = match config.graphs {
            Graphs::Never => Some(DirectReason::Off),
            _ if copy_thread.is_running() => Some(DirectReason::CopyThread),
            _ if config.sampling == Sampling::All => Some(DirectReason::Measured),
            _ => None,
        };
        let mut slots = Vec::new();
        slots.resize_with(config.depth, SlotGraphs::default);
        Self {
            slots,
            mode: config.graphs,
            kernel_copies: config.kernel_copies,
            kernel_copy: None,
            doubt: None,
            refused,
            report: GraphReport::default(),
        }
    }

    /// One more slot.
    pub(super) fn add_slot(&mut self) {
        self.slots.push(SlotGraphs::default());
    }

    pub(super) fn report(&self) -> &GraphReport {
        &self.report
    }

    /// Items are counted from now on.
    pub(super) fn restart(&mut self) {
        self.report = GraphReport::default();
    }

    /// The streams that graphs are launched on.
    pub(super) fn lanes(&self) -> impl Iterator<Item = &Stream> {
        self.slots.iter().filter_map(|slot| slot.lane.as_ref())
    }

    /// The stream that the last item of a slot was launched on, if it was.
    pub(super) fn launched_on(&self, slot: usize) -> Option<&Stream> {
        let slot = &self.slots[slot];
        slot.lane.as_ref().filter(|_| slot.is_launched)
    }

    /// Waits on the host until no graph can run. False when that is not known.
    pub(super) fn settle(&self, site: Site) -> bool {
        let mut settled = true;
        for lane in self.lanes() {
            settled &= submit::settle(lane, site);
        }
        settled
    }

    /// How an item of this shape is submitted.
    pub(super) fn plan(&mut self, shape: &Shape) -> Plan {
        self.doubt = None;
        if self.refused.is_some() {
            return Plan::Direct;
        }
        let slot = &mut self.slots[shape.slot];
        let graph = slot.graphs.iter().position(|it| it.shape.covers(shape));
        if let Some(graph) = graph {
            return Plan::Launch(graph);
        }
        let seen = slot.seen.iter().find(|seen| seen.covers(shape));
        seen.map_or(Plan::Direct, |seen| Plan::Capture(*seen))
    }

    /// Notes that an item was put by calls of its own, with a step that repeats if it says so.
    pub(super) fn note_direct(&mut self, shape: &Shape, repeats: bool) {
        self.report.direct += 1;
        self.slots[shape.slot].is_launched = false;
        if let Some(doubt) = self.doubt.take() {
            // So it was the capture that failed, and not the item.
            scope::refused(&doubt);
            self.report.reason = Some(doubt.clone());
            self.refused = Some(doubt);
        }
        if let Some(reason) = &self.refused {
            self.report.note(reason);
            return;
        }
        if !self.is_repeated(repeats) {
            self.report.note(&DirectReason::Opaque);
            return;
        }
        self.report.note(&DirectReason::New);
        let seen = &mut self.slots[shape.slot].seen;
        if !seen.contains(shape) {
            if seen.len() == SEEN {
                seen.remove(0);
            }
            seen.push(*shape);
        }
    }

    /// Notes that an item was put by calls of its own because its times are taken.
    pub(super) fn note_measured(&mut self, slot: usize) {
        self.report.direct += 1;
        self.slots[slot].is_launched = false;
        if self.report.reason.is_none() {
            self.report.note(&DirectReason::Measured);
        }
    }

    /// Whether a step does the same again, which says so of itself or does not.
    pub(super) fn is_repeated(&self, repeats: bool) -> bool {
        repeats || self.mode == Graphs::Steps
    }

    /// Captures and launches no step any more, for this reason unless there was one.
    pub(super) fn refuse(&mut self, reason: DirectReason) {
        self.refused.get_or_insert(reason);
    }

    /// Notes why an item could not be captured. No step is captured any more if it can be put by calls
    /// of its own.
    pub(super) fn doubt(&mut self, reason: DirectReason) {
        self.doubt = Some(reason);
    }

    /// Loads the kernel that makes copies, if some are its to make and it is not loaded yet.
    #[track_caller]
    pub(super) fn load_kernel_copy(&mut self, context: &Context) -> Result<()> {
        if self.kernel_copies > 0 && self.kernel_copy.is_none() {
            self.kernel_copy = Some(KernelCopy::load(context, self.kernel_copies)?);
        }
        Ok(())
    }

    /// The kernel that makes copies, if some are its to make.
    pub(super) fn kernel_copy(&self) -> Option<&KernelCopy> {
        self.kernel_copy.as_ref()
    }

    /// The stream for the graphs of a slot.
    #[track_caller]
    pub(super) fn lane(&mut self, slot: usize, context: &Context) -> Result<Stream> {
        let lane = &mut self.slots[slot].lane;
        if let Some(lane) = lane {
            return Ok(lane.clone());
        }
        let made = context.streams().acquire(StreamConfig::default())?;
        Ok(lane.insert(made).clone())
    }

    /// Keeps the graph of the items of a shape. Its place, until another is kept.
    pub(super) fn keep(&mut self, shape: Shape, captured: Captured, lane: Stream) -> usize {
        self.report.captured += 1;
        scope::captured(shape.slot, shape.len);
        let slot = &mut self.slots[shape.slot];
        lists::retain(&mut slot.seen, |seen| !seen.covers(&shape));
        if slot.graphs.len() == GRAPHS {
            // The one that was not launched for the longest time. The item of its last launch has
            // left the slot, so nothing of it runs.
            let mut oldest = 0;
            for (at, graph) in slot.graphs.iter().enumerate() {
                if graph.used < slot.graphs[oldest].used {
                    oldest = at;
                }
            }
            drop(slot.graphs.swap_remove(oldest));
        }
        slot.graphs.push(StepGraph {
            shape,
            written: captured.written,
            exec: captured.exec,
            lane,
            used: 0,
        });
        slot.graphs.len() - 1
    }

    /// Launches a graph of a slot as the item of this number: the stream that it is launched on, and
    /// how many elements its step writes.
    ///
    /// # Errors
    /// As [`GraphExec::launch`]; it may run all the same.
    #[track_caller]
    pub(super) fn launch(
        &mut self,
        slot: usize,
        place: usize,
        item: u64,
    ) -> Result<(&Stream, usize)> {
        let slot = &mut self.slots[slot];
        let graph = &mut slot.graphs[place];
        graph.used = item;
        graph.exec.launch(&graph.lane)?;
        slot.is_launched = true;
        self.report.launched += 1;
        Ok((&graph.lane, graph.written))
    }
}

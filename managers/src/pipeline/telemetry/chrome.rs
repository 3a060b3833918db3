//! A timeline as a [trace](crate::trace_events).

use std::io::{self, Write};

use super::timeline::{Sample, Timeline};
use crate::trace_events::{Argument, ArrowPart, Span, TraceWriter, Track};

/// What the three stages are called.
pub(super) const STAGES: [&str; 3] = ["upload", "compute", "download"];

/// Numbers of the two groups of tracks.
const BY_STAGE: u32 = 1;
const BY_SLOT: u32 = 2;

/// The parts of an item's arrow, by stage.
const ARROW: [ArrowPart; 3] = [ArrowPart::Start, ArrowPart::Step, ArrowPart::End];

impl Timeline {
    /// Writes the items in the trace event format (JSON), for <https://ui.perfetto.dev> or
    /// `chrome://tracing`: a track for each stage, on which an item is a slice, with arrows from stage
    /// to stage; and a track for each slot, on which an item has its three stages. Times are
    /// microseconds of the device's clock.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_chrome_trace(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut trace = TraceWriter::begin(to)?;
        trace.name_group(BY_STAGE, "pipeline, by stage")?;
        for (stage, name) in STAGES.into_iter().enumerate() {
            trace.name_row(of_stage(stage), name)?;
        }
        trace.name_group(BY_SLOT, "pipeline, by slot")?;
        let slots = self.samples().map(|sample| sample.slot + 1).max();
        for slot in 0..slots.unwrap_or(0) {
            trace.name_row(of_slot(slot), &format!("slot {slot}"))?;
        }
        // Slices of a track must not overlap, and times of two windows may differ by a rounding.
        let mut ends = [0.0_f64; 3];
        for sample in self.samples() {
            item(&mut trace, sample, &mut ends)?;
        }
        trace.end()
    }
}

fn of_stage(stage: usize) -> Track {
    Track {
        group: BY_STAGE,
        row: stage + 1,
    }
}

fn of_slot(slot: usize) -> Track {
    Track {
        group: BY_SLOT,
        row: slot + 1,
    }
}

/// The slices of an item, and the arrows between them.
fn item(trace: &mut TraceWriter<'_>, sample: &Sample, ends: &mut [f64; 3]) -> io::Result<()> {
    let &Sample { index, slot, .. } = sample;
    let mut stages = sample.times.stages();
    for ((start, end), before) in stages.iter_mut().zip(ends) {
        *start = start.max(*before);
        *end = end.max(*start);
        *before = *end;
    }
    let [(start, _), _, (_, end)] = stages;
    let name = format!("item {index}");
    let arguments = [
        Argument::Integer("item", index),
        Argument::Integer("slot", slot as u64),
    ];
    trace.slice(of_slot(slot), Span { start, end }, &name, None, &arguments)?;
    for (stage, ((start, end), stage_name)) in stages.into_iter().zip(STAGES).enumerate() {
        let span = Span { start, end };
        trace.slice(of_slot(slot), span, stage_name, None, &arguments)?;
        trace.slice(of_stage(stage), span, &name, Some(stage_name), &arguments)?;
        trace.arrow(ARROW[stage], of_stage(stage), start, "item", index)?;
    }
    Ok(())
}

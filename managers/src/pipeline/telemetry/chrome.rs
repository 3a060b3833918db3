//! A timeline as a file of the trace event format, which Perfetto and `chrome://tracing` open.
//!
//! All names are words of this file, and everything else is a number: so nothing has to be escaped,
//! and a crate that writes JSON would be one more to compile for each dependent.

use std::io::{self, Write};

use super::timeline::{Sample, Timeline};

/// What the three stages are called.
pub(super) const STAGES: [&str; 3] = ["upload", "compute", "download"];

/// Numbers of the two groups of tracks.
const BY_STAGE: u32 = 1;
const BY_SLOT: u32 = 2;

impl Timeline {
    /// Writes the items in the trace event format (JSON), for <https://ui.perfetto.dev> or
    /// `chrome://tracing`: a track for each stage, on which an item is a slice, with arrows from stage
    /// to stage; and a track for each slot, on which an item has its three stages. Times are
    /// microseconds of the device's clock.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_chrome_trace(&self, to: &mut dyn Write) -> io::Result<()> {
        write!(to, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        named(to, BY_STAGE, 0, "process_name", "pipeline, by stage")?;
        for (stage, name) in STAGES.into_iter().enumerate() {
            write!(to, ",")?;
            named(to, BY_STAGE, stage + 1, "thread_name", name)?;
        }
        write!(to, ",")?;
        named(to, BY_SLOT, 0, "process_name", "pipeline, by slot")?;
        let slots = self.samples().map(|sample| sample.slot + 1).max();
        for slot in 0..slots.unwrap_or(0) {
            write!(to, ",")?;
            named(
                to,
                BY_SLOT,
                slot + 1,
                "thread_name",
                &format!("slot {slot}"),
            )?;
        }
        // Slices of a track must not overlap, and times of two windows may differ by a rounding.
        let mut ends = [0.0_f64; 3];
        for sample in self.samples() {
            item(to, sample, &mut ends)?;
        }
        write!(to, "\n]}}\n")
    }
}

/// The name of a group, or of a track in it.
fn named(to: &mut dyn Write, group: u32, track: usize, what: &str, name: &str) -> io::Result<()> {
    write!(
        to,
        "\n{{\"ph\":\"M\",\"pid\":{group},\"tid\":{track},\"name\":\"{what}\",\"args\":{{\"name\":\"{name}\"}}}}"
    )
}

/// The slices of an item, and the arrows between them.
fn item(to: &mut dyn Write, sample: &Sample, ends: &mut [f64; 3]) -> io::Result<()> {
    let &Sample { index, slot, .. } = sample;
    let mut stages = sample.times.stages();
    for ((start, end), before) in stages.iter_mut().zip(ends) {
        *start = start.max(*before);
        *end = end.max(*start);
        *before = *end;
    }
    let [(first, _), _, (_, last)] = stages;
    let args = format!("\"args\":{{\"item\":{index},\"slot\":{slot}}}");
    slice(
        to,
        BY_SLOT,
        slot + 1,
        (first, last),
        &format!("\"name\":\"item {index}\",{args}"),
    )?;
    for (stage, (times, name)) in stages.into_iter().zip(STAGES).enumerate() {
        slice(
            to,
            BY_SLOT,
            slot + 1,
            times,
            &format!("\"name\":\"{name}\",{args}"),
        )?;
        let named = format!("\"name\":\"item {index}\",\"cat\":\"{name}\",{args}");
        slice(to, BY_STAGE, stage + 1, times, &named)?;
        let arrow = ["\"ph\":\"s\"", "\"ph\":\"t\"", "\"ph\":\"f\",\"bp\":\"e\""][stage];
        write!(
            to,
            ",\n{{{arrow},\"pid\":{BY_STAGE},\"tid\":{},\"ts\":{:.3},\"id\":{index},\"cat\":\"item\",\"name\":\"item\"}}",
            stage + 1,
            microseconds(times.0),
        )?;
    }
    Ok(())
}

fn slice(
    to: &mut dyn Write,
    group: u32,
    track: usize,
    (start, end): (f64, f64),
    more: &str,
) -> io::Result<()> {
    let (start, end) = (microseconds(start), microseconds(end));
    write!(
        to,
        ",\n{{\"ph\":\"X\",\"pid\":{group},\"tid\":{track},\"ts\":{start:.3},\"dur\":{:.3},{more}}}",
        (end - start).max(0.0),
    )
}

/// Of milliseconds. JSON has no other numbers than finite ones.
fn microseconds(milliseconds: f64) -> f64 {
    let microseconds = milliseconds * 1e3;
    match microseconds.is_finite() {
        true => microseconds,
        false => 0.0,
    }
}

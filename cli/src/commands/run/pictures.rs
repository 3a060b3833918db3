//! `--chrome-trace` and `--timeline`: the pipeline's chunks to look at.

use cupola::managers::pipeline::Timeline;

use crate::commands::args::RunOptions;
use crate::commands::destination::Destination;
use crate::commands::exit::Failure;

/// Where they go.
pub(super) struct Pictures {
    trace: Option<Destination>,
    timeline: Option<Destination>,
}

impl Pictures {
    /// Those that were asked for, if they can be written.
    pub(super) fn of(options: &RunOptions) -> Result<Self, Failure> {
        Ok(Self {
            trace: Destination::named(options.chrome_trace.as_ref())?,
            timeline: Destination::named(options.timeline.as_ref())?,
        })
    }

    /// Each with the option that names it.
    pub(super) fn destinations(&self) -> [(&'static str, Option<&Destination>); 2] {
        [
            ("--chrome-trace", self.trace.as_ref()),
            ("--timeline", self.timeline.as_ref()),
        ]
    }

    /// Writes them.
    pub(super) fn write(&self, timeline: &Timeline) -> Result<(), Failure> {
        if let Some(to) = &self.trace {
            to.write(|to| timeline.write_chrome_trace(to))?;
        }
        if let Some(to) = &self.timeline {
            to.write(|to| to.write_all(timeline.svg().as_bytes()))?;
        }
        Ok(())
    }
}

//! Device times of the stages, from events that take the time.
//!
//! These events are beside those that order the stages, so that measuring changes nothing
//! in the order.

use std::sync::Arc;

use super::report::{OverlapReport, StageTimes};
use crate::context::ContextCore;
use crate::error::Result;
use crate::event::{EventConfig, RawEvent};
use crate::stream::Stream;
use crate::submit;

/// Start and end of each stage of a slot's item.
pub(super) struct Marks {
    pub(super) upload: (RawEvent, RawEvent),
    pub(super) compute: (RawEvent, RawEvent),
    pub(super) download: (RawEvent, RawEvent),
}

impl Marks {
    pub(super) fn new(core: &Arc<ContextCore>) -> Result<Self> {
        let event = || RawEvent::create(core, EventConfig::timing());
        Ok(Self {
            upload: (event()?, event()?),
            compute: (event()?, event()?),
            download: (event()?, event()?),
        })
    }
}

/// The times of one run's items.
pub(super) struct Clock {
    /// Reached when the run begins; times count from here.
    zero: RawEvent,
    times: Vec<StageTimes>,
    core: Arc<ContextCore>,
}

impl Clock {
    pub(super) fn new(core: &Arc<ContextCore>) -> Result<Self> {
        Ok(Self {
            zero: RawEvent::create(core, EventConfig::timing())?,
            times: Vec::new(),
            core: Arc::clone(core),
        })
    }

    /// Begins a run, in which `stream` is the first to work.
    pub(super) fn start(&mut self, stream: &Stream) -> Result<()> {
        self.times.clear();
        submit::record(self.zero.as_raw(), stream)
    }

    /// Notes the times of an item that has been downloaded.
    pub(super) fn take(&mut self, marks: Option<&Marks>) -> Result<()> {
        let Some(marks) = marks else {
            return Ok(());
        };
        let times =
            |(start, end): &(RawEvent, RawEvent)| Ok((self.since(start)?, self.since(end)?));
        let times = StageTimes {
            upload: times(&marks.upload)?,
            compute: times(&marks.compute)?,
            download: times(&marks.download)?,
        };
        self.times.push(times);
        Ok(())
    }

    fn since(&self, event: &RawEvent) -> Result<f32> {
        let driver = self.core.enter()?;
        let mut milliseconds = 0.0;
        let (zero, event) = (self.zero.as_raw(), event.as_raw());
        // SAFETY: both events are alive, and their context is current.
        let read = unsafe { driver.cuEventElapsedTime(&raw mut milliseconds, zero, event) };
        self.core.check(read)?;
        Ok(milliseconds)
    }

    /// What the times of the run say; `None` for a run of no items.
    pub(super) fn finish(&mut self) -> Option<OverlapReport> {
        OverlapReport::of(&self.times)
    }
}

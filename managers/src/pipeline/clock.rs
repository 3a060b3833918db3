//! Device times of the stages, from events that take the time.
//!
//! These events are beside those that order the stages, so that measuring changes nothing
//! in the order.

use std::sync::Arc;

use cupola_sys::driver::CUdevice_attribute;

use super::report::{OverlapReport, StageTimes};
use crate::context::Context;
use crate::driver::ContextCore;
use crate::error::Result;
use crate::event::{self, EventConfig, LeasedEvent, RawEvent};
use crate::stream::Stream;
use crate::stream::submit;

/// Start and end of each stage of a slot's item.
pub(super) struct Marks {
    pub(super) upload: (LeasedEvent, LeasedEvent),
    pub(super) compute: (LeasedEvent, LeasedEvent),
    pub(super) download: (LeasedEvent, LeasedEvent),
}

impl Marks {
    #[track_caller]
    pub(super) fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            upload: (timing(context)?, timing(context)?),
            compute: (timing(context)?, timing(context)?),
            download: (timing(context)?, timing(context)?),
        })
    }
}

/// The times of one run's items.
pub(super) struct Clock {
    /// Reached when the run begins; times count from here.
    zero: LeasedEvent,
    times: Vec<StageTimes>,
    copy_engines: u32,
    core: Arc<ContextCore>,
}

impl Clock {
    /// A clock whose times count from now, of a run in which `stream` is the first to work.
    #[track_caller]
    pub(super) fn start(context: &Context, stream: &Stream) -> Result<Self> {
        let mut clock = Self {
            zero: timing(context)?,
            times: Vec::new(),
            copy_engines: copy_engines(context.core())?,
            core: Arc::clone(context.core()),
        };
        clock.restart(stream)?;
        Ok(clock)
    }

    /// Begins another run.
    #[track_caller]
    pub(super) fn restart(&mut self, stream: &Stream) -> Result<()> {
        self.times.clear();
        submit::record(&self.zero, stream)
    }

    /// Notes the times of an item that has been downloaded.
    #[track_caller]
    pub(super) fn take(&mut self, marks: Option<&Marks>) -> Result<()> {
        let Some(marks) = marks else {
            return Ok(());
        };
        let times = StageTimes {
            upload: self.between(&marks.upload)?,
            compute: self.between(&marks.compute)?,
            download: self.between(&marks.download)?,
        };
        self.times.push(times);
        Ok(())
    }

    #[track_caller]
    fn between(&self, (start, end): &(LeasedEvent, LeasedEvent)) -> Result<(f32, f32)> {
        Ok((self.since(start)?, self.since(end)?))
    }

    #[track_caller]
    fn since(&self, event: &RawEvent) -> Result<f32> {
        let driver = self.core.enter()?;
        let mut milliseconds = 0.0;
        let (zero, event) = (self.zero.as_raw(), event.as_raw());
        // SAFETY: both events are alive, and their context is current.
        let read = unsafe { driver.cuEventElapsedTime(&raw mut milliseconds, zero, event) };
        self.core.check(read)?;
        Ok(milliseconds)
    }

    /// The report of the run's times; `None` for a run of no items.
    pub(super) fn report(&self) -> Option<OverlapReport> {
        let report = OverlapReport::of(&self.times)?;
        Some(OverlapReport {
            copy_engines: self.copy_engines,
            ..report
        })
    }
}

/// How many copies the device does at a time.
#[track_caller]
fn copy_engines(core: &ContextCore) -> Result<u32> {
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT;
    let mut count = 0;
    let driver = core.enter()?;
    // SAFETY: `count` outlives the call.
    core.check(unsafe { driver.cuDeviceGetAttribute(&raw mut count, attribute, core.device()) })?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// An event that takes the time.
#[track_caller]
fn timing(context: &Context) -> Result<LeasedEvent> {
    let pool = context.events().pool();
    event::acquire(context.core(), pool, EventConfig::timing(), false)
}

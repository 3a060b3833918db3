//! `Clock`: device times of the stages, from events that take the time.
//!
//! These events are beside those that order the stages, so that measuring changes nothing
//! in the order.

use std::sync::Arc;
use std::time::Duration;

use cupola_sys::driver::CUdevice_attribute;

use super::account::{Account, Neighbour};
use super::report::{OverlapReport, StageTimes};
use super::sampling::{Plan, Sampling};
use super::steps::StepTimes;
use super::timeline::{Sample, Timeline};
use crate::context::Context;
use crate::driver::ContextCore;
use crate::error::Result;
use crate::event::{self, EventConfig, LeasedEvent, RawEvent};
use crate::stream::Stream;
use crate::stream::submit;

/// Start and end of each stage of a slot's item.
pub(in crate::pipeline) struct Marks {
    pub(in crate::pipeline) upload: (LeasedEvent, LeasedEvent),
    pub(in crate::pipeline) compute: (LeasedEvent, LeasedEvent),
    pub(in crate::pipeline) download: (LeasedEvent, LeasedEvent),
    /// Which item they are of, if its times are taken.
    item: Option<Place>,
}

/// Where an item is among those of its run.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Its window.
    window: u64,
    /// How many items were submitted before it.
    item: u64,
}

impl Marks {
    #[track_caller]
    pub(in crate::pipeline) fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            upload: (timing(context)?, timing(context)?),
            compute: (timing(context)?, timing(context)?),
            download: (timing(context)?, timing(context)?),
            item: None,
        })
    }

    /// Whether the times of the slot's item are taken.
    pub(in crate::pipeline) fn are_taken(&self) -> bool {
        self.item.is_some()
    }
}

/// The times of one run's items.
pub(in crate::pipeline) struct Clock {
    plan: Plan,
    /// Items that were submitted.
    submitted: u64,
    /// Where times of two windows count from, in turn. No item of a third is in flight: a window has more
    /// items than there are slots.
    zeros: [Zero; 2],
    /// The window that items were taken from last, and the time of its zero in the run.
    taken: Option<(u64, f64)>,
    /// The item that was taken last, and the end of its download.
    last: Option<(u64, f64)>,
    account: Account,
    steps: StepTimes,
    timeline: Timeline,
    copy_engines: u32,
    core: Arc<ContextCore>,
}

/// An event that is reached where a window begins.
struct Zero {
    event: LeasedEvent,
    window: Option<u64>,
}

impl Clock {
    /// A clock for a pipeline of this depth; `None` when nothing is to be measured.
    #[track_caller]
    pub(in crate::pipeline) fn new(
        context: &Context,
        sampling: Sampling,
        depth: usize,
    ) -> Result<Option<Self>> {
        let Some(plan) = Plan::new(sampling, depth) else {
            return Ok(None);
        };
        let account = match plan.is_whole() {
            true => Account::whole(depth),
            false => Account::runs(plan.run()),
        };
        Ok(Some(Self {
            plan,
            submitted: 0,
            zeros: [Zero::new(context)?, Zero::new(context)?],
            taken: None,
            last: None,
            account,
            steps: StepTimes::default(),
            timeline: Timeline::new(),
            copy_engines: copy_engines(context.core())?,
            core: Arc::clone(context.core()),
        }))
    }

    /// Begins another run.
    pub(in crate::pipeline) fn restart(&mut self) {
        self.submitted = 0;
        for zero in &mut self.zeros {
            zero.window = None;
        }
        (self.taken, self.last) = (None, None);
        self.account.clear();
        self.steps.clear();
        self.timeline.clear();
    }

    /// Decides whether the times are taken of the item that is about to be put on the streams, of which
    /// `upload` is the first.
    #[track_caller]
    pub(in crate::pipeline) fn begin_item(
        &mut self,
        marks: Option<&mut Marks>,
        upload: &Stream,
    ) -> Result<()> {
        let item = self.submitted;
        self.submitted += 1;
        let Some(marks) = marks else {
            return Ok(());
        };
        // Of an item that failed.
        marks.item = None;
        let (window, is_measured) = self.plan.window(item);
        if !is_measured {
            return Ok(());
        }
        let zero = &mut self.zeros[(window % 2) as usize];
        if zero.window != Some(window) {
            zero.window = None;
            submit::record(&zero.event, upload)?;
            zero.window = Some(window);
        }
        marks.item = Some(Place { window, item });
        Ok(())
    }

    /// Notes the times of an item that has been downloaded, if they were taken.
    #[track_caller]
    pub(in crate::pipeline) fn take(
        &mut self,
        marks: Option<&mut Marks>,
        index: u64,
        slot: usize,
    ) -> Result<()> {
        let Some(marks) = marks else {
            return Ok(());
        };
        let Some(place) = marks.item.take() else {
            return Ok(());
        };
        let Marks {
            upload,
            compute,
            download,
            ..
        } = &*marks;
        let zero = self.zero_of(place.window)?;
        let events = [
            &upload.0,
            &upload.1,
            &compute.0,
            &compute.1,
            &download.0,
            &download.1,
        ];
        let counted_from = &self.zeros[(place.window % 2) as usize].event;
        let [a, b, c, d, e, f] = self.since(counted_from, events)?.map(|ms| zero + ms);
        let times = StageTimes {
            upload: (a, b),
            compute: (c, d),
            download: (e, f),
        };
        self.note(place.item, Sample { index, slot, times });
        Ok(())
    }

    fn note(&mut self, item: u64, sample: Sample) {
        let times = &sample.times;
        let (start, end) = (times.upload.0, times.download.1);
        self.steps.latency.record(milliseconds(end - start));
        let before = self.last.replace((item, end));
        let before = before.filter(|(before, _)| before + 1 == item);
        if let Some((_, before)) = before {
            self.steps.interval.record(milliseconds(end - before));
        }
        let neighbour = match before {
            _ if self.plan.is_first(item) => Neighbour::First,
            Some(_) => Neighbour::Next,
            None => Neighbour::Apart,
        };
        self.account.add(times, neighbour);
        self.timeline.push(sample, before.is_some());
    }

    /// When the window of an item that is taken began, in milliseconds of the run.
    #[track_caller]
    fn zero_of(&mut self, window: u64) -> Result<f64> {
        let zero = match self.taken {
            None => 0.0,
            Some((taken, zero)) if taken == window => return Ok(zero),
            Some((taken, zero)) => {
                let before = &self.zeros[(taken % 2) as usize];
                let after = &self.zeros[(window % 2) as usize];
                match before.window == Some(taken) {
                    true => {
                        let [passed] = self.since(&before.event, [&after.event])?;
                        zero + passed
                    }
                    // Windows between the two were not measured. They are taken to have no length.
                    false => self.last.map_or(zero, |(_, end)| end),
                }
            }
        };
        self.taken = Some((window, zero));
        Ok(zero)
    }

    /// Milliseconds from `zero` to each of these events, all of them reached (`cuEventElapsedTime`).
    #[track_caller]
    fn since<const N: usize>(
        &self,
        zero: &RawEvent,
        events: [&LeasedEvent; N],
    ) -> Result<[f64; N]> {
        self.core.healthy()?;
        let mut found = [0.0; N];
        for (found, event) in found.iter_mut().zip(events) {
            let mut milliseconds = 0.0;
            // SAFETY: both events are alive, and of this context.
            self.core.check(self.core.call(|driver| unsafe {
                driver.cuEventElapsedTime(&raw mut milliseconds, zero.as_raw(), event.as_raw())
            }))?;
            *found = f64::from(milliseconds);
        }
        Ok(found)
    }

    /// The report of the run's times; `None` when nothing can be said yet.
    pub(in crate::pipeline) fn report(&self) -> Option<OverlapReport> {
        let report = self.account.report()?;
        Some(OverlapReport {
            copy_engines: self.copy_engines,
            ..report
        })
    }

    /// How long steps took.
    pub(in crate::pipeline) fn steps(&self) -> &StepTimes {
        &self.steps
    }

    /// The items that were measured last.
    pub(in crate::pipeline) fn timeline(&self) -> &Timeline {
        &self.timeline
    }
}

impl Zero {
    #[track_caller]
    fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            event: timing(context)?,
            window: None,
        })
    }
}

/// A time of the device's, of which none is negative.
fn milliseconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time.max(0.0) / 1000.0).unwrap_or(Duration::MAX)
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

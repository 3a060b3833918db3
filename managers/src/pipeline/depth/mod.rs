//! How many items may be in flight: `Turns` of as many slots as there are, and `Growth`, which adds
//! slots while they help.

mod turns;

use std::fmt;

pub(crate) use turns::Turns;

use super::config::PipelineConfig;
use super::engine::Engine;
use super::rings::DeviceRing;
use super::slot::Slot;
use super::telemetry::scope;
use crate::buffer::DeviceCopy;
use crate::error::{Error, Result};
use crate::pool::MemoryPool;

/// How an [adaptive](PipelineConfig::adaptive) pipeline has grown since it was made.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Growth {
    /// Slots that were added.
    pub added: usize,
    /// Why one could not be made that would have helped: the pool's limit, or the device's memory. None
    /// is added any more.
    pub refused: Option<Error>,
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} slots added", self.added)?;
        match &self.refused {
            Some(error) => write!(f, "; no more because {error}"),
            None => Ok(()),
        }
    }
}

/// So many waits are looked at before a slot is added.
const WAITS: u32 = 32;

/// Counts of what the host found.
#[derive(Default)]
struct Watch {
    /// Items before which the device had nothing to do: all items in flight had arrived.
    idle: u32,
    /// Waits for a slot, and those in which the oldest item had not arrived.
    waits: u32,
    busy: u32,
}

impl Watch {
    /// Notes an item that is submitted: whether the one before it has arrived by then.
    fn note_item(&mut self, is_idle: bool) {
        self.idle += u32::from(is_idle);
    }

    /// Notes a wait for a slot: whether the oldest item has not arrived by then. Returns whether one
    /// more slot would help: the device was idle at times, and the host had to wait for it at more.
    /// So neither is the bound on the whole, but the host is late now and then for longer than the
    /// items in flight last. A host that is always late gains nothing by slots, nor does a device.
    fn note_wait(&mut self, is_busy: bool) -> bool {
        self.waits += 1;
        self.busy += u32::from(is_busy);
        if self.waits < WAITS {
            return false;
        }
        let seen = std::mem::take(self);
        seen.idle > 0 && seen.busy > seen.idle
    }
}

/// What an adaptive pipeline grows by.
pub(super) struct Adaptive {
    pool: MemoryPool,
    config: PipelineConfig,
    watch: Watch,
    /// A slot is to be added as soon as the turns allow it.
    is_wanted: bool,
    growth: Growth,
}

impl Adaptive {
    /// `None` for a configuration whose depth is fixed.
    pub(super) fn of(config: &PipelineConfig, pool: &MemoryPool) -> Option<Box<Self>> {
        (config.most > config.depth).then(|| {
            Box::new(Self {
                pool: pool.clone(),
                config: *config,
                watch: Watch::default(),
                is_wanted: false,
                growth: Growth::default(),
            })
        })
    }

    /// Whether a pipeline of so many slots may have another.
    fn may_grow(&self, depth: usize) -> bool {
        self.growth.refused.is_none() && depth < self.config.most
    }

    pub(super) fn growth(&self) -> &Growth {
        &self.growth
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Engine<I, O> {
    /// Notes a wait of the host because all slots are in flight, and adds one if that helps.
    #[track_caller]
    pub(super) fn make_room(&mut self) {
        self.note_full();
        let Some(mut adaptive) = self.adaptive.take() else {
            return;
        };
        if adaptive.may_grow(self.turns.depth()) {
            let is_busy = self.has_arrived() == Ok(false);
            adaptive.is_wanted |= adaptive.watch.note_wait(is_busy);
            if adaptive.is_wanted && self.turns.may_grow() {
                adaptive.is_wanted = false;
                match self.grow(&adaptive.pool, &adaptive.config) {
                    Ok(()) => {
                        adaptive.growth.added += 1;
                        scope::grown(self.turns.depth());
                    }
                    Err(error) => {
                        scope::not_grown(self.turns.depth(), &error);
                        adaptive.growth.refused = Some(error);
                    }
                }
            }
        }
        self.adaptive = Some(adaptive);
    }

    /// Looks before an item is submitted whether the device has nothing to do (`cuEventQuery`). An error
    /// is that of a later wait.
    #[track_caller]
    pub(super) fn watch_item(&mut self) {
        let (Some(adaptive), Some(last)) = (&self.adaptive, self.last) else {
            return;
        };
        if adaptive.may_grow(self.turns.depth()) {
            let is_idle = self.has_arrived_in(last) == Ok(true);
            if let Some(adaptive) = &mut self.adaptive {
                adaptive.watch.note_item(is_idle);
            }
        }
    }

    /// Adds a slot, with memory on the device unless the rings are split.
    #[track_caller]
    fn grow(&mut self, pool: &MemoryPool, config: &PipelineConfig) -> Result<()> {
        let streams = &self.streams;
        let slot = Slot::new(&streams.context, *config)?;
        if config.has_whole_rings() {
            let home = &streams.compute;
            let input = DeviceRing::allocate(config.input_len, pool, home, &streams.upload)?;
            let output = DeviceRing::allocate(config.output_len, pool, home, &streams.download)?;
            self.inputs.add(input);
            self.outputs.add(output);
        }
        self.slots.push(slot);
        self.graphs.add_slot();
        self.turns.grow();
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it slots could be added for a host, or a device, that is slower on the whole.
    #[test]
    fn a_slot_helps_a_host_that_is_late_now_and_then() {
        let helps = |idle: fn(u32) -> bool, busy: fn(u32) -> bool| {
            let mut watch = Watch::default();
            let mut items = 0..WAITS;
            items.any(|item| {
                watch.note_item(idle(item));
                watch.note_wait(busy(item))
            })
        };
        assert!(helps(|item| item == 9, |item| !(9..=13).contains(&item)));
        // The device is slower, or the host.
        assert!(!helps(|_| false, |_| true));
        assert!(!helps(|_| true, |_| false));
        assert!(!helps(|item| item % 4 > 0, |item| item % 4 == 0));
        assert!(!helps(|_| false, |_| false));
    }
}

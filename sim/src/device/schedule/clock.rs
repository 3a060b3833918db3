//! Virtual time: moments, and what a device's parts are busy with until when.

use std::time::Duration;

use crate::device::machine::config::DeviceConfig;
use crate::device::operations::engine::{Direction, Engines};
use crate::device::schedule::bus::Bus;

/// A moment of a machine's virtual clock, in picoseconds since the machine was made. It
/// stops at 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::device) struct Time(u64);

impl Time {
    pub(super) fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    pub(super) fn picos(self) -> u64 {
        self.0
    }

    pub(super) fn nanos(self) -> u64 {
        self.0 / 1000
    }

    pub(in crate::device) fn duration(self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    pub(in crate::device) fn seconds_since(self, start: Self) -> f64 {
        (self.0 as f64 - start.0 as f64) / 1e12
    }

    pub(super) fn plus(self, span: Duration) -> Self {
        let picos = span.as_nanos().saturating_mul(1000);
        self.plus_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }

    pub(super) fn plus_picos(self, picos: u64) -> Self {
        Self(self.0.saturating_add(picos))
    }
}

/// `amount` at `rate` a second, in picoseconds, rounded up.
pub(super) fn span(amount: u64, rate: u64) -> u64 {
    let picos = (u128::from(amount) * 1_000_000_000_000).div_ceil(u128::from(rate.max(1)));
    u64::try_from(picos).unwrap_or(u64::MAX)
}

/// When each part of a device is free again.
#[derive(Debug)]
pub(super) struct Parts {
    /// The copy engines of each direction; one for both if there is only one.
    engines: Vec<Vec<Time>>,
    multiprocessors: Vec<Time>,
    /// Instructions a second of a multiprocessor, counted once per warp.
    rate: u64,
    memory: Option<u64>,
    /// Takes the place of the engines where both directions slow each other down.
    bus: Option<Bus>,
}

/// When a copy ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    At(Time),
    /// When the bus says: the number of the copy there.
    OnBus(u64),
}

impl Parts {
    pub(super) fn new(config: &DeviceConfig) -> Self {
        let idle = |count: u32| vec![Time::default(); count as usize];
        let engines = config.copy_engines;
        Self {
            engines: match engines {
                0 | 1 => vec![idle(1)],
                _ => vec![idle(engines.div_ceil(2)), idle(engines / 2)],
            },
            multiprocessors: idle(config.multiprocessors),
            rate: u64::from(config.clock_khz) * 1000,
            memory: config.pace.memory,
            bus: Bus::new(config),
        }
    }

    /// The engine of a direction that is free first.
    fn engine(&mut self, direction: Direction) -> Option<&mut Time> {
        let engines = match direction {
            Direction::Upload => self.engines.first_mut(),
            Direction::Download => self.engines.last_mut(),
        };
        engines?.iter_mut().min()
    }

    /// When a copy that could start at `ready` gets an engine.
    pub(super) fn engine_free(&mut self, direction: Direction, ready: Time) -> Time {
        if let Some(bus) = &self.bus {
            return bus.engine_free(direction, ready);
        }
        self.engine(direction)
            .map_or(ready, |free| ready.max(*free))
    }

    /// When a copy over the bus ends, as far as is known now.
    pub(super) fn bus_end(&self, copy: u64) -> Option<Time> {
        self.bus.as_ref().map(|bus| bus.end(copy))
    }

    /// A copy over the bus has ended, and its stream goes on.
    pub(super) fn leave_bus(&mut self, copy: u64, end: Time) {
        if let Some(bus) = &mut self.bus {
            bus.finish(copy, end);
        }
    }

    /// Takes an engine for a copy that starts at `start`, and says when it ends.
    pub(super) fn copy(
        &mut self,
        direction: Option<Direction>,
        bytes: u64,
        start: Time,
        engines: &Engines,
    ) -> End {
        let Some(direction) = direction else {
            let memory = self.memory;
            let end = memory.map_or(start, |rate| start.plus_picos(span(bytes, rate)));
            return End::At(end);
        };
        let rate = engines.rate(direction);
        if let Some(bus) = &mut self.bus {
            return End::OnBus(bus.start(direction, bytes, rate, start));
        }
        let moving = rate.map_or(0, |rate| span(bytes, rate));
        let end = start.plus(engines.pace.copy).plus_picos(moving);
        if end > start
            && let Some(free) = self.engine(direction)
        {
            *free = end;
        }
        End::At(end)
    }

    /// Gives a block that has ended to the multiprocessor that is free first, of those that
    /// `places` names if it does, not before `start`, and says when it ends there.
    pub(super) fn block(&mut self, start: Time, instructions: u64, places: Option<&[u32]>) -> Time {
        let span = span(instructions, self.rate);
        let all = self.multiprocessors.iter_mut().zip(0..);
        let here = all.filter(|(_, number)| places.is_none_or(|places| places.contains(number)));
        let Some((free, _)) = here.min() else {
            return start;
        };
        *free = start.max(*free).plus_picos(span);
        *free
    }

    /// How far a kernel is that has executed so many instructions since `start`.
    pub(super) fn position(
        &self,
        start: Time,
        blocks: u64,
        instructions: u64,
        places: Option<&[u32]>,
    ) -> Time {
        let most = places.map_or(self.multiprocessors.len(), <[u32]>::len);
        let used = blocks.clamp(1, most.max(1) as u64);
        start.plus_picos(span(instructions, self.rate.saturating_mul(used)))
    }
}

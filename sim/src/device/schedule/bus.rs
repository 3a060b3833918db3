//! The bus in virtual time, where copies in both directions slow each other down.
//!
//! A copy that is under way ends later if one in the other direction begins meanwhile. So its
//! end is not known when it begins: the bus counts how much of it is left.

use std::collections::BTreeMap;

use crate::device::machine::config::{DeviceConfig, WHOLE};
use crate::device::operations::engine::Direction;
use crate::device::schedule::clock::{Time, span};

/// A copy under way.
#[derive(Clone, Copy, Debug)]
struct Flow {
    direction: Direction,
    /// When its first byte moves: after the copy's latency.
    begins: Time,
    /// What is left of it, in picoseconds of the full bandwidth.
    left: u64,
}

/// The bus of a device with copy engines for both directions.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    /// How many copies go in a direction at once: up, and down.
    engines: [usize; 2],
    /// What part of its bandwidth a direction has while the other one is used too, of
    /// [`WHOLE`].
    shared: u64,
    latency: u64,
    flows: BTreeMap<u64, Flow>,
    /// Until when what is left of the flows is counted.
    at: Time,
    /// Copies that have ended, whose streams have not noticed.
    ended: BTreeMap<u64, Time>,
    /// When the latest copies of each direction ended, one for each engine that has had one.
    free: [Vec<Time>; 2],
    next: u64,
}

fn side(direction: Direction) -> usize {
    match direction {
        Direction::Upload => 0,
        Direction::Download => 1,
    }
}

impl Bus {
    /// `None` for a device whose directions share an engine, or do not slow each other down.
    pub(super) fn new(config: &DeviceConfig) -> Option<Self> {
        let engines = config.copy_engines as usize;
        if engines < 2 || config.pace.duplex == WHOLE {
            return None;
        }
        Some(Self {
            engines: [engines.div_ceil(2), engines / 2],
            shared: u64::from(config.pace.duplex),
            latency: Time::default().plus(config.pace.copy).picos(),
            flows: BTreeMap::new(),
            at: Time::default(),
            ended: BTreeMap::new(),
            free: Default::default(),
            next: 0,
        })
    }

    /// When a copy that could start at `ready` gets an engine, if nothing else begins before.
    pub(super) fn engine_free(&self, direction: Direction, ready: Time) -> Time {
        let (own, side) = (|flow: &Flow| flow.direction == direction, side(direction));
        let busy = self.flows.iter().filter(|(_, flow)| own(flow));
        let ends = busy.map(|(id, _)| self.end(*id));
        let mut taken: Vec<_> = ends.chain(self.free[side].iter().copied()).collect();
        // Engines that have had no copy are free from the beginning.
        taken.resize(taken.len().max(self.engines[side]), Time::default());
        taken.sort_unstable_by(|one, two| two.cmp(one));
        let first = taken.get(self.engines[side] - 1).copied();
        ready.max(first.unwrap_or_default())
    }

    /// Begins a copy that takes an engine at `start`; gives its number.
    pub(super) fn start(
        &mut self,
        direction: Direction,
        bytes: u64,
        rate: Option<u64>,
        start: Time,
    ) -> u64 {
        self.advance(start);
        let id = self.next;
        self.next += 1;
        // With a seed it may be earlier than what has been counted: the engine was idle.
        let begins = self.at.max(start).plus_picos(self.latency);
        let left = rate.map_or(0, |rate| span(bytes, rate));
        let flow = Flow {
            direction,
            begins,
            left,
        };
        self.flows.insert(id, flow);
        id
    }

    /// When a copy ends, if nothing else begins before.
    pub(super) fn end(&self, id: u64) -> Time {
        let mut later = self.clone();
        while !later.ended.contains_key(&id) && later.flows.contains_key(&id) {
            later.step(None);
        }
        later.ended.get(&id).copied().unwrap_or(self.at)
    }

    /// A stream has noticed the end of its copy.
    pub(super) fn finish(&mut self, id: u64, end: Time) {
        self.advance(end);
        self.ended.remove(&id);
    }

    fn advance(&mut self, to: Time) {
        while self.at < to {
            self.step(Some(to));
        }
    }

    /// What part of the full bandwidth a flow has now, of [`WHOLE`]; 0 before it begins.
    fn share(&self, flow: &Flow) -> u64 {
        let others = |other: &&Flow| other.begins <= self.at && other.direction != flow.direction;
        match (flow.begins <= self.at, self.flows.values().find(others)) {
            (false, _) => 0,
            (true, Some(_)) => self.shared,
            (true, None) => u64::from(WHOLE),
        }
    }

    /// Goes on to the next moment at which the speed of a flow changes, or to the limit if that
    /// is earlier.
    fn step(&mut self, limit: Option<Time>) {
        let until = |flow: &Flow| match self.share(flow) {
            0 => flow.begins,
            share => {
                let left = (u128::from(flow.left) * u128::from(WHOLE)).div_ceil(share.into());
                self.at.plus_picos(u64::try_from(left).unwrap_or(u64::MAX))
            }
        };
        let changes: Vec<_> = self
            .flows
            .iter()
            .map(|(id, flow)| (*id, until(flow), self.share(flow)))
            .collect();
        let first = changes.iter().map(|(_, at, _)| *at).min();
        let Some(to) = first.into_iter().chain(limit).min() else {
            return;
        };
        let passed = to.picos() - self.at.picos();
        for (id, at, share) in changes {
            if share > 0 && at <= to {
                self.retire(id, to);
            } else if let Some(flow) = self.flows.get_mut(&id) {
                let done = u128::from(passed) * u128::from(share) / u128::from(WHOLE);
                let done = u64::try_from(done).unwrap_or(u64::MAX);
                flow.left = flow.left.saturating_sub(done);
            }
        }
        self.at = to;
    }

    /// A copy has ended, and its engine is free.
    fn retire(&mut self, id: u64, at: Time) {
        let Some(flow) = self.flows.remove(&id) else {
            return;
        };
        self.ended.insert(id, at);
        let side = side(flow.direction);
        let free = &mut self.free[side];
        free.push(at);
        free.sort_unstable_by(|one, two| two.cmp(one));
        free.truncate(self.engines[side]);
    }
}

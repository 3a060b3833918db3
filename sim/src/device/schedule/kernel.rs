//! A kernel that runs in slices.

use crate::device::contexts::health::{Fault, Health};
use crate::device::machine::Device;
use crate::device::operations::launch::{Held, Launch};
use crate::device::schedule::Choice;
use crate::device::schedule::clock::{Parts, Time};
use crate::device::strict::Trace;
use crate::exec::{Slice, Stepper, Turn};

/// Instructions of each warp in a slice when no seed draws them.
const FAIR: u64 = 1024;

/// A kernel that has started.
#[derive(Debug)]
pub(super) struct Kernel {
    launch: Box<Launch>,
    trace: Trace,
    held: Held,
    stepper: Stepper,
    start: Time,
    /// How far it is; in the end, when its last block ended.
    pub(super) at: Time,
    /// How far it is by its instructions alone: what it has written was written by then.
    pub(super) reached: Time,
    /// Slices that were not drawn, for its blocks to take turns. It is the kernel's own: two
    /// kernels that took turns with one count could each get the same block every time.
    turns: u64,
    instructions: u64,
    blocks: u64,
    /// When its last block so far ended.
    last: Time,
}

impl Kernel {
    pub(super) fn new(launch: Box<Launch>, trace: Trace, start: Time) -> Self {
        Self {
            blocks: launch.config.grid.map(u64::from).iter().product(),
            launch,
            trace,
            held: Held::default(),
            stepper: Stepper::default(),
            start,
            at: start,
            reached: start,
            turns: 0,
            instructions: 0,
            last: start,
        }
    }

    /// Its own, if the launch gave one.
    pub(super) fn priority(&self) -> Option<i32> {
        self.launch.priority
    }

    /// The next slice.
    pub(super) fn turn(&mut self, choice: &mut Choice) -> Turn {
        let clock = self.at.nanos();
        let elapsed = self.at.duration().saturating_sub(self.start.duration());
        match choice {
            Choice::Seeded(rng) => Turn {
                block: rng.next(),
                warp: rng.next(),
                slice: rng.slice(),
                clock,
                elapsed,
            },
            Choice::Timed => {
                self.turns = self.turns.wrapping_add(1);
                Turn {
                    block: self.turns,
                    warp: 0,
                    slice: FAIR,
                    clock,
                    elapsed,
                }
            }
        }
    }

    pub(super) fn run(
        &mut self,
        turn: Turn,
        device: &Device,
        health: &Health,
    ) -> Result<Slice, Fault> {
        let _here = self.trace.enter();
        self.launch
            .step(&mut self.held, &mut self.stepper, turn, device, health)
    }

    /// Has the clock follow a slice. Whether the kernel has ended.
    pub(super) fn account(&mut self, slice: Slice, device: &Device, parts: &mut Parts) -> bool {
        self.instructions += slice.instructions;
        let places = self.launch.places.as_deref();
        let position = parts.position(self.start, self.blocks, self.instructions, places);
        self.at = self.at.max(position);
        self.reached = self.at;
        if slice.block_ended {
            self.last = self.last.max(parts.block(self.start, slice.total, places));
        }
        if slice.grid_ended {
            self.at = self.last.max(self.start.plus(device.engines.pace.launch));
        }
        slice.grid_ended
    }
}

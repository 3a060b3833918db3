//! A launch run a slice at a time, in an order that the caller chooses.
//!
//! Between slices a launch is a [`Stepper`], which borrows nothing: the caller makes the
//! [`Grid`] anew for each slice from what it keeps.

use super::super::ctx::Ctx;
use super::super::fault::{Fault, FaultKind};
use super::super::run::block::{Block, BlockStop};
use super::{Grid, LaunchError};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What a launch is between slices.
#[derive(Debug, Default)]
pub struct Stepper {
    resident: Vec<Resident>,
    /// Ended blocks, for others to start in.
    idle: Vec<Block>,
    started: u64,
    instructions: u64,
    /// What clocks show next at least: readings may be closer than the caller's time.
    clock: u64,
}

/// A block that has started and not ended.
#[derive(Debug)]
struct Resident {
    index: u64,
    block: Block,
    instructions: u64,
}

/// Which slice comes next. The choices are numbers of any size, taken modulo what there is
/// to choose from.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Which of the resident blocks.
    pub block: u64,
    /// Which of its warps goes first.
    pub warp: u64,
    /// Instructions of each of its warps, at most; at least 1.
    pub slice: u64,
    /// What clocks show, in nanoseconds, unless they have shown more. They advance by one
    /// with each reading.
    pub clock: u64,
    /// How long the launch has run, for [`LaunchOptions::time_limit`](super::LaunchOptions).
    pub elapsed: Duration,
}

/// What a slice did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The block, by its linear index in the grid.
    pub block: u64,
    /// Instructions of this slice, counted once per warp.
    pub instructions: u64,
    /// Instructions of the block so far.
    pub total: u64,
    /// Whether the block has ended.
    pub block_ended: bool,
    /// Whether all blocks have.
    pub grid_ended: bool,
}

impl Grid<'_> {
    /// Runs one slice of one block.
    ///
    /// # Errors
    /// A thread faulted, or the launch was cancelled or has used up its budget or its time.
    /// There are no more slices then.
    pub fn step(&self, stepper: &mut Stepper, turn: Turn) -> Result<Slice, LaunchError> {
        self.steps.store(stepper.instructions, Relaxed);
        if let Some(kind) = self.over(Some(turn.elapsed)) {
            let next = stepper.resident.first();
            return Err(self.stopped(kind, next.map(|resident| &resident.block)));
        }
        self.fill(stepper);
        let count = stepper.resident.len().max(1) as u64;
        let at = (turn.block % count) as usize;
        let Some(resident) = stepper.resident.get_mut(at) else {
            // Everything has ended before.
            return Ok(Slice {
                block: self.blocks,
                instructions: 0,
                total: 0,
                block_ended: true,
                grid_ended: true,
            });
        };
        let mut cx = Ctx::new(&self.env, self.options.place(resident.index));
        cx.clock.set(Some(turn.clock.max(stepper.clock)));
        resident.block.go_first(turn.warp);
        let mut steps = 0;
        let stop = resident.block.run(&mut cx, &mut steps, turn.slice.max(1));
        stepper.clock = cx.clock.get().unwrap_or(stepper.clock);
        resident.instructions += steps;
        stepper.instructions += steps;
        let mut slice = Slice {
            block: resident.index,
            instructions: steps,
            total: resident.instructions,
            block_ended: false,
            grid_ended: false,
        };
        match stop {
            BlockStop::Slice => {}
            BlockStop::Done => {
                stepper.idle.push(stepper.resident.remove(at).block);
                slice.block_ended = true;
                slice.grid_ended = stepper.resident.is_empty() && stepper.started == self.blocks;
            }
            BlockStop::Fault(fault, line, func, thread) => {
                let function = self.env.funcs.get(func as usize);
                return Err(LaunchError::Fault(Box::new(Fault {
                    kind: fault.kind,
                    kernel: self.kernel.name.clone(),
                    function: function.map_or_else(String::new, |f| f.name.clone()),
                    line,
                    block: resident.block.ctaid,
                    thread,
                    address: fault.address,
                    access: fault.access,
                })));
            }
        }
        Ok(slice)
    }

    /// Starts blocks while there is room.
    fn fill(&self, stepper: &mut Stepper) {
        while stepper.started < self.blocks {
            let first = stepper.resident.first();
            if first.is_some_and(|first| stepper.resident.len() as u64 >= self.room(&first.block)) {
                return;
            }
            let index = stepper.started;
            let Some(block) = self.start(self.place(index), &mut stepper.idle, 0) else {
                return;
            };
            stepper.started += 1;
            stepper.resident.push(Resident {
                index,
                block,
                instructions: 0,
            });
        }
    }

    #[cold]
    fn stopped(&self, kind: FaultKind, block: Option<&Block>) -> LaunchError {
        self.abort(kind, block);
        let mut fault = self
            .fault
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match fault.take() {
            Some(fault) => LaunchError::Fault(Box::new(fault)),
            None => LaunchError::Config("the launch stopped"),
        }
    }
}

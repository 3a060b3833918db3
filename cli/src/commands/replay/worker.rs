//! One thread of a replay.

use std::time::{Duration, Instant};

use cupola::managers::ops;
use cupola::managers::pool::RawBlock;
use cupola::{Buffer, Error, Stream};

use super::engine::{Failed, Observer, Shared};
use super::latency::Latencies;
use super::plan::{Kind, Slot, Step};
use crate::commands::output::Progress;

/// A block that is alive.
pub(super) struct Block {
    memory: Memory,
    /// Its number in the trace, with which it is stamped.
    number: usize,
    stream: u32,
}

impl Block {
    fn address(&self) -> u64 {
        match &self.memory {
            Memory::Buffer(buffer) => buffer.as_raw(),
            Memory::Raw(block) => block.address(),
        }
    }

    /// Frees it on its stream, without a check.
    pub(super) fn give_back(self, streams: &[Stream]) -> Result<(), Error> {
        match self.memory {
            // Freed on drop, in stream order.
            Memory::Buffer(_) => Ok(()),
            // SAFETY: nothing was ever put on a stream that uses the block.
            Memory::Raw(block) => Ok(unsafe { block.free(&streams[self.stream as usize]) }?),
        }
    }
}

enum Memory {
    /// Kernels work on it.
    Buffer(Buffer<u8>),
    /// Nothing does.
    Raw(RawBlock),
}

/// Before or after an operation, for who looks on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    /// The position in the trace.
    pub(super) operation: usize,
    /// The block's number in the trace.
    pub(super) block: usize,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// An allocation follows.
    Asks {
        bytes: u64,
    },
    Allocated {
        address: u64,
        stream: u32,
        /// The stream's number in the pool.
        serial: u64,
    },
    Failed {
        bytes: u64,
    },
    /// A free follows.
    Frees,
    /// All is done, and what was never freed is there still.
    Ended,
}

/// A block on its way to the thread that frees it.
#[derive(Default)]
pub(super) enum Handed {
    /// Not allocated yet.
    #[default]
    Awaited,
    Ready(Block),
    /// It could not be allocated, or was taken.
    Gone,
}

pub(super) struct Worker<'a, 'o> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) steps: &'a [Step],
    /// How many blocks the thread keeps.
    pub(super) slots: u32,
    /// Counts wrong bytes, on the device.
    pub(super) wrong: Buffer<u64>,
    pub(super) progress: Option<Progress>,
    pub(super) observer: Option<Observer<'o>>,
}

/// Lets no thread wait for one that panics.
struct StopOnPanic<'a>(&'a Shared<'a>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// What one thread did.
pub(super) struct Tally {
    /// How many operations it had.
    pub(super) steps: usize,
    pub(super) begin: Instant,
    pub(super) end: Instant,
    pub(super) checked: usize,
    pub(super) wrong_bytes: u64,
    pub(super) failures: u64,
    pub(super) first_failure: Option<Failed>,
    pub(super) allocate: Latencies,
    pub(super) free: Latencies,
}

impl Worker<'_, '_> {
    /// Does all steps.
    pub(super) fn run(mut self) -> Result<Tally, Error> {
        let shared = self.shared;
        let _stop = StopOnPanic(shared);
        let mut live: Vec<Option<Block>> = (0..self.slots).map(|_| None).collect();
        let done = self.steps(&mut live);
        if done.is_err() {
            shared.stop();
            // A raw block that is dropped is lost. The error that is there says more than another.
            for block in live.into_iter().flatten() {
                let _ = block.give_back(shared.streams);
            }
        }
        done
    }

    fn steps(&mut self, live: &mut [Option<Block>]) -> Result<Tally, Error> {
        let shared = self.shared;
        let room = match shared.settings.timed {
            true => self.steps.len() / 2 + 1,
            false => 0,
        };
        shared.start.wait();
        let begin = Instant::now();
        let mut tally = Tally {
            steps: self.steps.len(),
            begin,
            end: begin,
            checked: 0,
            wrong_bytes: 0,
            failures: 0,
            first_failure: None,
            allocate: Latencies::with_capacity(room),
            free: Latencies::with_capacity(room),
        };
        for (done, step) in self.steps.iter().enumerate() {
            if shared.stopped() {
                break;
            }
            if shared.settings.realtime {
                wait_until(begin, shared.trace.time(step.operation));
            }
            match step.kind {
                Kind::Allocate { bytes } => {
                    self.tell(step, What::Asks { bytes });
                    let block = self.allocate(step, bytes, &mut tally)?;
                    let what = match &block {
                        Some(block) => What::Allocated {
                            address: block.address(),
                            stream: step.stream,
                            serial: self.stream(step.stream).serial(),
                        },
                        None => What::Failed { bytes },
                    };
                    match step.slot {
                        Slot::Own(slot) => live[slot as usize] = block,
                        Slot::Handed(slot) => {
                            *shared.handed(slot) = block.map_or(Handed::Gone, Handed::Ready);
                        }
                    }
                    self.tell(step, what);
                }
                Kind::Free => {
                    self.tell(step, What::Frees);
                    let block = match step.slot {
                        Slot::Own(slot) => live[slot as usize].take(),
                        Slot::Handed(slot) => self.receive(slot),
                    };
                    if let Some(block) = block {
                        self.free(block, step.stream, &mut tally)?;
                    }
                }
            }
            if let (Some(progress), 0) = (&mut self.progress, done % 1024) {
                progress.at((done * shared.settings.threads) as u64);
            }
        }
        tally.end = Instant::now();
        if let Some(last) = self.steps.last() {
            self.tell(last, What::Ended);
        }
        // What the program never freed.
        let timed = (tally.allocate, tally.free);
        (tally.allocate, tally.free) = Default::default();
        for block in live.iter_mut().filter_map(Option::take) {
            let stream = block.stream;
            self.free(block, stream, &mut tally)?;
        }
        (tally.allocate, tally.free) = timed;
        if shared.settings.kernels.is_some() {
            for stream in shared.streams {
                ops::synchronize(stream)?;
            }
            tally.end = Instant::now();
            let mut wrong = [0];
            ops::read(&self.wrong, &mut wrong, &shared.streams[0])?;
            tally.wrong_bytes = wrong[0];
        }
        Ok(tally)
    }

    fn tell(&mut self, step: &Step, what: What) {
        if let Some(observer) = &mut self.observer {
            observer(Observation {
                operation: step.operation,
                block: step.block,
                what,
            });
        }
    }

    fn stream(&self, number: u32) -> &Stream {
        &self.shared.streams[number as usize]
    }

    fn allocate(&self, step: &Step, bytes: u64, tally: &mut Tally) -> Result<Option<Block>, Error> {
        let stream = self.stream(step.stream);
        let start = self.shared.settings.timed.then(Instant::now);
        // More than a buffer can have is refused, like everything else that does not fit.
        let len = usize::try_from(bytes).ok();
        let len = len.filter(|&len| isize::try_from(len).is_ok());
        let made = match len.filter(|_| self.shared.settings.kernels.is_some()) {
            Some(len) => self.shared.pool.allocate(len, stream).map(Memory::Buffer),
            None => {
                let made = self.shared.pool.allocate_raw(bytes, 1, stream);
                made.map(Memory::Raw)
            }
        };
        if let Some(start) = start {
            tally.allocate.push(start.elapsed());
        }
        let mut memory = match made {
            Ok(memory) => memory,
            Err(error @ (Error::OverLimit(..) | Error::OutOfMemory { .. })) => {
                tally.failures += 1;
                let operation = step.operation;
                tally
                    .first_failure
                    .get_or_insert(Failed { operation, error });
                if self.shared.settings.stop {
                    self.shared.stop();
                }
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if let (Some(kernels), Memory::Buffer(buffer)) = (self.shared.settings.kernels, &mut memory)
        {
            kernels.stamp(buffer, step.block as u64, stream)?;
        }
        Ok(Some(Block {
            memory,
            number: step.block,
            stream: step.stream,
        }))
    }

    /// Frees a block on stream `on`, behind a check.
    fn free(&mut self, block: Block, on: u32, tally: &mut Tally) -> Result<(), Error> {
        let stream = &self.shared.streams[on as usize];
        if let (Some(kernels), Memory::Buffer(buffer)) =
            (self.shared.settings.kernels, &block.memory)
        {
            if block.stream != on {
                ops::order(self.stream(block.stream), stream)?;
            }
            kernels.check(buffer, block.number as u64, &mut self.wrong, stream)?;
            tally.checked += 1;
        }
        let start = self.shared.settings.timed.then(Instant::now);
        match block.memory {
            // Freed on drop, in stream order: after the check.
            Memory::Buffer(buffer) => drop(buffer),
            // SAFETY: nothing was ever put on a stream that uses the block.
            Memory::Raw(block) => unsafe { block.free(stream)? },
        }
        if let Some(start) = start {
            tally.free.push(start.elapsed());
        }
        Ok(())
    }

    /// The block that another thread allocates; `None` if it could not.
    fn receive(&self, slot: u32) -> Option<Block> {
        loop {
            let mut handed = self.shared.handed(slot);
            match std::mem::replace(&mut *handed, Handed::Gone) {
                Handed::Ready(block) => return Some(block),
                Handed::Gone => return None,
                Handed::Awaited => *handed = Handed::Awaited,
            }
            drop(handed);
            if self.shared.stopped() {
                return None;
            }
            std::thread::yield_now();
        }
    }
}

/// Waits until `time` nanoseconds after `begin`: sleeps for most of it and spins for the rest,
/// because a sleep wakes late.
fn wait_until(begin: Instant, time: Option<u64>) {
    const LATE: Duration = Duration::from_millis(1);
    let Some(time) = time.map(Duration::from_nanos) else {
        return;
    };
    loop {
        match time.checked_sub(begin.elapsed()) {
            None | Some(Duration::ZERO) => return,
            Some(left) if left > 2 * LATE => std::thread::sleep(left - LATE),
            Some(_) => std::hint::spin_loop(),
        }
    }
}

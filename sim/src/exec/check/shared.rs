//! What is known of each byte of a block's shared memory.
//!
//! Every warp has a clock, with what it knows to be over of each other warp. Barriers
//! join the clocks of all who arrive into those of all who wait. Atomic operations, and
//! loads and stores that others may make at the same time (`.volatile`, `.relaxed` and
//! stronger), hand the clock on through the address that they access, which is more than
//! a GPU promises: a missing fence is not found, a spin lock is not reported. Two lanes of
//! one warp are always in order here.

use std::collections::HashMap;

use super::{Checks, Mode};

/// Warps of a block, at most.
const WARPS: usize = 32;

type Clock = [u32; WARPS];

fn join(clock: &mut Clock, other: &Clock) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// Who accesses.
#[derive(Debug, Clone, Copy)]
pub(super) struct By {
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) line: u32,
    pub(super) strong: bool,
}

/// An access that was made.
#[derive(Debug, Clone, Copy)]
struct Made {
    by: By,
    /// The warp's own time.
    epoch: u32,
}

/// A byte: the last write, and what each warp has last read since, strongly and not: a
/// strong read does not end the race that a weak one is in.
#[derive(Debug, Clone, Default)]
struct Cell {
    write: Option<Made>,
    reads: Vec<Made>,
}

/// An access that is not in order with another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Other {
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) line: u32,
    pub(super) write: bool,
}

/// What an access shows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// The first byte that was never written.
    pub(super) unwritten: Option<u64>,
    pub(super) race: Option<Other>,
}

/// The shadow of one block's shared memory.
#[derive(Debug)]
pub(crate) struct Shadow {
    checks: Checks,
    cells: Vec<Cell>,
    clocks: Vec<Clock>,
    bars: [Clock; 16],
    /// Handed on through an address.
    flags: HashMap<u64, Clock>,
}

impl Shadow {
    pub(crate) fn new(checks: Checks, bytes: u32) -> Box<Self> {
        let clocks = (0..WARPS).map(|warp| {
            let mut clock = [0; WARPS];
            clock[warp] = 1;
            clock
        });
        Box::new(Self {
            checks,
            cells: vec![Cell::default(); bytes as usize],
            clocks: clocks.collect(),
            bars: [[0; WARPS]; 16],
            flags: HashMap::new(),
        })
    }

    /// An access of shared memory.
    pub(super) fn access(&mut self, by: By, at: u64, bytes: u64, mode: Mode) -> Seen {
        let mut seen = Seen::default();
        self.acquire(by, at, mode);
        let warp = by.warp as usize % WARPS;
        let clock = &self.clocks[warp];
        let made = Made {
            by,
            epoch: clock[warp],
        };
        let open = |other: &Made| {
            let theirs = other.by.warp as usize % WARPS;
            theirs != warp && !(other.by.strong && by.strong) && other.epoch > clock[theirs]
        };
        let first = usize::try_from(at).unwrap_or(usize::MAX);
        let end = first.saturating_add(bytes as usize).min(self.cells.len());
        let cells = self.cells.get_mut(first..end).unwrap_or_default();
        for (index, cell) in cells.iter_mut().enumerate() {
            if mode.reads() && cell.write.is_none() && self.checks.uninitialised {
                seen.unwritten.get_or_insert(at + index as u64);
            }
            let write = cell.write.iter().filter(|made| open(made));
            let mut others: Vec<_> = write.map(|made| (made, true)).collect();
            if mode.writes() {
                let reads = cell.reads.iter().filter(|made| open(made));
                others.extend(reads.map(|made| (made, false)));
            }
            if let Some((other, write)) = others.first().filter(|_| self.checks.races) {
                seen.race.get_or_insert(Other {
                    warp: other.by.warp,
                    lane: other.by.lane,
                    line: other.by.line,
                    write: *write,
                });
            }
            if mode.writes() {
                cell.write = Some(made);
                cell.reads.clear();
            } else if self.checks.races {
                cell.reads
                    .retain(|read| (read.by.warp, read.by.strong) != (by.warp, by.strong));
                cell.reads.push(made);
            }
        }
        self.hand_on(by, at, mode);
        seen
    }

    /// An atomic operation or the like in device memory.
    pub(super) fn synchronize(&mut self, by: By, address: u64, mode: Mode) {
        self.acquire(by, address, mode);
        self.hand_on(by, address, mode);
    }

    fn acquire(&mut self, by: By, at: u64, mode: Mode) {
        if mode.is_strong()
            && mode.reads()
            && let Some(flag) = self.flags.get(&at)
        {
            join(&mut self.clocks[by.warp as usize % WARPS], flag);
        }
    }

    fn hand_on(&mut self, by: By, at: u64, mode: Mode) {
        if mode.is_strong() && mode.writes() {
            let warp = by.warp as usize % WARPS;
            let clock = &mut self.clocks[warp];
            join(self.flags.entry(at).or_insert([0; WARPS]), clock);
            clock[warp] += 1;
        }
    }

    /// Threads of a warp arrive at a barrier.
    pub(crate) fn arrive(&mut self, warp: u32, number: u32) {
        let warp = warp as usize % WARPS;
        let clock = &mut self.clocks[warp];
        join(&mut self.bars[number as usize & 15], clock);
        clock[warp] += 1;
    }

    /// A barrier is complete: those who wait for it know what came before all who arrived.
    /// Warps that have ended count as arrived.
    pub(crate) fn release(
        &mut self,
        number: usize,
        ended: impl Iterator<Item = u32>,
        waiting: impl Iterator<Item = u32>,
    ) {
        let mut over = std::mem::replace(&mut self.bars[number & 15], [0; WARPS]);
        for warp in ended {
            join(&mut over, &self.clocks[warp as usize % WARPS]);
        }
        for warp in waiting {
            join(&mut self.clocks[warp as usize % WARPS], &over);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Checks = Checks {
        uninitialised: true,
        races: true,
        streams: false,
    };

    fn by(warp: u32, strong: bool) -> By {
        By {
            warp,
            lane: 0,
            line: warp + 1,
            strong,
        }
    }

    /// The line of the access that this one races with.
    fn race(shadow: &mut Shadow, warp: u32, at: u64, mode: Mode) -> Option<u32> {
        let seen = shadow.access(by(warp, mode.is_strong()), at, 4, mode);
        seen.race.map(|other| other.line)
    }

    const LOAD: fn() -> Mode = || Mode::load(false);
    const STORE: fn() -> Mode = || Mode::store(false);

    /// Without it, a barrier could hide a race, or fail to end one.
    #[test]
    fn a_barrier_puts_accesses_in_order() {
        let mut shadow = Shadow::new(ALL, 64);
        assert_eq!(race(&mut shadow, 0, 0, STORE()), None);
        assert_eq!(race(&mut shadow, 1, 0, LOAD()), Some(1));
        assert_eq!(race(&mut shadow, 1, 4, STORE()), None);
        shadow.arrive(0, 0);
        shadow.arrive(1, 0);
        // After its arrival, and before the release.
        assert_eq!(race(&mut shadow, 1, 8, STORE()), None);
        shadow.release(0, [2].into_iter(), [0, 1].into_iter());
        assert_eq!(race(&mut shadow, 1, 0, STORE()), None);
        assert_eq!(race(&mut shadow, 0, 4, LOAD()), None);
        assert_eq!(race(&mut shadow, 0, 8, LOAD()), Some(2));
        // Another barrier says nothing of who was not there.
        assert_eq!(race(&mut shadow, 3, 4, STORE()), Some(2));
    }

    /// Without it, a write after reads of several warps could be checked against one alone.
    #[test]
    fn a_write_races_with_every_read() {
        let mut shadow = Shadow::new(ALL, 4);
        for reader in [0, 1] {
            assert_eq!(race(&mut shadow, reader, 0, LOAD()), None);
        }
        shadow.arrive(1, 3);
        shadow.release(3, std::iter::empty(), [2].into_iter());
        // Warp 1's read is over for warp 2, warp 0's is not.
        assert_eq!(race(&mut shadow, 2, 0, STORE()), Some(1));
    }

    /// Without it, a strong read would hide the weak one before it.
    #[test]
    fn a_strong_read_hides_no_weak_one() {
        let mut shadow = Shadow::new(ALL, 4);
        assert_eq!(race(&mut shadow, 0, 0, LOAD()), None);
        assert_eq!(race(&mut shadow, 0, 0, Mode::load(true)), None);
        assert_eq!(race(&mut shadow, 1, 0, Mode::store(true)), Some(1));
    }

    /// Without it, a spin lock in shared or device memory would be reported as a race.
    #[test]
    fn atomics_hand_order_on() {
        for lock in [Some(0), None] {
            let mut shadow = Shadow::new(ALL, 8);
            let take = |shadow: &mut Shadow, warp| match lock {
                Some(at) => assert_eq!(race(shadow, warp, at, Mode::atomic()), None),
                None => shadow.synchronize(by(warp, true), 1 << 44, Mode::atomic()),
            };
            for warp in [0, 1] {
                take(&mut shadow, warp);
                assert_eq!(race(&mut shadow, warp, 4, STORE()), None);
                take(&mut shadow, warp);
            }
            assert_eq!(race(&mut shadow, 2, 4, LOAD()), Some(2));
        }
    }

    /// Without it, a read of half-written memory would pass, or one of written memory not.
    #[test]
    fn every_byte_counts() {
        let mut shadow = Shadow::new(ALL, 8);
        shadow.access(by(0, false), 0, 2, STORE());
        let unwritten = |shadow: &mut Shadow, at| {
            let seen = shadow.access(by(0, false), at, 4, LOAD());
            seen.unwritten
        };
        assert_eq!(unwritten(&mut shadow, 0), Some(2));
        shadow.access(by(0, false), 2, 2, STORE());
        assert_eq!(unwritten(&mut shadow, 0), None);
        // Outside: the access itself faults.
        assert_eq!(unwritten(&mut shadow, 100), None);
        assert_eq!(unwritten(&mut shadow, u64::MAX), None);
    }
}

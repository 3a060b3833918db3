//! Block barriers. They count threads, not warps, so lanes of one warp may
//! arrive apart.

use crate::exec::inst::BarKind;

/// One of the block's sixteen barriers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: u32,
    /// Threads to wait for; `None` for all that are alive.
    expected: Option<u32>,
    /// `.red`: lanes whose predicate was true, and all lanes that brought one.
    yes: u32,
    votes: u32,
}

/// What the waiting threads of a released barrier receive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Release {
    pub(crate) number: usize,
    yes: u32,
    votes: u32,
}

impl Release {
    /// Whether it was a reduction, so that there is a result to receive.
    pub(crate) fn reduces(&self) -> bool {
        self.votes != 0
    }

    /// Result of a reduction.
    pub(crate) fn value(&self, kind: BarKind) -> u32 {
        let all = |b: bool| if b { u32::MAX } else { 0 };
        match kind {
            BarKind::And => all(self.yes == self.votes),
            BarKind::Or => all(self.yes != 0),
            _ => self.yes,
        }
    }
}

/// The barriers of a block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Barriers {
    bars: [Barrier; 16],
    /// Barriers with arrivals.
    active: u32,
}

impl Barriers {
    /// `threads` arrive, of which `yes` bring a true predicate.
    pub(crate) fn arrive(
        &mut self,
        number: usize,
        threads: u32,
        expected: Option<u32>,
        yes: Option<u32>,
    ) {
        let bar = &mut self.bars[number & 15];
        // A loop of arrivals that never completes the barrier must not overflow.
        bar.arrived = bar.arrived.saturating_add(threads);
        if expected.is_some() {
            bar.expected = expected;
        }
        if let Some(yes) = yes {
            bar.yes = bar.yes.saturating_add(yes);
            bar.votes = bar.votes.saturating_add(threads);
        }
        self.active |= 1 << (number & 15);
    }

    /// Whether a thread has arrived at any barrier.
    pub(crate) fn awaited(&self) -> bool {
        self.active != 0
    }

    /// How many threads have come to a barrier, and how many it wants if it says so.
    pub(crate) fn count(&self, number: usize) -> (u32, Option<u32>) {
        let bar = self.bars[number & 15];
        (bar.arrived, bar.expected)
    }

    /// A barrier that is complete, reset for its next use.
    pub(crate) fn release(&mut self, live: u32) -> Option<Release> {
        for number in crate::exec::lanes::bits(self.active) {
            let bar = self.bars[number];
            if bar.arrived >= bar.expected.unwrap_or(live) {
                self.bars[number] = Barrier::default();
                self.active &= !(1 << number);
                return Some(Release {
                    number,
                    yes: bar.yes,
                    votes: bar.votes,
                });
            }
        }
        None
    }
}

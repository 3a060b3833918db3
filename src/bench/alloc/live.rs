//! Many live blocks: a random one is freed, and one of another size allocated in its place.

use std::sync::{Arc, Mutex, PoisonError};

use super::allocator::Allocator;
use super::{Error, names};
use crate::bench::rounds::Case;

/// Sizes and places that were drawn before; they are gone through again and again.
const DRAWN: usize = 1 << 16;

/// Steps between two looks at the clock.
const BATCH: usize = 256;

/// What is alive.
struct Live<A: Allocator> {
    allocator: Arc<A>,
    lane: A::Lane,
    /// The block, and its size.
    blocks: Vec<Option<(A::Block, u64)>>,
    /// The next step.
    from: usize,
}

impl<A: Allocator> Live<A> {
    /// Puts a block of `bytes` at `place`, where another one may be.
    fn step(&mut self, place: usize, bytes: u64) -> bool {
        let freed = self.blocks[place]
            .take()
            .is_none_or(|(block, _)| self.allocator.free(block, &self.lane));
        let block = self.allocator.allocate(bytes, &self.lane);
        self.blocks[place] = block.map(|block| (block, bytes));
        freed && self.blocks[place].is_some()
    }

    /// No block reaches into another one.
    fn is_disjoint(&self) -> bool {
        let alive = self.blocks.iter().flatten();
        let ranges: Option<Vec<_>> = alive
            .map(|(block, bytes)| A::address(block).map(|address| (address, address + bytes)))
            .collect();
        // Peers that do not tell addresses are believed.
        ranges.is_none_or(|mut ranges| {
            ranges.sort_unstable();
            ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0)
        })
    }
}

impl<A: Allocator> Drop for Live<A> {
    fn drop(&mut self) {
        for (block, _) in self.blocks.drain(..).flatten() {
            self.allocator.free(block, &self.lane);
        }
        self.allocator.settle(&self.lane);
    }
}

/// Places and sizes, each power of two from 256 B to 16 MiB alike, and up to as much again:
/// what the peers' own programs draw.
fn draw() -> Vec<(usize, u64)> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // Marsaglia's xorshift.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    (0..DRAWN)
        .map(|_| {
            let place = (next() % names::LIVE as u64) as usize;
            let power = 256 << (next() % 17);
            (place, power + next() % power)
        })
        .collect()
}

/// Steps of `allocator` on one thread, after as many as it takes to have all blocks alive.
pub(super) fn case<A: Allocator>(allocator: &Arc<A>) -> Result<Case, Error> {
    let name = names::row(&names::live(), &allocator.name());
    let live = Mutex::new(Live {
        allocator: Arc::clone(allocator),
        lane: allocator.lane()?,
        blocks: std::iter::repeat_with(|| None).take(names::LIVE).collect(),
        from: 0,
    });
    let drawn = draw();
    let case = Case::new(name, 1, move |turn| {
        let mut live = live.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ok = live.allocator.enter();
        for (place, (_, bytes)) in drawn.iter().enumerate().take(names::LIVE) {
            if live.blocks[place].is_none() {
                ok &= live.step(place, *bytes);
            }
        }
        let lap = turn.measure(|| {
            for (place, bytes) in &drawn[live.from..live.from + BATCH] {
                ok &= live.step(*place, *bytes);
            }
            live.from = (live.from + BATCH) % DRAWN;
            BATCH as u64
        });
        ok &= live.allocator.settle(&live.lane);
        (ok && live.is_disjoint()).then_some(lap)
    });
    Ok(case.by_clock())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a size could be drawn that the peers' programs never ask for.
    #[test]
    fn sizes_are_those_of_the_peers() {
        let drawn = draw();
        let sizes = || drawn.iter().map(|(_, bytes)| *bytes);
        assert!(sizes().all(|bytes| (256..32 << 20).contains(&bytes)));
        assert!(sizes().any(|bytes| bytes < 512) && sizes().any(|bytes| bytes > 16 << 20));
        assert!(drawn.iter().all(|(place, _)| *place < names::LIVE));
    }
}

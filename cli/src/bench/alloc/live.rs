//! Many live blocks: a random one is freed, and one of another size allocated in its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::allocator::Allocator;
use super::{Error, names};
use crate::bench::rounds::Case;

/// Sizes and places that were drawn before; they are gone through again and again.
const DRAWN: usize = 1 << 16;

/// Steps between two looks at the clock.
const BATCH: usize = 256;

/// Steps, after all blocks are alive, that are not measured: all that were drawn once, so that
/// what memory they need together is there. Requests that map memory are in the rows of traces.
pub(super) const BEFORE: usize = DRAWN;

/// What is alive. It is freed in the end: live blocks of all allocators at once would fill
/// a small device.
struct Live<'l, A: Allocator> {
    allocator: &'l A,
    stream: &'l A::Stream,
    /// The block, and its size.
    blocks: Vec<Option<(A::Block, u64)>>,
}

impl<'l, A: Allocator> Live<'l, A> {
    fn new(allocator: &'l A, stream: &'l A::Stream, count: usize) -> Self {
        let blocks = std::iter::repeat_with(|| None).take(count);
        Self {
            allocator,
            stream,
            blocks: blocks.collect(),
        }
    }

    /// Puts a block of `bytes` at `place`, where another one may be.
    fn step(&mut self, place: usize, bytes: u64) -> bool {
        let freed = self.blocks[place]
            .take()
            .is_none_or(|(block, _)| self.allocator.free(block, self.stream));
        let block = self.allocator.allocate(bytes, self.stream);
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

impl<A: Allocator> Drop for Live<'_, A> {
    fn drop(&mut self) {
        for (block, _) in self.blocks.drain(..).flatten() {
            self.allocator.free(block, self.stream);
        }
        self.allocator.settle(self.stream);
    }
}

/// Places and sizes, each power of two from 256 B to 16 MiB alike, and up to as much again:
/// what the peers' own programs draw.
fn draw() -> Vec<(usize, u64)> {
    draw_of(names::LIVE, 256, 17)
}

/// Of so many places, and of so many powers of two from `least` on.
fn draw_of(places: usize, least: u64, powers: u64) -> Vec<(usize, u64)> {
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
            let place = (next() % places as u64) as usize;
            let power = least << (next() % powers);
            (place, power + next() % power)
        })
        .collect()
}

/// Steps of `allocator` on one thread, after all blocks are alive. Each sample goes on with
/// the numbers where the one before it ended.
pub(super) fn case<A: Allocator>(allocator: &Arc<A>) -> Result<Case, Error> {
    let name = names::row(&names::live(), &allocator.name());
    let allocator = Arc::clone(allocator);
    let stream = allocator.stream()?;
    let next = AtomicUsize::new(0);
    let drawn = draw();
    let case = Case::new(name, 1, move |turn| {
        let mut ok = allocator.enter();
        let mut live = Live::new(&*allocator, &stream, names::LIVE);
        let mut from = next.load(Ordering::Relaxed);
        let mut steps = |ok: &mut bool, live: &mut Live<'_, A>| {
            for (place, bytes) in &drawn[from..from + BATCH] {
                *ok &= live.step(*place, *bytes);
            }
            from = (from + BATCH) % DRAWN;
        };
        for (place, (_, bytes)) in drawn.iter().enumerate().take(names::LIVE) {
            ok &= live.step(place, *bytes);
        }
        for _ in 0..BEFORE / BATCH {
            steps(&mut ok, &mut live);
        }
        let lap = turn.measure(|| {
            steps(&mut ok, &mut live);
            BATCH as u64
        });
        next.store(from, Ordering::Relaxed);
        ok &= allocator.settle(&stream);
        (ok && live.is_disjoint()).then_some(lap)
    });
    Ok(case.by_clock())
}

/// Bytes of a block of [`misses`], on the average.
const MEAN: u64 = 1 << 20;

/// How many blocks of [`misses`] each of `threads` threads may have in `room` bytes; `None` where
/// there is not room for one.
pub(super) fn each(room: u64, threads: usize) -> Option<usize> {
    let most = room / MEAN / threads as u64;
    let each = usize::try_from(most).unwrap_or(usize::MAX);
    (each > 0).then_some(each.min(names::LIVE))
}

/// Steps of `threads` threads, each on a stream of its own and among `each` live blocks of its own,
/// of sizes that magazines keep and that hardly ever come again.
pub(super) fn misses<A: Allocator>(
    allocator: &Arc<A>,
    threads: usize,
    each: usize,
) -> Result<Case, Error> {
    let name = names::row(&names::misses(threads, each), &allocator.name());
    let allocator = Arc::clone(allocator);
    let streams: Result<Vec<_>, _> = (0..threads).map(|_| allocator.stream()).collect();
    let streams = streams?;
    let drawn = draw_of(each, 64 << 10, 6);
    let case = Case::new(name, threads, move |turn| {
        let stream = &streams[turn.thread];
        let mut ok = allocator.enter();
        let mut live = Live::new(&*allocator, stream, each);
        for (place, (_, bytes)) in drawn.iter().enumerate().take(each) {
            ok &= live.step(place, *bytes);
        }
        // Not the same sizes at the same time.
        let mut from = DRAWN / threads * turn.thread / BATCH * BATCH;
        let mut steps = || {
            for (place, bytes) in &drawn[from..from + BATCH] {
                ok &= live.step(*place, *bytes);
            }
            from = (from + BATCH) % DRAWN;
            BATCH as u64
        };
        for _ in 0..8 * each / BATCH {
            steps();
        }
        let lap = turn.measure(steps);
        ok &= allocator.settle(stream);
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

    /// Without it more threads than a small device has room for would divide by zero.
    #[test]
    fn a_device_without_room_for_a_block_a_thread_has_no_row() {
        let room = |memory: u64| memory / 4;
        assert_eq!(each(room(16 << 30), 16), Some(256));
        assert_eq!(each(room(128 << 30), 16), Some(names::LIVE));
        assert_eq!(each(room(4 << 30), 1024), Some(1));
        assert_eq!(each(room(2 << 30), 1024), None);
        let least = draw_of(1, 64 << 10, 6);
        assert!(least.iter().all(|(place, _)| *place == 0));
    }
}

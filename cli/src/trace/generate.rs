//! Traces that a seed makes: few huge blocks, each a quarter of the peak, that come and go among
//! many small ones that live long.
//!
//! Such programs are hard for an allocator that moves no block: a small block that is alive keeps
//! its whole page from the next huge one, and the holes between small ones are of no use to it.
//! The seed chooses the shape: how many huge blocks there are at a time, which sizes the small ones
//! have and how they are spread, in which order they die, how many of them are replaced between two
//! huge ones, and whether some take the place of a huge one that is away.

use std::collections::VecDeque;

use super::build::{Builder, Memory};
use super::spread::SplitMix;
use super::{ReadOptions, Trace};

/// A part of the peak that a huge block is.
const QUARTER: u64 = 4;

/// Small sizes are multiples of what every CUDA allocation is aligned to: what rounding to that costs
/// is the same for all allocators.
const ALIGN: u64 = 256;

/// How the sizes of small blocks are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    /// As many between 1 and 2 KiB as between 1 and 2 MiB.
    Octaves,
    /// All equally often.
    Even,
    /// A few sizes, again and again, as of the tensors of one model.
    Few,
    /// Mostly the smaller ones, with some near the largest.
    Two,
}

/// Which of the small blocks dies next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deaths {
    /// Any of them.
    Random,
    /// The oldest.
    Oldest,
    /// One of the last few, as of a stack of calls, or any.
    Young,
    /// Any but for the half that came first, which stays to the end.
    Kept,
}

/// What a seed has chosen.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Huge blocks that are alive at a time.
    huge: u64,
    sizes: Sizes,
    /// The least and the largest small block.
    small: (u64, u64),
    deaths: Deaths,
    /// Times that a huge block comes.
    rounds: u64,
    /// Of a hundred small bytes, how many are replaced between two comings.
    replaced: u64,
    /// Of a hundred bytes of a huge block that is away, how many are taken by small ones.
    tide: u64,
}

impl Shape {
    fn new(random: &mut SplitMix) -> Self {
        let one = |random: &mut SplitMix, of: &[u64]| of[random.below(of.len() as u64) as usize];
        let least = one(random, &[512, 4 << 10, 24 << 10]);
        Self {
            huge: one(random, &[1, 2, 3]),
            sizes: [Sizes::Octaves, Sizes::Even, Sizes::Few, Sizes::Two][random.below(4) as usize],
            small: (least, least * one(random, &[8, 16, 32])),
            deaths: [Deaths::Random, Deaths::Oldest, Deaths::Young, Deaths::Kept]
                [random.below(4) as usize],
            rounds: one(random, &[6, 12, 24]),
            replaced: one(random, &[2, 5, 10, 25]),
            tide: one(random, &[0, 0, 1, 2]),
        }
    }
}

/// A trace of one stream whose most live bytes are `peak`, or a little less.
///
/// The same seed and peak give the same trace everywhere.
#[must_use]
pub fn huge_among_small(seed: u64, peak: u64) -> Trace {
    let mut random = SplitMix(seed);
    let shape = Shape::new(&mut random);
    let few = (0..5).map(|_| octave(&mut random, shape.small)).collect();
    let mut making = Making {
        shape,
        random,
        few,
        builder: Builder::new(Memory::new(&ReadOptions::default())),
        next: 0,
        small: VecDeque::new(),
        small_bytes: 0,
        huge: Vec::new(),
    };
    making.run(peak);
    making.builder.finish()
}

struct Making {
    shape: Shape,
    random: SplitMix,
    /// The sizes of [`Sizes::Few`].
    few: Vec<u64>,
    builder: Builder<u64>,
    /// What the next block is called.
    next: u64,
    /// Name and size of the small blocks.
    small: VecDeque<(u64, u64)>,
    small_bytes: u64,
    huge: Vec<u64>,
}

impl Making {
    fn run(&mut self, peak: u64) {
        let quarter = peak / QUARTER;
        let most = peak - self.shape.huge * quarter;
        for round in 0..self.shape.rounds {
            // Small ones are there before the last of the huge ones, or come with them.
            let level = most * (round + 1).min(4) / 4;
            self.settle(level);
            while (self.huge.len() as u64) < self.shape.huge {
                // Hardly one is as large as the one before it.
                let bytes = quarter - self.random.below(quarter / 32 + 1);
                let name = self.allocate(bytes);
                self.huge.push(name);
            }
            self.replace(level);
            let left = self.random.below(self.huge.len() as u64) as usize;
            let gone = self.huge.swap_remove(left);
            self.free(gone);
            self.replace(level + quarter / 100 * self.shape.tide);
        }
        self.settle(most);
        while (self.huge.len() as u64) < self.shape.huge {
            let name = self.allocate(quarter);
            self.huge.push(name);
        }
    }

    /// Small blocks come until there are nearly so many bytes, or die until there are no more.
    fn settle(&mut self, level: u64) {
        while self.small_bytes > level {
            self.die();
        }
        loop {
            let bytes = self.small_size();
            if self.small_bytes + bytes > level {
                break;
            }
            self.come(bytes);
        }
    }

    /// Small blocks die and others come.
    fn replace(&mut self, level: u64) {
        let mut left = level / 100 * self.shape.replaced;
        while left > 0 {
            let bytes = self.small_size();
            while self.small_bytes + bytes > level && !self.small.is_empty() {
                self.die();
            }
            self.come(bytes);
            left = left.saturating_sub(bytes);
        }
    }

    fn come(&mut self, bytes: u64) {
        let name = self.allocate(bytes);
        self.small.push_back((name, bytes));
        self.small_bytes += bytes;
    }

    fn die(&mut self) {
        let count = self.small.len() as u64;
        let at = match self.shape.deaths {
            Deaths::Oldest => 0,
            Deaths::Young if self.random.below(2) == 0 => {
                count - 1 - self.random.below(count.min(64))
            }
            Deaths::Random | Deaths::Young => self.random.below(count),
            Deaths::Kept => count / 2 + self.random.below(count.div_ceil(2)),
        };
        let dead = match self.shape.deaths {
            Deaths::Oldest => self.small.pop_front(),
            // The last one takes its place: the order matters to the oldest alone.
            _ => self.small.swap_remove_back(at as usize),
        };
        let Some((name, bytes)) = dead else {
            return;
        };
        self.small_bytes -= bytes;
        self.free(name);
    }

    fn small_size(&mut self) -> u64 {
        let (least, most) = self.shape.small;
        let bytes: u64 = match self.shape.sizes {
            Sizes::Octaves => octave(&mut self.random, (least, most)),
            Sizes::Even => least + self.random.below(most - least + 1),
            Sizes::Few => self.few[self.random.below(self.few.len() as u64) as usize],
            Sizes::Two if self.random.below(8) == 0 => most - self.random.below(most / 4),
            Sizes::Two => least + self.random.below(least),
        };
        bytes.next_multiple_of(ALIGN)
    }

    fn allocate(&mut self, bytes: u64) -> u64 {
        let name = self.next;
        self.next += 1;
        let allocated = self.builder.allocate(name, bytes, 0);
        debug_assert!(allocated.is_ok(), "a name is used once");
        name
    }

    fn free(&mut self, name: u64) {
        let freed = self.builder.free(&name, None);
        debug_assert!(matches!(freed, Ok(true)), "only what is alive dies");
    }
}

/// A size between these, each octave as often as the others.
fn octave(random: &mut SplitMix, (least, most): (u64, u64)) -> u64 {
    let octaves = u64::from((most / least).ilog2());
    let from = least << random.below(octaves);
    from + random.below(from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::Operation;
    use super::*;

    const PEAK: u64 = 64 << 20;

    /// Without it a seed could give another trace on another day, and its figure mean nothing.
    #[test]
    fn a_seed_repeats_its_trace() {
        assert_eq!(huge_among_small(7, PEAK), huge_among_small(7, PEAK));
        assert_ne!(huge_among_small(7, PEAK), huge_among_small(8, PEAK));
    }

    /// Without it the traces could be of some other kind than the one that is judged: huge blocks
    /// of a quarter, among small ones that live while several of those come and go.
    #[test]
    fn few_huge_blocks_come_and_go_among_many_small_ones() {
        for seed in 0..64 {
            let trace = huge_among_small(seed, PEAK);
            let peak = trace.peak_bytes();
            assert!((PEAK / 100 * 97..=PEAK).contains(&peak), "{seed}: {peak}");
            let (mut huge, mut small) = (0, 0);
            let (mut alive, mut lived) = (HashMap::new(), 0);
            for operation in trace.operations() {
                match *operation {
                    Operation::Allocate { block, bytes, .. } => {
                        let is_huge = bytes > PEAK / 5;
                        assert!(is_huge || bytes <= PEAK / 64, "{seed}: {bytes}");
                        *(if is_huge { &mut huge } else { &mut small }) += 1;
                        alive.insert(block, (is_huge, huge));
                    }
                    Operation::Free { block, .. } => {
                        let (was_huge, before) = alive.remove(&block).unwrap();
                        lived += u64::from(!was_huge && huge > before);
                    }
                }
            }
            let stayed = alive.values().filter(|(is_huge, _)| !is_huge).count() as u64;
            assert!((6..40).contains(&huge), "{seed}: {huge} huge");
            assert!(small >= 8 * huge, "{seed}: {small} small, {huge} huge");
            assert!(
                3 * (lived + stayed) > small,
                "{seed}: {lived} and {stayed} of {small}"
            );
        }
    }

    /// Without it two seeds could differ in their numbers alone.
    #[test]
    fn seeds_choose_many_shapes() {
        let shapes: Vec<_> = (0..32)
            .map(|seed| Shape::new(&mut SplitMix(seed)))
            .collect();
        for sizes in [Sizes::Octaves, Sizes::Even, Sizes::Few, Sizes::Two] {
            assert!(shapes.iter().any(|shape| shape.sizes == sizes), "{sizes:?}");
        }
        for deaths in [Deaths::Random, Deaths::Oldest, Deaths::Young, Deaths::Kept] {
            assert!(
                shapes.iter().any(|shape| shape.deaths == deaths),
                "{deaths:?}"
            );
        }
        for huge in 1..=3 {
            assert!(shapes.iter().any(|shape| shape.huge == huge), "{huge}");
        }
    }
}

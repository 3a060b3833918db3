//! Spreads a trace over several streams, by a rule that a seed repeats.

use super::{Operation, Trace};

/// The mean length of a run of allocations on one stream.
const RUN: u64 = 32;

impl Trace {
    /// The same operations on `streams` streams. Allocations are taken in order; each run of
    /// them goes to one stream, chosen evenly, and ends after each allocation with a chance
    /// of 1 in 32, so that lengths are geometric with a mean of 32. A block is freed on the
    /// stream that it was allocated on. The generator is SplitMix64, begun with `seed`: one
    /// draw for the stream at the start of a run, and one after each allocation.
    #[must_use]
    pub fn spread(&self, streams: u32, seed: u64) -> Self {
        let mut spread = self.clone();
        let streams = streams.max(1);
        let mut random = SplitMix(seed);
        let mut own = vec![0; self.blocks];
        let mut current = None;
        for operation in &mut spread.operations {
            match operation {
                Operation::Allocate { block, stream, .. } => {
                    let on = *current.get_or_insert_with(|| random.below(streams.into()) as u32);
                    own[*block] = on;
                    *stream = on;
                    if random.below(RUN) == 0 {
                        current = None;
                    }
                }
                Operation::Free { block, stream } => *stream = own[*block],
            }
        }
        spread.streams = streams;
        spread
    }
}

/// Sebastiano Vigna's SplitMix64 (public domain).
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, by the high half of a product.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the same seed could give other figures on another machine or day.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    /// Without it a block could be freed on a stream that it was never on, a stream be left
    /// out, or runs be so short that streams only take turns.
    #[test]
    fn runs_go_to_streams_and_frees_follow_their_blocks() {
        let trace = Trace::read(super::super::EMBED13).unwrap();
        let spread = trace.spread(4, 7);
        assert_eq!(spread, trace.spread(4, 7));
        assert_ne!(spread, trace.spread(4, 8));
        assert_eq!(
            (spread.streams(), spread.peak_bytes()),
            (4, trace.peak_bytes())
        );
        let mut own = vec![0; trace.blocks()];
        let (mut counts, mut changes, mut last) = ([0_u32; 4], 0_u32, 0);
        for (before, after) in trace.operations().iter().zip(spread.operations()) {
            match (*before, *after) {
                (
                    Operation::Allocate { block, bytes, .. },
                    Operation::Allocate {
                        block: b,
                        bytes: n,
                        stream,
                    },
                ) => {
                    assert_eq!((block, bytes), (b, n));
                    own[block] = stream;
                    counts[stream as usize] += 1;
                    changes += u32::from(stream != last);
                    last = stream;
                }
                (Operation::Free { block, .. }, Operation::Free { block: b, stream }) => {
                    assert_eq!((block, own[block]), (b, stream));
                }
                other => panic!("{other:?}"),
            }
        }
        let blocks = trace.blocks() as u32;
        for count in counts {
            assert!(count > blocks / 6 && count < blocks / 3, "{counts:?}");
        }
        // One run in four goes on where the last one was.
        let runs = changes * 4 / 3;
        assert!((24..40).contains(&(blocks / runs)), "{runs}");
    }
}

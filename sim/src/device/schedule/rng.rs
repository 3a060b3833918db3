//! The numbers that a seeded order is made of.

use crate::device::machine::config::mix;

/// splitmix64: every seed gives another sequence, 0 too.
#[derive(Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        // Seeds are small numbers as a rule; what they start must not be.
        Self(mix(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`; 0 if that is 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// 0 with probability 1/2, 1 with 1/4, and so on.
    pub(super) fn few(&mut self) -> u32 {
        self.next().trailing_zeros()
    }

    /// 1 to 4096, each power of two as often as another.
    pub(super) fn slice(&mut self) -> u64 {
        let most = 1 << self.below(13);
        1 + self.below(most)
    }
}

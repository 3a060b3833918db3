//! The random generator of all tests of this workspace.
//!
//! Same seed, same numbers, on every machine. It depends on nothing, so that the tests of every
//! crate can have it: those of crates that `cupola-testing` stands on, too.

/// SplitMix64, by Sebastiano Vigna (public domain): every seed gives another sequence, 0 too, and
/// seeds near each other give sequences that are not alike.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of the sequence that `seed` names.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number: each of 64 bits is as likely as not.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    ///
    /// By a remainder: small numbers are likelier by less than `end` in 2^64.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next_u64() % end.max(1)
    }

    /// An index into `len` elements; 0 if there are none.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next_u64() >> 56) as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a seed that a failed test has printed could stand for another sequence on another
    // day. The numbers are those of the author's own program, for the seed 1 234 567.
    #[test]
    fn the_sequence_of_a_seed_is_that_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let numbers = [(); 3].map(|()| random.next_u64());
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    // Without it a test could index past the end, divide by zero, or never draw the last element.
    #[test]
    fn numbers_below_an_end_are_all_drawn_and_no_others() {
        let mut random = Random::new(0);
        let mut drawn = [0; 5];
        for _ in 0..1000 {
            drawn[random.index(5)] += 1;
        }
        assert!(drawn.iter().all(|&times| times > 100), "{drawn:?}");
        assert_eq!((random.below(0), random.index(0)), (0, 0));
        assert!(random.one_in(1));
    }

    // Without it tests of copies could run on data in which a moved byte is not seen.
    #[test]
    fn bytes_are_of_every_value() {
        let bytes = Random::new(0).bytes(1 << 14);
        let values: std::collections::HashSet<u8> = bytes.iter().copied().collect();
        assert_eq!((bytes.len(), values.len()), (1 << 14, 256));
    }
}

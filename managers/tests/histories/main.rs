//! Random histories of pools.

mod replay;

use quickcheck::quickcheck;

type Step = (u8, u8, u8, u8);

quickcheck! {
    /// Without it two users could have one piece of memory, memory be used before work on it is
    /// complete, or a pool take more than its limit.
    fn blocks_keep_what_is_written_and_the_limit(kind: u8, pages: u8, steps: Vec<Step>) -> bool {
        let bytes = steps.into_iter().map(|(kind, a, b, c)| [kind, a, b, c]);
        replay::replay(kind, pages, bytes);
        true
    }
}

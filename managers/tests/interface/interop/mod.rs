//! Memory that changes hands between libraries.

mod array_interface;
mod descriptors;
mod dlpack;
#[cfg(target_os = "linux")]
mod external;
mod refused;
#[cfg(target_os = "linux")]
mod semaphores;

use quickcheck::{Gen, QuickCheck};

use super::{PoolBench, TestBench, bench, hold};

// Without it lengths, strides and addresses of another library could overflow, or lead beside its memory.
#[test]
fn no_descriptor_leads_beside_its_memory() {
    #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
    fn property(bytes: Vec<u8>) -> bool {
        descriptors::check(&bytes);
        true
    }
    QuickCheck::new()
        .rng(Gen::new(200))
        .tests(10_000)
        .quickcheck(property as fn(Vec<u8>) -> bool);
}

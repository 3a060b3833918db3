//! Random valid kernels against an oracle that interprets one thread at a time.

mod generate;
mod memory;
mod ops;
mod oracle;
mod run;

use quickcheck::{Arbitrary, Gen, QuickCheck};

/// Bytes that a kernel is made from. They do not shrink: other bytes are another kernel.
#[derive(Clone, Debug)]
struct Bytes(Vec<u8>);

impl Arbitrary for Bytes {
    fn arbitrary(from: &mut Gen) -> Self {
        let len = usize::arbitrary(from) % 2048;
        Self((0..len).map(|_| u8::arbitrary(from)).collect())
    }
}

// Without it a mistake in divergence, reconvergence, predication, calls, barriers or in an
// instruction's arithmetic could hide where no hand-written kernel looks.
#[test]
fn random_kernels_compute_what_the_oracle_does() {
    #[allow(clippy::needless_pass_by_value, reason = "quickcheck's signature")]
    fn property(bytes: Bytes) -> bool {
        run::check(&bytes.0);
        true
    }
    QuickCheck::new()
        .tests(300)
        .quickcheck(property as fn(Bytes) -> bool);
}

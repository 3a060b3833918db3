//! Random programs of driver calls against a model that does everything at once, in the
//! order of the calls.

mod program;

use quickcheck::{Arbitrary, Gen, QuickCheck};

/// Bytes that a program is made from. They do not shrink: other bytes are another program.
#[derive(Clone, Debug)]
struct Bytes(Vec<u8>);

impl Arbitrary for Bytes {
    fn arbitrary(from: &mut Gen) -> Self {
        let len = usize::arbitrary(from) % 1024;
        Self((0..len).map(|_| u8::arbitrary(from)).collect())
    }
}

// Without it a lost operation, a wrong order between streams, a wrong answer to a bad call
// or a leak could need a sequence of calls that no hand-written test makes.
#[test]
fn random_programs_do_what_the_model_does() {
    #[allow(clippy::needless_pass_by_value, reason = "quickcheck's signature")]
    fn property(bytes: Bytes) -> bool {
        program::run(&bytes.0);
        true
    }
    QuickCheck::new()
        .tests(200)
        .quickcheck(property as fn(Bytes) -> bool);
}

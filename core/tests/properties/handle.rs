//! Handles as numbers.

use std::collections::HashSet;

use cupola_core::{Handle, tag};
use quickcheck::quickcheck;

quickcheck! {
    /// Without it C could be given a number that names another slot or generation.
    fn a_handle_survives_the_trip_through_a_number(bits: u64) -> bool {
        match Handle::<tag::Event>::from_bits(bits) {
            Some(handle) => {
                handle.to_bits() == bits
                    && handle.index() as u64 == bits % (1 << 24)
                    && handle.generation() == bits / (1 << 24)
                    && handle.generation() % 2 == 1
            }
            None => (bits / (1 << 24)).is_multiple_of(2),
        }
    }

    /// Without it handles could order or hash otherwise than their numbers.
    fn handles_compare_as_their_numbers(a: u64, b: u64) -> bool {
        let handle = |bits: u64| Handle::<tag::Graph>::from_bits(bits | 1 << 24).unwrap();
        let (x, y) = (handle(a), handle(b));
        x.cmp(&y) == x.to_bits().cmp(&y.to_bits())
            && (x == y) == (HashSet::from([x, y]).len() == 1)
    }
}

/// Without it logs could not tell handles of different kinds apart.
#[test]
fn debug_names_the_tag() {
    struct Mine;
    impl cupola_core::Tag for Mine {
        const NAME: &'static str = "Mine";
    }
    let bits = (1 << 24) | 9;
    assert_eq!(
        format!("{:?}", Handle::<tag::Context>::from_bits(bits).unwrap()),
        "Context#9@1"
    );
    assert_eq!(
        format!("{:?}", Handle::<Mine>::from_bits(bits)),
        "Some(Mine#9@1)"
    );
}

//! One file for each concurrent part.

#[path = "../../properties/boxes.rs"]
mod boxes;
mod budget;
mod leases;
mod made;
mod planted;
mod stores;
mod together;

use together::{Plain, together, wait};

/// Threads of each piece.
const THREADS: usize = 4;
/// What each thread does, so many times.
const ROUNDS: usize = 4000;

/// Runs all of them, or makes the mistake that the command line asks for.
pub(crate) fn run() {
    if let Some(name) =
        std::env::args().find_map(|arg| arg.strip_prefix("plant=").map(str::to_owned))
    {
        return planted::run(&name);
    }
    let pieces: &[(&str, fn())] = &[
        ("budget", budget::bytes_pass_from_thread_to_thread),
        ("leases", leases::the_last_lease_comes_last),
        (
            "made on demand",
            made::one_thread_makes_the_value_that_all_ask_for,
        ),
        ("stores: fixed", stores::fixed_slots),
        ("stores: pool", stores::a_slot_pool),
        ("stores: close", stores::closing_meanwhile),
    ];
    for (name, piece) in pieces {
        piece();
        println!("{name}: done");
    }
}

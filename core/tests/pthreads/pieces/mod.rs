//! One file for each concurrent part.

#[path = "../../properties/boxes.rs"]
mod boxes;
mod budget;
mod counter;
mod leases;
mod made;
mod planted;
mod queue;
mod rotation;
mod stores;
mod together;
mod words;

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
        ("counter", counter::a_counter_goes_up_and_down),
        ("leases", leases::the_last_lease_comes_last),
        ("made on demand", made::one_makes_what_all_ask_for),
        ("pressure", budget::each_crossing_is_told_to_one),
        ("queue: bounded", queue::bounded),
        ("queue: mpsc", queue::mpsc),
        ("rotation", rotation::buffers_pass_from_thread_to_thread),
        ("stores: fixed", stores::fixed_slots),
        ("stores: pool", stores::a_slot_pool),
        ("stores: close", stores::closing_meanwhile),
        ("words", words::words_of_caches),
    ];
    for (name, piece) in pieces {
        piece();
        println!("{name}: done");
    }
}

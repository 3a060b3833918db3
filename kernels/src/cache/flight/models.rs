//! Models of single flight, run under loom:
//!
//! ```text
//! RUSTFLAGS="--cfg loom -C debug-assertions=on" LOOM_MAX_PREEMPTIONS=3 \
//!     cargo test --release -p cupola-kernels --features compiler --lib models::
//! ```

use std::collections::BTreeSet;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::*;

/// Every interleaving of `run`, which must come to see these outcomes and no other.
fn model(outcomes: &[&'static str], run: impl Fn() -> &'static str + Send + Sync + 'static) {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let noted = seen.clone();
    loom::model(move || {
        let outcome = run();
        noted.lock().unwrap().insert(outcome);
    });
    assert_eq!(*seen.lock().unwrap(), outcomes.iter().copied().collect());
}

/// Asks until there is a value; counts the work.
fn ask(flights: &Flights<u8, u8>, work: &AtomicUsize) -> u8 {
    loop {
        match flights.join(1) {
            Role::Lead(leader) => {
                work.fetch_add(1, Ordering::Relaxed);
                leader.land(7);
                return 7;
            }
            Role::Take(value) => return value,
            Role::Retry => thread::yield_now(),
        }
    }
}

// Without it a thread could sleep for ever on work that is done, or take what is not there yet.
#[test]
fn threads_that_wait_are_given_what_the_leader_made() {
    model(&["joined", "apart"], || {
        let shared = Arc::new((Flights::new(), AtomicUsize::new(0)));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || ask(&shared.0, &shared.1))
            })
            .collect();
        for other in others {
            assert_eq!(other.join().unwrap(), 7);
        }
        match shared.1.load(Ordering::Relaxed) {
            1 => "joined",
            _ => "apart",
        }
    });
}

// Without it a panic in a compiler would leave every other thread asleep.
#[test]
fn a_leader_that_is_lost_wakes_those_that_wait() {
    model(&["alone", "took over"], || {
        let shared = Arc::new((Flights::new(), AtomicUsize::new(0)));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || ask(&shared.0, &shared.1))
        };
        let led = match shared.0.join(1) {
            Role::Lead(leader) => {
                drop(leader);
                true
            }
            Role::Take(value) => {
                assert_eq!(value, 7);
                false
            }
            Role::Retry => false,
        };
        assert_eq!(other.join().unwrap(), 7);
        assert_eq!(shared.1.load(Ordering::Relaxed), 1);
        if led { "took over" } else { "alone" }
    });
}

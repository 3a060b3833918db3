//! Models of the two locks of a residency, the counts of leases and the queue, run under loom:
//!
//! ```text
//! RUSTFLAGS="--cfg loom -C debug-assertions=on" LOOM_MAX_PREEMPTIONS=3 \
//!     cargo test --release -p cupola-residency --lib models::
//! ```
//!
//! The table, its monitor and the queue are the crate's own. In place of the engine, which needs a driver, is
//! memory of pieces that loom watches: to map or unmap one is a write, to use one with a lease a read. It takes
//! the locks in the order in which `load` and `evict_piece` do. Loom knows no time: a wake-up that is lost is a
//! deadlock.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::*;
use crate::policy::LeastRecent;
use crate::sync::{Mutex, lock};

/// Pieces of each slot: of two bytes, so that a slot is whole, partly there, or not.
const PIECES: u64 = 2;

/// Two slots and the memory for them.
struct Model {
    /// Pieces that no slot has.
    engine: Mutex<u64>,
    /// Whether each piece of each slot is mapped.
    mapped: [[UnsafeCell<bool>; PIECES as usize]; 2],
    slots: TableMonitor,
}

impl Model {
    fn new(limit: u64, passes: u32) -> Self {
        let mut table = Table::new(2, Box::new(LeastRecent), RoomQueue::new(passes), 0);
        for name in ["a", "b"] {
            table
                .insert(Entry::new(name, PIECES, PIECES, 0, false))
                .unwrap();
        }
        Self {
            engine: Mutex::new(limit),
            mapped: [(); 2].map(|()| [(); PIECES as usize].map(|()| UnsafeCell::new(false))),
            slots: TableMonitor::new(table),
        }
    }

    /// Gives the slot what it lacks, which is leased; how many pieces it lacks still.
    fn load(&self, number: usize) -> u64 {
        let mut free = lock(&self.engine);
        loop {
            let at = self.slots.lock().get(number).unwrap().resident;
            if at == PIECES {
                return 0;
            }
            if *free == 0 && !self.evict_piece(&mut free) {
                return PIECES - at;
            }
            *free -= 1;
            self.set(number, at, true);
            self.slots.lock().get_mut(number).unwrap().resident = at + 1;
        }
    }

    fn evict_piece(&self, free: &mut u64) -> bool {
        loop {
            let victims = self.slots.lock().victims();
            let Some(&victim) = victims.first() else {
                return false;
            };
            let resident = self.slots.lock().get(victim).unwrap().resident;
            // Else it was leased meanwhile.
            if resident > 0 && self.slots.lock().truncate(victim, resident - 1) {
                self.set(victim, resident - 1, false);
                *free += 1;
                return true;
            }
        }
    }

    fn set(&self, number: usize, piece: u64, is_mapped: bool) {
        // SAFETY: the engine's lock is held, and no lease reads it: which loom checks.
        self.mapped[number][piece as usize].with_mut(|it| unsafe { *it = is_mapped });
    }

    /// As `Residency::obtain` does, for as long as it takes; whether the slot was there.
    fn lease(&self, number: usize) -> bool {
        let until = Instant::now() + Duration::from_secs(3600);
        if let Admission::Leased { .. } = self.slots.admit(number, 0) {
            return true;
        }
        let place = self.slots.queue();
        match place.wait_for_turn(number, until) {
            Turn::Leased => return false,
            Turn::Load => {}
            Turn::Expired => panic!("no time passes"),
        }
        loop {
            let seen = place.changes();
            let lacking = self.load(number);
            if lacking == 0 {
                return false;
            }
            let change = place.wait_for_change(seen, number, lacking, Sharers::None, until);
            assert_eq!(change, Change::Happened);
        }
    }

    /// Work that uses the slot: all of it is there.
    fn work(&self, number: usize) {
        for piece in &self.mapped[number] {
            // SAFETY: the lease keeps it mapped: which loom checks.
            piece.with(|it| assert!(unsafe { *it }));
        }
    }

    fn end(&self, number: usize) {
        self.slots.end_lease(number, |_| {});
    }

    fn request(&self, number: usize) -> bool {
        let was_there = self.lease(number);
        self.work(number);
        self.end(number);
        was_there
    }
}

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

// Without it a slot could give a piece up that a lease keeps, or a request work on a slot that is not whole.
#[test]
fn a_slot_that_is_leased_loses_no_piece() {
    model(&["hit", "loaded again"], || {
        let model = Arc::new(Model::new(3, 1));
        model.request(0);
        let other = {
            let model = model.clone();
            // Takes one of the two pieces, before the hit or after.
            thread::spawn(move || model.request(1))
        };
        let was_there = model.request(0);
        assert!(!other.join().unwrap());
        match was_there {
            true => "hit",
            false => "loaded again",
        }
    });
}

// Without it a request that waits for a lease could sleep on when that ends, or one that waits for its turn when
// the request before it is served.
#[test]
fn no_wake_up_is_lost() {
    model(&["served"], || {
        let model = Arc::new(Model::new(PIECES, 1));
        model.lease(0);
        let others: Vec<_> = (0..2)
            .map(|_| {
                let model = model.clone();
                // Neither lease ends before both have begun: no other wake-up makes good one that is lost.
                thread::spawn(move || {
                    model.lease(1);
                    model.work(1);
                })
            })
            .collect();
        model.work(0);
        model.end(0);
        for other in others {
            other.join().unwrap();
        }
        "served"
    });
}

// Without it a lease that overlaps with the one before it could keep the memory that a request waits for, or a
// hit that waits behind that request hang.
#[test]
fn hits_pass_a_request_that_waits_no_more_than_they_may() {
    model(&["before", "held back"], || {
        let model = Arc::new(Model::new(PIECES, 0));
        model.lease(0);
        let waiter = {
            let model = model.clone();
            thread::spawn(move || model.request(1))
        };
        let hit = {
            let model = model.clone();
            thread::spawn(move || model.request(0))
        };
        model.end(0);
        waiter.join().unwrap();
        match hit.join().unwrap() {
            true => "before",
            false => "held back",
        }
    });
}

//! A limit that is lowered below what a pool has, and raised again, beside new lanes: in the end
//! each lane is open or not as the limit says.

use std::sync::Arc as StdArc;

use cupola_core::Budget;
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::model;
use crate::memory::excess::Excess;
use crate::memory::lane::EXCESS;
use crate::sync::biased_lock::BiasedLock;

/// Of a lane what keeps its owner out.
struct Lane(BiasedLock);

impl AsRef<BiasedLock> for Lane {
    fn as_ref(&self) -> &BiasedLock {
        &self.0
    }
}

/// A pool of two bytes.
struct Pool {
    budget: Budget,
    excess: Excess,
    lanes: Mutex<Vec<StdArc<Lane>>>,
}

impl Pool {
    fn new() -> Arc<Self> {
        let budget = Budget::new(2);
        let _: u64 = budget.reserve(2).unwrap().commit();
        Arc::new(Self {
            budget,
            excess: Excess::default(),
            lanes: Mutex::new(vec![StdArc::new(Lane(BiasedLock::new()))]),
        })
    }

    fn is_over(&self) -> bool {
        self.budget.used() > self.budget.limit()
    }

    fn set_limit(&self, bytes: u64) {
        self.budget.set_limit(bytes);
        let lanes = || self.lanes.lock().unwrap();
        self.excess.flag(|| self.is_over(), lanes);
    }

    fn add_lane(&self) {
        let lane = StdArc::new(Lane(BiasedLock::new()));
        let mut lanes = self.lanes.lock().unwrap();
        self.excess.enter(&lane.0);
        lanes.push(lane);
    }
}

// Without it a pool could keep threads out of their lanes for nothing, or let one keep for itself
// what the limit has no room for.
#[test]
fn lanes_are_open_as_the_last_limit_says() {
    model(&["over", "within"], |seen| {
        let pool = Pool::new();
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.set_limit(1)
        });
        let owner = thread::spawn({
            let pool = pool.clone();
            move || pool.add_lane()
        });
        pool.set_limit(3);
        other.join().unwrap();
        owner.join().unwrap();
        let is_over = pool.is_over();
        let lanes = pool.lanes.lock().unwrap();
        assert_eq!(lanes.len(), 2);
        for lane in lanes.iter() {
            assert_eq!(lane.0.flags() == EXCESS, is_over);
        }
        seen.note(if is_over { "over" } else { "within" });
    });
}

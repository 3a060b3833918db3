//! Both stores and the budget under real threads, at full size.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cupola_core::{Budget, FixedSlots, InCell, Layout, Release, SlotPool, Slots, tag};

use super::boxes::Boxes;

const THREADS: usize = 4;
const ROUNDS: usize = 4000;

/// Counts its drops, and holds a number twice so that a torn or reused value shows.
struct Value<'c>(usize, usize, &'c AtomicUsize);

impl Drop for Value<'_> {
    fn drop(&mut self) {
        assert_eq!(self.0, self.1);
        self.2.fetch_add(1, Ordering::Relaxed);
    }
}

/// Without it groups of 64 slots, which the models do not have, would go untested by more
/// than one thread. Threads insert, pass half of the handles on through a shared store,
/// look at each other's values, and release.
fn churn<'c, L: Layout<Cell = InCell<Value<'c>>> + Sync>(
    store: &Slots<L, tag::Slot>,
    drops: &'c AtomicUsize,
) {
    let inserted = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let inserted = &inserted;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let number = thread * ROUNDS + round;
                    if store.insert(Value(number, number, drops)).is_ok() {
                        inserted.fetch_add(1, Ordering::Relaxed);
                    }
                    let picked = store.iter().nth(round % 80);
                    if let Some(lease) = picked.and_then(|handle| store.get(handle).ok()) {
                        assert_eq!(lease.0, lease.1);
                        if round % 3 != 0 {
                            // The value drops here, or with another lease, or is reaped.
                            let _ = store.release(lease.handle());
                            if round % 3 == 1 {
                                drop(lease.release());
                            }
                        }
                    }
                    if round % 7 == 0 {
                        drop(store.reap());
                    }
                    if let Some(handle) = picked.filter(|_| round % 5 == 0)
                        && let Ok(Release::Now(value)) = store.release(handle)
                    {
                        drop(value);
                    }
                }
            });
        }
    });
    store.close();
    assert!(store.drain(|_, value| drop(value)).is_empty());
    // Refused values were dropped by their thread.
    assert_eq!(drops.load(Ordering::Relaxed), THREADS * ROUNDS);
    assert!(inserted.into_inner() > 0);
}

#[test]
fn fixed_slots_survive_threads() {
    let drops = AtomicUsize::new(0);
    churn(&FixedSlots::<Value<'_>, 150>::new(), &drops);
}

#[test]
fn a_slot_pool_survives_threads() {
    let drops = AtomicUsize::new(0);
    let pool: SlotPool<Value<'_>, Boxes> = SlotPool::new(Boxes::new(4));
    churn(&pool, &drops);
}

/// Without it a lost update of the account would show only in a long run.
#[test]
fn a_budget_survives_threads() {
    let budget = Budget::new(1000);
    thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let budget = &budget;
            scope.spawn(move || {
                for round in 0..ROUNDS as u64 * 10 {
                    let Ok(reservation) = budget.reserve((round * 37 + thread) % 600) else {
                        continue;
                    };
                    assert!(budget.used() <= 1000);
                    if round % 2 == 0 {
                        budget.release(reservation.commit()).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(budget.used(), 0);
    assert!(budget.peak() <= 1000);
}

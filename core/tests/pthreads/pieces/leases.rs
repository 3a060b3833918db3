//! The end of a value that all threads look at: the last one ends it, after all of them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cupola_core::{FixedSlots, Handle, tag};

use super::{Plain, THREADS, together, wait};

/// Values, one after the other.
const VALUES: u64 = 250;

/// A value: freeing it while a thread still looks at it is reported.
struct Value(Box<Plain>);

impl Value {
    fn end(self) {
        self.0.write(0);
    }
}

/// What the threads tell each other, without any order between them.
#[derive(Default)]
struct Round {
    handle: AtomicU64,
    leased: AtomicUsize,
    released: AtomicUsize,
    ended: AtomicU64,
    /// For each value a word that the thread which releases it writes before, and the thread
    /// which ends it reads.
    notes: Vec<Plain>,
}

/// Would race if ending a lease, or a slot's life, or taking what waits for `reap`, were
/// relaxed.
pub(crate) fn the_last_lease_comes_last() {
    let store = FixedSlots::<Value, 2>::new();
    let round = Round {
        notes: (0..=VALUES).map(|_| Plain::default()).collect(),
        ..Round::default()
    };
    together(THREADS, &|thread| {
        for number in 1..=VALUES {
            // The others lease; this one releases without looking.
            if thread as u64 == number % THREADS as u64 {
                release(&store, &round, number);
            } else {
                lease(&store, &round, number);
            }
            while round.ended.load(Ordering::Relaxed) < number {
                if let Some((_, value)) = store.reap() {
                    end(&round, value, number);
                }
                wait();
            }
        }
    });
    assert!(store.held().is_empty());
}

fn release(store: &FixedSlots<Value, 2>, round: &Round, number: u64) {
    let word = Plain::default();
    word.write(number);
    round.leased.store(0, Ordering::Relaxed);
    round.released.store(0, Ordering::Relaxed);
    let handle = store.insert(Value(Box::new(word))).unwrap();
    round.handle.store(handle.to_bits(), Ordering::Relaxed);
    while round.leased.load(Ordering::Relaxed) < THREADS - 1 {
        wait();
    }
    round.notes[number as usize].write(number);
    assert!(store.release(handle).unwrap().now().is_none());
    round.released.store(1, Ordering::Relaxed);
}

fn lease(store: &FixedSlots<Value, 2>, round: &Round, number: u64) {
    let lease = loop {
        let handle: Option<Handle<tag::Slot>> =
            Handle::from_bits(round.handle.load(Ordering::Relaxed));
        match handle.map(|handle| store.get(handle)) {
            Some(Ok(lease)) if lease.0.read() == number => break lease,
            _ => wait(),
        }
    };
    round.leased.fetch_add(1, Ordering::Relaxed);
    while round.released.load(Ordering::Relaxed) == 0 {
        wait();
    }
    assert_eq!(lease.0.read(), number);
    if number.is_multiple_of(2) {
        drop(lease); // the last one leaves the value to `reap`
    } else if let Some(value) = lease.release() {
        end(round, value, number);
    }
}

fn end(round: &Round, value: Value, number: u64) {
    assert_eq!(round.notes[number as usize].read(), number);
    value.end();
    round.ended.store(number, Ordering::Relaxed);
}

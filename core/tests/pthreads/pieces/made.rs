//! Values that all threads ask for at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cupola_core::{EnsureError, FixedSlots, Handle, Park, StorePolicy, tag};

use super::{Plain, THREADS, together, wait};

/// Values, one after the other.
const VALUES: u64 = 150;

/// Lets other threads go first until the value is there.
struct Yield;

impl Park for Yield {
    fn wait(_: usize, ready: &mut dyn FnMut() -> bool) {
        while !ready() {
            wait();
        }
    }

    fn wake(_: usize) {}
}

type Store = FixedSlots<Value, 3, tag::Slot, StorePolicy<u64, Yield>>;

struct Value(Box<Plain>);

/// What the threads tell each other, without any order between them.
#[derive(Default)]
struct Round {
    handle: AtomicU64,
    asked: AtomicUsize,
    ended: AtomicU64,
    /// For each value how often it was tried to make it: with no protection but the
    /// store's.
    tries: Vec<Plain>,
}

/// Would race if two threads made one value, or if a value or a failure were seen before it
/// is there.
pub(crate) fn one_thread_makes_the_value_that_all_ask_for() {
    let store = Store::new();
    let round = Round {
        tries: (0..=VALUES).map(|_| Plain::default()).collect(),
        ..Round::default()
    };
    together(THREADS, &|thread| {
        let mut last = None;
        for number in 1..=VALUES {
            let releases = thread as u64 == number % THREADS as u64;
            if releases {
                round.asked.store(0, Ordering::Relaxed);
                let handle = store.reserve().unwrap();
                round.handle.store(handle.to_bits(), Ordering::Relaxed);
            }
            let handle = next(&round, &mut last);
            let lease = loop {
                match store.ensure_alive(handle, || make(&round, number)) {
                    Ok(lease) => break lease,
                    Err(EnsureError::Init(why)) => assert_eq!(why, number),
                    Err(refusal) => panic!("{refusal}"),
                }
            };
            assert_eq!(lease.0.read(), number);
            end(&round, lease.release(), number);
            round.asked.fetch_add(1, Ordering::Relaxed);
            if releases {
                // All have asked, or one of them would find it gone.
                while round.asked.load(Ordering::Relaxed) < THREADS {
                    wait();
                }
                end(&round, store.release(handle).unwrap().now(), number);
            }
            while round.ended.load(Ordering::Relaxed) < number {
                wait();
            }
        }
    });
    assert!(store.held().is_empty());
    for (number, tries) in round.tries.iter().enumerate().skip(1) {
        assert_eq!(tries.read(), 1 + u64::from(number % 3 == 0));
    }
}

/// The handle after `last`.
fn next(round: &Round, last: &mut Option<u64>) -> Handle<tag::Slot> {
    loop {
        let bits = round.handle.load(Ordering::Relaxed);
        if let Some(handle) = Handle::from_bits(bits).filter(|_| *last != Some(bits)) {
            *last = Some(bits);
            return handle;
        }
        wait();
    }
}

/// Makes a value; every third at the second try only.
fn make(round: &Round, number: u64) -> Result<Value, u64> {
    let tries = &round.tries[number as usize];
    tries.write(tries.read() + 1);
    wait(); // so that others come to wait for it
    if number.is_multiple_of(3) && tries.read() == 1 {
        return Err(number);
    }
    let word = Plain::default();
    word.write(number);
    Ok(Value(Box::new(word)))
}

fn end(round: &Round, value: Option<Value>, number: u64) {
    if let Some(Value(word)) = value {
        word.write(0);
        round.ended.store(number, Ordering::Relaxed);
    }
}

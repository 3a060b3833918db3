//! The stores: values are moved in, read under leases and moved out by all threads at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cupola_core::{FixedSlots, Handle, InCell, Layout, Release, SlotPool, Slots, tag};

use super::boxes::Boxes;
use super::{Plain, ROUNDS, THREADS, together, wait};

/// Reading it and ending it must not meet; nor may it be ended twice.
struct Value {
    word: Plain,
    boxed: Box<u64>,
}

impl Value {
    fn new(number: u64) -> Self {
        let word = Plain::default();
        word.write(number);
        Self {
            word,
            boxed: Box::new(number),
        }
    }

    fn look(&self) {
        assert_eq!(self.word.read(), *self.boxed);
    }

    fn end(self) {
        self.look();
        self.word.write(u64::MAX);
    }
}

/// Handles that threads show each other, without any order between them.
struct Board([AtomicU64; 16]);

impl Board {
    fn new() -> Self {
        Self([const { AtomicU64::new(0) }; 16])
    }

    fn show(&self, at: usize, handle: Handle<tag::Slot>) {
        self.0[at % 16].store(handle.to_bits(), Ordering::Relaxed);
    }

    fn pick(&self, at: usize) -> Option<Handle<tag::Slot>> {
        Handle::from_bits(self.0[at % 16].load(Ordering::Relaxed))
    }
}

/// One thread's part: inserts, looks at others' values, releases what they have inserted.
fn work<L: Layout<Cell = InCell<Value>>>(
    store: &Slots<L, tag::Slot>,
    board: &Board,
    number: usize,
) {
    for round in 0..ROUNDS {
        let value = (number * ROUNDS + round) as u64;
        match store.insert(Value::new(value)) {
            Ok(handle) => board.show(round * 7 + number, handle),
            Err(refusal) => refusal.into_value().end(),
        }
        if round % 16 == 0
            && let Ok(vacancy) = store.vacancy()
        {
            board.show(round, vacancy.handle());
            if let Err(refusal) = vacancy.fill(Value::new(value)) {
                refusal.into_value().end();
            }
        }
        let Some(handle) = board.pick(round * 5 + number * 3) else {
            continue;
        };
        // A thread that has looked comes after earlier looks: other threads must release.
        if number.is_multiple_of(2)
            && let Ok(lease) = store.get(handle)
        {
            lease.look();
            if round % 4 == 0
                && let Ok(Release::Now(_)) = store.release(handle)
            {
                unreachable!("a value came out under a lease");
            }
            lease.look();
            match round % 3 {
                0 => drop(lease),
                _ => lease.release().into_iter().for_each(Value::end),
            }
        }
        if round % 2 == 0
            && let Ok(Release::Now(value)) = store.release(handle)
        {
            value.end();
        }
        if round % 8 == 0 {
            store.reap().into_iter().for_each(|(_, value)| value.end());
        }
    }
}

fn churn<L: Layout<Cell = InCell<Value>> + Sync>(store: &Slots<L, tag::Slot>) {
    let board = Board::new();
    together(THREADS, &|number| work(store, &board, number));
    store.close();
    assert!(store.drain(|_, value| value.end()).is_empty());
}

/// Would race if a slot had two owners, or a value were moved while a thread looks.
pub(crate) fn fixed_slots() {
    churn(&FixedSlots::<Value, 150>::new());
}

/// As above; and would race if a chunk were seen before it is initialised.
pub(crate) fn a_slot_pool() {
    churn(&SlotPool::<Value, Boxes>::new(Boxes::new(4)));
}

/// Would race if draining a closed store met a thread that still looks or inserts.
pub(crate) fn closing_meanwhile() {
    for _ in 0..20 {
        let store = SlotPool::<Value, Boxes>::new(Boxes::new(4));
        let board = Board::new();
        let turns = AtomicUsize::new(0);
        together(THREADS, &|number| {
            if number > 0 {
                for round in 0..200 {
                    turns.fetch_add(1, Ordering::Relaxed);
                    match store.insert(Value::new(round)) {
                        Ok(handle) => board.show(number, handle),
                        Err(refusal) => refusal.into_value().end(),
                    }
                    let Some(Ok(lease)) = board.pick(number + 1).map(|other| store.get(other))
                    else {
                        continue;
                    };
                    lease.look();
                    lease.release().into_iter().for_each(Value::end);
                }
                return;
            }
            while turns.load(Ordering::Relaxed) < 200 {
                wait();
            }
            store.close();
            store.drain(|_, value| value.end());
        });
        assert!(store.drain(|_, value| value.end()).is_empty());
    }
}

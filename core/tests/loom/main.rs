//! Models of the lock-free parts, run under loom; each is named for the claim it proves.
//!
//! ```text
//! RUSTFLAGS="--cfg loom -C debug-assertions=on" LOOM_MAX_PREEMPTIONS=3 \
//!     cargo test --release -p cupola-core --test loom
//! ```
//! Every model has two or three threads with at most two operations each on one to three
//! slots. Values hold a loom cell, so that a read which is not ordered before the value's
//! destruction fails the model even when it happens to see the right bits.
//!
//! loom does not try everything that the memory model allows. A load never sees a store that
//! comes later in the same run, a weak exchange fails only if the value differs, and accesses
//! with `SeqCst` count as acquire and release.
//!
//! Every model also lists the outcomes that it must come to see. loom skips orders that it
//! takes for equivalent, and it remembers only the last access to each atomic: a load in
//! one thread and a load with a compare-exchange in the next can hide from it that the
//! first load races with the exchange. A model that never sees an outcome proves nothing
//! about it.
#![cfg(loom)]

mod budget;
mod ensure;
mod ledger;
mod lru;
mod pool;
mod rest;
mod slots;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use loom::cell::UnsafeCell;

/// The outcomes seen so far, over all runs of a model.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<BTreeSet<&'static str>>>);

impl Seen {
    pub(crate) fn note(&self, outcome: &'static str) {
        self.0.lock().unwrap().insert(outcome);
    }
}

/// Explores `run`, which must come to see each of `outcomes` and no other.
pub(crate) fn model(outcomes: &[&'static str], run: impl Fn(&Seen) + Send + Sync + 'static) {
    let seen = Seen::default();
    let noted = seen.clone();
    loom::model(move || run(&noted));
    assert_eq!(*seen.0.lock().unwrap(), outcomes.iter().copied().collect());
}

/// Which of two threads succeeded, as an outcome.
pub(crate) fn who(mine: bool, others: bool) -> &'static str {
    match (mine, others) {
        (true, true) => "both",
        (true, false) => "mine",
        (false, true) => "the other's",
        (false, false) => "neither",
    }
}

/// A value whose reads and whose end loom checks against each other.
pub(crate) struct Value {
    number: u64,
    touched: UnsafeCell<()>,
    ended: Ended,
}

/// Counts the values that have been destroyed.
#[derive(Clone, Default)]
pub(crate) struct Ended(Arc<AtomicUsize>);

impl Ended {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

// SAFETY: the cell is only ever marked as read or written and holds nothing; that the
// marks never meet is what the models check.
unsafe impl Sync for Value {}

impl Value {
    pub(crate) fn new(number: u64, ended: &Ended) -> Self {
        Self {
            number,
            touched: UnsafeCell::new(()),
            ended: ended.clone(),
        }
    }

    /// Looks at the value.
    pub(crate) fn read(&self) -> u64 {
        self.touched.with(|_| self.number)
    }

    /// Changes the value: loom checks that no thread looks at it meanwhile.
    pub(crate) fn write(&self) {
        self.touched.with_mut(|_| ());
    }

    /// Destroys the value.
    pub(crate) fn end(self) {
        self.write();
        self.ended.0.fetch_add(1, Ordering::Relaxed);
    }
}

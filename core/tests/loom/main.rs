//! Models of the lock-free parts, run under loom; each is named for the claim it proves.
//!
//! ```text
//! RUSTFLAGS="--cfg loom -C debug-assertions=on" LOOM_MAX_PREEMPTIONS=3 \
//!     cargo test --release -p cupola-core --test loom
//! ```
//! Every model has two or three threads with at most two operations each on one to three
//! slots. Values hold a loom cell, so that a read which is not ordered before the value's
//! destruction fails the model even when it happens to see the right bits.
#![cfg(loom)]

mod budget;
mod pool;
mod slots;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::cell::UnsafeCell;

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

// SAFETY: the cell is read through `&self` and written only by `end`, which owns the
// value; that no read runs meanwhile is what the models check.
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

    /// Destroys the value.
    pub(crate) fn end(self) {
        self.touched.with_mut(|_| ());
        self.ended.0.fetch_add(1, Ordering::Relaxed);
    }
}

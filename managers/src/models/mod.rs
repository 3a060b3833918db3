//! Models of the state that threads share in this crate, run under loom; each is named for its
//! claim, and is in the room of what it models.
//!
//! ```text
//! RUSTFLAGS="--cfg loom -C debug-assertions=on" LOOM_MAX_PREEMPTIONS=2 \
//!     cargo test --release -p cupola-managers --lib models
//! ```
//! `core/tests/loom/main.rs` says which runs loom leaves out, and why every model lists the
//! outcomes that it must come to see. Here too objects hold a loom cell: a use that is not ordered
//! behind the object's making and before its destruction fails the model. A node that is not freed
//! keeps its `Arc` of the transfer cache, and loom refuses to end a run with one.

mod driver;
mod error;
mod event;
mod graph;
mod managers;
mod object_pool;
mod peers;
mod piece;
mod pipeline;
mod pool;
mod registry;
mod stream;
mod sync;
mod test_driver;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

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

//! Green contexts: a part of a device's multiprocessors, with streams of its own, in a
//! primary context.
//!
//! Memory, modules and events are the primary context's; only streams, and what is asked of
//! the current context about multiprocessors, know of the part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::args::Reply;
use super::context::Context;
use super::event::Record;
use super::multiprocessors::Multiprocessors;
use super::op::Op;
use super::stream::Stream;
use super::strict::{CurrentOn, Origin};
use super::sync::lock;

/// What the streams of a green context share.
#[derive(Debug)]
pub(super) struct Part {
    /// The green context's.
    pub(super) handle: u64,
    /// The multiprocessors that kernels run on, by number.
    pub(super) numbers: Arc<[u32]>,
    closed: AtomicBool,
    /// What all later work comes after, and how often that has changed.
    gate: Mutex<(u64, Option<Arc<Record>>)>,
}

impl Part {
    /// Whether the green context was destroyed.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// What a stream has to wait for that has seen `seen` changes, and how many there are.
    pub(super) fn gate_after(&self, seen: u64) -> Option<(u64, Arc<Record>)> {
        let gate = lock(&self.gate);
        let (changes, record) = (gate.0, gate.1.as_ref()?);
        (changes != seen).then(|| (changes, Arc::clone(record)))
    }

    /// Has all later work come after a record, which comes after the one before it.
    pub(super) fn set_gate(&self, record: Arc<Record>) {
        let mut gate = lock(&self.gate);
        gate.0 += 1;
        gate.1 = Some(record);
    }
}

/// What a `CUgreenCtx` names, and the `CUcontext` made of it: they have one handle.
#[derive(Debug)]
pub(super) struct Green {
    /// What `cuGreenCtxGetId` and `cuCtxGetId` give: never used again.
    pub(super) id: u64,
    pub(super) primary: Arc<Context>,
    pub(super) part: Arc<Part>,
    pub(super) multiprocessors: Multiprocessors,
    pub(super) made: Origin,
    /// Its default stream.
    pub(super) legacy: Arc<Stream>,
    /// Where events of all its work are recorded.
    pub(super) marker: Arc<Stream>,
    /// Where what all its later work comes after is waited for.
    pub(super) gate: Arc<Stream>,
    /// Only one thread at a time may have it current.
    pub(super) current_on: CurrentOn,
}

impl Green {
    /// Makes one. `ids` gives the handle and the number of the green context and of each of
    /// its streams.
    pub(super) fn new(
        primary: &Arc<Context>,
        multiprocessors: Multiprocessors,
        mut ids: impl FnMut() -> (u64, u64),
    ) -> Reply<Self> {
        let (handle, id) = ids();
        let part = Arc::new(Part {
            handle,
            numbers: multiprocessors.numbers().collect(),
            closed: AtomicBool::new(false),
            gate: Mutex::default(),
        });
        let [legacy, marker, gate] = primary.add_part(&part, [ids(), ids(), ids()])?;
        Ok(Self {
            id,
            primary: Arc::clone(primary),
            part,
            multiprocessors,
            made: primary.device.strict.origin(),
            legacy,
            marker,
            gate,
            current_on: CurrentOn::default(),
        })
    }

    /// Has all later work come after an operation, and after those of earlier calls.
    pub(super) fn wait(&self, op: Op) -> Reply {
        self.primary.submit(&self.gate, op)?;
        // The stream is in order: this comes after all that was waited for in it.
        let passed = Record::new();
        let record = Op::Record(Arc::clone(&passed));
        self.primary.submit(&self.gate, record)?;
        self.part.set_gate(passed);
        Ok(())
    }

    /// Closes its streams: work in them goes on, and their handles name nothing that works.
    pub(super) fn close(&self) {
        self.part.closed.store(true, Ordering::Release);
        self.primary.remove_part(self.part.handle);
    }
}

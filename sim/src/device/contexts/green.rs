//! Green contexts: a part of a device's multiprocessors, with streams of its own, in a
//! primary context.
//!
//! Memory, modules and events are the primary context's; only streams, and what is asked of
//! the current context about multiprocessors, know of the part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::contexts::multiprocessors::Multiprocessors;
use crate::device::operations::op::Op;
use crate::device::streams::event::Record;
use crate::device::streams::stream::Stream;
use crate::device::strict::{CurrentOn, Origin};
use crate::device::sync::lock;

/// What the streams of a green context share.
#[derive(Debug)]
pub(in crate::device) struct Part {
    /// The green context's.
    pub(in crate::device) handle: u64,
    /// The multiprocessors that kernels run on, by number.
    pub(in crate::device) numbers: Arc<[u32]>,
    closed: AtomicBool,
    /// What all later work comes after, and how often that has changed.
    gate: Mutex<(u64, Option<Arc<Record>>)>,
}

impl Part {
    /// Whether the green context was destroyed.
    pub(in crate::device) fn is_closed(&self) -> bool {
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
pub(in crate::device) struct Green {
    /// What `cuGreenCtxGetId` and `cuCtxGetId` give: never used again.
    pub(in crate::device) id: u64,
    pub(in crate::device) primary: Arc<Context>,
    pub(in crate::device) part: Arc<Part>,
    pub(in crate::device) multiprocessors: Multiprocessors,
    pub(in crate::device) made: Origin,
    /// Its default stream.
    pub(in crate::device) legacy: Arc<Stream>,
    /// Where events of all its work are recorded.
    pub(in crate::device) marker: Arc<Stream>,
    /// Where what all its later work comes after is waited for.
    pub(in crate::device) gate: Arc<Stream>,
    /// Only one thread at a time may have it current.
    pub(super) current_on: CurrentOn,
}

impl Green {
    /// Makes one. `ids` gives the handle and the number of the green context and of each of
    /// its streams.
    pub(in crate::device) fn new(
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
    pub(in crate::device) fn wait(&self, op: Op) -> Reply {
        self.primary.submit(&self.gate, op)?;
        // The stream is in order: this comes after all that was waited for in it.
        let passed = Record::new();
        let record = Op::Record(Arc::clone(&passed));
        self.primary.submit(&self.gate, record)?;
        self.part.set_gate(passed);
        Ok(())
    }

    /// Closes its streams: work in them goes on, and their handles name nothing that works.
    pub(in crate::device) fn close(&self) {
        self.part.closed.store(true, Ordering::Release);
        self.primary.remove_part(self.part.handle);
    }
}

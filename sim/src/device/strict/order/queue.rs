//! What is queued, and what kernels say when they end: where mistakes of order are found.

use std::sync::Arc;

use crate::device::memory::Space;
use crate::device::operations::op::Op;
use crate::device::streams::stream::Stream;
use crate::device::strict::blocks::bounds::{Given, explain};
use crate::device::strict::blocks::extent::Extent;
use crate::device::strict::blocks::regions::{Map, Moment, Region, captured_blocks, is_own_order};
use crate::device::strict::finding::{Finding, FindingKind, Memory};
use crate::device::strict::options::Strict;
use crate::device::strict::order::clock::{Clock, Stamp};
use crate::device::strict::order::races::Used;
use crate::device::strict::order::{Order, PartUse, Thing, Uses};
use crate::device::strict::site::Here;
use crate::device::strict::{Entered, Monitor};
use crate::device::sync::lock;

/// What strict mode knows of a queued operation.
#[derive(Clone, Debug)]
pub(in crate::device) struct Trace {
    here: Here,
    /// For functions of the program: what is over when they are called.
    before: Option<Box<Clock>>,
    /// The blocks of allocators, if there are any.
    moment: Option<Arc<Moment>>,
}

impl Trace {
    /// The thread works for the operation's call until the guard is dropped.
    pub(in crate::device) fn enter(&self) -> Entered {
        self.here.enter_at(self.moment.clone())
    }
}

impl Monitor {
    /// An operation is about to be queued. Findings are the caller's to tell, when it holds
    /// no lock.
    pub(in crate::device) fn queue(
        &self,
        space: &Space,
        context: u64,
        stream: &Stream,
        op: &Op,
        findings: &mut Vec<Finding>,
    ) -> Trace {
        let here = Here {
            stream: stream.id,
            ..Here::now()
        };
        let mut trace = Trace {
            here,
            before: None,
            moment: None,
        };
        let map = self.usable();
        if !self.orders() && map.is_none() {
            return trace;
        }
        let mut used = self.touched(space, op);
        if captured_blocks().is_some() {
            // What was a block at the capture is the graph's memory.
            used.retain(|touched| match (&touched.thing, &touched.allocation) {
                (Thing::Memory(id), Some(memory)) if memory.memory == Memory::Region => {
                    !self.has_ended(memory.base, *id)
                }
                _ => true,
            });
        }
        if let Some(map) = &map {
            self.leaves_blocks(map, op, here, findings);
        }
        // Before the operation can run, and fault for the same reason.
        let mut found = |finding: Finding| {
            let told = finding.clone();
            if self.keep(finding) {
                findings.push(told);
            }
        };
        let mut order = lock(&self.order);
        order.make_room();
        let stamp = order.advance(context, stream);
        let line = stream.id;
        match op {
            Op::Record(record) => {
                if let Some(line) = order.lines.get(&line) {
                    record.set_clock(line.clock.clone());
                }
            }
            Op::Wait(record) => {
                if let (Some(clock), Some(line)) = (record.clock(), order.lines.get_mut(&line))
                    && !is_own_order()
                {
                    line.clock.join(clock);
                }
            }
            Op::Host(..) | Op::Callback(..) => {
                let line = order.lines.get(&line);
                trace.before = line.map(|line| Box::new(line.clock.clone()));
            }
            Op::Alloc(block) => {
                let uses = order.things.entry(Thing::Memory(block.id)).or_default();
                uses.allocated = Some(stamp);
            }
            Op::Free(block) => {
                let thing = Thing::Memory(block.id);
                let over = |stamp| order.precedes(stamp, line);
                if let Some(user) = order.pending(thing, over) {
                    let what = format!(
                        "the free does not come after {} in stream {}, which uses the memory",
                        user.function, user.stream
                    );
                    found(Finding {
                        address: Some(block.address),
                        allocation: Some(block.allocation()),
                        call: Some(here.site()),
                        other: Some(user.site()),
                        ..Finding::new(FindingKind::FreeInUse, what)
                    });
                }
                // Work that a wait for a value holds the free back for may be queued later.
                let open = order
                    .lines
                    .get(&line)
                    .is_some_and(|line| line.clock.is_open());
                order.things.entry(thing).or_default().freed = (!open).then_some(stamp);
            }
            Op::Value(step) => order.value(stamp, *step),
            Op::Copy(_)
            | Op::Fill(_)
            | Op::Launch(_)
            | Op::Release(_)
            | Op::Branch(_)
            | Op::Reset(_) => {}
        }
        for touched in used {
            let uses = order.things.get(&touched.thing);
            let shared = |uses: &Uses| uses.shared.contains(&line);
            let (allocated, freed) = uses.map_or((None, None), |uses| {
                (uses.allocated.filter(|_| !shared(uses)), uses.freed)
            });
            let late = |stamp: Option<Stamp>| stamp.filter(|at| !order.precedes(*at, line));
            let problem = if late(freed).is_some() {
                let what = "the work does not come after the memory's free, and was queued later";
                Some((FindingKind::UseAfterFree, what))
            } else if late(allocated).is_some() {
                let what = "the work does not come after the memory's stream-ordered allocation";
                Some((FindingKind::UnorderedUse, what))
            } else {
                None
            };
            if let Some((kind, what)) = problem {
                found(Finding {
                    address: touched.allocation.as_ref().map(|memory| memory.base),
                    allocation: touched.allocation,
                    call: Some(here.site()),
                    ..Finding::new(kind, what)
                });
            }
            let mut uses = order.things.remove(&touched.thing).unwrap_or_default();
            uses.by.insert(line, (stamp.number, here));
            match touched.part {
                Some(bytes) => {
                    let part = PartUse {
                        stamp,
                        here,
                        bytes,
                        writes: touched.writes,
                    };
                    uses.add_part(part, |stamp| order.is_over(stamp));
                }
                None => {
                    uses.whole.insert(line, (stamp.number, here));
                }
            }
            order.things.insert(touched.thing, uses);
        }
        let (uses_memory, is_compared) = match op {
            Op::Copy(_) | Op::Fill(_) => (true, true),
            Op::Launch(_) => (true, self.wants(Strict::STREAM_RACES)),
            _ => (false, false),
        };
        if let Some(map) = map.filter(|_| uses_memory) {
            let line = order.lines.get(&line).filter(|_| is_compared);
            let clock = line.map(|line| line.clock.clone());
            let moment = Arc::new(Moment {
                map,
                stamp,
                clock: Arc::new(clock.unwrap_or_default()),
            });
            Self::note_rows(&order, op, (&moment, here), &mut found);
            if is_compared && matches!(op, Op::Launch(_)) {
                order.expect(&moment);
            }
            trace.moment = Some(moment);
        }
        trace
    }

    /// A copy or a memset uses these bytes of blocks: known before it runs.
    fn note_rows(
        order: &Order,
        op: &Op,
        (moment, here): (&Moment, Here),
        found: &mut impl FnMut(Finding),
    ) {
        for (address, rows, writes) in op.rows() {
            let Some(region) = moment.map.find(address) else {
                continue;
            };
            let rows = Used::weak(Extent::rows(address - region.base, rows));
            let (reads, writes) = match writes {
                true => (Used::default(), rows),
                false => (rows, Used::default()),
            };
            let by = (moment, here, None);
            let races = region.note_access(order, by, reads, writes);
            races.into_iter().for_each(&mut *found);
        }
    }

    /// What a kernel that has run did with blocks.
    pub(in crate::device::strict) fn kernel_touched(
        &self,
        moment: &Moment,
        (here, kernel): (Here, &str),
        touched: impl Iterator<Item = (Arc<Region>, Used, Used)>,
    ) {
        let mut found = Vec::new();
        let order = lock(&self.order);
        for (region, reads, writes) in touched {
            let by = (moment, here, Some(kernel));
            found.extend(region.note_access(&order, by, reads, writes));
        }
        drop(order);
        found.into_iter().for_each(|finding| self.report(finding));
    }

    /// Blocks that a copy or a memset leaves.
    fn leaves_blocks(&self, map: &Map, op: &Op, here: Here, findings: &mut Vec<Finding>) {
        for (address, rows, writes) in op.rows() {
            if !map.in_heap(address) {
                continue;
            }
            let holds = |at: u64, len: u64| {
                let region = map.find(at);
                region.is_some_and(|region| len <= region.end() - at)
            };
            if holds(address, rows.span()) {
                continue;
            }
            let mut each = rows.offsets().map(|offset| address.saturating_add(offset));
            let Some(at) = each.find(|at| !holds(*at, rows.width)) else {
                continue;
            };
            let given = Given {
                words: &[address],
                found: &[],
                stale: &|_| true,
            };
            let (kind, how, allocation) = explain(self, map, &given, (at, rows.width));
            let what = if writes { "write" } else { "read" };
            let what = format!("{what} of {} bytes at 0x{at:x}: {how}", rows.width);
            let finding = Finding {
                address: Some(at),
                bytes: Some(rows.width),
                allocation,
                call: Some(here.site()),
                ..Finding::new(kind, what)
            };
            if self.keep(finding.clone()) {
                findings.push(finding);
            }
        }
    }

    /// A function of the program is called: what came before it is over, and the program
    /// may tell its other threads.
    pub(in crate::device) fn calls_back(&self, trace: &Trace) {
        self.learn(trace.before.as_deref());
    }
}

//! Whether work comes after what it needs, and before what it must not outlive.
//!
//! The answer follows from the calls alone, not from when things happen to run: work is
//! over for the program when it has waited for it, and comes after other work when the
//! stream, an event or the legacy stream's rules say so. So a mistake is found in every
//! run, also in those where it does no harm.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::super::context::in_sight;
use super::super::event::Event;
use super::super::memory::Space;
use super::super::op::Op;
use super::super::stream::{Kind, Stream};
use super::super::sync::lock;
use super::super::value::Step;
use super::bounds::{Given, explain};
use super::clock::{Clock, Stamp};
use super::finding::{CallSite, Finding, FindingKind};
use super::options::Strict;
use super::races::Extent;
use super::regions::{Map, Moment, Region, is_own_order};
use super::site::Here;
use super::{Entered, Monitor};

/// Most destroyed streams whose work nobody has waited for that are kept apart.
const CLOSED: usize = 1024;

/// Fewer things than this are not looked through for those that nobody needs.
const CROWD: usize = 1024;

/// What work can use and a program can take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::device) enum Thing {
    /// A device block, or page-locked memory, by id.
    Memory(u64),
    /// By handle.
    Module(u64),
}

/// A stream as strict mode sees it.
#[derive(Debug)]
struct Line {
    kind: Kind,
    context: u64,
    /// The stream's group in the context.
    group: u64,
    /// What the last operation comes after, itself included.
    clock: Clock,
    number: u64,
}

/// What is known of a thing's use.
#[derive(Debug, Default)]
struct Uses {
    /// Where its stream-ordered allocation is.
    allocated: Option<Stamp>,
    /// Where its stream-ordered free is.
    freed: Option<Stamp>,
    /// Streams that come after the allocation as its allocator says.
    shared: HashSet<u64>,
    /// The last use in each stream.
    by: BTreeMap<u64, (u64, Here)>,
    /// The last in each stream that writes it for certain.
    written: BTreeMap<u64, (u64, Here)>,
}

/// All streams and things of a machine.
#[derive(Debug, Default)]
pub(super) struct Order {
    lines: HashMap<u64, Line>,
    /// Destroyed streams, oldest first.
    closed: VecDeque<u64>,
    /// What the program has waited for.
    host: Clock,
    /// What values in memory may have told whoever looks.
    told: Clock,
    things: HashMap<Thing, Uses>,
    /// Where the things that nobody needs any more are looked for next: at so many.
    crowded: usize,
}

impl Order {
    /// The stream's next place, after everything that the rules say.
    fn advance(&mut self, context: u64, stream: &Stream) -> Stamp {
        let mut before = self.host.clone();
        before.join(&self.told);
        let group = stream.group();
        let here = |line: &&Line| line.context == context && in_sight(group, line.group);
        for line in self.lines.values().filter(here) {
            let counts = match stream.kind {
                Kind::Legacy => line.kind == Kind::Blocking,
                Kind::Blocking => line.kind == Kind::Legacy,
                Kind::NonBlocking => false,
                Kind::Marker => true,
            };
            if counts {
                before.join(&line.clock);
            }
        }
        let line = self.lines.entry(stream.id).or_insert_with(|| Line {
            kind: stream.kind,
            context,
            group,
            clock: Clock::default(),
            number: 0,
        });
        line.number += 1;
        line.clock.join(&before);
        let stamp = Stamp {
            stream: stream.id,
            number: line.number,
        };
        line.clock.raise(stamp);
        stamp
    }

    /// What covers every operation that is queued.
    fn everything(&self) -> Clock {
        let mut clock = self.host.clone();
        clock.join(&self.told);
        self.lines.values().for_each(|line| clock.join(&line.clock));
        clock.close(|_| true);
        clock
    }

    /// Whether the operation is over when `line`'s latest begins.
    fn precedes(&self, stamp: Stamp, line: u64) -> bool {
        let known = self.lines.get(&line);
        known.is_some_and(|line| line.clock.covers(stamp)) || self.is_over(stamp)
    }

    /// The stream's latest operation writes a value or waits for one.
    ///
    /// Values are read by polling, and the host, kernels and copies do it without telling
    /// anybody. So a wait may come after anything, and what comes before a write may be over
    /// for everybody.
    fn value(&mut self, stamp: Stamp, step: Step) {
        let Some(line) = self.lines.get_mut(&stamp.stream) else {
            return;
        };
        match step {
            Step::Wait { .. } => line.clock.open(stamp),
            Step::Write { .. } => self.told.join(&line.clock),
        }
    }

    /// Whether the program has waited for the operation, or a value may have told it.
    fn is_over(&self, stamp: Stamp) -> bool {
        self.host.covers(stamp)
            || self.told.covers(stamp)
            || !self.lines.contains_key(&stamp.stream)
    }

    /// Whether the program has waited for everything in the clock.
    fn knows(&self, clock: &Clock) -> bool {
        clock.stamps().all(|stamp| self.is_over(stamp))
    }

    /// The first use that need not be over when `over` says so for its operation.
    fn pending(&self, thing: Thing, over: impl Fn(Stamp) -> bool) -> Option<Here> {
        Self::first_open(&self.things.get(&thing)?.by, over)
    }

    fn first_open(uses: &BTreeMap<u64, (u64, Here)>, over: impl Fn(Stamp) -> bool) -> Option<Here> {
        let mut open = uses.iter().filter(|(stream, (number, _))| {
            let (stream, number) = (**stream, *number);
            !over(Stamp { stream, number })
        });
        open.next().map(|(_, (_, here))| *here)
    }

    /// Whether one of two operations comes after the other; each with its clock.
    pub(super) fn in_order(
        &self,
        (one, before_one): (Stamp, &Clock),
        (other, before_other): (Stamp, &Clock),
    ) -> bool {
        // What is known to be over may be forgotten by now.
        let known = |stamp: Stamp| self.lines.contains_key(&stamp.stream);
        before_one.covers(other) || before_other.covers(one) || !known(one) || !known(other)
    }

    /// Whether everything that is queued from now on comes after the operation.
    pub(super) fn is_known(&self, stamp: Stamp) -> bool {
        self.is_over(stamp)
    }

    fn learn(&mut self, clock: &Clock) {
        self.host.join(clock);
        self.close_waits();
        let (host, lines) = (&self.host, &self.lines);
        let done = |stream: &u64| {
            let line = lines.get(stream);
            line.is_none_or(|line| host.of(*stream) >= line.number)
        };
        if self.closed.iter().any(done) {
            let gone: Vec<_> = self.closed.iter().copied().filter(done).collect();
            self.drop_lines(|stream| gone.contains(&stream));
        }
    }

    /// Waits for values that the program knows to be over: what they came after is queued by
    /// now.
    fn close_waits(&mut self) {
        let open = self.lines.values().any(|line| line.clock.is_open());
        if !open && !self.host.is_open() && !self.told.is_open() {
            return;
        }
        let everything = self.everything();
        let Self {
            lines, host, told, ..
        } = self;
        if host.close(|_| true) {
            host.join(&everything);
        }
        let known: HashSet<u64> = lines.keys().copied().collect();
        let over = |wait: Stamp| host.covers(wait) || !known.contains(&wait.stream);
        let clocks = lines.values_mut().map(|line| &mut line.clock);
        for clock in clocks.chain([told]) {
            if clock.close(over) {
                clock.join(&everything);
            }
        }
    }

    /// Lets go of what says nothing any more, if there is much.
    fn make_room(&mut self) {
        if self.things.len() >= self.crowded.max(CROWD) {
            self.prune();
        }
    }

    /// Lets go of uses that are over, and of things that have nothing else.
    fn prune(&mut self) {
        let (lines, host) = (&self.lines, &self.host);
        let open = |stamp: &Stamp| lines.contains_key(&stamp.stream) && !host.covers(*stamp);
        self.things.retain(|_, uses| {
            uses.by
                .retain(|&stream, &mut (number, _)| open(&Stamp { stream, number }));
            uses.allocated = uses.allocated.filter(&open);
            uses.freed = uses.freed.filter(&open);
            !uses.by.is_empty() || uses.allocated.is_some() || uses.freed.is_some()
        });
        self.crowded = self.things.len() * 2;
        let known: HashSet<u64> = self.lines.keys().copied().collect();
        for line in self.lines.values_mut() {
            line.clock.retain(|stream| known.contains(&stream));
        }
    }

    /// Forgets streams: all of their work is over.
    fn drop_lines(&mut self, gone: impl Fn(u64) -> bool) {
        self.lines.retain(|stream, _| !gone(*stream));
        self.closed.retain(|stream| !gone(*stream));
        let lines = &self.lines;
        self.host.retain(|stream| lines.contains_key(&stream));
        self.told.retain(|stream| lines.contains_key(&stream));
        self.close_waits();
        self.prune();
    }

    /// What waiting for the stream would tell.
    fn seen(&self, stream: &Stream, context: u64) -> Clock {
        let mut clock = Clock::default();
        for (id, line) in &self.lines {
            let legacy = stream.kind == Kind::Legacy && line.kind == Kind::Blocking;
            let here = line.context == context && in_sight(stream.group(), line.group);
            if *id == stream.id || legacy && here {
                clock.join(&line.clock);
            }
        }
        clock
    }
}

/// What strict mode knows of a queued operation.
#[derive(Debug)]
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
    /// Whether the order of work is followed.
    fn orders(&self) -> bool {
        self.wants(Strict::ORDER.union(Strict::PENDING_DESTROY))
    }

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
        let map = self.regions.now();
        if !self.orders() && map.is_none() {
            return trace;
        }
        let used = self.touched(space, op);
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
            Op::Copy(_) | Op::Fill(_) | Op::Launch(_) => {}
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
            let uses = order.things.entry(touched.thing).or_default();
            uses.by.insert(line, (stamp.number, here));
            if touched.writes {
                uses.written.insert(line, (stamp.number, here));
            }
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
            let first = address - region.base;
            let rows = rows.offsets().map(|offset| {
                let first = first.saturating_add(offset);
                (first, first.saturating_add(rows.width))
            });
            let rows = Extent::Rows(rows.collect());
            let (reads, writes) = match writes {
                true => (Extent::nothing(), rows),
                false => (rows, Extent::nothing()),
            };
            let by = (moment, here, None);
            let races = region.note_access(order, by, reads, writes);
            races.into_iter().for_each(&mut *found);
        }
    }

    /// What a kernel that has run did with blocks.
    pub(super) fn kernel_touched(
        &self,
        moment: &Moment,
        (here, kernel): (Here, &str),
        touched: impl Iterator<Item = (Arc<Region>, Extent, Extent)>,
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

    /// A block takes its end in the stream. Gives a use that it does not come after.
    pub(super) fn region_freed(&self, id: u64, context: u64, stream: &Stream) -> Option<Here> {
        if !self.orders() {
            return None;
        }
        let mut order = lock(&self.order);
        let stamp = order.advance(context, stream);
        let over = |stamp| order.precedes(stamp, stream.id);
        let user = order.pending(Thing::Memory(id), over);
        let line = order.lines.get(&stream.id);
        let open = line.is_some_and(|line| line.clock.is_open());
        let uses = order.things.entry(Thing::Memory(id)).or_default();
        uses.freed = (!open).then_some(stamp);
        user
    }

    /// The end of a block comes after what is on a stream by now, as its allocator says: these uses
    /// need no other order.
    pub(super) fn ends_behind(&self, id: u64, stream: &Stream) {
        if self.orders() {
            let mut order = lock(&self.order);
            if let Some(uses) = order.things.get_mut(&Thing::Memory(id)) {
                uses.by.remove(&stream.id);
                uses.written.remove(&stream.id);
            }
        }
    }

    /// What comes on a stream comes after the allocation of a block, as its allocator says.
    pub(super) fn shares(&self, id: u64, stream: &Stream) {
        if self.orders() {
            let mut order = lock(&self.order);
            let uses = order.things.entry(Thing::Memory(id)).or_default();
            uses.shared.insert(stream.id);
        }
    }

    /// The work that still uses a thing, as far as the program has waited: any, or what writes it.
    pub(super) fn host_rival(&self, thing: Thing, writes: bool) -> Option<Here> {
        let order = lock(&self.order);
        let uses = order.things.get(&thing)?;
        let by = if writes { &uses.by } else { &uses.written };
        Order::first_open(by, |stamp| order.is_over(stamp))
    }

    /// A stream-ordered allocation takes its place in the stream.
    pub(in crate::device) fn allocated(&self, id: u64, context: u64, stream: &Stream) {
        if self.orders() {
            let mut order = lock(&self.order);
            order.make_room();
            let stamp = order.advance(context, stream);
            let uses = order.things.entry(Thing::Memory(id)).or_default();
            uses.allocated = Some(stamp);
        }
    }

    /// The call whose work may still use a thing that the program takes away, as far as
    /// the program has waited.
    pub(super) fn user_of(&self, thing: Thing) -> Option<CallSite> {
        let order = lock(&self.order);
        let user = order.pending(thing, |stamp| order.is_over(stamp));
        user.map(Here::site)
    }

    pub(super) fn forget_thing(&self, thing: Thing) {
        lock(&self.order).things.remove(&thing);
    }

    /// What the program knows once it has waited for the stream.
    pub(in crate::device) fn seen(&self, context: u64, stream: &Stream) -> Option<Clock> {
        let order = || lock(&self.order).seen(stream, context);
        self.orders().then(order)
    }

    /// What the program knows once it has waited for the context, or for one group of its
    /// streams.
    pub(in crate::device) fn seen_all(&self, context: u64, group: Option<u64>) -> Option<Clock> {
        self.orders().then(|| {
            let mut clock = Clock::default();
            let order = lock(&self.order);
            let here = |line: &&Line| {
                line.context == context && group.is_none_or(|group| line.group == group)
            };
            let here = order.lines.values().filter(here);
            here.for_each(|line| clock.join(&line.clock));
            clock
        })
    }

    /// The program has waited for something.
    pub(in crate::device) fn learn(&self, clock: Option<&Clock>) {
        if let Some(clock) = clock {
            lock(&self.order).learn(clock);
        }
    }

    /// A function of the program is called: what came before it is over, and the program
    /// may tell its other threads.
    pub(in crate::device) fn calls_back(&self, trace: &Trace) {
        self.learn(trace.before.as_deref());
    }

    /// A call destroys a stream.
    pub(in crate::device) fn destroys_stream(&self, stream: &Stream) {
        if self.wants(Strict::PENDING_DESTROY) {
            let order = lock(&self.order);
            let line = order.lines.get(&stream.id);
            let pending = line.is_some_and(|line| {
                let (stream, number) = (stream.id, line.number);
                !order.is_over(Stamp { stream, number })
            });
            drop(order);
            self.destroys(pending, "the stream");
        }
    }

    /// A call destroys an event.
    pub(in crate::device) fn destroys_event(&self, event: &Event) {
        if self.wants(Strict::PENDING_DESTROY) {
            let record = event.latest();
            let clock = record.as_ref().and_then(|record| record.clock());
            let pending = clock.is_some_and(|clock| !lock(&self.order).knows(clock));
            self.destroys(pending, "the event");
        }
    }

    fn destroys(&self, pending: bool, what: &str) {
        if pending {
            let what = format!("the program has not waited for {what}");
            self.report(Finding {
                call: Some(Here::now().site()),
                ..Finding::new(FindingKind::DestroyInUse, what)
            });
        }
    }

    /// A stream's handle is gone; its work may go on.
    pub(in crate::device) fn stream_closed(&self, stream: u64) {
        if !self.orders() {
            return;
        }
        let mut order = lock(&self.order);
        if !order.lines.contains_key(&stream) {
            return;
        }
        order.closed.push_back(stream);
        let over = |order: &Order| {
            let line = order.lines.get(&stream);
            line.is_none_or(|line| order.host.of(stream) >= line.number)
        };
        if over(&order) {
            order.drop_lines(|other| other == stream);
        } else if order.closed.len() > CLOSED {
            let oldest = order.closed.front().copied();
            order.drop_lines(|other| Some(other) == oldest);
        }
    }

    /// A context and all its streams are gone.
    pub(in crate::device) fn context_closed(&self, context: u64) {
        if self.orders() {
            let mut order = lock(&self.order);
            let here = order.lines.iter();
            let here = here.filter(|(_, line)| line.context == context);
            let gone: Vec<_> = here.map(|(stream, _)| *stream).collect();
            order.drop_lines(|stream| gone.contains(&stream));
        }
    }
}

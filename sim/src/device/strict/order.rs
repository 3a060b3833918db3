//! Whether work comes after what it needs, and before what it must not outlive.
//!
//! The answer follows from the calls alone, not from when things happen to run: work is
//! over for the program when it has waited for it, and comes after other work when the
//! stream, an event or the legacy stream's rules say so. So a mistake is found in every
//! run, also in those where it does no harm.

mod access_set;
pub(super) mod clock;
mod queue;
pub(super) mod races;
mod waits;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Weak};

use crate::device::contexts::context::in_sight;
use crate::device::operations::value::Step;
use crate::device::streams::stream::{Kind, Stream};
use crate::device::strict::Monitor;
use crate::device::strict::blocks::regions::Moment;
use crate::device::strict::finding::CallSite;
use crate::device::strict::options::Strict;
use crate::device::strict::order::clock::{Clock, Stamp};
use crate::device::strict::site::Here;
use crate::device::sync::lock;
pub(in crate::device) use queue::Trace;

/// Most destroyed streams that are kept apart because the host has not waited for their work.
const CLOSED: usize = 1024;

/// Fewer things than this are not looked through for those that say nothing any more.
const CROWD: usize = 1024;

/// The same of kernels, which each comparison looks through.
const FEW: usize = 16;

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
    /// The last in each stream of which the bytes are not known.
    whole: BTreeMap<u64, (u64, Here)>,
    /// Copies from and to page-locked memory that the program need not have waited for, oldest first.
    parts: Vec<PartUse>,
}

/// A copy's use of page-locked memory.
#[derive(Debug)]
struct PartUse {
    stamp: Stamp,
    here: Here,
    bytes: Range<u64>,
    writes: bool,
}

/// Most copies of one thing that are kept; the oldest go first.
const PARTS: usize = 1024;

impl Uses {
    /// Keeps the copy, in the place of those that `is_over` says nothing can be told of any more.
    fn add_part(&mut self, new: PartUse, is_over: impl Fn(Stamp) -> bool) {
        // A later one of the stream says all that an earlier one does.
        let covered = |old: &PartUse| {
            old.stamp.stream == new.stamp.stream
                && (new.writes || !old.writes)
                && new.bytes.start <= old.bytes.start
                && old.bytes.end <= new.bytes.end
        };
        self.parts
            .retain(|old| !covered(old) && !is_over(old.stamp));
        let over = (self.parts.len() + 1).saturating_sub(PARTS);
        self.parts.drain(..over);
        self.parts.push(new);
    }
}

/// All streams and things of a machine.
#[derive(Debug, Default)]
pub(super) struct Order {
    lines: HashMap<u64, Line>,
    /// Destroyed streams, oldest first.
    closed: VecDeque<u64>,
    /// What the program has waited for.
    host: Clock,
    /// What a reader of values in memory may have learned.
    told: Clock,
    things: HashMap<Thing, Uses>,
    /// At so many, things that say nothing any more are looked for.
    crowded: usize,
    /// Kernels that are to say what they have used, and some that have.
    kernels: Vec<Weak<Moment>>,
    /// At so many of them, those that have ended are taken out.
    ended: usize,
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
    /// Values are read by polling, and the host, kernels and copies read them without a
    /// call. So a wait may come after any operation, and what comes before a write may be over
    /// for every reader.
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

    /// Whether everything that has yet to say what it uses comes after the operation: what is
    /// queued from now on, and each kernel that has not ended.
    pub(super) fn is_behind_all(&self, stamp: Stamp) -> bool {
        let mut kernels = self.kernels.iter().filter_map(Weak::upgrade);
        self.is_over(stamp) && kernels.all(|kernel| kernel.clock.covers(stamp))
    }

    /// A kernel is queued that is going to say what it has used.
    fn expect(&mut self, kernel: &Arc<Moment>) {
        if self.kernels.len() >= self.ended.max(FEW) {
            self.kernels.retain(|kernel| kernel.strong_count() > 0);
            self.ended = self.kernels.len() * 2;
        }
        self.kernels.push(Arc::downgrade(kernel));
    }

    /// Whether nothing can be told any more of a destroyed stream's work: all is over, and
    /// everything that has yet to say what it uses comes after it.
    fn is_spent(&self, stream: u64) -> bool {
        let Some(line) = self.lines.get(&stream) else {
            return true;
        };
        let number = line.number;
        self.host.of(stream) >= number && self.is_behind_all(Stamp { stream, number })
    }

    fn learn(&mut self, clock: &Clock) {
        self.host.join(clock);
        self.close_waits();
        let closed = self.closed.iter().copied();
        let spent: Vec<_> = closed.filter(|stream| self.is_spent(*stream)).collect();
        if !spent.is_empty() {
            self.drop_lines(|stream| spent.contains(&stream));
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
            for users in [&mut uses.by, &mut uses.whole] {
                users.retain(|&stream, &mut (number, _)| open(&Stamp { stream, number }));
            }
            uses.parts.retain(|part| open(&part.stamp));
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

    /// Forgets streams: nothing can be told of their work any more.
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

impl Monitor {
    /// Whether the order of work is followed.
    fn orders(&self) -> bool {
        let all = Strict::ORDER | Strict::PENDING_DESTROY | Strict::STREAM_RACES;
        self.wants(all)
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

    /// The end of a block comes after what is on a stream by now, as its allocator says, and so after what
    /// that comes after: these uses need no other order.
    pub(super) fn ends_behind(&self, id: u64, stream: &Stream) {
        if !self.orders() {
            return;
        }
        let mut order = lock(&self.order);
        let Some(mut uses) = order.things.remove(&Thing::Memory(id)) else {
            return;
        };
        for users in [&mut uses.by, &mut uses.whole] {
            users.retain(|user, (number, _)| {
                let (user, number) = (*user, *number);
                let use_of = Stamp {
                    stream: user,
                    number,
                };
                user != stream.id && !order.precedes(use_of, stream.id)
            });
        }
        order.things.insert(Thing::Memory(id), uses);
    }

    /// What comes on a stream comes after the allocation of a block, as its allocator says.
    pub(super) fn shares(&self, id: u64, stream: &Stream) {
        if self.orders() {
            let mut order = lock(&self.order);
            let uses = order.things.entry(Thing::Memory(id)).or_default();
            uses.shared.insert(stream.id);
        }
    }

    /// The work that still uses these bytes of a thing, as far as the program has waited: any, or what
    /// writes them.
    pub(super) fn host_rival(
        &self,
        thing: Thing,
        bytes: &Range<u64>,
        writes: bool,
    ) -> Option<Here> {
        let order = lock(&self.order);
        let uses = order.things.get(&thing)?;
        let mut parts = uses.parts.iter().filter(|part| {
            let meets = part.bytes.start < bytes.end && bytes.start < part.bytes.end;
            meets && (writes || part.writes) && !order.is_over(part.stamp)
        });
        let part = parts.next().map(|part| part.here);
        // Whether it writes is not known, and is let pass.
        let whole = || Order::first_open(&uses.whole, |stamp| order.is_over(stamp));
        part.or_else(|| writes.then(whole).flatten())
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::memory::Rows;
    use crate::device::strict::blocks::extent::Extent;
    use crate::device::strict::blocks::regions::Region;
    use crate::device::strict::order::races::Used;

    fn moment(stream: u64, number: u64, before: &[Stamp]) -> Arc<Moment> {
        let stamp = Stamp { stream, number };
        let mut clock = Clock::default();
        before.iter().for_each(|stamp| clock.raise(*stamp));
        clock.raise(stamp);
        Arc::new(Moment {
            map: Arc::default(),
            stamp,
            clock: Arc::new(clock),
        })
    }

    /// Whether an operation that writes eight bytes of the block races.
    fn writes(order: &Order, region: &Region, moment: &Moment, first: u64) -> bool {
        let bytes = Used::weak(Extent::rows(first, Rows::one(8)));
        let by = (moment, Here::now(), None);
        let race = region.note_access(order, by, Used::default(), bytes);
        race.is_some()
    }

    /// Two streams with so many operations each.
    fn order(number: u64) -> Order {
        let line = |stream| {
            let line = Line {
                kind: Kind::NonBlocking,
                context: 1,
                group: 0,
                clock: Clock::default(),
                number,
            };
            (stream, line)
        };
        Order {
            lines: [1, 2].map(line).into(),
            ..Order::default()
        }
    }

    /// Without it a race with a kernel that has not ended would be lost when the program destroys
    /// the other stream first.
    #[test]
    fn a_stream_is_remembered_until_what_runs_has_said_what_it_uses() {
        let mut order = order(1);
        let region = Region::of(1, 0, 64);
        let (one, other) = (moment(1, 1, &[]), moment(2, 1, &[]));
        order.expect(&other);
        assert!(!writes(&order, &region, &one, 0));
        order.learn(&one.clock);
        order.closed.push_back(1);
        assert!(!order.is_spent(1));
        order.learn(&one.clock);
        assert!(writes(&order, &region, &other, 0), "it is forgotten");
        drop(other);
        assert!(order.is_spent(1));
        order.learn(&one.clock);
        assert!(!order.lines.contains_key(&1));
    }

    /// Without it a block would keep what the program has waited for, maps of its bytes for each of
    /// 256 kernels; or forget what a kernel that has not ended races with.
    #[test]
    fn an_access_is_kept_until_all_is_behind_it() {
        let mut order = order(9);
        let region = Region::of(1, 0, 64);
        let kept = || lock(&region.accesses).len();
        let (one, other) = (moment(1, 1, &[]), moment(2, 1, &[]));
        order.expect(&other);
        assert!(!writes(&order, &region, &one, 0));
        // The program waits for it, and the other runs on.
        order.host.raise(one.stamp);
        let next = moment(1, 2, &[one.stamp]);
        assert!(!writes(&order, &region, &next, 32));
        assert_eq!(kept(), 2);
        assert!(writes(&order, &region, &other, 0), "it is forgotten");
        order.host.raise(other.stamp);
        order.host.raise(next.stamp);
        let last = moment(1, 3, &[next.stamp, other.stamp]);
        drop(other);
        assert!(!writes(&order, &region, &last, 0));
        assert_eq!(kept(), 1);
    }
}

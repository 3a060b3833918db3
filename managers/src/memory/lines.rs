//! Streams and threads as a pool knows them: their lines and lanes, from the first use to the
//! end of the stream, the thread or the pool.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::thread;

use super::central::Central;
use super::lane::{Lane, RECORDED, ROUTED};
use super::line::Line;
use super::local;
use super::pool::{Pool, count, lock};
use super::stamp::StreamIndex;
use super::teardown::Kept;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::stream::timeline::{Timeline, TimelineCalls};

/// Looks for a place while others have lines in hand.
const TURNS: u32 = 1000;

/// The streams of a pool.
pub(super) struct Lines {
    /// By index; 0 is no stream's.
    table: Vec<Option<Arc<Line>>>,
    /// The index of each line, by the number of its stream.
    by_serial: HashMap<u64, StreamIndex>,
    /// Places between those of other lines.
    vacant: BTreeSet<StreamIndex>,
    /// The last index that may be given.
    pub(super) last: StreamIndex,
    /// With so many lines it is time to look whose streams are gone.
    pub(super) look_at: usize,
    /// Driver calls of clocks whose lines are gone.
    pub(super) past: TimelineCalls,
}

/// Lines that are not worth a look.
pub(super) const FEW: usize = 16;

impl Default for Lines {
    fn default() -> Self {
        Self {
            table: Vec::new(),
            by_serial: HashMap::new(),
            vacant: BTreeSet::new(),
            last: StreamIndex::MAX,
            look_at: FEW,
            past: TimelineCalls::default(),
        }
    }
}

impl Lines {
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Line>> {
        self.table.iter().flatten()
    }

    pub(super) fn count(&self) -> usize {
        self.by_serial.len()
    }

    /// Takes the lines out that `is_gone` says so of.
    pub(super) fn take_out(
        &mut self,
        mut is_gone: impl FnMut(&mut Arc<Line>) -> bool,
    ) -> Vec<Arc<Line>> {
        let places = self.table.iter_mut();
        let gone = places.filter_map(|place| {
            let line = place.as_mut()?;
            if !is_gone(line) {
                return None;
            }
            self.by_serial.remove(&line.serial());
            self.vacant.insert(line.index);
            place.take()
        });
        gone.collect()
    }

    fn find(&self, clock: &Timeline) -> Option<Arc<Line>> {
        let index = self.by_serial.get(&clock.serial())?;
        self.table.get(usize::from(*index))?.clone()
    }

    /// A line at the first place that is free. `None` when none is.
    fn add(&mut self, clock: &Arc<Timeline>) -> Option<Arc<Line>> {
        let next = || StreamIndex::try_from(self.table.len().max(1)).ok();
        let index = self.vacant.first().copied().or_else(next);
        let index = index.filter(|&index| index <= self.last)?;
        self.vacant.remove(&index);
        let line = Arc::new(Line::new(index, clock));
        let at = usize::from(index);
        if self.table.len() <= at {
            self.table.resize(at + 1, None);
        }
        self.table[at] = Some(Arc::clone(&line));
        self.by_serial.insert(line.serial(), index);
        Some(line)
    }
}

impl Pool {
    /// The stream's place in this pool.
    #[track_caller]
    pub(super) fn line(&self, stream: &Stream) -> Result<Arc<Line>> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let clock = stream.clock();
        let mut turns = 0;
        let mut is_full = false;
        loop {
            let mut lines = lock(&self.lines);
            if let Some(line) = lines.find(clock) {
                return Ok(line);
            }
            if let Some(line) = lines.add(clock) {
                let mut central = self.central.lock();
                let rules = central.heap.rules_mut();
                rules.renew(line.index);
                if lines.count() > 1 {
                    rules.single = false;
                }
                return Ok(line);
            }
            drop(lines);
            if is_full {
                return Err(Error::Full {
                    kind: "streams of a pool",
                });
            }
            let reaped = self.reap();
            // Another thread may have reaped them just before: one more look.
            is_full = reaped.lines == 0 && (reaped.held == 0 || turns == TURNS);
            // Who has a line in hand gives it back soon.
            turns += 1;
            thread::yield_now();
        }
    }

    /// This thread's lane for a stream. `None` when the thread ends or the pool is closed.
    #[track_caller]
    pub(super) fn lane_of(self: &Arc<Self>, stream: &Stream) -> Result<Option<Arc<Lane>>> {
        let mut line = None;
        if local::lately(self.number, stream.serial()).is_none() {
            // Before the thread's list is borrowed: it may fail.
            line = Some(self.line(stream)?);
        }
        if self.is_closed() {
            return Ok(None);
        }
        let make = |list: &Arc<local::List>| {
            let line = line.map_or_else(|| self.line(stream), Ok).ok()?;
            let lane = Lane::new(Arc::downgrade(self), &line).of_thread(list, self.number);
            let lane = Arc::new(lane);
            let mut lanes = lock(&self.lanes);
            if self.is_closed() {
                return None;
            }
            if self.history.is_on() {
                lane.lock.set_flags(RECORDED);
            }
            if self.graphs.memory_of(stream.serial()).is_some() {
                lane.lock.set_flags(ROUTED);
            }
            self.excess.enter(&lane.lock);
            lanes.push(Arc::clone(&lane));
            Some(lane)
        };
        Ok(local::find(
            (self.number, &self.thread_exit),
            stream.serial(),
            make,
        ))
    }

    /// Takes lanes off the books that are closed, and whose owners write no more.
    pub(super) fn strike(&self, is_gone: impl Fn(&Arc<Lane>) -> bool) {
        lock(&self.lanes).retain(|lane| {
            let is_gone = is_gone(lane);
            if is_gone {
                self.past.absorb(&lane.flow);
                lane.line.note_gone(&lane.flow);
            }
            !is_gone
        });
    }

    /// Empties lanes, which keep nothing from now on.
    pub(super) fn close_lanes(&self, lanes: &[Arc<Lane>]) {
        for mut lane in Lane::revoke_all(lanes) {
            lane.close(|batch, stamp| self.central.lock().put_all(batch, stamp));
        }
    }

    /// Gives all that threads and depots keep back to the heap.
    pub(super) fn drain(&self) {
        self.drain_and(|_| ());
    }

    /// As `drain`, with a look at what there is while nothing is anywhere else: what is not free
    /// then is alive, or on its way to a user.
    pub(super) fn drain_and<R>(&self, look: impl FnOnce(&mut Central) -> R) -> R {
        count(&self.counters.drains);
        let lanes = lock(&self.lanes);
        // Those of all lanes that there can be meanwhile.
        let lines = self.all_lines();
        let mut seized = Lane::revoke_all(&lanes);
        for lane in &mut seized {
            lane.drain(|batch, stamp| self.central.lock().put_all(batch, stamp));
        }
        self.drain_depots(&lines);
        let central = &mut *self.central.lock();
        central
            .slabs
            .release_all(&mut central.heap, &mut central.headers);
        look(central)
    }

    fn drain_depots(&self, lines: &[Arc<Line>]) {
        for line in lines {
            // Stamped when it is ours: until then others may put more in, used later.
            let give = |central: &mut Central, batch| central.put_all(batch, line.stamp());
            line.depot.give_all(&self.central, give);
        }
    }

    pub(super) fn all_lines(&self) -> Vec<Arc<Line>> {
        lock(&self.lines).all().cloned().collect()
    }

    /// The last handle is gone. The pool lives on as long as somebody has a piece of it.
    pub(super) fn close(self: &Arc<Self>) {
        if self.core.not_forked().is_err() {
            // Whether somebody has a piece the child cannot see: another thread may have left a
            // lock taken.
            let _for_ever = Arc::into_raw(Arc::clone(self));
            return;
        }
        // Before this handle goes: else the pool could end on a thread that just ends.
        self.thread_exit.close();
        {
            let lanes = lock(&self.lanes);
            self.keep.close();
            // They stay: threads that have pieces look for them.
            self.close_lanes(&lanes);
        }
        self.drain_depots(&self.all_lines());
        self.keep.hold(Kept::new(self), || self.is_over());
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.keep.is_closed()
    }
}

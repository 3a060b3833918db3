//! Streams and threads as a pool knows them: their lines and lanes, from the first use to the
//! end of the stream, the thread or the pool.

use std::sync::Arc;
use std::thread;

use super::central::Central;
use super::counters::count;
use super::header::Header;
use super::lane::{Lane, LaneOwner, RECORDED, ROUTED};
use super::line::Line;
use super::local;
use super::pool::Pool;
use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::sync::lock;
use std::ptr::NonNull;
use std::sync::Weak;

/// Looks for a place while others have lines in hand.
const TURNS: u32 = 1000;

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
            let owner: Weak<dyn LaneOwner> = Arc::<Self>::downgrade(self);
            let lane = Lane::new(owner, &line).of_thread(list, self.number);
            let lane = Arc::new(lane);
            let mut lanes = lock(&self.lanes);
            if self.is_closed() {
                return None;
            }
            if self.history.is_on() {
                lane.lock.set_flags(RECORDED);
            }
            if self.graphs.of(stream.serial(), |_| ()).is_some() {
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

    pub(super) fn drain_depots(&self, lines: &[Arc<Line>]) {
        for line in lines {
            // Stamped when it is ours: until then others may put more in, used later.
            let give = |central: &mut Central, batch| central.put_all(batch, line.stamp());
            line.depot.give_all(&self.central, give);
        }
    }

    pub(super) fn all_lines(&self) -> Vec<Arc<Line>> {
        lock(&self.lines).all().cloned().collect()
    }
}

impl LaneOwner for Pool {
    fn is_here(&self) -> bool {
        self.core.not_forked().is_ok()
    }

    fn put_all(&self, batch: NonNull<Header>, stamp: Stamp) {
        self.central.lock().put_all(batch, stamp);
    }

    fn remove(&self, lane: &Arc<Lane>) {
        self.strike(|other| Arc::ptr_eq(other, lane));
    }
}

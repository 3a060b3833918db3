//! Streams and threads as a pool knows them: their lines and lanes, from the first use to the
//! end of the stream, the thread or the pool.

use std::sync::Arc;

use super::lane::{Lane, RECORDED, ROUTED};
use super::line::Line;
use super::local;
use super::pool::{Pool, count, lock};
use super::stamp::StreamIndex;
use crate::error::{Error, Result};
use crate::stream::Stream;

impl Pool {
    /// The stream's place in this pool.
    #[track_caller]
    pub(super) fn line(&self, stream: &Stream) -> Result<Arc<Line>> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let clock = stream.clock();
        let mut lines = lock(&self.lines);
        let is_it = |line: &&Arc<Line>| line.serial() == clock.serial();
        if let Some(line) = lines.iter().flatten().find(is_it) {
            return Ok(Arc::clone(line));
        }
        // Index 0 is no stream's.
        let vacant = lines.iter().skip(1).position(Option::is_none);
        let at = vacant.map_or(lines.len().max(1), |at| at + 1);
        let index = StreamIndex::try_from(at).map_err(|_| Error::Full {
            kind: "streams of a pool",
        })?;
        let line = Arc::new(Line::new(index, clock));
        if lines.len() <= at {
            lines.resize(at + 1, None);
        }
        lines[at] = Some(Arc::clone(&line));
        let streams = lines.iter().flatten().count();
        let mut central = self.central.lock();
        let rules = central.heap.rules_mut();
        rules.renew(index);
        if streams > 1 {
            rules.single = false;
        }
        Ok(line)
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
        let make = || {
            let line = line.map_or_else(|| self.line(stream), Ok).ok()?;
            let lane = Arc::new(Lane::new(Arc::downgrade(self), &line));
            let mut lanes = lock(&self.lanes);
            if self.is_closed() {
                return None;
            }
            if self.history.is_on() {
                lane.bias.set_flags(RECORDED);
            }
            if self.graphs.memory_of(stream.serial()).is_some() {
                lane.bias.set_flags(ROUTED);
            }
            lanes.push(Arc::clone(&lane));
            Some(lane)
        };
        Ok(local::find(self.number, stream.serial(), make))
    }

    /// Takes a lane off the books: its thread ends.
    pub(super) fn retire_lane(&self, lane: &Arc<Lane>) {
        if self.core.not_forked().is_err() {
            return;
        }
        self.close_lane(lane);
        let mut lanes = lock(&self.lanes);
        let before = lanes.len();
        lanes.retain(|other| !Arc::ptr_eq(other, lane));
        if lanes.len() < before {
            self.past.absorb(&lane.flow);
        }
    }

    pub(super) fn close_lane(&self, lane: &Lane) {
        lane.close(|batch, stamp| self.central.lock().put_all(batch, stamp));
    }

    /// Gives all that threads and depots keep back to the heap.
    pub(super) fn drain(&self) {
        count(&self.counters.drains);
        let lanes = lock(&self.lanes).clone();
        for lane in &lanes {
            lane.drain(|batch, stamp| self.central.lock().put_all(batch, stamp));
        }
        self.drain_depots();
        let central = &mut *self.central.lock();
        central
            .slabs
            .release_all(&mut central.heap, &mut central.headers);
    }

    pub(super) fn drain_depots(&self) {
        for line in self.all_lines() {
            for batch in line.depot.drain() {
                // Stamped when it is ours: until then others may put more in, used later.
                let stamp = line.stamp();
                self.central.lock().put_all(batch, stamp);
            }
        }
    }

    pub(super) fn all_lines(&self) -> Vec<Arc<Line>> {
        lock(&self.lines).iter().flatten().map(Arc::clone).collect()
    }

    /// The last handle is gone. The pool lives on as long as somebody has a piece of it.
    pub(super) fn close(self: &Arc<Self>) {
        if self.core.not_forked().is_err() {
            return;
        }
        let lanes = {
            let lanes = lock(&self.lanes);
            self.keep.close();
            lanes.clone()
        };
        // They stay: threads that have pieces look for them.
        for lane in &lanes {
            self.close_lane(lane);
        }
        self.drain_depots();
        self.keep.hold(Arc::clone(self), || self.is_over());
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.keep.is_closed()
    }
}

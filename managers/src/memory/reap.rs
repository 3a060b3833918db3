//! The end of streams, as a pool sees it: what they and their threads kept becomes everybody's,
//! and their places are given again.
//!
//! Nobody tells a pool that a stream is gone. It looks when so many new ones have come as there
//! were at its last look, when it is trimmed, and when it has no place left.
//!
//! A place must not be given again while anybody may still make a stamp of it, or note how far
//! its stream has come. Why nobody does:
//!
//! * A clock completes [`EVERY`] ticket only after the last handle of its stream is gone
//!   (`Timeline::retire`), and whoever sees that comes after all that was done with the handle.
//!   So no thread is, or ever comes, inside a lane of the stream as its owner, finds one by its
//!   table, makes a new one, or asks for the line: all of these need the handle.
//! * Everybody else (drains, climbs, figures, threads that end, the memory of graphs) has a count
//!   of the line, or of a lane, which has one. Counts come from the list of lines, under its lock,
//!   from lanes, and from other counts. When under that lock the list's is the only one there is
//!   nobody else, and there will not be; what others did before they gave theirs up is over.
//!
//! Stamps that were read and not yet written back (by a climb that undoes what it took) are READY
//! if they were complete ([`lasting`](super::heap::Heap::lasting)), or else of a stream whose line
//! the climber has.

use std::collections::HashSet;
use std::sync::Arc;

use super::lane::Lane;
use super::line::Line;
use super::lines::FEW;
use super::pool::Pool;
use super::stamp::{Gone, Stamp};
use crate::stream::timeline::{EVERY, TimelineCalls};
use crate::sync::deferred::DeferCallbacks;
use crate::sync::lock;

/// What came of a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reaped {
    /// Lines that are gone.
    pub(super) lines: usize,
    /// Lines whose streams are gone, and which somebody has in hand.
    pub(super) held: usize,
}

impl Pool {
    /// Looks for streams that are gone, if there may be many. It may ask the driver: not for the
    /// way of a free.
    pub(super) fn reap_if_due(&self) {
        let is_due = {
            let lines = lock(&self.lines);
            lines.count() >= lines.look_at
        };
        if is_due {
            self.reap();
        }
    }

    /// Gives up the lines and lanes of streams that are gone and all of whose work is complete. Not
    /// within the list of lanes or of lines.
    pub(super) fn reap(&self) -> Reaped {
        if self.core.not_forked().is_err() {
            return Reaped::default();
        }
        // Policies come after the lock.
        let _defer = DeferCallbacks::new();
        let _turn = lock(&self.reaper);
        if !self.ask_the_gone() {
            self.look_later(Reaped::default());
            return Reaped::default();
        }
        self.drop_lanes();
        let (lines, reaped) = self.take_lines();
        self.look_later(reaped);
        // After the locks: events go with their clocks.
        drop(lines);
        reaped
    }

    /// Sees whether the last event of streams that are gone is reached. Whether one is complete.
    fn ask_the_gone(&self) -> bool {
        let mut complete = false;
        for line in self.all_lines() {
            if line.clock.covered() == EVERY {
                // What is wrong is for those who want the memory.
                let _ = line.clock.poll(&self.core);
                complete |= line.is_over();
            }
        }
        complete
    }

    /// Closes the lanes of streams that are gone, and takes them off the books.
    fn drop_lanes(&self) {
        let is_over = |lane: &&Arc<Lane>| lane.line.is_over();
        let lanes: Vec<_> = lock(&self.lanes).iter().filter(is_over).cloned().collect();
        // One by one, as not under the lock of the lanes; while they are on the books: a caller that looks
        // for memory meanwhile waits at their gates.
        lanes.chunks(1).for_each(|lane| self.close_lanes(lane));
        let closed: HashSet<_> = lanes.iter().map(Arc::as_ptr).collect();
        self.strike(|lane| closed.contains(&Arc::as_ptr(lane)));
        for lane in &lanes {
            lane.leave_thread();
        }
    }

    /// Takes lines out that nobody else has, and makes what their streams have left everybody's.
    fn take_lines(&self) -> (Vec<Arc<Line>>, Reaped) {
        let lines = &mut *lock(&self.lines);
        let (mut held, mut gone) = (0, Gone::default());
        let taken = lines.take_out(|line| {
            if !line.is_over() {
                return false;
            }
            // It comes after all that those did who had it, which a look at the count would not.
            let is_ours = Arc::get_mut(line).is_some() || mutant!("reap_takes_what_is_held");
            if is_ours {
                gone.insert(line.index);
            } else {
                held += 1;
            }
            is_ours
        });
        let reaped = Reaped {
            lines: taken.len(),
            held,
        };
        if taken.is_empty() {
            return (taken, reaped);
        }
        let central = &mut *self.central.lock();
        for line in &taken {
            lines.past += line.clock.calls();
            if central.heap.rules_mut().set_done(line.index, EVERY) {
                self.changes.note_done();
            }
            for batch in line.depot.drain() {
                central.put_all(batch, Stamp::READY);
            }
        }
        central.forget(&gone);
        central.heap.rules_mut().single = lines.count() <= 1;
        (taken, reaped)
    }

    /// When the next look is worth it: not before there are twice as many lines, or some more
    /// where what was found could not be taken.
    fn look_later(&self, reaped: Reaped) {
        let lines = &mut *lock(&self.lines);
        let more = if reaped.held > 0 {
            lines.count() / 8
        } else {
            lines.count()
        };
        lines.look_at = lines.count() + more.max(FEW);
    }

    /// How many streams have a place, and the driver calls of all clocks that had one.
    pub(super) fn clock_calls(&self) -> (u64, TimelineCalls) {
        let lines = lock(&self.lines);
        let mut calls = lines.past;
        for line in lines.all() {
            calls += line.clock.calls();
        }
        (lines.count() as u64, calls)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

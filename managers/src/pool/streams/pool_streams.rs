//! `PoolStreams`: the streams that a pool knows, and those whose requests go to a graph.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::driver::ContextCore;
use crate::pool::streams::free_stamp::{RetiredStreams, StreamIndex};
use crate::pool::streams::open_graphs::OpenGraphs;
use crate::pool::streams::stream_state::StreamState;
use crate::pool::streams::stream_table::StreamTable;
use crate::stream::timeline::{EVERY, Timeline, TimelineCalls};
use crate::sync::lock;

/// The streams that a pool knows. `P` is a pool.
pub(crate) struct PoolStreams<P> {
    table: Mutex<StreamTable>,
    /// Held by the thread that looks which streams are gone.
    turn: Mutex<()>,
    graphs: OpenGraphs<P>,
}

impl<P> PoolStreams<P> {
    /// No stream.
    pub(crate) fn new() -> Self {
        Self {
            table: Mutex::default(),
            turn: Mutex::default(),
            graphs: OpenGraphs::default(),
        }
    }

    /// The streams whose requests go to the memory of a graph.
    #[inline]
    pub(crate) fn graphs(&self) -> &OpenGraphs<P> {
        &self.graphs
    }

    /// Locks the table: no stream gets a place or loses it until the guard goes.
    pub(crate) fn table(&self) -> MutexGuard<'_, StreamTable> {
        lock(&self.table)
    }

    /// The states of all streams.
    pub(crate) fn all(&self) -> Vec<Arc<StreamState>> {
        self.table().all().cloned().collect()
    }

    /// The state of a stream. A new one gets a place, and `add` is told its index, and how many
    /// streams there are now, before another thread can find it. `None` when no place is left.
    pub(crate) fn find_or_add(
        &self,
        timeline: &Arc<Timeline>,
        add: impl FnOnce(StreamIndex, usize),
    ) -> Option<Arc<StreamState>> {
        let mut table = self.table();
        if let Some(state) = table.find(timeline) {
            return Some(state);
        }
        let state = table.add(timeline)?;
        add(state.index(), table.count());
        Some(state)
    }

    /// Whether it is time to look which streams are gone.
    pub(crate) fn is_look_due(&self) -> bool {
        self.table().is_look_due()
    }

    /// Takes the turn to look which streams are gone.
    pub(crate) fn begin_look(&self) -> MutexGuard<'_, ()> {
        lock(&self.turn)
    }

    /// Sees whether the last event of streams that are gone is reached. Whether one is complete.
    pub(crate) fn poll_gone(&self, core: &Arc<ContextCore>) -> bool {
        let mut complete = false;
        for state in self.all() {
            if state.timeline().covered() == EVERY {
                // An error is for requests that want the memory.
                let _ = state.timeline().poll(core);
                complete |= state.is_over();
            }
        }
        complete
    }

    /// Takes the states of streams out that are gone and that no other thread has in hand. `take`
    /// gets them, their indices and how many streams are left, before a place of theirs is given
    /// again. They, and how many stay because a thread has them.
    pub(crate) fn take_gone(
        &self,
        take: impl FnOnce(&[Arc<StreamState>], &RetiredStreams, usize),
    ) -> (Vec<Arc<StreamState>>, usize) {
        let mut table = self.table();
        let (mut held, mut gone) = (0, RetiredStreams::default());
        let taken = table.take_out(|state| {
            if !state.is_over() {
                return false;
            }
            // It comes after all that earlier holders did, which a look at the count would not.
            let is_ours = Arc::get_mut(state).is_some() || mutant!("retire_takes_held_states");
            if is_ours {
                gone.insert(state.index());
            } else {
                held += 1;
            }
            is_ours
        });
        if !taken.is_empty() {
            take(&taken, &gone, table.count());
        }
        (taken, held)
    }

    /// After a look: says when the next one is worth it.
    pub(crate) fn look_later(&self, others_had_some: bool) {
        self.table().look_later(others_had_some);
    }

    /// How many streams have a place, and the driver calls of all timelines that had one.
    pub(crate) fn calls(&self) -> (u64, TimelineCalls) {
        let table = self.table();
        (table.count() as u64, table.calls())
    }
}

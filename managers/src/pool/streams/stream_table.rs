//! `StreamTable`: the streams of a pool, each with an index that stamps have.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use crate::pool::streams::free_stamp::StreamIndex;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::timeline::{Timeline, TimelineCalls};

/// The streams of a pool.
pub(crate) struct StreamTable {
    /// By index; 0 is no stream's.
    table: Vec<Option<Arc<StreamState>>>,
    /// The index of each state, by the number of its stream.
    by_serial: HashMap<u64, StreamIndex>,
    /// Places between those of other streams, the first on top.
    vacant: BinaryHeap<Reverse<StreamIndex>>,
    /// The last index that may be given.
    last: StreamIndex,
    /// With so many streams it is time to look which of them are gone.
    look_at: usize,
    /// Driver calls of timelines whose streams are gone.
    past: TimelineCalls,
}

/// So many streams are not worth a look.
const FEW: usize = 16;

impl Default for StreamTable {
    fn default() -> Self {
        Self {
            table: Vec::new(),
            by_serial: HashMap::new(),
            vacant: BinaryHeap::new(),
            last: StreamIndex::MAX,
            look_at: FEW,
            past: TimelineCalls::default(),
        }
    }
}

impl StreamTable {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<StreamState>> {
        self.table.iter().flatten()
    }

    pub(crate) fn count(&self) -> usize {
        self.by_serial.len()
    }

    /// Whether it is time to look which streams are gone.
    pub(crate) fn is_look_due(&self) -> bool {
        self.count() >= self.look_at
    }

    /// Says when the next look is worth it: not before there are twice as many streams, or some more
    /// where others had states in hand that are gone.
    pub(crate) fn look_later(&mut self, others_had_some: bool) {
        let more = if others_had_some {
            self.count() / 8
        } else {
            self.count()
        };
        self.look_at = self.count() + more.max(FEW);
    }

    /// The driver calls of the timelines of all streams that have, or had, a place.
    pub(crate) fn calls(&self) -> TimelineCalls {
        let mut calls = self.past;
        for state in self.all() {
            calls += state.timeline().calls();
        }
        calls
    }

    /// Gives no index above this one.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_last(&mut self, last: StreamIndex) {
        self.last = last;
    }

    /// Takes the states out for which `is_gone` is true.
    pub(crate) fn take_out(
        &mut self,
        mut is_gone: impl FnMut(&mut Arc<StreamState>) -> bool,
    ) -> Vec<Arc<StreamState>> {
        let places = self.table.iter_mut();
        let gone = places.filter_map(|place| {
            let state = place.as_mut()?;
            if !is_gone(state) {
                return None;
            }
            self.by_serial.remove(&state.serial());
            self.vacant.push(Reverse(state.index()));
            self.past += state.timeline().calls();
            place.take()
        });
        gone.collect()
    }

    pub(crate) fn find(&self, timeline: &Timeline) -> Option<Arc<StreamState>> {
        let index = self.by_serial.get(&timeline.serial())?;
        self.table.get(usize::from(*index))?.clone()
    }

    /// A state at the first place that is free. `None` when none is.
    pub(crate) fn add(&mut self, timeline: &Arc<Timeline>) -> Option<Arc<StreamState>> {
        let next = || StreamIndex::try_from(self.table.len().max(1)).ok();
        let index = self.vacant.peek().map(|first| first.0).or_else(next);
        let index = index.filter(|&index| index <= self.last)?;
        self.vacant.pop(); // it is the top, if there is one
        let state = Arc::new(StreamState::new(index, timeline));
        let at = usize::from(index);
        if self.table.len() <= at {
            self.table.resize(at + 1, None);
        }
        self.table[at] = Some(Arc::clone(&state));
        self.by_serial.insert(state.serial(), index);
        Some(state)
    }
}

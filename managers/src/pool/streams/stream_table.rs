//! `StreamTable`: the streams of a pool, each with an index that stamps have.

use std::collections::{BTreeSet, HashMap};
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
    /// Places between those of other streams.
    vacant: BTreeSet<StreamIndex>,
    /// The last index that may be given.
    pub(crate) last: StreamIndex,
    /// With so many streams it is time to look which of them are gone.
    pub(crate) look_at: usize,
    /// Driver calls of timelines whose streams are gone.
    pub(crate) past: TimelineCalls,
}

/// So many streams are not worth a look.
pub(crate) const FEW: usize = 16;

impl Default for StreamTable {
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

impl StreamTable {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<StreamState>> {
        self.table.iter().flatten()
    }

    pub(crate) fn count(&self) -> usize {
        self.by_serial.len()
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
            self.vacant.insert(state.index);
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
        let index = self.vacant.first().copied().or_else(next);
        let index = index.filter(|&index| index <= self.last)?;
        self.vacant.remove(&index);
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

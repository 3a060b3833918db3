//! `Lines`: the streams of a pool, each with an index that stamps have.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::line::Line;
use super::stamp::StreamIndex;
use crate::stream::timeline::{Timeline, TimelineCalls};

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

    pub(super) fn find(&self, clock: &Timeline) -> Option<Arc<Line>> {
        let index = self.by_serial.get(&clock.serial())?;
        self.table.get(usize::from(*index))?.clone()
    }

    /// A line at the first place that is free. `None` when none is.
    pub(super) fn add(&mut self, clock: &Arc<Timeline>) -> Option<Arc<Line>> {
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

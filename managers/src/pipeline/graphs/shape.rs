//! `Shape`: all that the work of an item depends on.

/// Where an item's memory is, how long the item is, and what it comes after. The graph of an item is
/// that of every item of the same shape whose step does the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Shape {
    /// The slot, with the pinned memory and the events.
    pub(in crate::pipeline) slot: usize,
    /// Places of the input and the output on the device.
    pub(in crate::pipeline) input: usize,
    pub(in crate::pipeline) output: usize,
    /// Elements of the input.
    pub(in crate::pipeline) len: usize,
    /// Slots of earlier items, with the events that are waited for: of the item just before, whose
    /// stages come first; of the one whose kernels read the input last; and of the one whose
    /// output was copied from the same place. `None` when there is nothing to wait for.
    pub(in crate::pipeline) before: Option<usize>,
    pub(in crate::pipeline) read_by: Option<usize>,
    pub(in crate::pipeline) copied_by: Option<usize>,
}

impl Shape {
    /// Whether the graph of an item of this shape does what one of `wanted` needs. It may wait for
    /// more, which is that of earlier items.
    pub(super) fn covers(&self, wanted: &Self) -> bool {
        let waits = |own: Option<usize>, wanted: Option<usize>| wanted.is_none() || own == wanted;
        (self.slot, self.input, self.output, self.len)
            == (wanted.slot, wanted.input, wanted.output, wanted.len)
            && waits(self.before, wanted.before)
            && waits(self.read_by, wanted.read_by)
            && waits(self.copied_by, wanted.copied_by)
    }
}

//! Memory that loom watches.

use loom::cell::UnsafeCell;

/// Memory that one thread at a time may use: loom fails the model when two do, or one does not see
/// the uses before its own.
pub(super) struct Piece(UnsafeCell<u32>);

// SAFETY: that the cell is used by one at a time is what the models check.
unsafe impl Sync for Piece {}
// SAFETY: the cell may move: that it is used by one thread at a time is what the models check.
unsafe impl Send for Piece {}

impl Piece {
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    pub(super) fn touch(&self) {
        // SAFETY: that the cell is used by one thread at a time is what the models check.
        self.0.with_mut(|uses| unsafe { *uses += 1 });
    }
}

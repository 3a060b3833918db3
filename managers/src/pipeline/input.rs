//! `Input`: a pinned input that the program fills and submits.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::engine::Engine;
use super::item::Step;
use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError};

/// The pinned input of the next item, from [`Pipeline::try_input`](super::Pipeline::try_input). Its
/// contents are those of an earlier item, or zeros. Dropped without [`submit`](Self::submit) it is no
/// item.
pub struct Input<'p, I: DeviceCopy, O: DeviceCopy> {
    engine: &'p mut Engine<I, O>,
}

impl<'p, I: DeviceCopy, O: DeviceCopy> Input<'p, I, O> {
    /// The next input, unless all slots are in flight.
    pub(super) fn of(engine: &'p mut Engine<I, O>) -> Option<Self> {
        engine.has_room().then_some(Self { engine })
    }

    /// Number of the item.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.engine.next()
    }

    /// Submits the first `len` elements as the item, and returns its number. `step` is called at
    /// once: it puts the item's kernels on [`Step::stream`] and returns how many elements of
    /// [`Step::output`] they write, from the first on. It is called once, unless the pipeline captures
    /// its [steps](super::Graphs).
    ///
    /// # Errors
    /// An error of the device or of `step`, with the stage; [`Error::Invalid`] when more elements are
    /// filled or written than there is room for. There is no item of this number then; what it has
    /// put on the streams is waited for, and so are the items before it, which can be taken as
    /// before unless the context is lost.
    #[track_caller]
    pub fn submit<E: From<Error>>(
        self,
        len: usize,
        mut step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
    ) -> Result<u64, ItemError<E>> {
        let submitted = self.engine.submit(len, &mut step);
        if submitted.is_err() {
            self.engine.leave_out();
        }
        submitted
    }
}

impl<I: DeviceCopy, O: DeviceCopy> Deref for Input<'_, I, O> {
    type Target = [I];

    fn deref(&self) -> &[I] {
        self.engine.input()
    }
}

impl<I: DeviceCopy, O: DeviceCopy> DerefMut for Input<'_, I, O> {
    fn deref_mut(&mut self) -> &mut [I] {
        self.engine.input_mut().unwrap_or_default()
    }
}

impl<I: DeviceCopy, O: DeviceCopy> fmt::Debug for Input<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("index", &self.index())
            .field("len", &self.len())
            .finish()
    }
}

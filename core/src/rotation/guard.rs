//! The holders of a rotation's buffers.

use core::fmt;
use core::mem::ManuallyDrop;

use super::{BufferState, Rotation};

/// A buffer that is being written to. Dropped, it is free again and nothing is published.
#[must_use = "a dropped buffer is not published"]
pub struct Writing<'r, const N: usize> {
    rotation: &'r Rotation<N>,
    buffer: usize,
}

impl<'r, const N: usize> Writing<'r, N> {
    /// The caller has just taken `buffer` for writing.
    pub(super) fn new(rotation: &'r Rotation<N>, buffer: usize) -> Self {
        Self { rotation, buffer }
    }

    /// The number of the buffer, below `N`.
    #[must_use]
    pub fn buffer(&self) -> usize {
        self.buffer
    }

    /// The buffer is complete: makes it the newest, and returns its generation, which is
    /// one more than that of the publication before it.
    pub fn publish(self) -> u64 {
        let this = ManuallyDrop::new(self);
        this.rotation.publish(this.buffer)
    }

    /// Publishes the buffer and goes on with another one, in one step: a free one, or else
    /// the oldest that is fresh, which is skipped. The generation of what was published;
    /// `None` when all other buffers are held or generations are used up, and then nothing
    /// is published and the buffer stays the same.
    #[must_use = "nothing is published when no other buffer is to be had"]
    pub fn turn_over(&mut self) -> Option<u64> {
        let (generation, other) = self.rotation.turn_over(self.buffer)?;
        self.buffer = other;
        Some(generation)
    }

    /// Gives the buffer up unpublished. The same as dropping.
    pub fn cancel(self) {}
}

impl<const N: usize> Drop for Writing<'_, N> {
    fn drop(&mut self) {
        self.rotation.give_back(self.buffer, BufferState::Writing);
    }
}

impl<const N: usize> fmt::Debug for Writing<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Writing").field(&self.buffer).finish()
    }
}

/// A published buffer that is being read from. Dropped, it is free again.
#[must_use = "a dropped buffer is free again"]
pub struct Reading<'r, const N: usize> {
    rotation: &'r Rotation<N>,
    buffer: usize,
}

impl<'r, const N: usize> Reading<'r, N> {
    /// The caller has just taken `buffer` for reading.
    pub(super) fn new(rotation: &'r Rotation<N>, buffer: usize) -> Self {
        Self { rotation, buffer }
    }

    /// The number of the buffer, below `N`.
    #[must_use]
    pub fn buffer(&self) -> usize {
        self.buffer
    }

    /// The generation of what is being read. A consumer sees generations grow; a gap is
    /// what was skipped or what other consumers took.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.rotation.generation(self.buffer)
    }

    /// Moves on to the newest fresh buffer if there is one, in one step, and says whether
    /// there was: this buffer is free then, and older fresh ones are skipped. Otherwise it
    /// stays as it is, at the price of one load.
    pub fn refresh(&mut self) -> bool {
        match self.rotation.refresh(self.buffer) {
            Some(newest) => {
                self.buffer = newest;
                true
            }
            None => false,
        }
    }
}

impl<const N: usize> Drop for Reading<'_, N> {
    fn drop(&mut self) {
        self.rotation.give_back(self.buffer, BufferState::Reading);
    }
}

impl<const N: usize> fmt::Debug for Reading<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("buffer", &self.buffer)
            .field("generation", &self.generation())
            .finish()
    }
}

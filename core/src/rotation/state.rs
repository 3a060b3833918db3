//! The word of a rotation: how often it was published to, and the state of each buffer.

/// Where a buffer of a [`Rotation`](super::Rotation) is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferState {
    /// Not in use.
    Free,
    /// Held by a producer.
    Writing,
    /// Published, and held by nobody.
    Fresh,
    /// Held by a consumer.
    Reading,
}

impl BufferState {
    #[inline]
    const fn bits(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Writing => 1,
            Self::Fresh => 2,
            Self::Reading => 3,
        }
    }

    /// What to subtract from the word to free `buffer`, which is in this state.
    #[inline]
    pub(super) const fn weight(self, buffer: usize) -> u64 {
        self.bits() << (2 * buffer)
    }
}

/// The most buffers that fit into a word.
pub(super) const MOST: usize = 8;

/// The largest number of publications that fits into a word.
pub(super) const MAX_PUBLISHED: u64 = u64::MAX >> PUBLISHED_AT;

/// Publications sit above two bits for each of `MOST` buffers.
const PUBLISHED_AT: u32 = 16;

/// The low bit of every buffer's two.
const LOW: u64 = 0x5555;

/// A value of the word: publications (48 bits) above the buffers' states (2 bits each).
#[derive(Clone, Copy)]
pub(super) struct State(pub(super) u64);

impl State {
    #[inline]
    pub(super) const fn new(published: u64) -> Self {
        Self(published << PUBLISHED_AT)
    }

    #[inline]
    pub(super) const fn published(self) -> u64 {
        self.0 >> PUBLISHED_AT
    }

    /// One publication more. The caller has seen to it that it fits.
    #[inline]
    pub(super) const fn published_once_more(self) -> Self {
        Self(self.0 + (1 << PUBLISHED_AT))
    }

    #[inline]
    pub(super) const fn of(self, buffer: usize) -> BufferState {
        match (self.0 >> (2 * buffer)) & 3 {
            0 => BufferState::Free,
            1 => BufferState::Writing,
            2 => BufferState::Fresh,
            _ => BufferState::Reading,
        }
    }

    #[inline]
    pub(super) const fn with(self, buffer: usize, state: BufferState) -> Self {
        let cleared = self.0 & !BufferState::Reading.weight(buffer);
        Self(cleared | state.weight(buffer))
    }

    /// The first free one of `n` buffers. A branch for each: the processor foresees them,
    /// and goes on with the exchange before the word is there.
    #[inline]
    pub(super) const fn first_free(self, n: usize) -> Option<usize> {
        let mut buffer = 0;
        while buffer < n {
            if self.0 & BufferState::Reading.weight(buffer) == 0 {
                return Some(buffer);
            }
            buffer += 1;
        }
        None
    }

    /// The low bit of every fresh buffer.
    #[inline]
    const fn fresh_bits(self) -> u64 {
        (self.0 >> 1) & !self.0 & LOW
    }

    /// How many buffers are fresh.
    #[inline]
    pub(super) const fn fresh(self) -> usize {
        self.fresh_bits().count_ones() as usize
    }

    /// The fresh ones of `n` buffers, by number.
    #[inline]
    pub(super) fn fresh_buffers(self, n: usize) -> impl Iterator<Item = usize> {
        (0..n).filter(move |&buffer| self.fresh_bits() & (1 << (2 * buffer)) != 0)
    }

    /// Frees every fresh buffer.
    #[inline]
    pub(super) const fn without_fresh(self) -> Self {
        Self(self.0 & !(self.fresh_bits() << 1))
    }
}

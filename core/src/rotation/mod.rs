//! `Rotation<N>`: which of `N` buffers is free, being written, fresh or being read, shared
//! between producers and consumers.
//!
//! One word holds the state of every buffer and the number of publications, and every
//! change is a read-modify-write of it, so a buffer has one holder at a time. Which of the
//! fresh buffers is older stands in a generation beside the word, written by the producer
//! before it publishes. A buffer becomes fresh by a publication only, and a publication
//! changes the word for good: an exchange that succeeds has seen generations that held.

mod account;
mod buffered;
mod guard;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;

use core::fmt;

pub use account::RotationCounts;
pub use buffered::{Buffered, ReadBuffer, WriteBuffer};
pub use guard::{Reading, Writing};
pub use state::BufferState;

use crate::sync::{AtomicU64, Ordering, const_fn, repeat};
use account::Account;
use state::{MAX_PUBLISHED, MOST, State};

/// The states of `N` buffers, 2 to 8, that go round between producers and consumers: free,
/// writing, fresh, reading and free again.
///
/// Two buffers are the classic double buffer, three the triple buffer. It hands out
/// numbers of buffers, so the memory can be anywhere, on a device for one;
/// [`Buffered`] owns the values too. Any number of threads may produce and consume.
/// Lock-free, and nothing in it waits.
///
/// Consumers choose between every publication in order ([`oldest`](Self::oldest)) and the
/// newest alone ([`latest`](Self::latest)), producers between losing nothing
/// ([`begin`](Self::begin)) and finding a buffer always
/// ([`begin_over`](Self::begin_over)). The newest publication is never skipped: it stays
/// until it is consumed or a newer one is there.
///
/// With `P` producers and `C` consumers, each holding at most one buffer, `begin_over`
/// succeeds always when `N > P + C`: the others hold at most `P - 1 + C`, so two buffers
/// are free or fresh, and one of two fresh buffers is not the newest. With one of each
/// these are three buffers.
///
/// ```
/// use cupola_core::Rotation;
///
/// static FRAMES: Rotation<3> = Rotation::new();
///
/// let frame = FRAMES.begin().unwrap();
/// let first = frame.buffer(); // fill this one, then
/// assert_eq!(frame.publish(), 1);
/// let mut frame = FRAMES.begin().unwrap();
/// assert_ne!(frame.buffer(), first);
/// assert_eq!(frame.turn_over(), Some(2)); // publishes, and goes on with another buffer
///
/// let shown = FRAMES.latest().unwrap(); // skips the first frame
/// assert_eq!(shown.generation(), 2);
/// assert!(!FRAMES.newer_than(2));
/// drop(shown); // free again
/// drop(frame); // cancelled: nothing is published
/// let counts = FRAMES.counts();
/// assert_eq!((counts.published, counts.consumed, counts.skipped), (2, 1, 1));
/// ```
pub struct Rotation<const N: usize> {
    state: AtomicU64,
    buffers: [Account; N],
}

impl<const N: usize> Rotation<N> {
    /// The largest generation: 2^48 - 1. Shortly before it [`begin`](Self::begin) finds no
    /// buffer any more; a generation never repeats.
    pub const MAX_GENERATION: u64 = MAX_PUBLISHED;

    const_fn! {
        /// All buffers free, nothing published.
        #[must_use]
        pub fn new() -> Self {
            Self::starting_at(0)
        }

        fn starting_at(published: u64) -> Self {
            const { assert!(N >= 2 && N <= MOST, "a rotation has 2 to 8 buffers") };
            Self {
                state: AtomicU64::new(State::new(published).0),
                buffers: repeat!(Account::new(); N),
            }
        }
    }

    /// Takes a free buffer to write to. `None` when there is none, or when generations are
    /// used up.
    pub fn begin(&self) -> Option<Writing<'_, N>> {
        // Acquire: what the last holder did comes before what the new one does.
        let buffer = self.change(Ordering::Acquire, |state| {
            let buffer = Self::to_write(state)?;
            Some((state.with(buffer, BufferState::Writing), buffer))
        })?;
        Some(Writing::new(self, buffer))
    }

    /// Takes a free buffer to write to, or else the oldest fresh one, which is skipped.
    /// The newest is never skipped. `None` when every buffer but the newest is held, or
    /// when generations are used up.
    pub fn begin_over(&self) -> Option<Writing<'_, N>> {
        let (buffer, skipped) = self.change(Ordering::Acquire, |state| {
            let (buffer, skipped) = self.to_write_over(state, 2)?;
            Some((state.with(buffer, BufferState::Writing), (buffer, skipped)))
        })?;
        self.buffers[buffer].skipped(skipped);
        Some(Writing::new(self, buffer))
    }

    /// Takes the oldest fresh buffer to read from: with it, every publication comes in
    /// order. `None` when nothing is fresh.
    pub fn oldest(&self) -> Option<Reading<'_, N>> {
        // Acquire: the producer's writes come before the consumer's reads.
        let buffer = self.change(Ordering::Acquire, |state| {
            let buffer = self.oldest_fresh(state)?;
            Some((state.with(buffer, BufferState::Reading), buffer))
        })?;
        self.buffers[buffer].consumed();
        Some(Reading::new(self, buffer))
    }

    /// Takes the newest fresh buffer to read from; those that are older become free, and
    /// are skipped. `None` when nothing is fresh.
    pub fn latest(&self) -> Option<Reading<'_, N>> {
        let (buffer, skipped) = self.change(Ordering::Acquire, |state| {
            let (next, buffer) = self.to_newest(state)?;
            Some((next, (buffer, state.fresh() - 1)))
        })?;
        self.buffers[buffer].consumed();
        self.buffers[buffer].skipped(skipped);
        Some(Reading::new(self, buffer))
    }

    /// The newest generation: how many publications there were. 0 before the first.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.look().published()
    }

    /// Whether a buffer that is newer than `generation` waits for a consumer: one load.
    #[must_use]
    pub fn newer_than(&self, generation: u64) -> bool {
        // Fresh buffers hold the newest generations without a gap, so the newest decides.
        let state = self.look();
        state.published() > generation && state.fresh() > 0
    }

    /// The buffers' states, all at one instant.
    #[must_use]
    pub fn states(&self) -> [BufferState; N] {
        let state = self.look();
        core::array::from_fn(|buffer| state.of(buffer))
    }

    /// What has become of the publications.
    #[must_use]
    pub fn counts(&self) -> RotationCounts {
        let state = State(self.state.load(Ordering::Acquire));
        let sum = |count: fn(&Account) -> &AtomicU64| {
            let counts = self.buffers.iter().map(count);
            counts.map(|count| count.load(Ordering::Relaxed)).sum()
        };
        RotationCounts {
            published: state.published(),
            consumed: sum(|account| &account.consumed),
            skipped: sum(|account| &account.skipped),
            fresh: state.fresh() as u64,
        }
    }

    /// Publishes `buffer`, which the caller is writing, and returns its generation.
    fn publish(&self, buffer: usize) -> u64 {
        let order = if mutant!("rotation_relaxed_publish") {
            Ordering::Relaxed
        } else {
            // The producer's writes come before the consumer's reads.
            Ordering::Release
        };
        let mut state = self.look();
        loop {
            let next = self.to_fresh(state, buffer);
            match self
                .state
                .compare_exchange_weak(state.0, next.0, order, Ordering::Relaxed)
            {
                Ok(_) => return next.published(),
                Err(now) => state = State(now),
            }
        }
    }

    /// Publishes `buffer`, which the caller is writing, and takes another one to write to,
    /// as `begin_over` does, in one step: the generation, and the buffer.
    fn turn_over(&self, buffer: usize) -> Option<(u64, usize)> {
        let (generation, other, skipped) = self.change(Ordering::AcqRel, |state| {
            // The buffer itself will be the newest, so any other fresh one may go.
            let (other, skipped) = self.to_write_over(state, 1)?;
            let next = self.to_fresh(state, buffer);
            let next = next.with(other, BufferState::Writing);
            Some((next, (next.published(), other, skipped)))
        })?;
        self.buffers[other].skipped(skipped);
        Some((generation, other))
    }

    /// Frees `buffer`, which the caller is reading, and takes the newest fresh one to read
    /// from, in one step. `None` when nothing is fresh: nothing has changed then.
    fn refresh(&self, buffer: usize) -> Option<usize> {
        let (newest, skipped) = self.change(Ordering::AcqRel, |state| {
            let (next, newest) = self.to_newest(state)?;
            let next = next.with(buffer, BufferState::Free);
            Some((next, (newest, state.fresh() - 1)))
        })?;
        self.buffers[newest].consumed();
        self.buffers[newest].skipped(skipped);
        Some(newest)
    }

    /// Frees `buffer`, which the caller holds in `state`.
    fn give_back(&self, buffer: usize, state: BufferState) {
        let order = if mutant!("rotation_relaxed_give_back") {
            Ordering::Relaxed
        } else {
            // What this holder did comes before what the next one does.
            Ordering::Release
        };
        self.state.fetch_sub(state.weight(buffer), order);
    }

    /// A free buffer.
    fn to_write(state: State) -> Option<usize> {
        state
            .first_free(N)
            .filter(|_| Self::generations_last(state))
    }

    /// A free buffer, or else the oldest fresh one if there are `enough`: the buffer, and
    /// how many publications are skipped by taking it.
    fn to_write_over(&self, state: State, enough: usize) -> Option<(usize, usize)> {
        let enough = if mutant!("rotation_skip_newest") {
            1
        } else {
            enough
        };
        if let Some(free) = Self::to_write(state) {
            Some((free, 0))
        } else if state.fresh() >= enough && Self::generations_last(state) {
            Some((self.oldest_fresh(state)?, 1))
        } else {
            None
        }
    }

    /// Whether one more may begin: at most `N` that have begun may still publish.
    fn generations_last(state: State) -> bool {
        state.published() < MAX_PUBLISHED - N as u64
    }

    /// `buffer` published, its generation written down. When the exchange fails, another
    /// producer may have come first, and the generation is another one.
    fn to_fresh(&self, state: State, buffer: usize) -> State {
        let next = state.published_once_more();
        self.buffers[buffer]
            .generation
            .store(next.published(), Ordering::Relaxed);
        next.with(buffer, BufferState::Fresh)
    }

    /// The newest fresh buffer being read, the other fresh ones free; and its number.
    fn to_newest(&self, state: State) -> Option<(State, usize)> {
        let newer = |a, b| self.generation(a) > self.generation(b);
        let newest = Self::first_fresh(state, newer)?;
        let next = state.without_fresh().with(newest, BufferState::Reading);
        Some((next, newest))
    }

    fn oldest_fresh(&self, state: State) -> Option<usize> {
        Self::first_fresh(state, |a, b| self.generation(a) < self.generation(b))
    }

    /// The fresh buffer that comes before the others. One alone, the usual case, need not
    /// be compared.
    fn first_fresh(state: State, before: impl Fn(usize, usize) -> bool) -> Option<usize> {
        let choose = |first, next| if before(next, first) { next } else { first };
        state.fresh_buffers(N).reduce(choose)
    }

    fn generation(&self, buffer: usize) -> u64 {
        self.buffers[buffer].generation.load(Ordering::Relaxed)
    }

    fn look(&self) -> State {
        State(self.state.load(Ordering::Relaxed))
    }

    /// Exchanges the word for what `step` makes of it, until that succeeds or `step` finds
    /// nothing to do.
    fn change<R>(&self, order: Ordering, step: impl Fn(State) -> Option<(State, R)>) -> Option<R> {
        let look = if mutant!("rotation_relaxed_look") {
            Ordering::Relaxed
        } else {
            // The generations that `step` reads are at least as new as the word.
            Ordering::Acquire
        };
        let mut state = self.state.load(look);
        loop {
            let (next, found) = step(State(state))?;
            match self.state.compare_exchange_weak(state, next.0, order, look) {
                Ok(_) => return Some(found),
                Err(now) => state = now,
            }
        }
    }
}

impl<const N: usize> Default for Rotation<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Debug for Rotation<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rotation")
            .field("states", &self.states())
            .field("counts", &self.counts())
            .finish()
    }
}

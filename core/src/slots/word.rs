//! A slot's whole state in one `u64`: generation 40 | phase 3 | closed 1 | leases 20.
//!
//! One word, because a generation and a state in two words can be checked together but
//! not changed together: that is how a double release frees the next owner's value.

use super::error::HandleError;

/// The phase of a slot's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Holds no value. With an odd generation: used up, never to be occupied again.
    Vacant = 0,
    /// Has a handle; the owner of its vacancy will bring the value.
    Filling = 1,
    /// Has a handle and no value: `ensure_alive` makes one when it is needed.
    Reserved = 2,
    /// One thread makes the value; the count is of threads that wait for it.
    Initialising = 3,
    /// Making the value failed; the count is of threads that have not yet been told.
    Failed = 4,
    /// Holds a value and grants leases.
    Alive = 5,
    /// Released while leased: holds its value for the leases that are out, grants none.
    Retiring = 6,
}

const LEASE_BITS: u32 = 20;
const CLOSED: u64 = 1 << LEASE_BITS;
const PHASE_SHIFT: u32 = LEASE_BITS + 1;
const GENERATION_SHIFT: u32 = PHASE_SHIFT + 3;

/// The most leases that one slot grants at a time.
pub(crate) const MAX_LEASES: u64 = (1 << LEASE_BITS) - 1;
/// The last generation. Odd: the slot's last life, after which it is used up.
pub(crate) const MAX_GENERATION: u64 = (1 << (64 - GENERATION_SHIFT)) - 1;

/// One value of a slot's state word. All zeroes is a fresh vacant slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    #[inline]
    pub(crate) const fn new(generation: u64, phase: Phase, closed: bool, leases: u64) -> Self {
        debug_assert!(generation <= MAX_GENERATION && leases <= MAX_LEASES);
        let closed = if closed { CLOSED } else { 0 };
        Self((generation << GENERATION_SHIFT) | ((phase as u64) << PHASE_SHIFT) | closed | leases)
    }

    #[inline]
    pub(crate) const fn generation(self) -> u64 {
        self.0 >> GENERATION_SHIFT
    }

    #[inline]
    pub(crate) const fn phase(self) -> Phase {
        match (self.0 >> PHASE_SHIFT) & 7 {
            0 => Phase::Vacant,
            1 => Phase::Filling,
            2 => Phase::Reserved,
            3 => Phase::Initialising,
            4 => Phase::Failed,
            5 => Phase::Alive,
            // 7 is never stored.
            _ => Phase::Retiring,
        }
    }

    /// The store was closed: neither leases nor new values.
    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    /// Leases that are out; while a value is made, threads that wait for it.
    #[inline]
    pub(crate) const fn leases(self) -> u64 {
        self.0 & MAX_LEASES
    }

    /// Holds a value, or may come to hold one in this life.
    #[inline]
    pub(crate) fn is_occupied(self) -> bool {
        self.phase() != Phase::Vacant
    }

    /// Refuses unless the slot is alive in its life `generation`.
    #[inline]
    pub(crate) fn check(self, generation: u64) -> Result<(), HandleError> {
        match self.phase() {
            _ if self.generation() != generation && !mutant!("slots_unchecked_generation") => {
                Err(HandleError::Stale)
            }
            Phase::Alive => Ok(()),
            Phase::Filling | Phase::Reserved | Phase::Initialising | Phase::Failed => {
                Err(HandleError::NotReady)
            }
            Phase::Vacant | Phase::Retiring => Err(HandleError::Stale),
        }
    }

    /// The next life of a vacant slot, in `phase`.
    #[inline]
    pub(crate) const fn occupied(self, phase: Phase) -> Self {
        debug_assert!(matches!(self.phase(), Phase::Vacant) && self.leases() == 0);
        Self(self.0 + (1 << GENERATION_SHIFT) + ((phase as u64) << PHASE_SHIFT))
    }

    /// The same life in another phase.
    #[inline]
    pub(crate) const fn with_phase(self, phase: Phase) -> Self {
        Self::new(self.generation(), phase, self.is_closed(), self.leases())
    }

    /// One lease more. The caller has checked that there is room for it.
    #[inline]
    pub(crate) const fn leased(self) -> Self {
        debug_assert!(self.leases() < MAX_LEASES);
        Self(self.0 + 1)
    }

    /// One lease less. The caller has checked that there is one.
    #[inline]
    pub(crate) const fn unleased(self) -> Self {
        debug_assert!(self.leases() > 0);
        Self(self.0 - 1)
    }

    /// The end of a life: the next, even generation, or the last one kept for ever.
    #[inline]
    pub(crate) fn vacated(self) -> Self {
        let next = if self.is_last() && !mutant!("slots_generation_wraps") {
            self.generation()
        } else {
            (self.generation() + 1) & MAX_GENERATION
        };
        Self::new(next, Phase::Vacant, self.is_closed(), 0)
    }

    /// After this life the slot is used up.
    #[inline]
    pub(crate) const fn is_last(self) -> bool {
        self.generation() == MAX_GENERATION
    }

    #[inline]
    pub(crate) const fn closed(self) -> Self {
        Self(self.0 | CLOSED)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use quickcheck::{QuickCheck, TestResult};

    const PHASES: [Phase; 7] = [
        Phase::Vacant,
        Phase::Filling,
        Phase::Reserved,
        Phase::Initialising,
        Phase::Failed,
        Phase::Alive,
        Phase::Retiring,
    ];

    /// Without it a wrong shift would let one field spill into its neighbour.
    #[test]
    fn fields_come_back_as_they_went_in() {
        fn property(generation: u64, phase: u8, closed: bool, leases: u64) -> TestResult {
            let generation = generation & MAX_GENERATION;
            let phase = PHASES[usize::from(phase % 7)];
            let leases = leases & MAX_LEASES;
            let word = Word::new(generation, phase, closed, leases);
            TestResult::from_bool(
                word.generation() == generation
                    && word.phase() == phase
                    && word.is_closed() == closed
                    && word.leases() == leases
                    && word.closed() == Word::new(generation, phase, true, leases),
            )
        }
        QuickCheck::new().quickcheck(property as fn(u64, u8, bool, u64) -> TestResult);
        for phase in PHASES {
            let extreme = Word::new(MAX_GENERATION, phase, true, MAX_LEASES);
            assert_eq!(extreme.generation(), MAX_GENERATION);
            assert_eq!(extreme.leases(), MAX_LEASES);
            assert_eq!(extreme.phase(), phase);
        }
    }

    /// Without it the last generation could wrap to zero and old handles come alive.
    #[test]
    fn the_last_generation_is_kept() {
        let last = Word::new(MAX_GENERATION - 1, Phase::Vacant, false, 0).occupied(Phase::Alive);
        assert!(last.is_last());
        assert_eq!(
            last.vacated(),
            Word::new(MAX_GENERATION, Phase::Vacant, false, 0)
        );
    }
}

//! `Word`: the state of a node in 64 bits, so that one exchange changes all of it.
//!
//! Generation (40 bits) above three marks, that the manager has a lease of its own, that it is shut
//! down and that threads have leases in stock, above the count of leases (the manager's included; a node that waits has one,
//! which goes to the thread that takes it). The generation is odd while the node has a name.

/// A value of [`Node::word`](super::node::Node).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

const GENERATION: u32 = 24;
/// Never given: its end would start again from zero.
const LAST: u64 = (1 << 40) - 1;
/// Lives that a node can have.
#[cfg(feature = "test-utils")]
pub(super) const MOST_LIVES: u64 = (LAST - 1) / 2;
const HELD: u64 = 1 << 23;
const CLOSED: u64 = 1 << 22;
/// Some of the leases may be in stock.
pub(super) const STOCK: u64 = 1 << 21;
/// Leases that a node can have: more are not handed out.
pub(super) const MOST_LEASES: u64 = STOCK / 2;

/// Why a node has no next life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unborn {
    /// Its last life goes on: a caller has a lease of it.
    Shared,
    /// The manager is shut down.
    Closed,
    /// Its names are used up.
    Worn,
}

impl Word {
    /// The first word of a node: no name, no lease.
    pub(super) const NEW: Self = Self(0);
    /// The word of a node that has one name left.
    #[cfg(all(test, not(loom)))]
    pub(super) const LAST_BUT_ONE: Self = Self(((LAST - 3) << GENERATION) + 1);

    /// The first word of a node that has this many lives before its names are used up.
    #[cfg(feature = "test-utils")]
    pub(super) fn before_last(lives: u64) -> Self {
        Self((LAST - 1).saturating_sub(2 * lives) << GENERATION)
    }

    #[inline]
    pub(super) fn generation(self) -> u64 {
        self.0 >> GENERATION
    }

    /// Lives so far.
    pub(super) fn lives(self) -> u64 {
        self.generation().div_ceil(2)
    }

    /// The generation that names this life, or named it: odd.
    #[inline]
    pub(super) fn life(self) -> u64 {
        self.generation().saturating_sub(1) | 1
    }

    pub(super) fn leases(self) -> u64 {
        self.0 & (STOCK - 1)
    }

    #[inline]
    pub(super) fn has_stock(self) -> bool {
        self.0 & STOCK != 0
    }

    pub(super) fn is_held(self) -> bool {
        self.0 & HELD != 0
    }

    pub(super) fn is_named(self) -> bool {
        self.generation() & 1 == 1
    }

    /// The word of the next life: a new name and one lease; with the manager's, two.
    pub(super) fn next_life(self, held: bool) -> Result<Self, Unborn> {
        if self.leases() > 1 {
            return Err(Unborn::Shared);
        }
        if self.0 & CLOSED != 0 {
            return Err(Unborn::Closed);
        }
        let generation = (self.generation() + 1) | 1;
        if generation >= LAST {
            return Err(Unborn::Worn);
        }
        let held = if held { HELD + 1 } else { 0 };
        Ok(Self((generation << GENERATION) + held + 1))
    }

    /// Whether no name is left.
    pub(super) fn is_worn(self) -> bool {
        (self.generation() + 1) | 1 >= LAST
    }

    /// The same, of a manager that is shut down.
    pub(super) fn closed(self) -> Self {
        Self(self.0 | CLOSED)
    }

    /// The same, of a manager that is there again.
    pub(super) fn opened(self) -> Self {
        Self(self.0 & !CLOSED)
    }

    /// The same without a name.
    pub(super) fn unnamed(self) -> Self {
        if self.is_named() {
            Self(self.0 + (1 << GENERATION))
        } else {
            self
        }
    }

    pub(super) fn with_lease(self) -> Self {
        Self(self.0 + 1)
    }

    /// The same with one lease fewer; without a name if it was the last.
    pub(super) fn without_lease(self) -> Self {
        let fewer = Self(self.0 - 1);
        if fewer.leases() == 0 {
            fewer.unnamed()
        } else {
            fewer
        }
    }

    /// The same without the manager's lease.
    pub(super) fn let_go(self) -> Self {
        if self.is_held() {
            Self(self.0 & !HELD).without_lease()
        } else {
            self
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a life could begin with the name of an earlier one, or a count spill over.
    #[test]
    fn a_word_goes_through_a_life() {
        let word = Word::NEW.next_life(true).unwrap();
        assert!(word.is_named() && word.is_held());
        assert_eq!((word.generation(), word.leases()), (1, 2));
        let word = word.with_lease().let_go();
        assert!(word.is_named() && !word.is_held());
        assert_eq!(word.leases(), 2);
        assert_eq!(word.let_go(), word);
        let last = word.without_lease().without_lease();
        assert_eq!((last.generation(), last.leases()), (2, 0));
        assert_eq!(last.unnamed(), last);
        let early = word.unnamed();
        assert_eq!((early.generation(), early.leases()), (2, 2));
        assert_eq!(early.without_lease().without_lease(), last);
        assert_eq!(last.next_life(false).unwrap().generation(), 3);
        assert_eq!(last.closed().next_life(false), Err(Unborn::Closed));
        assert_eq!(last.closed().opened(), last);
        let exhausted = Word::LAST_BUT_ONE.next_life(false).unwrap();
        let exhausted = exhausted.without_lease();
        assert_eq!(
            (exhausted.generation(), exhausted.next_life(false)),
            (LAST - 1, Err(Unborn::Worn))
        );
    }
}

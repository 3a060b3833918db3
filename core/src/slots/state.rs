//! A slot's state word with every change of it that there is.
//!
//! A slot has an owner at three times. The thread that set its bit in the group's `taken` word
//! owns it until that thread publishes. The thread that made it `Initialising` owns its cell
//! until the value is there or the attempt has failed. The thread that ended its life owns it
//! until that thread clears the bit. Only `closed`, and the count of waiting threads, may
//! change while a slot has an owner; hence compare-exchange everywhere and a plain store
//! nowhere.

use super::error::HandleError;
use super::word::{MAX_LEASES, Phase, Word};
use crate::sync::{AtomicU64, Ordering, const_fn};

/// The state of one slot.
pub(crate) struct State(AtomicU64);

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// At once: the caller owns the slot. It holds its value, unless it was only reserved.
    Now { held: bool, reusable: bool },
    /// Leases are out; the last of them ends the life.
    Later,
}

impl State {
    const_fn! {
        /// Vacant.
        pub(crate) fn new() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// The state now.
    #[inline]
    pub(crate) fn word(&self) -> Word {
        Word(self.0.load(Ordering::Acquire))
    }

    /// The state now, Relaxed: for a look before an exchange, which orders.
    #[inline]
    pub(crate) fn glance(&self) -> Word {
        Word(self.0.load(Ordering::Relaxed))
    }

    /// Changes `from` to `to`. Failure is Relaxed: the word that is found is only compared and
    /// tried again.
    // Always: `success` is a constant of each caller, and a branch if this is a call.
    #[inline(always)]
    pub(crate) fn exchange(&self, from: Word, to: Word, success: Ordering) -> Result<(), Word> {
        match self
            .0
            .compare_exchange(from.0, to.0, success, Ordering::Relaxed)
        {
            Ok(_) => Ok(()),
            Err(found) => Err(Word(found)),
        }
    }

    /// Exchanges the current word for the one that `change` makes of it, and tries again
    /// until that succeeds or `change` gives up. Returns the word before.
    #[inline]
    pub(crate) fn update<R>(
        &self,
        success: Ordering,
        mut change: impl FnMut(Word) -> Result<Word, R>,
    ) -> Result<Word, R> {
        let mut word = self.glance();
        loop {
            match self.exchange(word, change(word)?, success) {
                Ok(()) => return Ok(word),
                Err(now) => word = now,
            }
        }
    }

    /// Starts a life without a value, in `phase`, and returns its generation; `None` when
    /// the slot is closed.
    ///
    /// # Safety
    /// The caller owns this slot, which is vacant and not used up.
    #[inline]
    pub(crate) unsafe fn begin(&self, phase: Phase) -> Option<u64> {
        let word = self.glance();
        let next = word.occupied(phase);
        // Release: the thread that makes the value of a reserved slot comes after the slot's
        // last life.
        (!word.is_closed() && self.exchange(word, next, Ordering::Release).is_ok())
            .then(|| next.generation())
    }

    /// Takes a lease on the life `generation`.
    #[inline]
    pub(crate) fn pin(&self, generation: u64) -> Result<(), HandleError> {
        // Acquire: pairs with the Release in `publish`, so the lease sees the value.
        self.update(Ordering::Acquire, |word| {
            word.check(generation)?;
            if word.is_closed() && !mutant!("slots_lease_after_close") {
                return Err(HandleError::Closed);
            }
            word.leases_left().map(|()| word.leased())
        })
        .map(drop)
    }

    /// Gives a lease back. True when it was the last lease of a retiring slot: the caller
    /// is then the slot's owner and must take the value or pass the ownership on.
    ///
    /// # Safety
    /// The caller holds a lease from `pin` and does not use it afterwards.
    #[inline]
    pub(crate) unsafe fn unpin(&self) -> bool {
        // Release: reads under this lease come before the value is moved.
        let before = Word(self.0.fetch_sub(1, Ordering::Release));
        let last = before.phase() == Phase::Retiring && before.leases() == 1;
        if last {
            // Acquire: the other leases' reads and the work of the thread that released the
            // slot come before what the new owner does. A load and not a fence, which the
            // thread sanitizer does not understand.
            self.0.load(Ordering::Acquire);
        }
        last
    }

    /// Ends the life `generation`, now or with its last lease.
    #[inline]
    pub(crate) fn end(&self, generation: u64) -> Result<Ended, HandleError> {
        // Most often the value is there and no lease is out. Guessing so saves a load, which
        // would wait for the last store to it: a third of the whole release.
        let guess = Word::new(generation, Phase::Alive, false, 0);
        // Acquire: all reads under earlier leases come before the value is moved. No lease is left
        // that could move it, so nothing is released here; the next owner comes by the slot's bit.
        match self.exchange(guess, guess.vacated(), Ordering::Acquire) {
            Ok(()) => Ok(Ended::Now {
                held: true,
                reusable: !guess.is_last() || mutant!("slots_generation_wraps"),
            }),
            Err(_) => self.end_slowly(generation),
        }
    }

    #[cold]
    fn end_slowly(&self, generation: u64) -> Result<Ended, HandleError> {
        // Acquire: all reads under earlier leases come before the value is moved.
        // Release: the caller's work so far comes before the last lease moves it.
        let before = self.update(Ordering::AcqRel, |word| {
            let reserved = word.generation() == generation && word.phase() == Phase::Reserved;
            if !reserved {
                word.check(generation)?;
            }
            Ok(match word.leases() {
                0 => word.vacated(),
                _ if mutant!("slots_early_destroy") => word.vacated(),
                _ => word.with_phase(Phase::Retiring),
            })
        })?;
        if before.leases() != 0 && !mutant!("slots_early_destroy") {
            return Ok(Ended::Later);
        }
        Ok(Ended::Now {
            held: before.phase() == Phase::Alive,
            reusable: !before.is_last() || mutant!("slots_generation_wraps"),
        })
    }

    /// Ends a life that holds no value (any more). True when the slot can be used again.
    ///
    /// # Safety
    /// The caller owns this slot; its value is moved out or was never there.
    #[inline]
    pub(crate) unsafe fn vacate(&self) -> bool {
        let mut word = self.glance();
        // Relaxed: the next owner takes the slot over through its bit, not this word.
        while let Err(now) = self.exchange(word, word.vacated(), Ordering::Relaxed) {
            word = now;
        }
        !word.is_last()
    }

    /// Marks the slot closed. Relaxed: the bit stands for nothing but itself, in the order of the
    /// changes of this word.
    #[inline]
    pub(crate) fn close(&self) {
        self.0.fetch_or(Word(0).closed().0, Ordering::Relaxed);
    }

    /// Sets the state of a slot that no other thread uses. (Not `&mut self`: the slot may lie
    /// in memory that its source lends as shared.)
    pub(crate) fn set(&self, word: Word) {
        self.0.store(word.0, Ordering::Relaxed);
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_generation(&self, generation: u64) {
        let word = self.word();
        assert_eq!(word.phase(), Phase::Vacant);
        let next = Word::new(generation, Phase::Vacant, word.is_closed(), 0);
        self.0.store(next.0, Ordering::Relaxed);
    }
}

impl Word {
    /// Refuses when no further lease can be counted.
    pub(crate) fn leases_left(self) -> Result<(), HandleError> {
        if self.leases() == MAX_LEASES {
            Err(HandleError::Saturated)
        } else {
            Ok(())
        }
    }
}

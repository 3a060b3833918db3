//! One slot: its state word and its value, with every change of the word that there is.
//!
//! A slot has an owner at two times: whoever set its bit in the group's `taken` word
//! owns it until it publishes, and whoever ended its life owns it until it clears the
//! bit. Only `closed` may change under an owner's hands; hence compare-exchange
//! everywhere and a plain store nowhere.

use core::mem::MaybeUninit;

use super::error::HandleError;
use super::word::{MAX_LEASES, Phase, Word};
use crate::sync::{AtomicU64, Ordering, UnsafeCell, const_fn};

/// A place for one value.
pub(crate) struct Slot<T> {
    state: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a shared slot gives out `&T` on any thread (T: Sync) and moves values in and
// out through `&self` (T: Send). The word below keeps readers and movers apart: a value
// is moved only by the slot's owner, and there is an owner only when no lease is out.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// What `end` found.
pub(crate) enum Ended<T> {
    /// The life ended at once: the value, and whether the slot can be used again. The
    /// caller is the slot's owner.
    Now(T, bool),
    /// Leases are out; the last of them ends the life.
    Later,
}

impl<T> Slot<T> {
    const_fn! {
        /// A vacant slot.
        pub(crate) fn new() -> Self {
            Self { state: AtomicU64::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) }
        }
    }

    /// The state now.
    pub(crate) fn word(&self) -> Word {
        Word(self.state.load(Ordering::Acquire))
    }

    /// Starts a life in phase `Initialising` and returns its generation; `None` when the
    /// slot is closed.
    ///
    /// # Safety
    /// The caller owns this slot, which is vacant and not used up.
    pub(crate) unsafe fn begin(&self) -> Option<u64> {
        let word = Word(self.state.load(Ordering::Relaxed));
        let next = word.occupied(Phase::Initialising);
        (!word.is_closed() && self.swap(word, next, Ordering::Relaxed)).then(|| next.generation())
    }

    /// Stores `value` and grants leases from now on; returns the generation. Gives the
    /// value back when the slot is closed; the phase is then as before.
    ///
    /// # Safety
    /// The caller owns this slot, which is initialising, or vacant and not used up.
    pub(crate) unsafe fn publish(&self, value: T) -> Result<u64, T> {
        let word = Word(self.state.load(Ordering::Relaxed));
        if word.is_closed() {
            return Err(value);
        }
        let next = match word.phase() {
            Phase::Initialising => word.with_phase(Phase::Alive),
            _ => word.occupied(Phase::Alive),
        };
        self.value.with_mut(|cell| {
            // SAFETY: the caller owns the slot, so nobody else touches the cell; it holds
            // no value that this write could leak.
            unsafe { (*cell).write(value) };
        });
        // Release: a lease that sees `Alive` sees the value.
        if self.swap(word, next, Ordering::Release) {
            Ok(next.generation())
        } else {
            // SAFETY: the swap failed, so the slot is still the caller's and holds the
            // value just written.
            Err(unsafe { self.read() })
        }
    }

    /// Takes a lease on the life `generation`.
    pub(crate) fn pin(&self, generation: u64) -> Result<(), HandleError> {
        let mut word = Word(self.state.load(Ordering::Relaxed));
        loop {
            word.check(generation)?;
            if word.is_closed() {
                return Err(HandleError::Closed);
            }
            if word.leases() == MAX_LEASES {
                return Err(HandleError::Saturated);
            }
            // Acquire: pairs with the Release in `publish`, so the lease sees the value.
            match self.exchange(word, word.leased(), Ordering::Acquire) {
                Ok(()) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }

    /// Gives a lease back. True when it was the last lease of a retiring slot: the caller
    /// is then the slot's owner and must `take` the value or pass the ownership on.
    ///
    /// # Safety
    /// The caller holds a lease from `pin` and does not use it afterwards.
    pub(crate) unsafe fn unpin(&self) -> bool {
        // Release: what was read under this lease was read before the value is moved.
        let before = Word(self.state.fetch_sub(1, Ordering::Release));
        let last = before.phase() == Phase::Retiring && before.leases() == 1;
        if last {
            // Acquire: the other leases' reads and the work of whoever released the slot
            // come before what the new owner does. A load and not a fence, which the
            // thread sanitizer does not understand.
            self.state.load(Ordering::Acquire);
        }
        last
    }

    /// Ends the life `generation`, now or with its last lease.
    pub(crate) fn end(&self, generation: u64) -> Result<Ended<T>, HandleError> {
        let mut word = Word(self.state.load(Ordering::Relaxed));
        loop {
            word.check(generation)?;
            let next = match word.leases() {
                0 => word.vacated(),
                _ => word.with_phase(Phase::Retiring),
            };
            // Acquire: all reads under earlier leases come before the value is moved.
            // Release: the caller's work so far comes before the last lease moves it.
            match self.exchange(word, next, Ordering::AcqRel) {
                Ok(()) if word.leases() != 0 => return Ok(Ended::Later),
                Ok(()) => {
                    // SAFETY: the exchange ended a life without leases: the slot is ours
                    // until its bit is cleared, and it was alive, so it holds a value.
                    let value = unsafe { self.read() };
                    return Ok(Ended::Now(value, !word.is_last()));
                }
                Err(now) => word = now,
            }
        }
    }

    /// Moves the value of a retiring slot out and vacates the slot. The flag says whether
    /// the slot can be used again.
    ///
    /// # Safety
    /// The caller owns this slot, which is retiring and has no lease.
    pub(crate) unsafe fn take(&self) -> (T, bool) {
        // SAFETY: a retiring slot holds its value and the caller is its only user.
        let value = unsafe { self.read() };
        // SAFETY: the caller owns the slot and its value has been moved out.
        let reusable = unsafe { self.vacate() };
        (value, reusable)
    }

    /// Ends a life that holds no value (any more). True when the slot can be used again.
    ///
    /// # Safety
    /// The caller owns this slot; its value is moved out or was never there.
    pub(crate) unsafe fn vacate(&self) -> bool {
        let mut word = Word(self.state.load(Ordering::Relaxed));
        // Relaxed: the next owner takes the slot over through its bit, not this word.
        while let Err(now) = self.exchange(word, word.vacated(), Ordering::Relaxed) {
            word = now;
        }
        !word.is_last()
    }

    /// Marks the slot closed; returns the state before.
    pub(crate) fn close(&self) -> Word {
        Word(self.state.fetch_or(Word(0).closed().0, Ordering::AcqRel))
    }

    /// The value.
    ///
    /// # Safety
    /// The caller holds a lease on this slot for at least as long as the reference.
    pub(crate) unsafe fn get(&self) -> &T {
        // SAFETY: under a lease the value is there and nobody moves or changes it.
        self.value.with(|cell| unsafe { (*cell).assume_init_ref() })
    }

    /// # Safety
    /// The caller owns this slot, and it holds a value that nobody uses afterwards.
    unsafe fn read(&self) -> T {
        // SAFETY: as the caller promises. `with_mut`, because a move out is a write: loom
        // then checks it against every reader.
        self.value
            .with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }

    /// Failure is Relaxed: what is found is only compared and tried again.
    fn exchange(&self, from: Word, to: Word, success: Ordering) -> Result<(), Word> {
        match self
            .state
            .compare_exchange(from.0, to.0, success, Ordering::Relaxed)
        {
            Ok(_) => Ok(()),
            Err(found) => Err(Word(found)),
        }
    }

    fn swap(&self, from: Word, to: Word, success: Ordering) -> bool {
        self.exchange(from, to, success).is_ok()
    }

    /// Drops the value of an exclusively borrowed slot, if there is one.
    pub(crate) fn clear(&mut self) {
        let word = self.word();
        if matches!(word.phase(), Phase::Alive | Phase::Retiring) {
            // SAFETY: `&mut self`: no lease borrows the slot any more, and in these phases
            // it holds a value.
            let value = unsafe { self.read() };
            self.state.store(word.vacated().0, Ordering::Relaxed);
            drop(value);
        }
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_generation(&self, generation: u64) {
        let word = self.word();
        assert_eq!(word.phase(), Phase::Vacant);
        let next = Word::new(generation, Phase::Vacant, word.is_closed(), 0);
        self.state.store(next.0, Ordering::Relaxed);
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

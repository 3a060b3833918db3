//! One slot: its state word and its value.

use core::fmt;

use super::error::HandleError;
use super::payload::Payload;
use super::state::{Ended, State};
use super::word::Phase;
use crate::sync::Ordering;

/// A place for one value.
pub struct Slot<C: Payload> {
    pub(crate) state: State,
    pub(crate) cell: C,
}

/// A vacant slot, as a constant except under loom.
macro_rules! vacant {
    () => {
        $crate::slots::slot::Slot {
            state: $crate::slots::state::State::new(),
            #[cfg(not(loom))]
            cell: C::EMPTY,
            #[cfg(loom)]
            cell: C::empty(),
        }
    };
}
pub(crate) use vacant;

/// The outcome of releasing a slot.
pub(crate) enum Released<T> {
    /// The life ended at once: the value, unless the slot was only reserved, and whether
    /// the slot can be used again. The caller is the slot's owner.
    Now(Option<T>, bool),
    /// Leases are out; the last of them ends the life.
    Later,
}

impl<C: Payload> Slot<C> {
    /// Stores `value` and grants leases from now on; returns the generation. Gives the
    /// value back when the slot is closed; the phase is then as before.
    ///
    /// # Safety
    /// The caller owns this slot, which is filling, or vacant and not used up.
    pub(crate) unsafe fn publish(&self, value: C::Value) -> Result<u64, C::Value> {
        let word = self.state.glance();
        let next = match word.phase() {
            Phase::Filling => word.with_phase(Phase::Alive),
            _ => word.occupied(Phase::Alive),
        };
        if word.is_closed() {
            return Err(value);
        }
        // SAFETY: `Keep::write` needs the owner of a slot that holds no value: the caller
        // owns it, and in neither of the two phases a slot holds one.
        unsafe { self.cell.write(value) };
        // Release: a lease that sees `Alive` sees the value.
        if self.state.exchange(word, next, Ordering::Release).is_ok() {
            Ok(next.generation())
        } else {
            // SAFETY: `Keep::take` needs the owner of a slot that holds a value: the exchange
            // failed, so the caller still owns the slot, which holds the value just written.
            Err(unsafe { self.cell.take() })
        }
    }

    /// Ends the life `generation`, now or with its last lease.
    pub(crate) fn end(&self, generation: u64) -> Result<Released<C::Value>, HandleError> {
        Ok(match self.state.end(generation)? {
            Ended::Now { held, reusable } => {
                // SAFETY: `Keep::take` needs the owner of a slot that holds a value: the life
                // ended without leases, so this thread owns the slot until its bit is
                // cleared, and `held` says that the slot was alive.
                let value = held.then(|| unsafe { self.cell.take() });
                Released::Now(value, reusable)
            }
            Ended::Later => Released::Later,
        })
    }

    /// Moves the value of a retiring slot out and vacates the slot. The flag says whether
    /// the slot can be used again.
    ///
    /// # Safety
    /// The caller owns this slot, which is retiring and has no lease.
    pub(crate) unsafe fn take(&self) -> (C::Value, bool) {
        // SAFETY: `Keep::take` needs the owner of a slot that holds a value: the caller owns
        // it, and a retiring slot holds its value.
        let value = unsafe { self.cell.take() };
        // SAFETY: `State::vacate` needs the owner of a slot without a value: the caller owns
        // it, and the value has just been moved out.
        let reusable = unsafe { self.state.vacate() };
        (value, reusable)
    }

    /// Drops the value of a slot that is not used any more, if there is one.
    ///
    /// # Safety
    /// No lease, vacancy or attempt is out on this slot, and no other thread uses it.
    pub(crate) unsafe fn clear(&self) {
        let word = self.state.word();
        if matches!(word.phase(), Phase::Alive | Phase::Retiring) {
            // SAFETY: `Keep::take` needs exclusive use of a slot that holds a value: `clear`'s
            // contract gives the first, and in these phases the slot holds one.
            let value = unsafe { self.cell.take() };
            self.state.set(word.vacated());
            drop(value);
        }
    }
}

impl<C: Payload> fmt::Debug for Slot<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

impl<C: Payload> Drop for Slot<C> {
    fn drop(&mut self) {
        // SAFETY: `clear` needs a slot that no lease, vacancy, attempt or other thread uses:
        // each of these borrows the slot, which is borrowed mutably here.
        unsafe { self.clear() };
    }
}

//! `LimitBudget`: the bytes of a limit that pools share, and of the account of other processes that
//! it is part of.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use cupola_core::{Budget, Pressure};

use crate::pool::limit::shared_budget::SharedBudget;
use crate::pool::limit_use::LimitUse;
use crate::sync::spin_lock::SpinLock;

/// The limit's own bytes, and the same bytes of an outer account where there is one.
pub(crate) struct LimitBudget {
    own: Budget,
    outer: Option<Outer>,
}

/// An account that other processes charge too.
struct Outer {
    budget: Arc<dyn SharedBudget>,
    /// Held by a thread that charges the limit before it knows that the account has room, and by a thread
    /// that asks for the bytes left: what is about to be undone must refuse nothing that fits. The child of
    /// a fork would wait for ever for a thread that had it, so callers ask their context before.
    turn: SpinLock<()>,
}

/// The account that had no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// One of this process.
    Own,
    /// That of all processes, which may have bytes of processes that have ended.
    Outer,
}

impl LimitBudget {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            own: Budget::new(limit),
            outer: None,
        }
    }

    pub(crate) fn within(limit: u64, outer: Arc<dyn SharedBudget>) -> Self {
        Self {
            own: Budget::new(limit),
            outer: Some(Outer {
                budget: outer,
                turn: SpinLock::new(()),
            }),
        }
    }

    /// Charges both accounts, or neither. The bytes are given back when the charge is dropped, unless it
    /// is kept.
    pub(crate) fn charge(&self, bytes: u64) -> Result<LimitCharge<'_>, Refusal> {
        let outer = self.outer.as_ref();
        let in_turn = outer.filter(|_| !mutant!("limit_takes_no_turn"));
        // To the end: dropped after our own charge.
        let _turn = in_turn.map(|outer| outer.turn.lock());
        let own = self.own.reserve(bytes).map_err(|_| Refusal::Own)?;
        if let Some(outer) = outer
            && outer.budget.charge(bytes).is_err()
        {
            return Err(Refusal::Outer);
        }
        let bytes = own.commit();
        Ok(LimitCharge {
            budget: self,
            bytes,
        })
    }

    /// Ends a charge. It fails only if more is released than was charged, which no caller does.
    pub(crate) fn release(&self, bytes: u64) {
        if let Some(outer) = &self.outer {
            outer.budget.release(bytes);
        }
        let _ = self.own.release(bytes);
    }

    /// Takes back what processes that have ended had charged. Whether there was anything.
    pub(crate) fn reclaim(&self) -> bool {
        let outer = self.outer.as_ref();
        outer.is_some_and(|outer| outer.budget.reclaim() > 0)
    }

    /// Changes the limit of this process.
    pub(crate) fn set_limit(&self, bytes: u64) {
        self.own.set_limit(bytes);
    }

    /// The limit of this process.
    pub(crate) fn limit(&self) -> u64 {
        self.own.limit()
    }

    /// Bytes of this process.
    pub(crate) fn used(&self) -> u64 {
        self.own.used()
    }

    pub(crate) fn peak(&self) -> u64 {
        self.own.peak()
    }

    /// Bytes that would still fit both.
    pub(crate) fn available(&self) -> u64 {
        let Some(outer) = &self.outer else {
            return self.own.available();
        };
        let _turn = (!mutant!("limit_looks_out_of_turn")).then(|| outer.turn.lock());
        self.own.available().min(outer.usage().room())
    }

    /// How much of the account of all processes is in use, if there is one.
    pub(crate) fn outer_use(&self) -> Option<LimitUse> {
        self.outer.as_ref().map(Outer::usage)
    }

    /// Bytes that the account of all processes has left.
    pub(crate) fn outer_room(&self) -> u64 {
        self.outer_use().map_or(u64::MAX, LimitUse::room)
    }

    /// How much is in use of that which has less left.
    pub(crate) fn tighter(&self) -> LimitUse {
        let own = LimitUse::of(&self.own);
        let outer = self.outer_use();
        outer.map_or(own, |outer| {
            if outer.room() < own.room() {
                outer
            } else {
                own
            }
        })
    }

    pub(crate) fn pressure(&self) -> Pressure {
        let own = self.own.pressure();
        let outer = self.outer_use();
        outer.map_or(own, |outer| own.max(Pressure::of(outer.used, outer.limit)))
    }
}

impl Outer {
    fn usage(&self) -> LimitUse {
        LimitUse {
            used: self.budget.used(),
            limit: self.budget.limit(),
        }
    }
}

impl fmt::Debug for LimitBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outer {
            None => fmt::Debug::fmt(&self.own, f),
            Some(outer) => f
                .debug_struct("LimitBudget")
                .field("own", &self.own)
                .field("outer", &outer.budget)
                .finish(),
        }
    }
}

/// Bytes that are charged while the object that needs them is created.
#[must_use = "a dropped charge gives its bytes back"]
#[derive(Debug)]
pub(crate) struct LimitCharge<'b> {
    budget: &'b LimitBudget,
    bytes: u64,
}

impl LimitCharge<'_> {
    /// Keeps the bytes charged, until [`LimitBudget::release`].
    pub(crate) fn keep(self) {
        let _ = ManuallyDrop::new(self);
    }
}

impl Drop for LimitCharge<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

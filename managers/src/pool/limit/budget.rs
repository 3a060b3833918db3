//! Charges for memory: the same bytes of the pool's own limit and of the one it shares.
//!
//! A pool and the graphs in it have the own limit in common, and the room in the shared limit is up
//! to pools that none of them knows. So a charge of the own limit may have to be undone; no request
//! may see it meanwhile, and be refused bytes that fit.

use std::fmt;
use std::ops::Deref;

use cupola_core::Budget;

use crate::pool::limit::limit_budget::{LimitBudget, Refusal};
use crate::sync::spin_lock::SpinLock;

/// A pool's own limit.
pub(crate) struct PoolBudget {
    budget: Budget,
    /// Held by a thread that charges the limit before it knows that the shared one has room, and by
    /// a thread that asks for the bytes left.
    turn: SpinLock<()>,
}

impl PoolBudget {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            budget: Budget::new(limit),
            turn: SpinLock::new(()),
        }
    }

    /// Bytes that would still fit.
    pub(crate) fn available(&self) -> u64 {
        let _turn = (!mutant!("budget_looks_out_of_turn")).then(|| self.turn.lock());
        self.budget.available()
    }
}

impl Deref for PoolBudget {
    type Target = Budget;

    fn deref(&self) -> &Budget {
        &self.budget
    }
}

impl fmt::Debug for PoolBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.budget, f)
    }
}

/// Charges bytes to both limits, or to neither.
pub(crate) fn charge(
    own: &PoolBudget,
    shared: Option<&LimitBudget>,
    bytes: u64,
) -> Result<(), Refusal> {
    let in_turn = shared.is_some() && !mutant!("budget_takes_no_turn");
    // To the end: dropped after our own charge.
    let _turn = in_turn.then(|| own.turn.lock());
    let ours = own.reserve(bytes).map_err(|_| Refusal::Own)?;
    if let Some(shared) = shared {
        match shared.charge(bytes) {
            Ok(of_all) => of_all.keep(),
            Err(refusal) => {
                if mutant!("budget_keeps_half") {
                    let _: u64 = ours.commit();
                }
                // Dropping our own charge undoes it.
                return Err(refusal);
            }
        }
    }
    let _: u64 = ours.commit();
    Ok(())
}

/// Ends a charge. It fails only if more is released than was charged, which no caller does.
pub(crate) fn release(own: &PoolBudget, shared: Option<&LimitBudget>, bytes: u64) {
    if let Some(shared) = shared {
        shared.release(bytes);
    }
    let _ = own.release(bytes);
}

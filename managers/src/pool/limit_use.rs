//! `LimitUse`: how much of a limit is in use, at one look.

use cupola_core::Budget;

/// How much of a limit is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitUse {
    pub(crate) used: u64,
    pub(crate) limit: u64,
}

impl LimitUse {
    pub(crate) fn of(budget: &Budget) -> Self {
        Self {
            used: budget.used(),
            limit: budget.limit(),
        }
    }

    /// Bytes that are left.
    pub(crate) fn room(self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

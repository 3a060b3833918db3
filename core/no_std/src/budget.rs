//! Budgets and pressure.

use cupola_core::{Budget, OverBudget, OverRelease, Pressure, Reservation};

use crate::{length, message};

static BUDGET: Budget = Budget::new(1 << 20);

fn charge(bytes: u64) -> Result<u64, OverBudget> {
    let reservation: Reservation<'_> = BUDGET.reserve(bytes)?;
    BUDGET.reserve(1)?.cancel();
    Ok(reservation.commit())
}

fn give_back(bytes: u64) -> Result<(), OverRelease> {
    BUDGET.release(bytes)
}

/// Uses a budget.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_budget(bytes: u64, limit: u64) -> u64 {
    let used = BUDGET.set_limit(limit);
    let charged = charge(bytes).unwrap_or_else(|refusal| message(&refusal) as u64);
    let text = give_back(charged).map_or_else(|refusal| message(&refusal), |()| 0);
    let pressure = match BUDGET.pressure() {
        Pressure::Low | Pressure::Medium => 0,
        high => length(format_args!("{high:?}")),
    };
    let now = length(format_args!("{BUDGET:?}")) + text + pressure;
    used + BUDGET.available() + BUDGET.peak() + now as u64
}

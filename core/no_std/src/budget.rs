//! Budgets and pressure.

use cupola_core::{
    Budget, OverBudget, OverRelease, ParseBytesError, Pressure, Reservation, Thresholds, parse_bytes,
};

use crate::{length, message};

static BUDGET: Budget = Budget::new(1 << 20);

fn charge(bytes: u64) -> Result<u64, OverBudget> {
    let reservation: Reservation<'_> = BUDGET.reserve(bytes)?;
    drop(BUDGET.reserve(1)?);
    let text = length(format_args!("{reservation:?}")) as u64;
    drop(BUDGET.reserve(text + reservation.bytes())?);
    Ok(reservation.commit())
}

fn give_back(bytes: u64) -> Result<(), OverRelease> {
    BUDGET.release(bytes)
}

/// Reads a limit.
///
/// # Safety
/// There are `len` bytes at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_parse_bytes(text: *const u8, len: usize) -> u64 {
    // SAFETY: `from_raw_parts` needs `len` readable bytes at `text`, which `# Safety` asks of the
    // caller.
    let text = unsafe { core::slice::from_raw_parts(text, len) };
    let text = core::str::from_utf8(text).unwrap_or_default();
    parse_bytes(text).unwrap_or_else(|wrong: ParseBytesError| message(&wrong) as u64)
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
    let next = Thresholds::DEFAULT
        .with_margin(5)
        .next(BUDGET.pressure(), charged, limit);
    let now = length(format_args!("{BUDGET:?} {next:?}")) + text + pressure;
    used + BUDGET.available() + BUDGET.peak() + now as u64
}

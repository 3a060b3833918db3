//! Budgets and pressure.

use cupola_core::{
    Budget, Crossing, OverBudget, OverRelease, ParseBytesError, Pressure, PressureGauge,
    Reservation, Thresholds, parse_bytes,
};

use crate::{length, message};

static BUDGET: Budget = Budget::new(1 << 20);

static GAUGE: PressureGauge = PressureGauge::new(Thresholds::DEFAULT.with_margin(5));

fn charge(bytes: u64) -> Result<u64, OverBudget> {
    let mut reservation: Reservation<'_> = BUDGET.reserve_up_to(1, bytes)?;
    reservation.grow(2)?;
    reservation.shrink_to(bytes);
    drop(reservation.split(1));
    BUDGET.reserve(1)?.cancel();
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
    // SAFETY: the caller's promise, the only condition of the call.
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
    let now = length(format_args!("{BUDGET:?}")) + text + pressure;
    used + BUDGET.available() + BUDGET.peak() + now as u64
}

/// Uses a gauge.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_pressure(bytes: u64) -> usize {
    let charged = charge(bytes).unwrap_or(0);
    let crossing: Option<Crossing> = GAUGE.observe(&BUDGET);
    let rises = crossing.is_some_and(|crossing| crossing.rises());
    let back = give_back(charged).is_ok();
    let text = length(format_args!(
        "{crossing:?} {GAUGE:?} {:?}",
        GAUGE.thresholds()
    ));
    text + usize::from(rises) + usize::from(back) + GAUGE.level() as usize
}

//! Values that are made when they are asked for, and the slots that hold them.

use core::sync::atomic::{AtomicU64, Ordering};

use cupola_core::{
    EnsureError, FixedSlots, Handle, HandleError, HeldSlot, Park, Policy, Spin, StorePolicy, tag,
};

use crate::{length, message};

/// Counts the threads that wait.
struct Counting;

static WAITED: AtomicU64 = AtomicU64::new(0);

impl Park for Counting {
    fn wait(key: usize, ready: &mut dyn FnMut() -> bool) {
        WAITED.fetch_add(1, Ordering::Relaxed);
        Spin::wait(key, ready);
    }

    fn wake(key: usize) {
        Spin::wake(key);
    }
}

/// Why a value was not made.
type Why = <Making as Policy>::Error;
type Making = StorePolicy<u32, Counting>;

static MADE: FixedSlots<[u64; 2], 70, tag::Graph, Making> = FixedSlots::new();

fn make(handle: Handle<tag::Graph>, number: u64) -> Result<u64, EnsureError<[u64; 2], Why>> {
    let lease = MADE.ensure_alive(handle, || {
        u32::try_from(number).map_err(|_| 7).map(|_| [number; 2])
    })?;
    Ok(lease[1])
}

fn hold(handle: Handle<tag::Graph>) -> Result<u64, HandleError> {
    let lease = MADE.get(handle)?;
    let held: u64 = MADE
        .still_held()
        .map(|slot: HeldSlot<tag::Graph>| slot.leases + length(format_args!("{slot:?}")) as u64)
        .sum();
    let text = length(format_args!("{lease:?} {:?}", lease[0])) as u64;
    Ok(text + held + lease.release().map_or(0, |value| value[0]))
}

/// Uses a store whose values are made on demand.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_made(number: u64) -> u64 {
    let Ok(handle) = MADE.reserve() else { return 0 };
    let made = make(handle, number).unwrap_or_else(|error| match error {
        EnsureError::Refused(refusal) => message(&refusal) as u64,
        EnsureError::Init(why) => why.into(),
        EnsureError::Withheld { value, .. } => value[0],
        _ => 0,
    });
    let held = hold(handle).unwrap_or(0);
    let released = length(format_args!("{:?}", MADE.release(handle)));
    made + held + released as u64 + WAITED.load(Ordering::Relaxed)
}

//! The rows of one process.

use std::ptr;

use cupola_managers::{Device, EventConfig, StreamConfig, ops};
use cupola_sys::driver::{CUcontext, CUevent, CUevent_flags, CUstream, CUstream_flags, Driver};

use super::{Case, Error, Options};

/// Streams, raw.
const RAW_STREAM: &str = "stream: cuStreamCreate and cuStreamDestroy";
/// Streams, ours.
const STREAM: &str = "stream: acquire and return";
const RAW_EVENT: &str = "event: cuEventCreate and cuEventDestroy";
const EVENT: &str = "event: acquire and return";
pub(super) const GET_CURRENT: &str = "current context: cuCtxGetCurrent";
pub(super) const CURRENT: &str = "current context: check";
const RAW_ORDER: &str = "order two streams: event created, recorded, waited for, destroyed";

/// What rows are meant to be at most, in nanoseconds.
pub(super) const BARS: &[(&str, f64)] = &[(STREAM, 60.0), (EVENT, 50.0)];

/// What the check of the current context may take, of what asking the driver takes by itself.
pub(super) const CHECK: f64 = 2.0;

const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
const NO_TIMING: u32 = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;

/// Whether the calls succeeded: figures of failures would say nothing.
fn raw_stream(driver: &Driver) -> bool {
    let mut stream: CUstream = ptr::null_mut();
    // SAFETY: `stream` outlives the call, and the context is current.
    let made = unsafe { driver.cuStreamCreateWithPriority(&raw mut stream, NON_BLOCKING, 0) };
    // SAFETY: created just now.
    made.is_ok() && unsafe { driver.cuStreamDestroy_v2(stream) }.is_ok()
}

fn raw_event(driver: &Driver) -> Option<CUevent> {
    let mut event: CUevent = ptr::null_mut();
    // SAFETY: `event` outlives the call, and the context is current.
    let made = unsafe { driver.cuEventCreate(&raw mut event, NO_TIMING) };
    made.is_ok().then_some(event)
}

fn destroy(driver: &Driver, event: CUevent) -> bool {
    // SAFETY: created by `raw_event`, and not used after this.
    unsafe { driver.cuEventDestroy_v2(event) }.is_ok()
}

pub(super) fn all(
    device: &Device,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Vec<Case>, Error> {
    let context = device.primary()?;
    context.make_current()?;
    let few = if options.quick { 10 } else { 2_000 };
    let many = if options.quick { 10 } else { 200_000 };
    let driver = context.driver().clone();
    let mut cases = Vec::new();

    let raw = driver.clone();
    cases.push(Case::new(RAW_STREAM, few, move || raw_stream(&raw)));
    let acquire = {
        let context = context.clone();
        move || context.streams().acquire(StreamConfig::default()).is_ok()
    };
    cases.push(Case::new(STREAM, many, acquire.clone()).against(RAW_STREAM));
    if options.threads > 1 {
        cases.push(Case::new(STREAM, many, acquire).on(options.threads));
    }
    let stream = context.streams().create(StreamConfig::default())?;
    let leased = stream.clone();
    cases.push(Case::new(
        "stream: another lease and its end",
        many,
        move || {
            drop(leased.clone());
            true
        },
    ));
    let (named, handle) = (context.clone(), stream.handle());
    cases.push(Case::new(
        "stream: lease by handle and its end",
        many,
        move || named.streams().lease(handle).is_ok(),
    ));

    let raw = driver.clone();
    cases.push(Case::new(RAW_EVENT, few, move || {
        raw_event(&raw).is_some_and(|event| destroy(&raw, event))
    }));
    let acquire = {
        let context = context.clone();
        move || context.events().acquire(EventConfig::default()).is_ok()
    };
    cases.push(Case::new(EVENT, many, acquire.clone()).against(RAW_EVENT));
    if options.threads > 1 {
        cases.push(Case::new(EVENT, many, acquire).on(options.threads));
    }

    let raw = driver.clone();
    cases.push(Case::new(GET_CURRENT, many, move || {
        let mut current: CUcontext = ptr::null_mut();
        // SAFETY: `current` outlives the call.
        unsafe { raw.cuCtxGetCurrent(&raw mut current) }.is_ok()
    }));
    let (raw, same) = (driver.clone(), context.clone());
    cases.push(Case::new(
        "current context: cuCtxSetCurrent",
        many,
        move || {
            // SAFETY: the context is alive.
            unsafe { raw.cuCtxSetCurrent(same.as_raw()) }.is_ok()
        },
    ));
    let same = context.clone();
    let check = move || same.make_current().is_ok();
    cases.push(Case::new(CURRENT, many * 5, check).against(GET_CURRENT));
    let same = context.clone();
    cases.push(Case::new(
        "current context: guard and its end",
        many,
        move || same.enter().is_ok(),
    ));

    let other = context.streams().create(StreamConfig::default())?;
    let (raw, first, then) = (
        driver.clone(),
        stream.as_raw() as usize,
        other.as_raw() as usize,
    );
    cases.push(Case::new(RAW_ORDER, few, move || {
        let Some(event) = raw_event(&raw) else {
            return false;
        };
        // SAFETY: all are alive (the leases are in the next row) and of the current context.
        let recorded = unsafe { raw.cuEventRecord(event, first as CUstream) }.is_ok();
        // SAFETY: as above.
        let waits = unsafe { raw.cuStreamWaitEvent(then as CUstream, event, 0) }.is_ok();
        destroy(&raw, event) && recorded && waits
    }));
    cases.push(
        Case::new("order two streams: ops::order", few, move || {
            ops::order(&stream, &other).is_ok()
        })
        .against(RAW_ORDER),
    );

    #[cfg(feature = "peers")]
    super::peer::cases(device, few, many, &mut cases, notes)?;
    #[cfg(not(feature = "peers"))]
    notes.push("without cudarc: build with --features peers".into());
    Ok(cases)
}

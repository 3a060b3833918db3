//! The few driver calls that managers themselves need to put work in order: a block is
//! freed after its last use, host memory after the last copy. `ops` is built on them too.

use std::sync::Arc;

use cupola_sys::driver::CUevent;

use crate::context::ContextCore;
use crate::error::{Error, ErrorClass, Result};
use crate::event::{EventConfig, RawEvent};
use crate::stream::Stream;

/// `cuEventRecord`.
pub(crate) fn record(event: CUevent, stream: &Stream) -> Result<()> {
    let core = stream.core();
    let driver = core.enter()?;
    // SAFETY: both are alive and of this context, which is current.
    core.check(unsafe { driver.cuEventRecord(event, stream.as_raw()) })
}

/// `cuStreamWaitEvent`; the event was made under the stream's execution manager.
pub(crate) fn wait(stream: &Stream, event: CUevent) -> Result<()> {
    let core = stream.core();
    let driver = core.enter()?;
    // SAFETY: both are alive and of one driver; the stream's context is current.
    core.check(unsafe { driver.cuStreamWaitEvent(stream.as_raw(), event, 0) })
}

/// Puts what is on `first` now before whatever comes on `then`.
pub(crate) fn order(first: &Stream, then: &Stream) -> Result<()> {
    if !first.core().shares_driver(then.core()) {
        return Err(Error::WrongContext {
            what: "the first stream",
        });
    }
    let event = RawEvent::create(first.core(), EventConfig::default())?;
    record(event.as_raw(), first)?;
    // The event may be destroyed at once: the wait is on the stream by then.
    wait(then, event.as_raw())
}

/// Waits until nothing on the stream can touch memory any more, in a lost context too.
/// False when that is not known: then the memory must not be given back.
///
/// A wait that fails although the context is healthy is tried again, because what depends
/// on it is memory safety.
pub(crate) fn settle(stream: &Stream) -> bool {
    let core = stream.core();
    settled(core, || {
        // SAFETY: the stream is alive.
        core.last_call(|driver| unsafe { driver.cuStreamSynchronize(stream.as_raw()) })
    })
}

/// As [`settle`], for one event.
pub(crate) fn settle_event(core: &Arc<ContextCore>, event: &RawEvent) -> bool {
    settled(core, || {
        // SAFETY: the event is alive.
        core.last_call(|driver| unsafe { driver.cuEventSynchronize(event.as_raw()) })
    })
}

/// As [`settle`], for all work in the context.
pub(crate) fn settle_context(core: &ContextCore) -> bool {
    settled(core, || core.synchronize())
}

fn settled(core: &ContextCore, wait: impl Fn() -> Result<()>) -> bool {
    let mut shut_down = false;
    for _ in 0..3 {
        match wait() {
            Ok(()) => return true,
            Err(Error::Forked) => return false,
            Err(error) => shut_down = error.class() == ErrorClass::Shutdown,
        }
    }
    // The device runs nothing of a lost context, nor after the driver has shut down.
    shut_down || core.poison().is_some()
}

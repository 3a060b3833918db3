//! Marks and waits. Waits on the host, and questions, end no capture of another stream: the thread
//! is in relaxed mode meanwhile. No mode helps the legacy stream, to which the capture of a
//! blocking stream is one of its own: then it is refused. Nor does any help an event that was
//! recorded in a capture: a wait for it, or a question about it, ends that.

use cupola_sys::driver::id;

use crate::driver::RelaxedCapture;
use crate::error::{Error, Result};
use crate::event::{Event, ready};
use crate::stream::Stream;
use crate::stream::submit;

#[track_caller]
fn same_context(event: &Event, stream: &Stream) -> Result<()> {
    if stream.is_in(event.core()) {
        return Ok(());
    }
    Err(Error::WrongContext { what: "the event" })
}

/// Marks the work that is on `stream` now with `event` (`cuEventRecord`). An event that was
/// recorded before forgets that.
///
/// # Errors
/// [`Error::WrongContext`] when the event is another context's; [`Error::Poisoned`],
/// [`Error::Forked`]; in [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what
/// the driver returned.
#[doc(alias = "cuEventRecord")]
#[track_caller]
pub fn record(event: &Event, stream: &Stream) -> Result<()> {
    same_context(event, stream)?;
    submit::record(event.raw(), stream)?;
    stream.verify_after(id::cuEventRecord)
}

/// Makes later work on `stream` wait for `event`, on the device (`cuStreamWaitEvent`). The event
/// may be another context's of the same driver. An event never recorded is not waited for.
///
/// # Errors
/// [`Error::WrongContext`] when the event is another driver's; [`Error::Poisoned`],
/// [`Error::Forked`]; in [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what the driver returned.
#[doc(alias = "cuStreamWaitEvent")]
#[track_caller]
pub fn wait(stream: &Stream, event: &Event) -> Result<()> {
    if !stream.core().shares_driver(event.core()) {
        return Err(Error::WrongContext { what: "the event" });
    }
    submit::wait(stream, event.raw())?;
    stream.verify_after(id::cuStreamWaitEvent)
}

/// Makes later work on `then` wait for the work that is on `first` now, on the device. The streams
/// may be of different contexts of one driver.
///
/// # Errors
/// [`Error::WrongContext`] when they are of two drivers; [`Error::Full`] when there
/// are too many events; [`Error::Poisoned`], [`Error::Forked`]; in
/// [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what the driver returned.
#[doc(alias = "cuEventRecord")]
#[doc(alias = "cuStreamWaitEvent")]
#[track_caller]
pub fn order(first: &Stream, then: &Stream) -> Result<()> {
    submit::order(first, then)?;
    then.verify_after(id::cuStreamWaitEvent)
}

/// Waits on the host until all work on `stream` has completed (`cuStreamSynchronize`).
///
/// # Errors
/// What the driver returned: the error of failed work among it. [`Error::Poisoned`],
/// [`Error::Forked`]. [`Error::Capturing`] of a stream that [`Graph::capture`](crate::Graph::capture)
/// captures, and of the legacy stream while a blocking one is captured.
#[doc(alias = "cuStreamSynchronize")]
#[track_caller]
pub fn synchronize(stream: &Stream) -> Result<()> {
    refuse_captured(stream, "synchronize")?;
    stream.core().healthy()?;
    let mark = stream.mark();
    let done = {
        let _relaxed = RelaxedCapture::uncounted(stream.core().driver());
        // SAFETY: the stream is alive.
        stream.call(|driver, raw| unsafe { driver.cuStreamSynchronize(raw) })?
    };
    stream.check(done)?;
    stream.complete(mark);
    Ok(())
}

/// Waits on the host until `event` is reached (`cuEventSynchronize`).
///
/// # Errors
/// What the driver returned: the error of failed work among it. [`Error::Poisoned`],
/// [`Error::Forked`].
#[doc(alias = "cuEventSynchronize")]
#[track_caller]
pub fn synchronize_event(event: &Event) -> Result<()> {
    event.raw().synchronize(event.core().site())
}

/// Whether all work on `stream` has completed (`cuStreamQuery`).
///
/// # Errors
/// What the driver returned: the error of failed work among it. [`Error::Poisoned`],
/// [`Error::Forked`]. [`Error::Capturing`] of a stream that [`Graph::capture`](crate::Graph::capture)
/// captures, and of the legacy stream while a blocking one is captured.
#[doc(alias = "cuStreamQuery")]
#[track_caller]
pub fn query(stream: &Stream) -> Result<bool> {
    refuse_captured(stream, "query")?;
    stream.core().healthy()?;
    let mark = stream.mark();
    let asked = {
        let _relaxed = RelaxedCapture::uncounted(stream.core().driver());
        // SAFETY: the stream is alive.
        stream.call(|driver, raw| unsafe { driver.cuStreamQuery(raw) })?
    };
    match ready(asked) {
        Ok(ready) => {
            if ready {
                stream.complete(mark);
            }
            Ok(ready)
        }
        Err(call) => Err(stream.failed(call)),
    }
}

/// Whether `event` is reached (`cuEventQuery`).
///
/// # Errors
/// What the driver returned: the error of failed work among it. [`Error::Poisoned`],
/// [`Error::Forked`].
#[doc(alias = "cuEventQuery")]
#[track_caller]
pub fn query_event(event: &Event) -> Result<bool> {
    event.raw().query(event.core().site())
}

/// Refuses a stream that [`Graph::capture`](crate::Graph::capture) captures, and the legacy stream
/// while a blocking stream of its context is captured.
#[track_caller]
fn refuse_captured(stream: &Stream, operation: &'static str) -> Result<()> {
    match stream.is_legacy() {
        true => stream.refuse_captured(operation),
        false => stream.refuse_marked(operation),
    }
}

/// Milliseconds on the device from `start` to `end` (`cuEventElapsedTime`), both reached,
/// of one context and created with timing. Steps of about half a microsecond.
///
/// # Errors
/// [`Error::WrongContext`] when they are of two contexts, [`Error::Invalid`] when one was not
/// recorded; [`Error::Poisoned`], [`Error::Forked`]. What the driver returned: `CUDA_ERROR_NOT_READY` when one is not reached yet,
/// `CUDA_ERROR_INVALID_HANDLE` when one takes no time.
#[doc(alias = "cuEventElapsedTime")]
#[track_caller]
pub fn elapsed(start: &Event, end: &Event) -> Result<f32> {
    let core = start.core();
    if !core.shares_objects(end.core()) {
        return Err(Error::WrongContext {
            what: "the end event",
        });
    }
    if !(start.raw().is_recorded() && end.raw().is_recorded()) {
        return Err(Error::invalid("event", "it was not recorded"));
    }
    core.healthy()?;
    let mut milliseconds = 0.0;
    let (start, end) = (start.raw().as_raw(), end.raw().as_raw());
    let read = core.call(|driver| {
        // SAFETY: both are alive and of this context; `milliseconds` outlives the call.
        unsafe { driver.cuEventElapsedTime(&raw mut milliseconds, start, end) }
    });
    core.check(read)?;
    Ok(milliseconds)
}

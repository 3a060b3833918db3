//! The few driver calls that managers themselves need to put work in order: a block is
//! freed after its last use, host memory after the last copy. `ops` is built on them too.

use core::panic::Location;
use std::sync::Arc;

use cupola_sys::SymbolId;
use cupola_sys::driver::{CUstream, Driver, DriverError};

use super::Stream;
use super::calls::{call_on, enter_for, is_default};
use super::timeline::{Cover, Timeline};
use crate::driver::{ContextCore, RelaxedCapture, is_capturing};
use crate::error::{Cause, Error, ErrorClass, Launch, Result, Site};
use crate::event::{self, EventConfig, RawEvent};

/// `cuEventRecord`; the event is of the stream's context. A step of the crate's own: not waited
/// for in checked mode.
#[track_caller]
pub(crate) fn record(event: &RawEvent, stream: &Stream) -> Result<()> {
    record_at(event, stream, Site::here())
}

/// As [`record`], for a caller at `site`.
#[inline]
pub(crate) fn record_at(event: &RawEvent, stream: &Stream, site: Site) -> Result<()> {
    // The event would be the capture's: waiting for it, or asking it, would end that.
    stream.refuse_marked("record an event")?;
    event.note_recorded();
    let event = event.as_raw();
    // SAFETY: both are alive and of one context.
    stream.put_at(site, move |driver, raw| unsafe {
        driver.cuEventRecord(event, raw)
    })
}

/// `cuStreamWaitEvent`; the event is of the stream's driver. An event that was not recorded is not
/// waited for. Nor does checked mode wait for this step.
#[track_caller]
pub(crate) fn wait(stream: &Stream, event: &RawEvent) -> Result<()> {
    wait_at(stream, event, Site::here())
}

/// As [`wait`], for a caller at `site`.
#[inline]
pub(crate) fn wait_at(stream: &Stream, event: &RawEvent, site: Site) -> Result<()> {
    if !event.is_recorded() {
        return stream.core().healthy();
    }
    // The event is none of the capture, which this would end.
    stream.refuse_marked("wait for an event")?;
    let event = event.as_raw();
    // SAFETY: both are alive and of one driver.
    stream.put_at(site, move |driver, raw| unsafe {
        driver.cuStreamWaitEvent(raw, event, 0)
    })
}

/// Makes later work on `then` wait for the work that is on `first` now. Not waited for in checked
/// mode: the operation that this prepares is, and until it is put no error must say that it was.
#[track_caller]
pub(crate) fn order(first: &Stream, then: &Stream) -> Result<()> {
    if !first.core().shares_driver(then.core()) {
        return Err(Error::WrongContext {
            what: "the first stream",
        });
    }
    let event = event::acquire(first.core(), first.events(), EventConfig::default(), false)?;
    record(&event, first)?;
    // The event may have its next life at once: the wait is on the stream by then.
    wait(then, &event)
}

/// A launch between [`begin_launch`](Stream::begin_launch) and [`end_launch`](Stream::end_launch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BegunLaunch {
    /// Remembered in the ring of the stream's owner, which this thread is, and not in checked mode: when the driver
    /// has taken it nothing else is asked.
    AtOnce(u64),
    Remembered(Launch),
    Unknown,
    /// It runs when the graph does.
    Captured,
}

impl Stream {
    /// Makes a call that names the stream. The outer error is of what comes before.
    #[inline]
    #[track_caller]
    pub(crate) fn call<T>(
        &self,
        call: impl FnMut(&Driver, CUstream) -> Result<T, DriverError>,
    ) -> Result<Result<T, DriverError>> {
        call_on(self.raw(), self.core(), Site::here(), call)
    }

    /// Puts work on the stream: the context is healthy, and in checked mode the work is waited for, so
    /// that its error is this call's. `put` may be called a second time, where the driver has refused the
    /// first call because another context was current.
    #[inline]
    #[track_caller]
    pub(crate) fn submit(
        &self,
        call: SymbolId,
        put: impl FnMut(&Driver, CUstream) -> Result<(), DriverError>,
    ) -> Result<()> {
        self.put(put)?;
        self.verify_after(call)
    }

    /// Puts a step of the crate's own on the stream, before or after the work of an operation:
    /// unlike that of [`submit`](Self::submit) it is not waited for.
    #[inline]
    #[track_caller]
    pub(crate) fn put(
        &self,
        put: impl FnMut(&Driver, CUstream) -> Result<(), DriverError>,
    ) -> Result<()> {
        self.put_at(Site::here(), put)
    }

    /// As [`put`](Self::put), for a caller at `site`.
    #[inline]
    pub(crate) fn put_at(
        &self,
        site: Site,
        put: impl FnMut(&Driver, CUstream) -> Result<(), DriverError>,
    ) -> Result<()> {
        match call_on(self.raw(), self.core(), site, put)? {
            Ok(()) => Ok(()),
            Err(call) => Err(self.failed_at(call, site)),
        }
    }

    /// Puts the launch of a kernel whose name has this number on the stream, as
    /// [`submit`](Self::submit) does, and remembers it for as long as it may run.
    #[inline]
    #[track_caller]
    pub(crate) fn submit_launch(
        &self,
        call: SymbolId,
        kernel: u32,
        mut put: impl FnMut(&Driver, CUstream) -> Result<(), DriverError>,
    ) -> Result<()> {
        let begun = self.begin_launch(kernel)?;
        let raw = self.raw();
        let launched = self.core().call(move |driver| put(driver, raw));
        self.end_launch(begun, call, launched)
    }

    /// Begins the launch of a kernel whose name has this number: the call of the driver comes next, and then
    /// [`end_launch`](Self::end_launch).
    #[inline]
    #[track_caller]
    pub(crate) fn begin_launch(&self, kernel: u32) -> Result<BegunLaunch> {
        if self.lets_launches_begin() {
            return Ok(BegunLaunch::AtOnce(self.begin_launch_at_once(kernel)));
        }
        self.begin_other_launch(kernel)
    }

    /// Whether a launch of this thread has nothing to ask of the stream or its context, as most have: neither is the
    /// stream captured, nor the context lost, of the parent of a fork or to be made current, nor are launches checked
    /// or not tracked.
    #[inline(always)]
    pub(crate) fn lets_launches_begin(&self) -> bool {
        !self.is_captured() && self.launches().is_open()
    }

    /// As [`begin_launch`](Self::begin_launch), of a thread that has seen that it
    /// [may](Self::lets_launches_begin). It is in line, in as few
    /// instructions as can be: after a call of the driver none of them is in the processor's first caches.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn begin_launch_at_once(&self, kernel: u32) -> u64 {
        let stream = self.handle().to_bits();
        self.launches()
            .begin_at_once(kernel, Location::caller(), stream)
    }

    /// As [`begin_launch`](Self::begin_launch), of any launch.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn begin_other_launch(&self, kernel: u32) -> Result<BegunLaunch> {
        let core = self.core();
        enter_for(self.raw(), core, Site::here())?;
        if self.is_captured() {
            // It runs when the graph does.
            return Ok(BegunLaunch::Captured);
        }
        if !core.is_tracked() {
            core.launches().note_unknown();
            return Ok(BegunLaunch::Unknown);
        }
        let stream = self.handle().to_bits();
        let launch = self.launches().begin(kernel, Location::caller(), stream);
        if let Some(Launch::Owners(_)) = launch {
            let needs_its_context = is_default(self.raw());
            let allowed = || !needs_its_context && core.lets_launches_begin();
            self.launches().open_gate(allowed);
        }
        Ok(launch.map_or(BegunLaunch::Unknown, BegunLaunch::Remembered))
    }

    /// Ends a launch that the driver has taken or refused by `call`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn end_launch(
        &self,
        begun: BegunLaunch,
        call: SymbolId,
        launched: Result<(), DriverError>,
    ) -> Result<()> {
        if let (BegunLaunch::AtOnce(launch), Ok(())) = (begun, &launched)
            && !self.core().is_checked()
        {
            self.launches().put_as_owner(launch);
            return Ok(());
        }
        self.end_other_launch(begun, call, launched)
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn end_other_launch(
        &self,
        begun: BegunLaunch,
        call: SymbolId,
        launched: Result<(), DriverError>,
    ) -> Result<()> {
        let launch = match begun {
            BegunLaunch::AtOnce(launch) => Some(Launch::Owners(launch)),
            BegunLaunch::Remembered(launch) => Some(launch),
            BegunLaunch::Unknown | BegunLaunch::Captured => None,
        };
        if let Err(call) = launched {
            if let Some(launch) = launch {
                self.launches().refused(launch);
            }
            return Err(self.failed(call));
        }
        if let Some(launch) = launch {
            self.launches().put(launch);
        }
        match self.core().is_checked() && begun != BegunLaunch::Captured {
            true => self.verify(call, true),
            false => Ok(()),
        }
    }

    /// In checked mode, waits behind `call`, which has put work here.
    #[inline]
    #[track_caller]
    pub(crate) fn verify_after(&self, call: SymbolId) -> Result<()> {
        if self.core().is_checked() {
            return self.verify(call, false);
        }
        Ok(())
    }

    /// An error of a call for this stream.
    #[cold]
    #[track_caller]
    pub(crate) fn failed(&self, call: DriverError) -> Error {
        self.failed_at(call, Site::here())
    }

    /// As [`failed`](Self::failed), for a caller at `site`.
    #[cold]
    fn failed_at(&self, call: DriverError, site: Site) -> Error {
        let cause = Cause::new(call, self.on_stream(site));
        self.core().failed_as(cause)
    }

    /// Ends a call for this stream.
    #[inline]
    #[track_caller]
    pub(crate) fn check<T>(&self, result: Result<T, DriverError>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(call) => Err(self.failed(call)),
        }
    }

    /// The caller's place in the program, on this stream.
    #[track_caller]
    pub(crate) fn site(&self) -> Site {
        self.on_stream(Site::here())
    }

    /// A place in the program, on this stream.
    pub(crate) fn on_stream(&self, site: Site) -> Site {
        Site {
            stream: Some(self.handle()),
            ..self.core().on_device(site)
        }
    }

    /// Refuses the stream while a capture is open on it.
    #[track_caller]
    pub(crate) fn refuse_captured(&self, operation: &'static str) -> Result<()> {
        match self.is_capturing()? {
            true => Err(Error::Capturing { operation }),
            false => Ok(()),
        }
    }

    /// Whether a capture is open on the stream (`cuStreamIsCapturing`).
    #[track_caller]
    pub(crate) fn is_capturing(&self) -> Result<bool> {
        if self.is_captured() {
            return Ok(true);
        }
        let asked = self.call(is_capturing)?;
        self.check(asked)
    }

    /// Waits for the work that `call` put here. An error that the context is lost to is reported as
    /// that of `call`.
    #[cold]
    #[track_caller]
    fn verify(&self, call: SymbolId, launched: bool) -> Result<()> {
        let core = self.core();
        let unverified = |error: Error| error.unverified(call);
        core.healthy().map_err(unverified)?;
        let mark = self.mark();
        let done = match self.call(is_capturing).map_err(unverified)? {
            // The work is in a graph, and waiting for the stream would break the capture.
            Ok(true) => return Ok(()),
            Ok(false) => {
                let _relaxed = RelaxedCapture::uncounted(core.driver());
                // SAFETY: the stream is alive.
                let wait = self.call(|driver, raw| unsafe { driver.cuStreamSynchronize(raw) });
                wait.map_err(unverified)?
            }
            Err(call) => Err(call),
        };
        match done {
            Ok(()) => {
                self.complete(mark);
                Ok(())
            }
            Err(wait @ DriverError::Failed { code, .. }) if code.is_sticky() => {
                let mut cause = Cause::new(wait, self.site());
                // An error of asking says nothing of this call.
                let _ = cause.explain(core.driver());
                cause.call = DriverError::Failed { symbol: call, code };
                cause.blame = core.launches().blame(&cause.site, launched);
                Err(core.failed_as(cause))
            }
            // Not an error of the work: of the wait, or of asking whether one is allowed.
            Err(wait) => Err(unverified(self.failed(wait))),
        }
    }
}

impl Stream {
    /// Makes later work on this stream wait for a ticket of another stream's timeline, on the
    /// device (`cuStreamWaitEvent`). True when it waits, or need not; false when one of the streams
    /// is being captured, or the ticket never completes.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(crate) fn wait_for_ticket(
        &self,
        timeline: &Timeline,
        core: &Arc<ContextCore>,
        ticket: u64,
    ) -> Result<bool> {
        if self.serial() == timeline.serial() || timeline.is_done(ticket) {
            return Ok(true);
        }
        core.not_forked()?;
        let asking = timeline.count_capture_query();
        let captured = self.is_capturing();
        drop(asking);
        if captured? {
            return Ok(false);
        }
        match timeline.cover(ticket)? {
            Cover::Event(_, event) => {
                let _waiting = timeline.count_wait();
                // No closure, which would not know this function's caller.
                wait(self, &event)?;
            }
            Cover::Complete => {}
            Cover::None => return Ok(false),
        }
        Ok(true)
    }
}

/// Waits until no work on the stream can touch memory any more, in a lost context too. False when
/// that is not known: then the memory must not be given back. It is not known of a context that is
/// lost: NVIDIA says that its later calls fail, and not that nothing runs at the moment when the
/// host learns of the error.
///
/// A wait that fails although the context is healthy is tried again, because memory safety depends
/// on it.
pub(crate) fn settle(stream: &Stream, site: Site) -> bool {
    let core = stream.core();
    let site = stream.on_stream(site);
    let mark = stream.mark();
    let settled = settled(|| {
        // SAFETY: the stream is alive.
        core.last_wait(site, |driver| unsafe {
            driver.cuStreamSynchronize(stream.raw())
        })
    });
    if settled {
        stream.complete(mark);
    }
    settled
}

/// Waits for all work in the context, also a lost one. False when its end is not known, see
/// [`settle`].
pub(crate) fn settle_context(core: &ContextCore, site: Site) -> bool {
    settled(|| core.synchronize(site))
}

/// Whether the wait succeeded, at the third attempt at the latest.
pub(crate) fn settled(wait: impl Fn() -> Result<()>) -> bool {
    let mut shut_down = false;
    for _ in 0..3 {
        match wait() {
            Ok(()) => return true,
            Err(Error::Forked) => return false,
            Err(error) => shut_down = error.class() == ErrorClass::Shutdown,
        }
    }
    // At the end of the process the driver has taken everything back.
    shut_down
}

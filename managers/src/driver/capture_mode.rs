//! The mode in which a thread may make calls while streams are captured.

use std::cell::Cell;

use cupola_sys::driver::{
    CUstream, CUstreamCaptureMode, CUstreamCaptureStatus, Driver, DriverError,
};

use crate::error::ErrorClass;
use crate::sync::per_thread;

per_thread! {
    /// How many of these the thread has.
    static DEPTH: Cell<u32> = Cell::new(0);
}

/// While it lives, calls are allowed on this thread that a capture in another mode would forbid,
/// or be ended by, also one of another thread (`cuThreadExchangeStreamCaptureMode`): asking events,
/// and getting and mapping memory. This crate puts no work on a stream meanwhile.
///
/// Within another one of the thread it makes no calls: a thread works with one driver at a time.
pub(crate) struct RelaxedCapture<'a, F: Fn()> {
    driver: &'a Driver,
    /// `None` within another one, and when the driver has no such modes.
    before: Option<CUstreamCaptureMode>,
    /// Told of each call.
    note: F,
}

impl<'a> RelaxedCapture<'a, fn()> {
    /// For calls that are not a pool's.
    pub(crate) fn uncounted(driver: &'a Driver) -> Self {
        Self::enter(driver, || ())
    }
}

impl<'a, F: Fn()> RelaxedCapture<'a, F> {
    pub(crate) fn enter(driver: &'a Driver, note: F) -> Self {
        // A thread that is past its thread-locals is relaxed for each call anew.
        let depth = DEPTH.try_with(|depth| depth.replace(depth.get() + 1));
        let mut relaxed = Self {
            driver,
            before: None,
            note,
        };
        if depth.unwrap_or(0) == 0 {
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
            relaxed.before = relaxed.exchange(mode);
        }
        relaxed
    }

    /// Sets the mode and returns the one before; `None` when the driver refuses, which it does
    /// where nothing is captured either.
    fn exchange(&self, mut mode: CUstreamCaptureMode) -> Option<CUstreamCaptureMode> {
        // SAFETY: `mode` outlives the call, which changes what only this thread sees.
        let exchanged = unsafe { self.driver.cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        if !matches!(exchanged, Err(DriverError::Missing { .. })) {
            (self.note)();
        }
        exchanged.ok().map(|()| mode)
    }
}

impl<F: Fn()> Drop for RelaxedCapture<'_, F> {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() - 1));
        if let Some(before) = self.before {
            // It fails only for modes that there are not.
            let _ = self.exchange(before);
        }
    }
}

/// `cuStreamIsCapturing`: whether the stream must not be waited for. The legacy stream must
/// not either while another stream is captured that waits for it.
pub(crate) fn is_capturing(driver: &Driver, stream: CUstream) -> Result<bool, DriverError> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the stream is alive, and `status` outlives the call.
    match unsafe { driver.cuStreamIsCapturing(stream, &raw mut status) } {
        Ok(()) => Ok(status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE),
        // A driver without captures.
        Err(DriverError::Missing { .. }) => Ok(false),
        Err(call) if call.class() == ErrorClass::Capture => Ok(true),
        Err(call) => Err(call),
    }
}

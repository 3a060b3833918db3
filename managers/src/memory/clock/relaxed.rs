//! The mode in which a thread may ask events whatever is captured meanwhile.

use cupola_sys::driver::{CUstreamCaptureMode, Driver, DriverError};

/// Lets this thread ask events while another thread captures a stream: the driver's default
/// forbids that to all threads, and ends the capture (`cuThreadExchangeStreamCaptureMode`).
pub(crate) struct Relaxed<'a> {
    driver: &'a Driver,
    /// `None` when the driver has no such modes.
    before: Option<CUstreamCaptureMode>,
}

impl<'a> Relaxed<'a> {
    pub(crate) fn enter(driver: &'a Driver) -> Self {
        let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let before = exchange_mode(driver, relaxed).ok();
        Self { driver, before }
    }
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // It fails only for modes that there are not.
            let _ = exchange_mode(self.driver, before);
        }
    }
}

fn exchange_mode(
    driver: &Driver,
    mut mode: CUstreamCaptureMode,
) -> Result<CUstreamCaptureMode, DriverError> {
    // SAFETY: `mode` outlives the call.
    unsafe { driver.cuThreadExchangeStreamCaptureMode(&raw mut mode) }?;
    Ok(mode)
}

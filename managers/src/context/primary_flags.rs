//! How the host waits in a primary context.

use std::ffi::{c_int, c_uint};

use super::{ContextManager, Waiting};
use crate::error::{Result, Site};

/// Whether a device's primary context is active, and how the host waits in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrimaryState {
    /// Whether any code of this process has retained it.
    pub active: bool,
    /// How the host waits in it, now or when it becomes active.
    pub waiting: Waiting,
}

/// `CU_CTX_SCHED_MASK`.
const SCHEDULING: c_uint = 7;

impl ContextManager {
    /// The state of the primary context (`cuDevicePrimaryCtxGetState`), without retaining it.
    ///
    /// # Errors
    /// [`Error::Forked`](crate::Error::Forked); what the driver returned.
    #[doc(alias = "cuDevicePrimaryCtxGetState")]
    #[track_caller]
    pub fn primary_state(&self) -> Result<PrimaryState> {
        let (flags, active) = self.primary_flags()?;
        Ok(PrimaryState {
            active,
            waiting: Waiting::of_flags(flags),
        })
    }

    /// Sets how the host waits in the primary context (`cuDevicePrimaryCtxSetFlags`), for all code of
    /// this process that uses it, whether it is active or not. Its other flags stay as they are;
    /// flags that other code sets at the same time may be lost.
    ///
    /// # Errors
    /// [`Error::Forked`](crate::Error::Forked); [`Error::Unsupported`](crate::Error::Unsupported) by
    /// a driver before CUDA 11, which cannot set them of an active context; what the driver returned.
    #[doc(alias = "cuDevicePrimaryCtxSetFlags")]
    #[track_caller]
    pub fn set_primary_waiting(&self, waiting: Waiting) -> Result<()> {
        let (flags, _) = self.primary_flags()?;
        let flags = flags & !SCHEDULING | waiting.flags();
        // SAFETY: it takes numbers alone.
        let set = unsafe {
            self.driver
                .cuDevicePrimaryCtxSetFlags_v2(self.device, flags)
        };
        let site = Site::here();
        set.map_err(|call| self.failed(call, site))
    }

    #[track_caller]
    fn primary_flags(&self) -> Result<(c_uint, bool)> {
        self.not_forked()?;
        let (mut flags, mut active): (c_uint, c_int) = (0, 0);
        // SAFETY: both outlive the call.
        let asked = unsafe {
            self.driver
                .cuDevicePrimaryCtxGetState(self.device, &raw mut flags, &raw mut active)
        };
        let site = Site::here();
        asked.map_err(|call| self.failed(call, site))?;
        Ok((flags, active != 0))
    }
}

impl Waiting {
    fn of_flags(flags: c_uint) -> Self {
        match flags & SCHEDULING {
            1 => Self::Spin,
            2 => Self::Yield,
            4 => Self::Block,
            _ => Self::Auto,
        }
    }
}

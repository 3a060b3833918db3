//! `Ownership`: where a context came from, how it is kept, and how it ends.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use cupola_sys::driver::{CUcontext, CUdevice, CUgreenCtx, CUresult, Driver, DriverError};

use crate::sync::Mutex;

/// Where a context came from, which says how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextKind {
    /// The device's primary context, shared with every other user in the process.
    Primary,
    /// A context of our own.
    Created,
    /// A context that other code made, and destroys.
    Borrowed,
    /// Some of the device's multiprocessors, in the primary context.
    Green,
}

/// The way in which a context is kept alive.
pub(crate) enum Ownership {
    /// Retained once.
    Primary,
    Created,
    /// Other code keeps it as long as this is there.
    Borrowed(Arc<dyn Any + Send + Sync>),
    Green(GreenPart),
    /// Left to the process: nothing is ended.
    Left,
}

/// A green context.
pub(crate) struct GreenPart {
    pub(crate) raw: CUgreenCtx,
    /// How many it has.
    pub(crate) multiprocessors: u32,
    /// Held while a thread has it current, which one may at a time.
    pub(crate) current: Mutex<()>,
}

impl Ownership {
    /// Of a green context with so many multiprocessors, which ends with this value.
    pub(crate) fn green(raw: CUgreenCtx, multiprocessors: u32) -> Self {
        Self::Green(GreenPart {
            raw,
            multiprocessors,
            current: Mutex::default(),
        })
    }

    pub(super) fn kind(&self) -> ContextKind {
        match self {
            Self::Primary => ContextKind::Primary,
            Self::Created => ContextKind::Created,
            Self::Green(_) => ContextKind::Green,
            Self::Borrowed(_) | Self::Left => ContextKind::Borrowed,
        }
    }

    pub(super) fn green_part(&self) -> Option<&GreenPart> {
        match self {
            Self::Green(part) => Some(part),
            _ => None,
        }
    }

    /// Whether it was not other code that made it.
    pub(super) fn is_ours(&self) -> bool {
        !matches!(self, Self::Borrowed(_) | Self::Left)
    }

    /// Whether its end is the context's: then it must not be current on this thread. A primary
    /// context may live on, for other code; a green one is never current.
    pub(super) fn ends_the_context(&self) -> bool {
        matches!(self, Self::Created)
    }

    /// Ends the context.
    ///
    /// # Safety
    /// `raw` is the context on `device` that this holds; nothing made in it is left, and this
    /// is called once.
    pub(super) unsafe fn end(
        &self,
        driver: &Driver,
        device: CUdevice,
        raw: CUcontext,
    ) -> Result<(), DriverError> {
        match self {
            // SAFETY: retained once for this value, which ends here.
            Self::Primary => unsafe { driver.cuDevicePrimaryCtxRelease_v2(device) },
            // SAFETY: created for this value, which ends here with everything made in it.
            Self::Created => unsafe { driver.cuCtxDestroy_v2(raw) },
            // SAFETY: created for this value, which ends here with everything made in it; the
            // `CUcontext` made of it is the same object.
            Self::Green(part) => unsafe { driver.cuGreenCtxDestroy(part.raw) },
            Self::Borrowed(_) | Self::Left => Ok(()),
        }
    }

    /// Leaks a borrowed context's token, in a fork: it is the parent's, and dropping it in the
    /// child could call the driver.
    pub(super) fn forget(&mut self) {
        if let Self::Borrowed(token) = std::mem::replace(self, Self::Left) {
            let _left = ManuallyDrop::new(token);
        }
    }
}

/// At the end of a process the driver may be gone before this crate; all is freed then.
pub(crate) fn forgive_shutdown(result: Result<(), DriverError>) -> Result<(), DriverError> {
    match result {
        Err(call) if call.status() == Some(CUresult::CUDA_ERROR_DEINITIALIZED) => Ok(()),
        other => other,
    }
}

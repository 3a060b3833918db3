//! Devices: one payload each, made when it is first asked for.

mod architecture;
mod features;
mod info;
mod manager;

use std::fmt;
use std::sync::{Arc, OnceLock};

use cupola_core::tag;
use cupola_sys::driver::{CUdevice, Driver};

pub use architecture::Architecture;
pub use features::Features;
#[cfg(unix)]
pub(crate) use info::has_file_handles;
pub(crate) use info::{Attributes, has_virtual_memory, is_integrated, uuid};
pub use info::{ComputeMode, DeviceInfo, PciAddress};

pub use manager::DeviceManager;

use crate::context::{Context, ContextManager};
use crate::error::{Cause, Error, Result, Site};
use crate::handle::ManagedHandle;
use crate::sync::capacity::Permit;

/// Names a device of a [`DeviceManager`].
pub type DeviceHandle = ManagedHandle<tag::Device>;

/// How a [`DeviceManager`] is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevicesConfig {
    /// How many of the driver's devices to use, from ordinal 0; `None` is all of them.
    pub capacity: Option<u32>,
}

pub(crate) struct DeviceInner {
    handle: DeviceHandle,
    ordinal: u32,
    raw: CUdevice,
    driver: Driver,
    info: OnceLock<DeviceInfo>,
    contexts: Arc<ContextManager>,
    /// Counts it among the devices that are alive.
    _permit: Permit,
}

impl Drop for DeviceInner {
    /// Its contexts cannot be asked for any more, also if they were configured after it was
    /// released: those without a lease end.
    fn drop(&mut self) {
        if self.contexts.not_forked().is_ok() {
            self.contexts.release_all();
        }
    }
}

/// The caller's place in the program, about a device.
#[track_caller]
fn on_device(ordinal: u32) -> Site {
    Site {
        device: Some(ordinal),
        ..Site::here()
    }
}

/// A device and its contexts. Clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<DeviceInner>);

impl Device {
    /// The device's handle in its manager.
    #[must_use]
    pub fn handle(&self) -> DeviceHandle {
        self.0.handle
    }

    /// The device's position in the driver's order, from 0.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// The properties and abilities of the device, read from the driver at the first call.
    ///
    /// # Errors
    /// [`Error::Forked`]; what the driver returned: nothing is kept then, and the next call
    /// reads again.
    #[doc(alias = "cuDeviceGetAttribute")]
    #[doc(alias = "cuDeviceGetName")]
    #[doc(alias = "cuDeviceTotalMem")]
    #[doc(alias = "cuDeviceGetUuid")]
    #[track_caller]
    pub fn info(&self) -> Result<&DeviceInfo> {
        self.0.contexts.not_forked()?;
        let site = on_device(self.0.ordinal);
        if let Some(info) = self.0.info.get() {
            return Ok(info);
        }
        let info = DeviceInfo::read(&self.0.driver, self.0.raw, self.0.ordinal)
            .map_err(|call| Error::of_cause(Cause::new(call, site)))?;
        // Two threads may both read; they read the same.
        Ok(self.0.info.get_or_init(|| info))
    }

    /// The contexts of this device.
    #[must_use]
    pub fn contexts(&self) -> &ContextManager {
        &self.0.contexts
    }

    /// The primary context: short for `contexts().primary()`.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub fn primary(&self) -> Result<Context> {
        self.0.contexts.primary()
    }

    /// The driver's device, for calls that this crate does not make.
    #[must_use]
    pub fn as_raw(&self) -> CUdevice {
        self.0.raw
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("handle", &self.0.handle)
            .field("ordinal", &self.0.ordinal)
            .finish_non_exhaustive()
    }
}

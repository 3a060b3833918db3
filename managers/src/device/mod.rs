//! Devices: one payload each, made when it is first asked for.

mod info;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cupola_core::{FixedSlots, Handle, tag};
use cupola_sys::driver::{CUdevice, Driver};

pub(crate) use info::has_memory_pools;
pub use info::{DeviceInfo, PciAddress};

use crate::context::{Context, ContextManager, Ledger};
use crate::error::{Error, Result};

/// Names a device of a [`DeviceManager`].
pub type DeviceHandle = Handle<tag::Device>;

/// More devices than any one driver shows.
const DEVICES: usize = 256;

/// The devices of one driver.
pub struct DeviceManager {
    driver: Driver,
    count: u32,
    ledger: Arc<Ledger>,
    slots: Box<FixedSlots<Arc<DeviceInner>, DEVICES, tag::Device>>,
    /// Handle of each device that was asked for, by ordinal.
    handles: Mutex<Vec<Option<DeviceHandle>>>,
}

struct DeviceInner {
    handle: DeviceHandle,
    ordinal: u32,
    raw: CUdevice,
    driver: Driver,
    info: OnceLock<DeviceInfo>,
    contexts: ContextManager,
}

impl DeviceManager {
    pub(crate) fn new(driver: Driver, ledger: Arc<Ledger>) -> Result<Self> {
        let mut count = 0;
        // SAFETY: `count` outlives the call, and `cuInit` has succeeded.
        unsafe { driver.cuDeviceGetCount(&raw mut count) }.map_err(Error::of_call)?;
        // A driver with more devices than slots shows as many as there are slots.
        let count = u32::try_from(count).unwrap_or(0).min(DEVICES as u32);
        Ok(Self {
            driver,
            count,
            ledger,
            slots: Box::new(FixedSlots::new()),
            handles: Mutex::new(vec![None; count as usize]),
        })
    }

    /// Number of devices; ordinals are below it.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The device with this ordinal.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such device; what the driver returned.
    pub fn get(&self, ordinal: u32) -> Result<Device> {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = handles.get_mut(ordinal as usize) else {
            let problem = format!(
                "there is no device {ordinal}, the driver shows {}",
                self.count
            );
            return Err(Error::invalid("device ordinal", problem));
        };
        if let Some(handle) = *known {
            return self.lease(handle);
        }
        let mut raw: CUdevice = 0;
        let index = i32::try_from(ordinal).unwrap_or(i32::MAX);
        // SAFETY: `raw` outlives the call.
        unsafe { self.driver.cuDeviceGet(&raw mut raw, index) }
            .map_err(|call| Error::on(call, Some(ordinal)))?;
        let vacancy = self
            .slots
            .vacancy()
            .map_err(|e| Error::insert(&e, "Device"))?;
        let device = Arc::new(DeviceInner {
            handle: vacancy.handle(),
            ordinal,
            raw,
            driver: self.driver.clone(),
            info: OnceLock::new(),
            contexts: ContextManager::new(
                self.driver.clone(),
                (raw, ordinal),
                Arc::clone(&self.ledger),
            ),
        });
        let filled = vacancy.fill(Arc::clone(&device));
        *known = Some(filled.map_err(|e| Error::insert(&e, "Device"))?);
        Ok(Device(device))
    }

    /// The device that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`] when the handle is another manager's.
    pub fn lease(&self, handle: DeviceHandle) -> Result<Device> {
        let lease = self
            .slots
            .get(handle)
            .map_err(|e| Error::handle(e, "Device", handle.to_bits()))?;
        Ok(Device(Arc::clone(&lease)))
    }

    /// All devices, in the order of their ordinals.
    pub fn iter(&self) -> impl Iterator<Item = Result<Device>> + '_ {
        (0..self.count).map(|ordinal| self.get(ordinal))
    }
}

impl fmt::Debug for DeviceManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceManager")
            .field("count", &self.count)
            .finish_non_exhaustive()
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

    /// What the device is and can do, read from the driver at the first call.
    ///
    /// # Errors
    /// What the driver returned; nothing is kept then, and the next call reads again.
    pub fn info(&self) -> Result<&DeviceInfo> {
        if let Some(info) = self.0.info.get() {
            return Ok(info);
        }
        let info = DeviceInfo::read(&self.0.driver, self.0.raw, self.0.ordinal)
            .map_err(|call| Error::on(call, Some(self.0.ordinal)))?;
        // Two threads may both read; what they read is the same.
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

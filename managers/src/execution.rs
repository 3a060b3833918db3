//! `ExecutionManager`: the top of the chain of owners.

use std::sync::Arc;

use cupola_sys::driver::Driver;

use crate::context::{Ledger, Live};
use crate::device::DeviceManager;
use crate::error::{Error, Result};

/// Owns a driver and, through its [`DeviceManager`], everything made with it.
///
/// A process may have as many as it likes, over one driver or several: a GPU and a software
/// device side by side. Nothing is global. Dropping it is safe at any time: whatever is
/// still leased keeps what it needs alive.
#[derive(Debug)]
pub struct ExecutionManager {
    driver: Driver,
    devices: DeviceManager,
    ledger: Arc<Ledger>,
}

impl ExecutionManager {
    /// Initialises the driver (`cuInit`) and counts its devices. Creates nothing.
    ///
    /// # Errors
    /// What the driver returned: `CUDA_ERROR_NO_DEVICE` when it shows none.
    pub fn new(driver: Driver) -> Result<Self> {
        // SAFETY: `cuInit` takes no pointers.
        unsafe { driver.cuInit(0) }.map_err(Error::of_call)?;
        let ledger = Arc::new(Ledger::new());
        let devices = DeviceManager::new(driver.clone(), Arc::clone(&ledger))?;
        Ok(Self {
            driver,
            devices,
            ledger,
        })
    }

    /// The driver.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The devices.
    #[must_use]
    pub fn devices(&self) -> &DeviceManager {
        &self.devices
    }

    /// What is alive under this manager.
    #[must_use]
    pub fn live(&self) -> Live {
        self.ledger.live()
    }

    /// A view of [`live`](Self::live) that outlasts this manager, to see what is left after
    /// it was dropped.
    #[must_use]
    pub fn watch(&self) -> LiveWatch {
        LiveWatch(Arc::clone(&self.ledger))
    }
}

/// Sees what is alive under an [`ExecutionManager`], also after that was dropped.
#[derive(Clone, Debug)]
pub struct LiveWatch(Arc<Ledger>);

impl LiveWatch {
    /// What is alive now.
    #[must_use]
    pub fn live(&self) -> Live {
        self.0.live()
    }
}

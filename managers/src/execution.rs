//! `ExecutionManager`: the top of the chain of owners.

use std::sync::Arc;

use cupola_sys::driver::Driver;

use crate::context::ContextsConfig;
use crate::device::{DeviceManager, DevicesConfig};
use crate::driver::{Ledger, Live, driver_was_left_to_the_parent, note_driver_library};
use crate::error::{Cause, Error, PoisonPolicy, Result, Site};
use crate::shutdown_report::ShutdownReport;
use crate::stats::State;

/// Owns a driver and, through its [`DeviceManager`], every object made with it.
///
/// A process may have as many as it likes, over one driver or several: a GPU and a software
/// device side by side. Those of one driver meet in its contexts: the objects of all that have the
/// primary context of a device work together, while handles, capacities and shutdown are each one's
/// own. Dropping it is safe at any time: an object that is still leased keeps all that it needs
/// alive.
#[derive(Debug)]
pub struct ExecutionManager {
    driver: Driver,
    devices: DeviceManager,
    ledger: Arc<Ledger>,
}

/// How an [`ExecutionManager`] and everything below it is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionConfig {
    /// The devices.
    pub devices: DevicesConfig,
    /// The contexts of each device, and the managers in each.
    pub contexts: ContextsConfig,
    /// Whether contexts start in [checked mode](crate::Context::set_checked), which
    /// [`contexts.checked`](ContextsConfig::checked) makes them do anyway.
    pub checked: bool,
}

impl ExecutionConfig {
    fn contexts(self) -> Result<ContextsConfig> {
        let contexts = self.contexts.check()?;
        Ok(ContextsConfig {
            checked: contexts.checked || self.checked,
            ..contexts
        })
    }
}

impl ExecutionManager {
    /// Initialises the driver (`cuInit`) and counts its devices, with the default configuration.
    ///
    /// # Errors
    /// What the driver returned: `CUDA_ERROR_NO_DEVICE` when it shows none.
    #[doc(alias = "cuInit")]
    #[track_caller]
    pub fn new(driver: Driver) -> Result<Self> {
        Self::new_at(driver, ExecutionConfig::default(), Site::here())
    }

    /// Initialises the driver (`cuInit`) and counts its devices. Creates nothing.
    ///
    /// # Errors
    /// What the driver returned: `CUDA_ERROR_NO_DEVICE` when it shows none;
    /// [`Error::Invalid`] naming the field of the configuration that cannot be;
    /// [`Error::Forked`] when a driver library was in use in the parent of this process.
    #[doc(alias = "cuInit")]
    #[track_caller]
    pub fn with_config(driver: Driver, config: ExecutionConfig) -> Result<Self> {
        Self::new_at(driver, config, Site::here())
    }

    /// Initialises the driver, for a caller at `site`: see [`with_config`](Self::with_config).
    pub(crate) fn new_at(driver: Driver, config: ExecutionConfig, site: Site) -> Result<Self> {
        let contexts = config.contexts()?;
        if driver.library_path().is_some() && driver_was_left_to_the_parent() {
            return Err(Error::Forked);
        }
        // SAFETY: `cuInit` takes no pointers.
        unsafe { driver.cuInit(0) }.map_err(|call| Error::of_cause(Cause::new(call, site)))?;
        if driver.library_path().is_some() {
            note_driver_library();
        }
        let ledger = Arc::new(Ledger::new());
        let setup = (config.devices, contexts);
        let devices = DeviceManager::new(driver.clone(), Arc::clone(&ledger), setup, site)?;
        Ok(Self {
            driver,
            devices,
            ledger,
        })
    }

    /// Sets all levels up, after a [`shutdown`](Self::shutdown) again. Contexts made from now on
    /// have managers set up like this; contexts that exist stay as they are.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field, and nothing is changed then; [`Error::Forked`].
    pub fn configure(&self, config: ExecutionConfig) -> Result<()> {
        let contexts = config.contexts()?;
        self.devices.check(config.devices)?;
        self.devices.configure_contexts(contexts)?;
        self.devices.configure(config.devices)
    }

    /// How devices and contexts are set up from now on.
    #[must_use]
    pub fn config(&self) -> ExecutionConfig {
        let (devices, contexts) = self.devices.config();
        ExecutionConfig {
            devices,
            contexts,
            checked: contexts.checked,
        }
    }

    /// Whether devices, and everything below them, can be had.
    #[must_use]
    pub fn state(&self) -> State {
        self.devices.state()
    }

    /// Shuts everything down, in two phases: first all levels refuse and every handle is
    /// stale, then every object without a lease is destroyed, from the bottom up. Leases stay good:
    /// an object ends with its last one. Nothing is handed out until
    /// [`configure`](Self::configure).
    ///
    /// Operations that take an event of their own (to order streams, or to copy from or to pinned
    /// memory) work on. Modules are unloaded after all work on the streams that their kernels were
    /// launched on, see [`Module`](crate::Module).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        let mut report = self.devices.shutdown();
        report.alive = Some(self.live());
        report
    }

    /// Makes the managers below it small, and slots wear out soon, for a test: the contexts of
    /// each device, and the streams and events of each context.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field, or when a device was made alive already. Nothing
    /// is changed then.
    #[cfg(feature = "test-utils")]
    pub fn configure_for_test(&self, config: crate::testing::TestConfig) -> Result<()> {
        self.devices.configure_for_test(config)
    }

    /// Whether it was configured for a test.
    #[cfg(feature = "test-utils")]
    #[must_use]
    pub fn is_configured_for_test(&self) -> bool {
        self.devices.is_configured_for_test()
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

    /// Whether this process is a fork of the one that initialised the driver.
    pub(crate) fn is_forked(&self) -> bool {
        self.ledger.is_forked()
    }

    /// Sets the action that is taken, once for each context of this manager, when it is lost, also
    /// when another execution manager in the context meets the error first.
    /// Contexts may have a [policy of their own](crate::Context::set_poison_policy); a primary
    /// context and its green ones are lost together, once.
    pub fn set_poison_policy(&self, policy: PoisonPolicy) {
        self.ledger.set_poison_policy(policy);
    }

    /// Counts of the objects that are alive under this manager.
    #[must_use]
    pub fn live(&self) -> Live {
        self.ledger.live()
    }

    /// A view of [`live`](Self::live) that outlasts this manager, to see the objects that are left
    /// after it was dropped.
    #[must_use]
    pub fn watch(&self) -> LiveWatch {
        LiveWatch(Arc::clone(&self.ledger))
    }
}

/// Counts the objects alive under an [`ExecutionManager`], also after that was dropped.
#[derive(Clone, Debug)]
pub struct LiveWatch(Arc<Ledger>);

impl LiveWatch {
    /// Counts of the objects that are alive now.
    #[must_use]
    pub fn live(&self) -> Live {
        self.0.live()
    }
}

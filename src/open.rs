//! Opening a device: a GPU, or the software device.

use std::fmt;

use cupola_managers::{Device, Error, ExecutionManager};
use cupola_sys::LoadError;
use cupola_sys::driver::Driver;

/// Which device to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// A GPU if there is one, else the software device. [`Cupola::why_not_gpu`] says why.
    #[default]
    Auto,
    /// A GPU, or an error that says why there is none.
    Gpu,
    /// The software device.
    Software,
}

/// What was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver.
    Gpu,
    /// The software device.
    Software,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gpu => "GPU",
            Self::Software => "software device",
        })
    }
}

/// Why nothing could be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No driver library could be loaded.
    #[error("no GPU: {0}")]
    NoDriver(#[from] LoadError),
    /// The driver was loaded and would not start, or shows no device.
    #[error("no GPU: the driver was loaded from {library}, but {error}")]
    NoDevice {
        /// Where the driver came from.
        library: String,
        /// What it said.
        error: Error,
    },
    /// This build has no software device (feature `sim`).
    #[error("this build has no software device: enable the feature `sim`")]
    NoSoftwareDevice,
}

/// An open driver with its devices: the start of everything.
#[derive(Debug)]
pub struct Cupola {
    // Dropped before the machine that it runs on.
    execution: ExecutionManager,
    backend: Backend,
    why_not_gpu: Option<OpenError>,
    #[cfg(feature = "sim")]
    machine: Option<cupola_sim::Machine>,
}

impl Cupola {
    /// Opens a device. Fails at once where there is none: nothing is waited for.
    ///
    /// # Errors
    /// Why there is no GPU. With [`Select::Auto`] only if the software device cannot stand
    /// in, or if the variable `CUPOLA_CUDA_LIBRARY` names a library that will not do: who
    /// names one does not want another.
    pub fn open(select: Select) -> Result<Self, OpenError> {
        let opened = match select {
            Select::Gpu => Self::gpu(),
            Select::Software => Self::software(None),
            Select::Auto => match Self::gpu() {
                Ok(gpu) => Ok(gpu),
                Err(error) if library_is_named() => Err(error),
                Err(error) => {
                    tracing::info!(%error, "taking the software device");
                    Self::software(Some(error))
                }
            },
        };
        opened.inspect(|cupola| tracing::debug!(backend = %cupola.backend, driver = ?cupola.driver(), "opened"))
    }

    /// Opens the devices of a driver from elsewhere: an injected one, a fault table.
    ///
    /// # Errors
    /// The driver would not start or shows no device.
    pub fn with_driver(driver: Driver) -> Result<Self, OpenError> {
        let library = driver.describe();
        let execution = ExecutionManager::new(driver)
            .map_err(|error| OpenError::NoDevice { library, error })?;
        Ok(Self {
            execution,
            backend: Backend::Gpu,
            why_not_gpu: None,
            #[cfg(feature = "sim")]
            machine: None,
        })
    }

    fn gpu() -> Result<Self, OpenError> {
        Self::with_driver(Driver::load()?)
    }

    #[cfg(feature = "sim")]
    fn software(why_not_gpu: Option<OpenError>) -> Result<Self, OpenError> {
        let machine = cupola_sim::Machine::builder().build();
        let opened = Self::with_driver(machine.driver())?;
        Ok(Self {
            backend: Backend::Software,
            why_not_gpu,
            machine: Some(machine),
            ..opened
        })
    }

    #[cfg(not(feature = "sim"))]
    fn software(why_not_gpu: Option<OpenError>) -> Result<Self, OpenError> {
        Err(why_not_gpu.unwrap_or(OpenError::NoSoftwareDevice))
    }

    /// The device with this ordinal, from 0.
    ///
    /// # Errors
    /// There is no such device.
    pub fn device(&self, ordinal: u32) -> Result<Device, Error> {
        self.execution.devices().get(ordinal)
    }

    /// The top of the managers.
    #[must_use]
    pub fn execution(&self) -> &ExecutionManager {
        &self.execution
    }

    /// The driver.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        self.execution.driver()
    }

    /// Whether this is a GPU or the software device.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Why [`Select::Auto`] took the software device.
    #[must_use]
    pub fn why_not_gpu(&self) -> Option<&OpenError> {
        self.why_not_gpu.as_ref()
    }

    /// The software machine, if that is what was opened: it knows what was leaked.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn machine(&self) -> Option<&cupola_sim::Machine> {
        self.machine.as_ref()
    }
}

fn library_is_named() -> bool {
    std::env::var_os("CUPOLA_CUDA_LIBRARY").is_some_and(|path| !path.is_empty())
}

//! Opening a device: a GPU, or the software device.

use std::fmt;
use std::sync::Arc;

use cupola_managers::backend::{
    BackendKind, BackendRegistry, GPU, NoMatch, OpenError as BackendError, Requirements,
    Unavailable,
};
use cupola_managers::{Device, Error, ExecutionManager};
use cupola_sys::driver::{Driver, LIBRARY_VARIABLE};

/// Which device to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// A GPU, or an error that says why there is none and what to do. Nothing else is ever
    /// taken for it: a service does not run on an emulator that it has not asked for.
    #[default]
    Auto,
    /// A GPU if there is one, else the software device, which is said as a warning of `tracing`;
    /// [`Cupola::why_not_gpu`] has the reason. For programs that may run without a GPU: tests,
    /// demonstrations, examples.
    AutoOrSoftware,
    /// A GPU, or an error that says why there is none.
    Gpu,
    /// The software device, without [strict mode](cupola_sim::Strict): it is in a GPU's place. A test
    /// that is to find mistakes has a `TestBench` of `cupola-testing`.
    Software,
    /// The device that meets these requirements best, a GPU before the software device.
    /// [`Cupola::selected`] is that device; the software device is said as a warning of
    /// `tracing`, and [`Cupola::why_not_gpu`] says what each GPU lacks. Requirements that do not
    /// [allow it](Requirements::allow_software) never take it.
    Best(Requirements),
}

/// What was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver.
    Gpu,
    /// The software device.
    Software,
}

impl From<Backend> for BackendKind {
    /// The kind of devices, by which `kernels::compile::Compiler::for_backend` chooses a compiler.
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Gpu => Self::Real,
            Backend::Software => Self::Software,
        }
    }
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
    /// No driver library could be loaded, or its driver would not start or shows no device.
    /// [`Unavailable::advice`] says what to do.
    #[error("no GPU: {0}")]
    NoGpu(Unavailable),
    /// There is no GPU, and the software device was not asked for.
    #[error(
        "no GPU: {0}: {advice}; a program that may run without a GPU opens `Select::AutoOrSoftware`",
        advice = .0.advice()
    )]
    NoGpuForAuto(Unavailable),
    /// An injected driver would not start.
    #[error("no GPU: the driver was loaded from {library}, but {error}")]
    NoDevice {
        /// Where the driver came from.
        library: String,
        /// What it said.
        error: Error,
    },
    /// No device meets the requirements.
    #[error(transparent)]
    NoMatch(#[from] NoMatch),
    /// There is no such backend in the registry, or it cannot be opened.
    #[error(transparent)]
    Backend(BackendError),
    /// This build has no software device (feature `sim`).
    #[error("this build has no software device: enable the feature `sim`")]
    NoSoftwareDevice,
}

/// The name of the software device in [`Cupola::backends`].
pub const SOFTWARE: &str = "software";

/// An open driver with its devices: the start of everything.
#[derive(Debug)]
pub struct Cupola {
    // Dropped before the machine that it runs on.
    execution: Arc<ExecutionManager>,
    backend: Backend,
    /// Ordinal of the device that was selected.
    selected: u32,
    why_not_gpu: Option<OpenError>,
    #[cfg(feature = "sim")]
    machine: Option<cupola_sim::Machine>,
}

impl Cupola {
    /// Opens a device. Fails at once where there is none: nothing is waited for, and the
    /// error names the first thing that is missing.
    ///
    /// Each call opens the driver anew, and has a software device of its own. Of two that open one
    /// GPU each has managers and handles of its own, and shuts down by itself. They share the primary
    /// context: objects of both work together, and a loss that one meets is that of both.
    ///
    /// # Errors
    /// Why there is no GPU. With [`Select::AutoOrSoftware`] and [`Select::Best`] only if the
    /// software device cannot stand in, or if the variable `CUPOLA_CUDA_LIBRARY` names a library that will
    /// not do: who names one does not want another. With [`Select::Best`], what each device lacks.
    #[track_caller]
    pub fn open(select: Select) -> Result<Self, OpenError> {
        let opened = match select {
            Select::Gpu => Self::gpu(),
            Select::Software => Self::software(None),
            Select::Auto => Self::gpu().map_err(|error| match error {
                OpenError::NoGpu(why) if !library_is_named() => OpenError::NoGpuForAuto(why),
                other => other,
            }),
            Select::AutoOrSoftware => match Self::gpu() {
                Ok(gpu) => Ok(gpu),
                Err(error) if library_is_named() => Err(error),
                Err(error) => {
                    tracing::warn!(%error, "taking the software device");
                    Self::software(Some(error))
                }
            },
            Select::Best(requirements) => Self::best(&requirements),
        };
        opened.inspect(|cupola| tracing::debug!(backend = %cupola.backend, driver = ?cupola.driver(), "opened"))
    }

    /// Opens the devices of a driver from elsewhere: an injected one, a fault table.
    ///
    /// # Errors
    /// The driver would not start.
    #[track_caller]
    pub fn with_driver(driver: Driver) -> Result<Self, OpenError> {
        let library = driver.describe();
        let execution = ExecutionManager::new(driver)
            .map_err(|error| OpenError::NoDevice { library, error })?;
        Ok(Self::over(Arc::new(execution), BackendKind::Real))
    }

    /// Opens a backend of a registry of your own, which it shares with all who open it
    /// there.
    ///
    /// # Errors
    /// [`OpenError::Backend`]: there is none of that name, or it cannot be opened.
    #[track_caller]
    pub fn with_backend(registry: &BackendRegistry, name: &str) -> Result<Self, OpenError> {
        let execution = registry.open(name).map_err(OpenError::Backend)?;
        let kind = registry.kind(name).unwrap_or(BackendKind::Real);
        Ok(Self::over(execution, kind))
    }

    /// The backends that this build has, as a registry to look at, to add to and to open
    /// from: the GPU and, with the feature `sim`, a software device. Nothing is loaded before
    /// it is needed.
    #[must_use]
    pub fn backends() -> BackendRegistry {
        let registry = BackendRegistry::with_gpu();
        #[cfg(feature = "sim")]
        LazyMachine::default().register(&registry);
        registry
    }

    fn over(execution: Arc<ExecutionManager>, kind: BackendKind) -> Self {
        Self {
            execution,
            backend: match kind {
                BackendKind::Real => Backend::Gpu,
                BackendKind::Software => Backend::Software,
            },
            selected: 0,
            why_not_gpu: None,
            #[cfg(feature = "sim")]
            machine: None,
        }
    }

    #[track_caller]
    fn gpu() -> Result<Self, OpenError> {
        Self::with_backend(&BackendRegistry::with_gpu(), GPU).map_err(|error| match error {
            OpenError::Backend(BackendError::Unavailable { why, .. }) => OpenError::NoGpu(why),
            other => other,
        })
    }

    #[cfg(feature = "sim")]
    #[track_caller]
    fn software(why_not_gpu: Option<OpenError>) -> Result<Self, OpenError> {
        let machine = machine();
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

    #[track_caller]
    fn best(requirements: &Requirements) -> Result<Self, OpenError> {
        let registry = BackendRegistry::with_gpu();
        #[cfg(feature = "sim")]
        let machine = LazyMachine::default();
        #[cfg(feature = "sim")]
        machine.clone().register(&registry);
        let mut chosen = registry.best(requirements)?;
        let why_not_gpu = (chosen.kind == BackendKind::Software).then(|| {
            let mut refused = std::mem::take(&mut chosen.refused);
            refused.retain(|refusal| refusal.backend == GPU);
            NoMatch { refused }
        });
        if let Some(why) = &why_not_gpu {
            let no_driver = why.refused.iter().any(|refusal| refusal.device.is_none());
            if no_driver && library_is_named() {
                return Err(OpenError::NoMatch(why.clone()));
            }
            tracing::warn!(%why, "taking the software device");
        }
        Ok(Self {
            selected: chosen.device.ordinal(),
            why_not_gpu: why_not_gpu.map(OpenError::NoMatch),
            #[cfg(feature = "sim")]
            machine: machine.0.get().cloned(),
            ..Self::over(chosen.execution, chosen.kind)
        })
    }

    /// The device with this ordinal, from 0.
    ///
    /// # Errors
    /// There is no such device.
    #[track_caller]
    pub fn device(&self, ordinal: u32) -> Result<Device, Error> {
        self.execution.devices().get(ordinal)
    }

    /// The device that was selected: the best one with [`Select::Best`], else the first.
    ///
    /// # Errors
    /// There is no device.
    #[track_caller]
    pub fn selected(&self) -> Result<Device, Error> {
        self.device(self.selected)
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

    /// Why [`Select::AutoOrSoftware`] or [`Select::Best`] took the software device.
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
    std::env::var_os(LIBRARY_VARIABLE).is_some_and(|path| !path.is_empty())
}

/// A software machine that is made when it is first needed.
#[cfg(feature = "sim")]
#[derive(Clone, Default)]
struct LazyMachine(Arc<std::sync::OnceLock<cupola_sim::Machine>>);

/// The software device in a GPU's place. It looks for no mistakes: a pool that tells of each block
/// takes twenty times as long for one. Tests have a `TestBench`, or describe a machine themselves.
#[cfg(feature = "sim")]
fn machine() -> cupola_sim::Machine {
    let nothing = cupola_sim::Strict::empty();
    cupola_sim::Machine::builder().strict(nothing).build()
}

#[cfg(feature = "sim")]
impl LazyMachine {
    fn register(self, registry: &BackendRegistry) {
        let driver = move || {
            let made = self.0.get_or_init(machine);
            Ok(made.driver())
        };
        // Refused only if the name were taken.
        let _ = registry.register(SOFTWARE, BackendKind::Software, driver);
    }
}

//! Backends side by side in one process: a GPU and a software device, several drivers.
//!
//! A [`BackendRegistry`] knows each backend by its name and by a source, a function that
//! gives its driver and is called only when the backend is needed.
//! [`discover`](BackendRegistry::discover) looks at all of them and never fails,
//! [`open`](BackendRegistry::open) makes one [`ExecutionManager`] for each and keeps it, and
//! [`best`](BackendRegistry::best) chooses a device over all of them.
//!
//! A registry is a value: a process may have several, and there is none that the whole process
//! shares. [`availability`] tells beforehand, and fast, whether a GPU can be expected.
//!
//! ```
//! use cupola_managers::backend::{BackendKind, BackendRegistry, Requirements, Status};
//! # use cupola_sim::Machine;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let backends = BackendRegistry::with_gpu();
//! let machine = Machine::builder().build();
//! backends.register("software", BackendKind::Software, move || Ok(machine.driver()))?;
//! for found in backends.discover() {
//!     match found.status {
//!         Status::Available(it) => println!("{}: {} devices", found.name, it.devices.len()),
//!         Status::Unavailable(why) => println!("{}: {why}; {}", found.name, why.advice()),
//!     }
//! }
//! let chosen = backends.best(&Requirements::default())?;
//! let _context = chosen.device.primary()?;
//! # Ok(()) }
//! ```

mod availability;
mod choice;
mod discovery;
mod kind;
mod requirements;
mod source;
mod unavailable;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupola_sys::driver::Driver;

pub use availability::{Availability, KernelModule, Missing, Probe, Started, availability};
pub use choice::{Choice, NoMatch, Refusal};
pub use discovery::{Capabilities, Discovery, FoundDevice, Status};
pub use kind::{BackendKind, SourceError};
pub use requirements::{Requirements, Strategy, Unmet};
use source::Backend;
pub use unavailable::{Cause, Unavailable};

use crate::error::Site;
use crate::execution::ExecutionManager;
use crate::lists;

/// The name of the backend that [`BackendRegistry::with_gpu`] registers.
pub const GPU: &str = "gpu";

/// Longest name of a backend, in bytes.
const NAME_BYTES: usize = 64;

/// Why a backend was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// There is one of that name.
    Duplicate {
        /// The name.
        name: String,
    },
    /// The name would not do.
    Name {
        /// The name.
        name: String,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { name } => write!(
                f,
                "there is a backend named {name:?} already: choose another name"
            ),
            Self::Name { name } => write!(
                f,
                "name: {name:?} is not 1 to 64 letters, digits and signs without control characters"
            ),
        }
    }
}

impl std::error::Error for RegisterError {}

/// Why a backend was not opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// There is none of that name.
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names of the backends that there are.
        known: Vec<String>,
    },
    /// It has nothing to open.
    Unavailable {
        /// The backend.
        name: String,
        /// Why.
        why: Unavailable,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, known } => write!(
                f,
                "there is no backend named {name:?}, there are: {}",
                lists::join(known, ", ")
            ),
            Self::Unavailable { name, why } => write!(f, "backend {name}: {why}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// The backends of a program, by name, in the order in which they were registered.
#[derive(Default)]
pub struct BackendRegistry {
    backends: Mutex<Vec<Arc<Backend>>>,
}

impl BackendRegistry {
    /// No backends.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One backend, [`GPU`], with the system's driver ([`Driver::load`]), which is loaded
    /// when it is first needed.
    #[must_use]
    pub fn with_gpu() -> Self {
        let registry = Self::new();
        // The registry is empty and the name will do.
        let _ = registry.register(GPU, BackendKind::Real, || Ok(Driver::load()?));
        registry
    }

    /// Adds a backend. `source` gives its driver; it is not called now, but on the thread
    /// that first needs the backend, and again after an attempt that failed or after
    /// [`close`](Self::close). It may fail, and it may panic: both make the backend
    /// unavailable. (In a program built with `panic = "abort"` a panic ends it.)
    ///
    /// # Errors
    /// [`RegisterError`]: the name is taken, or would not do.
    pub fn register(
        &self,
        name: impl Into<String>,
        kind: BackendKind,
        source: impl Fn() -> Result<Driver, SourceError> + Send + Sync + 'static,
    ) -> Result<(), RegisterError> {
        let name = name.into();
        if name.is_empty() || name.len() > NAME_BYTES || name.contains(char::is_control) {
            return Err(RegisterError::Name { name });
        }
        let mut backends = self.backends();
        if backends.iter().any(|backend| backend.name() == name) {
            return Err(RegisterError::Duplicate { name });
        }
        backends.push(Arc::new(Backend::new(name, kind, Box::new(source))));
        Ok(())
    }

    /// The names of the backends.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.all().iter().map(|one| one.name().to_owned()).collect()
    }

    /// The kind of a backend, if there is one of that name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<BackendKind> {
        self.find(name).map(|backend| backend.kind())
    }

    /// The execution manager of a backend, made at the first call and kept.
    ///
    /// Of threads that come at the same time one makes it and the others wait; if that fails
    /// all of them get its error, and the next call tries again.
    ///
    /// A manager that was [shut down](ExecutionManager::shutdown) is not handed out, nor replaced
    /// without the knowledge of the code that shut it down: the backend is unavailable
    /// ([`Cause::ShutDown`]), for [`discover`](Self::discover) and [`best`](Self::best) too, until
    /// the manager is [configured](ExecutionManager::configure) again, or [`close`](Self::close)
    /// makes room for another.
    ///
    /// # Errors
    /// [`OpenError::Unknown`]; [`OpenError::Unavailable`] with the reason.
    #[track_caller]
    pub fn open(&self, name: &str) -> Result<Arc<ExecutionManager>, OpenError> {
        let Some(backend) = self.find(name) else {
            return Err(OpenError::Unknown {
                name: name.to_owned(),
                known: self.names(),
            });
        };
        backend
            .open(Site::here())
            .map_err(|why| OpenError::Unavailable {
                name: name.to_owned(),
                why,
            })
    }

    /// Lets go of a backend's execution manager, which lives on as long as others hold it.
    /// The next [`open`](Self::open) asks the source again. Whether there was one.
    pub fn close(&self, name: &str) -> bool {
        self.find(name).is_some_and(|backend| backend.close())
    }

    /// Looks at every backend: opens those that are not open, and reads the properties of their
    /// devices. Creates no contexts, never fails and never panics: the error of a backend or a
    /// device stands in its place. Backends that are open by then are kept for
    /// [`open`](Self::open).
    #[must_use]
    #[track_caller]
    pub fn discover(&self) -> Vec<Discovery> {
        let (all, site) = (self.all(), Site::here());
        let found = all.iter().map(|one| discovery::examine(one, site));
        found.collect()
    }

    /// The device that suits best, over all backends. Real devices are preferred to software ones,
    /// even to those that claim more; software backends are opened only if no real device suits.
    ///
    /// # Errors
    /// [`NoMatch`] says of each device why it does not suit.
    #[track_caller]
    pub fn best(&self, wanted: &Requirements) -> Result<Choice, NoMatch> {
        choice::best(&self.all(), wanted, Site::here())
    }

    fn find(&self, name: &str) -> Option<Arc<Backend>> {
        let backends = self.backends();
        backends.iter().find(|one| one.name() == name).cloned()
    }

    fn all(&self) -> Vec<Arc<Backend>> {
        self.backends().clone()
    }

    fn backends(&self) -> MutexGuard<'_, Vec<Arc<Backend>>> {
        // Nothing panics with the lock held, and the list is whole at any time.
        self.backends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BackendRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().iter()).finish()
    }
}

//! Whether a GPU can be expected, told fast: by looking at files and loading the driver's
//! library, without initialising it.
//!
//! [`availability`] makes one driver call, `cuDriverGetVersion`, which works before `cuInit`.
//! Loading the library runs its initialisers; no context is created, no device woken and no
//! thread started. Its findings are evidence: some systems have a GPU without the files that others
//! have (sandboxes, embedded boards), and only `cuInit` knows. [`Availability::full`] asks it,
//! which on a machine with GPUs may take far longer than everything before.

mod missing;
mod probe;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cupola_sys::Version;
use cupola_sys::driver::Driver;

pub use missing::Missing;
pub use probe::{KernelModule, Probe};

use crate::error::{Error, Result};
use crate::execution::ExecutionManager;

/// The findings of [`availability`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Availability {
    /// The first part that is missing, in the order in which a program would come to need it;
    /// `None` when a GPU can be expected.
    pub missing: Option<Missing>,
    /// The library that the driver was loaded from, if it was.
    pub library: Option<String>,
    /// The newest CUDA version that the driver supports (`cuDriverGetVersion`).
    pub version: Option<Version>,
    /// The part of the driver that is in the system's kernel.
    pub kernel_module: KernelModule,
    /// The files by which devices are reached.
    pub device_nodes: Vec<PathBuf>,
    /// How long it took to find out.
    pub took: Duration,
    driver: Option<Driver>,
}

/// The results of `cuInit` and `cuDeviceGetCount`.
#[derive(Clone, Debug)]
pub struct Started {
    /// The number of devices, or why there are none.
    pub devices: Result<u32>,
    /// How long the two calls took.
    pub took: Duration,
}

/// Whether a GPU can be expected in this process, as [`Probe::system`] finds it. Meant to
/// take less than 100 ms; [`Availability::took`] says how long it took.
#[must_use]
pub fn availability() -> Availability {
    Probe::system().run()
}

impl Availability {
    /// Whether nothing is missing as far as can be told without `cuInit`.
    #[must_use]
    pub fn is_expected(&self) -> bool {
        self.missing.is_none()
    }

    /// The driver, loaded and not initialised by this.
    #[must_use]
    pub fn driver(&self) -> Option<&Driver> {
        self.driver.as_ref()
    }

    /// Initialises the driver too (`cuInit`) and counts its devices, which settles it:
    /// [`missing`](Self::missing) is then `None` exactly if there is a device. Without a
    /// driver nothing is called.
    ///
    /// On a machine with GPUs `cuInit` can take some hundred milliseconds, and seconds where
    /// the devices have to be woken first (no persistence mode).
    pub fn full(mut self) -> (Self, Option<Started>) {
        // There is none after a fork: the driver that the parent initialised must not be called
        // here.
        let Some(driver) = self.driver.clone() else {
            return (self, None);
        };
        let begin = Instant::now();
        let devices = ExecutionManager::new(driver).map(|execution| execution.devices().count());
        let took = begin.elapsed();
        self.settle(&devices);
        self.took += took;
        (self, Some(Started { devices, took }))
    }

    /// Corrects the evidence by the driver's answer. A part that was found missing before explains
    /// a failure better than the driver's code does.
    fn settle(&mut self, devices: &Result<u32>) {
        self.missing = match devices {
            Ok(1..) => None,
            Ok(0) => self.missing.take().or(Some(Missing::Devices)),
            Err(error) => {
                let refused = || Missing::Start(error.clone());
                Some(self.missing.take().unwrap_or_else(refused))
            }
        };
    }

    /// The missing part that may explain why this driver would not start.
    pub(crate) fn explain(driver: &Driver, error: &Error) -> Option<Missing> {
        let mut found = Probe::system().with_driver(driver.clone()).run();
        found.settle(&Err(error.clone()));
        found
            .missing
            .filter(|missing| !matches!(missing, Missing::Start(_)))
    }
}

//! [`Nvml`]: the table of NVML's functions, and where the library is looked for.

use core::ffi::c_int;
use std::path::Path;

use super::*;
use crate::{LoadError, Version, search::Search};

const SEARCH: Search = Search {
    library: "NVML",
    variable: "CUPOLA_NVML_LIBRARY",
    wheels: &[],
    in_toolkit: false,
    names: if cfg!(windows) {
        &["nvml.dll"]
    } else {
        &["libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"]
    },
    anchor: c"nvmlInit_v2",
};

optional_library! {
    /// The management library. Most functions need `nvmlInit_v2` first.
    // Asking would make it load the driver.
    Nvml, NvmlError, for_each_nvml_symbol!, |_| Version(0)
}

impl Nvml {
    /// Loads NVML: `CUPOLA_NVML_LIBRARY` alone if that variable is set, else by name from
    /// the system, then WSL's.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists what was tried and why each failed.
    pub fn load() -> Result<Self, LoadError> {
        Ok(Self::over(Box::new(SEARCH.open()?)))
    }

    /// Loads the library at `path`.
    ///
    /// # Errors
    /// No such file, not a library, or another library than this one.
    pub fn load_from(path: &Path) -> Result<Self, LoadError> {
        Ok(Self::over(Box::new(SEARCH.open_at(path)?)))
    }

    /// The CUDA version of the installed driver (`nvmlSystemGetCudaDriverVersion_v2`).
    ///
    /// Initialises NVML for the time of the question: it counts its users, so those of the
    /// caller stay. That takes tens of milliseconds where no user had initialised it.
    ///
    /// # Errors
    /// A function is missing or failed.
    pub fn version(&self) -> Result<Version, NvmlError> {
        let mut version: c_int = 0;
        // SAFETY: no pointers.
        unsafe { self.nvmlInit_v2() }?;
        // SAFETY: the pointer outlives the call, and NVML is initialised.
        let asked = unsafe { self.nvmlSystemGetCudaDriverVersion_v2(&raw mut version) };
        // SAFETY: undoes the initialisation above. What it says changes no answer.
        let _ = unsafe { self.nvmlShutdown() };
        asked.map(|()| Version(version.try_into().unwrap_or(0)))
    }
}

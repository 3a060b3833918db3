//! [`Nccl`]: the table of NCCL's functions, and where the library is looked for.

use core::ffi::c_int;
use std::path::Path;

use super::*;
use crate::{LoadError, Version, search::Search};

const SEARCH: Search = Search {
    library: "NCCL",
    variable: "CUPOLA_NCCL_LIBRARY",
    wheels: &["nvidia/nccl/lib"],
    in_toolkit: true,
    // There is no NCCL for Windows.
    names: if cfg!(windows) {
        &[]
    } else {
        &["libnccl.so.2"]
    },
    anchor: c"ncclGetVersion",
};

optional_library! {
    /// Collective communication between devices. The `pnccl` names are the same functions
    /// for profilers that replace the plain ones.
    Nccl, NcclError, for_each_nccl_symbol!, |library| library.version().unwrap_or_default()
}

impl Nccl {
    /// Loads NCCL: `CUPOLA_NCCL_LIBRARY` alone if that variable is set, else from
    /// `CUPOLA_WHEELS` (laid out like a `site-packages`), the active Python environment,
    /// `CUDA_PATH`, `CUDA_HOME`, and last by name from the system.
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

    /// The library's version without the patch number (`ncclGetVersion`).
    ///
    /// # Errors
    /// The function is missing or failed.
    pub fn version(&self) -> Result<Version, NcclError> {
        let mut code: c_int = 0;
        // SAFETY: the pointer outlives the call; the function needs no initialisation.
        unsafe { self.ncclGetVersion(&raw mut code) }?;
        Ok(decode(code.try_into().unwrap_or(0)))
    }
}

/// NCCL writes 2.32.3 as 23203 since 2.9, and 2.8.4 as 2804 before.
const fn decode(code: u32) -> Version {
    if code < 10_000 {
        return Version::new(code / 1000, code % 1000 / 100);
    }
    Version::new(code / 10_000, code % 10_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it versions of the old encoding could read as 0.28.
    #[test]
    fn both_encodings_of_the_version_are_read() {
        assert_eq!(decode(23203), Version::new(2, 32));
        assert_eq!(decode(20903), Version::new(2, 9));
        assert_eq!(decode(2804), Version::new(2, 8));
        assert_eq!(decode(0), Version(0));
    }
}

//! [`NvJitLink`]: the table of nvJitLink's functions, and where the library is looked for.

use core::ffi::c_uint;
use std::path::{Path, PathBuf};

use super::*;
use crate::{LoadError, Version, search::Search};

const SEARCH: Search = Search {
    library: "nvJitLink",
    variable: "CUPOLA_NVJITLINK_LIBRARY",
    wheels: if cfg!(windows) {
        &[
            "nvidia/cu13/bin/x86_64",
            "nvidia/cu13/bin",
            "nvidia/nvjitlink/bin",
        ]
    } else {
        &["nvidia/cu13/lib", "nvidia/nvjitlink/lib"]
    },
    in_toolkit: true,
    names: if cfg!(windows) {
        &["nvJitLink_130_0.dll", "nvJitLink_120_0.dll"]
    } else {
        &[
            "libnvJitLink.so.13",
            "libnvJitLink.so.12",
            "libnvJitLink.so",
        ]
    },
    anchor: c"nvJitLinkCreate",
};

optional_library! {
    /// The link-time optimiser.
    NvJitLink, NvJitLinkError, for_each_nvjitlink_symbol!, |library| library.version().unwrap_or_default()
}

impl NvJitLink {
    /// Loads nvJitLink: `CUPOLA_NVJITLINK_LIBRARY` alone if that variable is set, else
    /// from `CUPOLA_WHEELS` (laid out like a `site-packages`), the active Python
    /// environment, `CUDA_PATH`, `CUDA_HOME`, and last by name from the system.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists what was tried and why each failed.
    pub fn load() -> Result<Self, LoadError> {
        Ok(Self::over(Box::new(SEARCH.open()?)))
    }

    /// What [`load`](Self::load) would try now, in this order, without trying it: files by their paths,
    /// and last bare names, which are the system's loader's to find. The first that is there and is
    /// nvJitLink is loaded.
    #[must_use]
    pub fn candidates() -> Vec<PathBuf> {
        SEARCH.candidates()
    }

    /// Loads the library at `path`.
    ///
    /// # Errors
    /// No such file, not a library, or another library than this one.
    pub fn load_from(path: &Path) -> Result<Self, LoadError> {
        Ok(Self::over(Box::new(SEARCH.open_at(path)?)))
    }

    /// The toolkit version that the linker belongs to (`nvJitLinkVersion`).
    ///
    /// # Errors
    /// The function failed, or is missing: libraries before 12.3 do not have it.
    pub fn version(&self) -> Result<Version, NvJitLinkError> {
        let (mut major, mut minor): (c_uint, c_uint) = (0, 0);
        // SAFETY: both pointers outlive the call.
        unsafe { self.nvJitLinkVersion(&raw mut major, &raw mut minor) }?;
        Ok(Version::new(major, minor))
    }
}

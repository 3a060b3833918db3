//! [`Nvrtc`]: the table of NVRTC's functions, and where the library is looked for.

use core::ffi::c_int;
use std::path::{Path, PathBuf};

use super::*;
use crate::{LoadError, Version, dynamic::Library, search::Search};

const SEARCH: Search = Search {
    library: "NVRTC",
    variable: "CUPOLA_NVRTC_LIBRARY",
    wheels: if cfg!(windows) {
        &[
            "nvidia/cu13/bin/x86_64",
            "nvidia/cu13/bin",
            "nvidia/cuda_nvrtc/bin",
        ]
    } else {
        &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"]
    },
    in_toolkit: true,
    names: if cfg!(windows) {
        &[
            "nvrtc64_130_0.dll",
            "nvrtc64_120_0.dll",
            "nvrtc64_112_0.dll",
        ]
    } else {
        &[
            "libnvrtc.so.13",
            "libnvrtc.so.12",
            "libnvrtc.so.11.2",
            "libnvrtc.so",
        ]
    },
    anchor: c"nvrtcVersion",
};

optional_library! {
    /// The run-time compiler.
    Nvrtc, NvrtcError, for_each_nvrtc_symbol!, |library| library.version().unwrap_or_default()
}

impl Nvrtc {
    /// Loads NVRTC: `CUPOLA_NVRTC_LIBRARY` alone if that variable is set, else from
    /// `CUPOLA_WHEELS` (laid out like a `site-packages`), the active Python environment,
    /// `CUDA_PATH`, `CUDA_HOME`, and last by name from the system.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists what was tried and why each failed.
    pub fn load() -> Result<Self, LoadError> {
        let library = Self::over(Box::new(SEARCH.open()?));
        library.load_builtins();
        Ok(library)
    }

    /// What [`load`](Self::load) would try now, in this order, without trying it: files by their paths,
    /// and last bare names, which are the system's loader's to find. The first that is there and is NVRTC
    /// is loaded.
    #[must_use]
    pub fn candidates() -> Vec<PathBuf> {
        SEARCH.candidates()
    }

    /// Loads the library at `path`.
    ///
    /// # Errors
    /// No such file, not a library, or another library than this one.
    pub fn load_from(path: &Path) -> Result<Self, LoadError> {
        let library = Self::over(Box::new(SEARCH.open_at(path)?));
        library.load_builtins();
        Ok(library)
    }

    /// The toolkit version that the compiler belongs to (`nvrtcVersion`).
    ///
    /// # Errors
    /// The function is missing or failed.
    pub fn version(&self) -> Result<Version, NvrtcError> {
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        // SAFETY: both pointers outlive the call.
        unsafe { self.nvrtcVersion(&raw mut major, &raw mut minor) }?;
        Ok(Version::new(
            major.try_into().unwrap_or(0),
            minor.try_into().unwrap_or(0),
        ))
    }

    /// The built-in headers' library that belongs to this compiler, if it lies beside it.
    #[must_use]
    pub fn builtins(&self) -> Option<PathBuf> {
        let version = self.version().ok()?;
        let (major, minor) = (version.major(), version.minor());
        let name = if cfg!(windows) {
            format!("nvrtc-builtins64_{major}{minor}.dll")
        } else {
            format!("libnvrtc-builtins.so.{major}.{minor}")
        };
        // Beside the path as it was given first: an environment of symbolic links has the
        // two libraries beside each other, and their targets perhaps nowhere near.
        let given = PathBuf::from(self.describe());
        [Some(given), self.path()]
            .into_iter()
            .flatten()
            .find_map(|library| {
                // A bare name has no folder, and must not get the current directory's.
                library
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty())?;
                let path = std::path::absolute(library.with_file_name(&name)).ok()?;
                path.is_file().then_some(path)
            })
    }

    /// Opens [`builtins`](Self::builtins). Not having them is no failure here: NVRTC may
    /// find its own, and else says so when it compiles.
    fn load_builtins(&self) {
        if let Some(path) = self.builtins() {
            // A `Library` stays loaded when it is dropped.
            let _: Result<Library, LoadError> = Library::open(&path);
        }
    }
}

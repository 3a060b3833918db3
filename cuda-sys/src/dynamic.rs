//! Opening shared libraries: one type of error that says what was tried.

use core::ffi::{CStr, c_void};
use core::fmt;
use core::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use crate::driver::DriverError;

/// Why a library could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// None of the places where the library may be has it.
    NotFound {
        /// What was looked for.
        library: &'static str,
        /// Each place, and why it would not do.
        tried: Vec<Attempt>,
    },
    /// The path that was asked for does not exist.
    NoSuchFile {
        /// The path.
        path: PathBuf,
    },
    /// The dynamic loader refused the file.
    NotALibrary {
        /// The path or name.
        path: PathBuf,
        /// The dynamic loader's words.
        reason: String,
    },
    /// The file is a library, but not the one that was asked for.
    WrongLibrary {
        /// The path or name.
        path: PathBuf,
        /// A function that it does not export.
        lacks: &'static str,
        /// What it would have to be.
        wanted: &'static str,
    },
    /// The library was loaded and its first call failed.
    Call(DriverError),
}

/// One place where a library was looked for.
#[derive(Debug)]
pub struct Attempt {
    /// The path, or the name given to the dynamic loader.
    pub path: PathBuf,
    /// Why it would not do.
    pub reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { library, tried } => {
                write!(f, "{library} was not found; tried")?;
                for (index, attempt) in tried.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ";" };
                    write!(f, "{comma} {} ({})", attempt.path.display(), attempt.reason)?;
                }
                Ok(())
            }
            Self::NoSuchFile { path } => write!(f, "{} does not exist", path.display()),
            Self::NotALibrary { path, reason } => {
                write!(f, "{} cannot be loaded: {reason}", path.display())
            }
            Self::WrongLibrary { path, lacks, wanted } => {
                write!(f, "{} is not {wanted}: it exports no {lacks}", path.display())
            }
            Self::Call(error) => write!(f, "the library was loaded, but {error}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Call(error) => Some(error),
            _ => None,
        }
    }
}

/// A shared library that stays loaded until the process ends.
///
/// NVIDIA's libraries start threads and register exit handlers: unloading them is never
/// safe, so dropping this does not.
pub(crate) struct Library {
    handle: ManuallyDrop<libloading::Library>,
    path: PathBuf,
}

impl Library {
    pub(crate) fn open(path: &Path) -> Result<Self, LoadError> {
        let is_path = path.components().count() > 1;
        if is_path && !path.exists() {
            return Err(LoadError::NoSuchFile { path: path.into() });
        }
        // SAFETY: loading runs the library's initialisers. The caller named the file, or
        // it is the system's own driver; there is no safer way to load it.
        match unsafe { libloading::Library::new(path) } {
            Ok(handle) => Ok(Self { handle: ManuallyDrop::new(handle), path: path.into() }),
            Err(error) => {
                Err(LoadError::NotALibrary { path: path.into(), reason: text(&error) })
            }
        }
    }

    /// The address of an exported symbol.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the type is a plain address; nothing is called or read through it here.
        let symbol = unsafe { self.handle.get::<*const c_void>(name.to_bytes_with_nul()) };
        // `Symbol` derefs to the address itself, not to what it points to.
        symbol.ok().map(|found| *found).filter(|address| !address.is_null())
    }

    /// The error that says that this library is not the one wanted.
    pub(crate) fn lacks(&self, lacks: &'static str, wanted: &'static str) -> LoadError {
        LoadError::WrongLibrary { path: self.path.clone(), lacks, wanted }
    }

    pub(crate) fn describe(&self) -> String {
        self.path.display().to_string()
    }
}

/// Opens the first of `candidates` that can be opened.
pub(crate) fn open_first<'a>(
    library: &'static str,
    candidates: impl IntoIterator<Item = &'a Path>,
) -> Result<Library, LoadError> {
    let mut tried = Vec::new();
    for path in candidates {
        match Library::open(path) {
            Ok(found) => return Ok(found),
            Err(LoadError::NotALibrary { path, reason }) => tried.push(Attempt { path, reason }),
            Err(other) => tried.push(Attempt { path: path.into(), reason: other.to_string() }),
        }
    }
    Err(LoadError::NotFound { library, tried })
}

/// The dynamic loader's own words: libloading keeps them in the source.
fn text(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

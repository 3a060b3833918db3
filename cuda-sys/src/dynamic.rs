//! Opening shared libraries: one type of error that says what was tried.

use core::ffi::{CStr, c_void};
use core::fmt;
use core::mem::ManuallyDrop;
use std::path::{Component, Path, PathBuf};

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
    /// The file is no library, or the dynamic loader refused it.
    NotALibrary {
        /// The path or name.
        path: PathBuf,
        /// Why, in the dynamic loader's words where it was asked.
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

impl LoadError {
    /// The error without the path, for a list that shows the path already.
    fn into_reason(self) -> String {
        match self {
            Self::NoSuchFile { .. } => "no such file".into(),
            Self::NotALibrary { reason, .. } => reason,
            Self::WrongLibrary { lacks, .. } => format!("exports no {lacks}"),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { library, tried } => {
                write!(f, "{library} was not found; tried")?;
                if tried.is_empty() {
                    write!(f, " nothing: there is none for this platform")?;
                }
                for (index, attempt) in tried.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ";" };
                    let path = attempt.path.display();
                    // The dynamic loader begins what it says with the name that it was given.
                    let reason = attempt.reason.strip_prefix(&format!("{path}: "));
                    let reason = reason.unwrap_or(&attempt.reason);
                    write!(f, "{comma} {path} ({reason})")?;
                }
                Ok(())
            }
            Self::NoSuchFile { path } => write!(f, "\"{}\" does not exist", path.display()),
            Self::NotALibrary { path, reason } => {
                write!(f, "{} cannot be loaded: {reason}", path.display())
            }
            Self::WrongLibrary {
                path,
                lacks,
                wanted,
            } => {
                write!(
                    f,
                    "{} is not {wanted}: it exports no {lacks}",
                    path.display()
                )
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
        if !is_name(path) {
            check_file(path)?;
        }
        match open_handle(path) {
            Ok(handle) => Ok(Self {
                handle: ManuallyDrop::new(handle),
                path: path.into(),
            }),
            Err(error) => Err(LoadError::NotALibrary {
                path: path.into(),
                reason: text(&error),
            }),
        }
    }

    /// The address of an exported symbol.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the type is a plain address; nothing is called or read through it here.
        let symbol = unsafe { self.handle.get::<*const c_void>(name.to_bytes_with_nul()) };
        // `Symbol` derefs to the address itself, not to what it points to.
        symbol
            .ok()
            .map(|found| *found)
            .filter(|address| !address.is_null())
    }

    /// The error that says that this library is not the one wanted.
    pub(crate) fn lacks(&self, lacks: &'static str, wanted: &'static str) -> LoadError {
        LoadError::WrongLibrary {
            path: self.path.clone(),
            lacks,
            wanted,
        }
    }

    /// The file that the library was loaded from, found by one of its functions; the
    /// path that was asked for where the system does not tell.
    pub(crate) fn file(&self, function: &CStr) -> Option<PathBuf> {
        let found = self.symbol(function).and_then(file_of);
        found.or_else(|| (!is_name(&self.path)).then(|| self.path.clone()))
    }

    pub(crate) fn describe(&self) -> String {
        self.path.display().to_string()
    }
}

/// Makes a `T` of the first of `candidates` that can be opened and that `make` takes.
/// `tried` holds what was ruled out before.
pub(crate) fn first<T>(
    library: &'static str,
    candidates: impl IntoIterator<Item = PathBuf>,
    mut tried: Vec<Attempt>,
    make: impl Fn(Library) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let mut failed_call = None;
    for path in candidates {
        match Library::open(&path).and_then(&make) {
            Ok(made) => return Ok(made),
            Err(error @ LoadError::Call(_)) if failed_call.is_none() => failed_call = Some(error),
            Err(error) => tried.push(Attempt {
                path,
                reason: error.into_reason(),
            }),
        }
    }
    // A driver that is there but broken says more than the places that have none.
    Err(failed_call.unwrap_or(LoadError::NotFound { library, tried }))
}

/// Whether the dynamic loader searches for this, instead of opening a file.
fn is_name(path: &Path) -> bool {
    let mut components = path.components();
    matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(_)), None)
    )
}

/// Rules out what the dynamic loader would wait for (a pipe) or describe badly.
fn check_file(path: &Path) -> Result<(), LoadError> {
    use std::io::ErrorKind;
    let reason = match path.metadata() {
        Ok(found) if found.is_file() => return Ok(()),
        Ok(found) if found.is_dir() => "it is a folder".into(),
        Ok(_) => "it is not a regular file".into(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(LoadError::NoSuchFile { path: path.into() });
        }
        Err(error) => error.to_string(),
    };
    Err(LoadError::NotALibrary {
        path: path.into(),
        reason,
    })
}

#[cfg(not(windows))]
fn open_handle(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: loading runs the library's initialisers. The caller named the file, or it
    // is one of NVIDIA's in a place of the search; there is no safer way to load it.
    unsafe { libloading::Library::new(path) }
}

/// Windows would also search the current directory for a bare name; these flags do not.
#[cfg(windows)]
fn open_handle(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::windows::{
        LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR, Library,
    };
    let absolute = if is_name(path) {
        None
    } else {
        std::path::absolute(path).ok()
    };
    let (path, flags) = match &absolute {
        Some(path) => (
            path.as_path(),
            LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS,
        ),
        None => (path, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS),
    };
    // SAFETY: as on other systems: the file was named, or is NVIDIA's own.
    unsafe { Library::load_with_flags(path, flags) }.map(Into::into)
}

/// The dynamic loader's own words: libloading keeps them in the source.
fn text(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// The file that is mapped at an address.
#[cfg(target_os = "linux")]
fn file_of(address: *const c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let path = maps
        .split(|byte| *byte == b'\n')
        .find_map(|line| mapped(line, address.addr()))?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(path)))
}

#[cfg(not(target_os = "linux"))]
fn file_of(_: *const c_void) -> Option<PathBuf> {
    None
}

/// The path of one line of the kernel's list of mappings, if the line covers `address`:
/// `start-end perms offset device inode   path`.
#[cfg(target_os = "linux")]
fn mapped(line: &[u8], address: usize) -> Option<Vec<u8>> {
    let path = line.iter().position(|byte| *byte == b'/')?;
    let (fields, path) = line.split_at_checked(path)?;
    let (start, end) = str::from_utf8(fields)
        .ok()?
        .split_once(' ')?
        .0
        .split_once('-')?;
    let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
    // A deleted file has no path any more.
    (range.contains(&address) && !path.ends_with(b" (deleted)")).then(|| path.to_vec())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Without it each name would be said twice: by this crate, and by the dynamic loader.
    #[test]
    fn a_name_is_said_once() {
        let attempt = |path: &str, reason: &str| Attempt {
            path: path.into(),
            reason: reason.into(),
        };
        let error = LoadError::NotFound {
            library: "the driver",
            tried: vec![
                attempt("libcuda.so.1", "libcuda.so.1: cannot open it"),
                attempt("/a/libcuda.so.1", "no such file"),
            ],
        };
        let text = "the driver was not found; tried libcuda.so.1 (cannot open it); \
                    /a/libcuda.so.1 (no such file)";
        assert_eq!(error.to_string(), text);
    }

    /// Without it a path with spaces could be cut, or a neighbour's mapping be taken.
    #[test]
    fn mappings_are_read_exactly() {
        let line = b"7f00-7f10 r-xp 00001000 08:01 1234      /opt/my driver/libcuda.so.1";
        assert_eq!(
            mapped(line, 0x7f0f).as_deref(),
            Some(&b"/opt/my driver/libcuda.so.1"[..])
        );
        assert_eq!(mapped(line, 0x7eff), None);
        assert_eq!(mapped(line, 0x7f10), None);
        assert_eq!(mapped(b"7f00-7f10 rw-p 00000000 00:00 0", 0x7f00), None);
        assert_eq!(
            mapped(b"7f00-7f10 rw-p 0 0 0 /tmp/a (deleted)", 0x7f00),
            None
        );
        assert_eq!(mapped(b"zz-7f10 rw-p 0 0 0 /tmp/a", 0x7f00), None);
        assert_eq!(mapped(b"", 0), None);
    }

    /// Without it a bare name could be taken for a file of the current directory.
    #[test]
    fn only_a_single_component_is_a_name() {
        assert!(is_name(Path::new("libcuda.so.1")));
        for path in ["", "/", ".", "..", "./libcuda.so.1", "/a/b", "a/b"] {
            assert!(!is_name(Path::new(path)), "{path}");
        }
    }
}

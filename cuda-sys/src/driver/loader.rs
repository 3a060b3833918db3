//! [`Driver`]: the table of the driver's functions, from whatever source.

use core::ffi::{CStr, c_int, c_void};
use core::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hooks::{self, GetMemoryHooks, MemoryHooks};
use super::source::ProcAddress;
use super::*;
use crate::dynamic::{Library, LoadError, first};
use crate::table::Table;
use crate::{Symbol, Version};

/// Names the library to load instead of the system's.
pub const LIBRARY_VARIABLE: &str = "CUPOLA_CUDA_LIBRARY";

#[cfg(not(windows))]
const NAMES: &[&str] = &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"];
#[cfg(windows)]
const NAMES: &[&str] = &["nvcuda.dll"];

const COUNT: usize = SYMBOLS.len();

/// The CUDA driver: every function of its API as a method, resolved at its first use.
///
/// Cheap to clone and shared between threads. A method of a function that this driver
/// lacks returns [`CallError::Missing`](crate::CallError::Missing).
#[derive(Clone)]
pub struct Driver {
    table: Arc<Table<CUresult, COUNT>>,
}

static_assertions::assert_impl_all!(Driver: Send, Sync, Clone);

impl Driver {
    /// Loads the system's driver library: `CUPOLA_CUDA_LIBRARY` alone if that variable is
    /// set, else `libcuda.so.1`, then WSL's (`nvcuda.dll` on Windows).
    ///
    /// # Errors
    /// [`LoadError::NotFound`] lists what was tried and why each failed.
    pub fn load() -> Result<Self, LoadError> {
        if let Some(path) = std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
            return Self::load_from(Path::new(&path));
        }
        first(
            "the CUDA driver",
            NAMES.iter().map(PathBuf::from),
            Vec::new(),
            Self::from_library,
        )
    }

    /// Loads the driver library at `path`.
    ///
    /// # Errors
    /// No such file, not a library, or a library that is no CUDA driver of 11.3 or later
    /// (it exports no `cuGetProcAddress`).
    pub fn load_from(path: &Path) -> Result<Self, LoadError> {
        Self::from_library(Library::open(path)?)
    }

    fn from_library(library: Library) -> Result<Self, LoadError> {
        let source = LibrarySource::new(library)?;
        // SAFETY: `LibrarySource` keeps the trait's contract for a CUDA driver library.
        unsafe { Self::from_source(Box::new(source)) }.map_err(LoadError::Call)
    }

    /// A driver whose functions come from `proc_address(base name, introducing version,
    /// flags)`, which answers like `cuGetProcAddress`: flag 1 asks for the form with the
    /// legacy default stream, 2 for the per-thread form; null means absent.
    ///
    /// # Errors
    /// What `cuDriverGetVersion` of that source returned.
    ///
    /// # Safety
    /// Each address is null or a function of the type that NVIDIA's header gives the ABI
    /// of that name and version, callable for as long as the closure lives.
    pub unsafe fn from_proc_address(
        proc_address: impl Fn(&CStr, Version, u64) -> *const c_void + Send + Sync + 'static,
    ) -> Result<Self, DriverError> {
        // SAFETY: the caller gives the trait's promise.
        unsafe { Self::from_source(Box::new(ClosureSource(proc_address))) }
    }

    /// A driver over any source; asks it for its version.
    ///
    /// # Errors
    /// What `cuDriverGetVersion` of that source returned.
    ///
    /// # Safety
    /// A [`ProcAddress`] is an unsafe trait: its implementation carries the promise. The
    /// source's functions must be callable now.
    pub unsafe fn from_source(source: Box<dyn ProcAddress>) -> Result<Self, DriverError> {
        let mut driver = Self {
            table: Arc::new(Table::new(source)),
        };
        let mut version: c_int = 0;
        // SAFETY: `version` outlives the call; the function works before `cuInit`.
        unsafe { driver.cuDriverGetVersion(&raw mut version) }?;
        if let Some(table) = Arc::get_mut(&mut driver.table) {
            table.set_version(Version(u32::try_from(version).unwrap_or(0)));
        }
        Ok(driver)
    }

    /// The newest CUDA version that this driver supports (`cuDriverGetVersion`).
    #[must_use]
    pub fn driver_version(&self) -> Version {
        self.table.version()
    }

    /// The functions of the API that this driver lacks. Resolves every function.
    pub fn missing(&self) -> impl Iterator<Item = &'static Symbol> {
        self.table.missing()
    }

    /// Whether this driver has the function.
    #[must_use]
    pub fn has(&self, id: crate::SymbolId<CUresult>) -> bool {
        self.table.entry(id).is_ok()
    }

    /// The address of a function, for callers with a calling scheme of their own. It can
    /// be cast to the type in [`pfn`]. A source with a [`scope`](super::scope) expects to
    /// be called through this type's methods instead.
    ///
    /// # Errors
    /// [`CallError::Missing`](crate::CallError::Missing).
    pub fn address(&self, id: crate::SymbolId<CUresult>) -> Result<*const c_void, DriverError> {
        Ok(self.table.entry(id)?.as_ptr())
    }

    /// Whether `other` is the same driver, opened by whichever value: a thread's current context in
    /// one of them is that in the other. A driver that wraps another one is not that one.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
            || self.table.shares(&other.table, id::cuCtxGetCurrent)
    }

    /// What an allocator tells of its blocks, if this driver listens: only one that checks
    /// programs does. Callable as long as the driver is there.
    #[must_use]
    pub fn memory_hooks(&self) -> Option<MemoryHooks> {
        self.table.source().memory_hooks()
    }

    /// The file that the library was loaded from; `None` for other sources. On Linux it is
    /// the real file, also when the system's loader found it by name.
    #[must_use]
    pub fn library_path(&self) -> Option<PathBuf> {
        self.table.source().file()
    }

    /// What the functions come from, for people: a path, or the software device's name.
    #[must_use]
    pub fn describe(&self) -> String {
        self.table.source().describe()
    }

    #[inline(always)]
    fn table(&self) -> &Table<CUresult, COUNT> {
        &self.table
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Driver({}, CUDA {})",
            self.describe(),
            self.driver_version()
        )
    }
}

impl Driver {
    for_each_driver_symbol!(methods!);
}

/// The flag of `cuGetProcAddress` that asks for this symbol's form.
fn query_flags(symbol: &Symbol) -> u64 {
    if symbol.is_per_thread() { 2 } else { 1 }
}

struct ClosureSource<F>(F);

// SAFETY: the promise is the caller's of `Driver::from_proc_address`.
unsafe impl<F> ProcAddress for ClosureSource<F>
where
    F: Fn(&CStr, Version, u64) -> *const c_void + Send + Sync + 'static,
{
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        self.0(symbol.base, symbol.introduced, query_flags(symbol))
    }

    fn describe(&self) -> String {
        "injected functions".into()
    }
}

/// The functions of a driver library: asked of its own `cuGetProcAddress`, with each
/// ABI's introducing version and never a newer one (that would change signatures), then
/// of the dynamic loader by exact name.
struct LibrarySource {
    library: Library,
    query: Query,
}

enum Query {
    /// CUDA 12.0 and later.
    V2(pfn::cuGetProcAddress_v2),
    /// CUDA 11.3 and later.
    V1(pfn::cuGetProcAddress),
}

impl LibrarySource {
    fn new(library: Library) -> Result<Self, LoadError> {
        let query = if let Some(entry) = library.symbol(c"cuGetProcAddress_v2") {
            // SAFETY: the exported name fixes the function's type.
            Query::V2(unsafe {
                core::mem::transmute::<*const c_void, pfn::cuGetProcAddress_v2>(entry)
            })
        } else if let Some(entry) = library.symbol(c"cuGetProcAddress") {
            // SAFETY: the exported name fixes the function's type.
            Query::V1(unsafe {
                core::mem::transmute::<*const c_void, pfn::cuGetProcAddress>(entry)
            })
        } else {
            return Err(library.lacks("cuGetProcAddress", "a CUDA driver of 11.3 or later"));
        };
        Ok(Self { library, query })
    }
}

// SAFETY: `cuGetProcAddress(base, introduced)` gives the ABI that the row names: by NVIDIA's
// `cudaTypedefs.h`, whose type for that base and version is compared with the row's prototype
// when the tests are compiled (`generated/driver_pointers.rs`). It agreed with `dlsym` on a real
// driver for each row that this driver had (637; 51 rows were newer). An exported name fixes its
// ABI.
unsafe impl ProcAddress for LibrarySource {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        let mut found: *mut c_void = core::ptr::null_mut();
        let version = c_int::try_from(symbol.introduced.0).unwrap_or(c_int::MAX);
        let base = symbol.base.as_ptr();
        // The older function takes the flags only from drivers that know them, and has no
        // status; success with a null pointer means absent in both.
        let code = match self.query {
            Query::V2(query) => {
                let mut status = CUdriverProcAddressQueryResult(0);
                // SAFETY: all pointers outlive the call; the name ends with NUL.
                unsafe {
                    query(
                        base,
                        &raw mut found,
                        version,
                        query_flags(symbol),
                        &raw mut status,
                    )
                }
            }
            // SAFETY: as above.
            Query::V1(query) => unsafe {
                query(base, &raw mut found, version, query_flags(symbol))
            },
        };
        if code == CUresult::CUDA_SUCCESS && !found.is_null() {
            return found;
        }
        self.library
            .symbol(symbol.name)
            .unwrap_or(core::ptr::null())
    }

    fn describe(&self) -> String {
        self.library.describe()
    }

    fn memory_hooks(&self) -> Option<MemoryHooks> {
        let entry = self.library.symbol(hooks::SYMBOL)?;
        // SAFETY: the exported name, which is this project's own, fixes the function's type.
        let get = unsafe { core::mem::transmute::<*const c_void, GetMemoryHooks>(entry) };
        // SAFETY: null, or hooks that stay as long as the library, which is never unloaded; of the
        // version that was asked for, so that all of these fields are there.
        let hooks = unsafe { get(hooks::VERSION).as_ref() }?;
        (hooks.version >= hooks::VERSION).then_some(*hooks)
    }

    fn file(&self) -> Option<PathBuf> {
        // Every driver that `new` takes exports it: the newer drivers keep the older name.
        self.library
            .file(c"cuGetProcAddress")
            .or_else(|| self.library.file(c"cuGetProcAddress_v2"))
    }
}

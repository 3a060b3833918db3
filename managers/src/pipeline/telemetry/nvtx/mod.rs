//! Ranges for a profiler that listens (NVTX, which Nsight Systems and others read).
//!
//! NVTX has no library of its own: a profiler names its library in `NVTX_INJECTION64_PATH`, and each
//! program that speaks NVTX loads it and gives it tables to fill ([`tables`]). So nothing of NVIDIA's is
//! needed, and where no profiler listens a range is one load.

mod tables;

use std::env;
use std::ffi::{CStr, OsString, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::OnceLock;

use cupola_sys::driver::CUstream;
use tables::{EventAttributes, Found, NameStream, RangePop, RangePush, export_table};

/// The variable in which a profiler names its library.
const VARIABLE: &str = "NVTX_INJECTION64_PATH";
/// `InitializeInjectionNvtx2`, by which the library is given the tables; 0 says that it does not listen.
type Initialize = unsafe extern "system" fn(extern "system" fn(u32) -> *const c_void) -> c_int;

/// The profiler that listens, if one does. Empty until the first pipeline is made.
static LISTENER: OnceLock<Option<Listener>> = OnceLock::new();

struct Listener {
    /// This crate's ranges, apart from those of the program and of other libraries.
    domain: NonNull<c_void>,
    push: RangePush,
    pop: RangePop,
    name_stream: Option<NameStream>,
}

// SAFETY: the functions of NVTX may be called from any thread, and the domain is a name for them.
unsafe impl Send for Listener {}
// SAFETY: the functions of NVTX may be called from several threads at once.
unsafe impl Sync for Listener {}

/// Why nothing listens although a library was named.
enum Deaf {
    Load(libloading::Error),
    NoListener(libloading::Error),
    Refused,
    NoRanges,
}

impl fmt::Display for Deaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => write!(f, "it cannot be loaded: {error}"),
            Self::NoListener(error) => write!(f, "it is no listener of NVTX: {error}"),
            Self::Refused => f.write_str("its InitializeInjectionNvtx2 returned 0"),
            Self::NoRanges => f.write_str("it does not listen to ranges of a domain"),
        }
    }
}

/// Loads the profiler's library, once in a process. What is wrong with it is told as a warning: a program
/// runs as well without a profiler.
pub(super) fn attach() {
    LISTENER.get_or_init(|| {
        let path = env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        match Listener::load(&path) {
            Ok(listener) => Some(listener),
            Err(why) => {
                let path = path.display();
                tracing::warn!(%path, %why, "no profiler listens: the library of {VARIABLE} is not used");
                None
            }
        }
    });
}

fn listener() -> Option<&'static Listener> {
    LISTENER.get()?.as_ref()
}

/// Tells a profiler what a stream is for.
pub(super) fn name_stream(stream: CUstream, name: &'static CStr) {
    if let Some(Listener {
        name_stream: Some(call),
        ..
    }) = listener()
    {
        // SAFETY: the stream is alive and the name ends with 0; the function is the listener's for this.
        unsafe { call(stream.cast(), name.as_ptr()) };
    }
}

/// A part of this thread's work, which ends when this is dropped, in the reverse order of begins.
pub(super) struct Range {
    listener: Option<&'static Listener>,
    /// A range ends on its thread.
    thread: PhantomData<*const ()>,
}

impl Range {
    /// Begins a range with the number of an item.
    #[inline]
    pub(super) fn begin(name: &'static CStr, item: u64) -> Self {
        let listener = listener();
        if let Some(listener) = listener {
            let attributes = EventAttributes::new(name, item);
            // SAFETY: the domain is the listener's, and the attributes and their name outlive the call.
            unsafe { (listener.push)(listener.domain.as_ptr(), &raw const attributes) };
        }
        Self {
            listener,
            thread: PhantomData,
        }
    }
}

impl Drop for Range {
    #[inline]
    fn drop(&mut self) {
        if let Some(listener) = self.listener {
            // SAFETY: the domain is the listener's, and this thread has begun a range in it.
            unsafe { (listener.pop)(listener.domain.as_ptr()) };
        }
    }
}

impl Listener {
    fn load(path: &OsString) -> Result<Self, Deaf> {
        // SAFETY: the program's environment names the library, as NVTX wants it; loading it runs its
        // initialisers.
        let library = unsafe { libloading::Library::new(path) }.map_err(Deaf::Load)?;
        // Its functions are called until the process ends.
        let library = ManuallyDrop::new(library);
        // SAFETY: a library that exports this name has a function of this type, by the rules of NVTX.
        let initialize = unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2\0") };
        let initialize = initialize.map_err(Deaf::NoListener)?;
        // SAFETY: the function takes what the header of NVTX would pass it, and is called once.
        if unsafe { initialize(export_table) } == 0 {
            return Err(Deaf::Refused);
        }
        // SAFETY: the listener has returned; it stays loaded, and what it has written is of the types
        // that NVTX gives the identifiers.
        let found = unsafe { Found::read() };
        let (Some(create), Some(push), Some(pop)) =
            (found.domain_create, found.range_push, found.range_pop)
        else {
            return Err(Deaf::NoRanges);
        };
        // SAFETY: the name ends with 0, and the function is the listener's for this.
        let domain = unsafe { create(c"cupola".as_ptr()) };
        Ok(Self {
            domain: NonNull::new(domain).ok_or(Deaf::NoRanges)?,
            push,
            pop,
            name_stream: found.name_stream,
        })
    }
}

//! Names and versions: what a row of a symbol table says.

use core::cmp::Ordering;
use core::ffi::CStr;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::driver::CUresult;

/// A CUDA version as the driver encodes it: `1000 * major + 10 * minor`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Version(pub u32);

impl Version {
    /// The version `major.minor`.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self(
            major
                .saturating_mul(1000)
                .saturating_add(minor.saturating_mul(10)),
        )
    }

    /// The major part: 13 for 13.5.
    #[must_use]
    pub const fn major(self) -> u32 {
        self.0 / 1000
    }

    /// The minor part: 5 for 13.5.
    #[must_use]
    pub const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One exported function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The exported name, which names one ABI for ever: `cuMemAlloc_v2`.
    pub name: &'static CStr,
    /// The name that `cuGetProcAddress` takes: `cuMemAlloc`.
    pub base: &'static CStr,
    /// The CUDA version that introduced this ABI; 0 where no version is recorded.
    pub introduced: Version,
}

impl Symbol {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        // Generated names are ASCII.
        self.name.to_str().unwrap_or("?")
    }

    /// Whether this is a per-thread-default-stream form (`_ptsz`, `_ptds`).
    #[must_use]
    pub fn is_per_thread(&self) -> bool {
        let name = self.name.to_bytes();
        name.ends_with(b"_ptsz") || name.ends_with(b"_ptds")
    }
}

/// The position of a symbol in its library's table. `S` is the library's status type, so that a
/// position in one library's table is none in another's; the driver's when not named.
///
/// ```compile_fail
/// # fn ask(driver: &cupola_sys::driver::Driver) {
/// driver.has(cupola_sys::nvrtc::id::nvrtcVersion);
/// # }
/// ```
#[derive(PartialEq, Eq)]
#[repr(transparent)]
pub struct SymbolId<S = CUresult>(pub u16, PhantomData<fn() -> S>);

impl<S> SymbolId<S> {
    /// The symbol at `position`. Beyond the end of the table it is no symbol's: a library lacks
    /// it.
    #[must_use]
    pub const fn new(position: u16) -> Self {
        Self(position, PhantomData)
    }
}

// Written out because derives would ask the status type for the same traits. Equality is derived,
// so that ids can be patterns.
impl<S> Clone for SymbolId<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for SymbolId<S> {}
impl<S: PartialEq> PartialOrd for SymbolId<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.0.cmp(&other.0))
    }
}
impl<S: Eq> Ord for SymbolId<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<S> Hash for SymbolId<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<S> fmt::Debug for SymbolId<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SymbolId").field(&self.0).finish()
    }
}

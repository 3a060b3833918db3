//! The seam: where a library's functions come from.

use core::ffi::c_void;
use std::path::PathBuf;

use super::hooks::MemoryHooks;
use crate::Symbol;

/// A source of functions: the real library, the software device, a fault table, or a
/// test's own. The optional libraries take one too.
///
/// # Safety
/// For every symbol, [`proc_address`](Self::proc_address) returns null or the address of
/// a function whose type is the one that NVIDIA's header gives that symbol
/// ([`pfn`](super::pfn)), and the function stays callable for as long as `self` lives.
/// A function that looks at [`scope`] is only handed out by sources whose scope is null or
/// of the kind that the function expects. The [hooks](Self::memory_hooks) stay callable as long.
pub unsafe trait ProcAddress: Send + Sync + 'static {
    /// The address of the function, or null if this source lacks it.
    fn proc_address(&self, symbol: &Symbol) -> *const c_void;

    /// A pointer that [`scope`] answers while a call made through this source runs, so
    /// that plain C functions know whose they are without a global. Null (the default)
    /// costs nothing.
    fn scope(&self) -> *const () {
        core::ptr::null()
    }

    /// A short text for people: what this source is.
    fn describe(&self) -> String;

    /// What an allocator tells of its blocks, if this source listens; no function of CUDA's.
    fn memory_hooks(&self) -> Option<MemoryHooks> {
        None
    }

    /// The file that the functions were loaded from, if they were.
    fn file(&self) -> Option<PathBuf> {
        None
    }
}

/// The scope of the innermost driver call on this thread: what
/// [`ProcAddress::scope`] of the called driver returned. Null outside of such calls, and
/// for sources without a scope.
#[must_use]
pub fn scope() -> *const () {
    crate::table::scope()
}

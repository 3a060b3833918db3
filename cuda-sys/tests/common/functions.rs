//! Do-nothing driver functions, one of each type, and a source that has any set of them.

use core::ffi::{c_int, c_void};
use std::collections::HashSet;

use cupola_sys::Symbol;
use cupola_sys::driver::*;

/// A source with some of the functions. Each returns `code`, and the version query writes
/// `version` and returns `version_code`.
pub struct Set {
    pub present: HashSet<usize>,
    pub version: c_int,
    pub version_code: CUresult,
    pub code: CUresult,
}

/// A boxed `Set` does not move: its address is the scope.
pub struct Source(pub Box<Set>);

unsafe extern "C" fn version(into: *mut c_int) -> CUresult {
    // SAFETY: only `Source` hands it out, whose scope is its `Set`.
    let set = unsafe { &*scope().cast::<Set>() };
    if !into.is_null() {
        // SAFETY: not null, so valid by the function's contract.
        unsafe { *into = set.version };
    }
    set.version_code
}

macro_rules! functions {
    ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
        ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(unsafe extern "C" fn $name($(_: $ty),*) -> $ret {
            // SAFETY: only `Source` hands it out, whose scope is its `Set`.
            unsafe { (*scope().cast::<Set>()).code }
        })*

        /// Each function, in the order of the symbol table.
        pub const ALL: [*const c_void; SYMBOLS.len()] = [$($name as pfn::$name as *const c_void),*];

        /// Calls each method with zeros for arguments. The driver must be over a `Source`.
        pub const CALLS: [unsafe fn(&Driver) -> Result<(), DriverError>; SYMBOLS.len()] = [$({
            unsafe fn call(driver: &Driver) -> Result<(), DriverError> {
                // SAFETY: zero is a value of every argument's type, and the functions of
                // a `Source` look at none of them.
                unsafe { driver.$name($(core::mem::zeroed::<$ty>()),*) }
            }
            call
        }),*];
    };
}

#[allow(non_snake_case, clippy::too_many_arguments)]
mod made {
    use super::*;
    cupola_sys::for_each_driver_symbol!(functions!);
}
pub use made::{ALL, CALLS};

// SAFETY: every address is a function of the symbol's own type.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        let index = SYMBOLS
            .iter()
            .position(|other| other == symbol)
            .unwrap_or(usize::MAX);
        if !self.0.present.contains(&index) {
            return core::ptr::null();
        }
        if index == usize::from(id::cuDriverGetVersion.0) {
            return version as pfn::cuDriverGetVersion as *const c_void;
        }
        ALL.get(index).copied().unwrap_or(core::ptr::null())
    }

    fn scope(&self) -> *const () {
        core::ptr::from_ref(&*self.0).cast()
    }

    fn describe(&self) -> String {
        "a set".into()
    }
}

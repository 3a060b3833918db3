//! The exported functions, one for each row of the API description.

use std::ffi::c_void;

use cupola_sys::SymbolId;
use cupola_sys::driver::*;

use crate::entry::call;

/// The address of a function; `*const c_void` itself cannot be in a static.
struct Address(*const c_void);

// SAFETY: the address of code of this library, the same for every thread.
unsafe impl Sync for Address {}

macro_rules! exports {
    ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
        ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(
            /// # Safety
            /// The contract of NVIDIA's documentation of the function.
            #[allow(non_snake_case, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                call(
                    id::$name,
                    // SAFETY: the arguments are the caller's, under the same contract.
                    |driver| unsafe { driver.$name($($arg),*) },
                    |_line| { $(_line.argument(stringify!($arg), &$arg);)* },
                )
            }
        )*

        static ADDRESSES: [Address; SYMBOLS.len()] =
            [$(Address($name as pfn::$name as *const c_void)),*];
    };
}

cupola_sys::for_each_driver_symbol!(exports!);

/// Where a function is exported.
pub(crate) fn address(id: SymbolId) -> *const c_void {
    let address = ADDRESSES.get(usize::from(id.0));
    address.map_or(std::ptr::null(), |address| address.0)
}

/// What an allocator tells of its blocks: [`hooks::SYMBOL`].
///
/// # Safety
/// None: any version will do.
#[allow(non_snake_case, reason = "the exported name")]
#[unsafe(no_mangle)]
unsafe extern "C" fn cupolaMemoryHooks(version: u32) -> *const hooks::MemoryHooks {
    crate::entry::memory_hooks(version)
}

const _: hooks::GetMemoryHooks = cupolaMemoryHooks;

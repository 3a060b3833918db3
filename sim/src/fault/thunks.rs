//! One C function for each function of the driver API, made from its description.

use std::ffi::c_void;

use cupola_sys::driver::*;

use super::State;

/// The address of a function; `*const c_void` itself cannot be in a static.
pub(super) struct Address(pub(super) *const c_void);

// SAFETY: the address of code of this program, the same for every thread.
unsafe impl Sync for Address {}

macro_rules! thunks {
    ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
        ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        mod functions {
            use super::*;
            $(
                pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                    let state = scope().cast::<State>();
                    // SAFETY: this function's address only leaves through `Source`, and
                    // a call of it through `Driver` has `Source`'s scope set: the
                    // `State` that the driver keeps alive. A raw call without scope has
                    // a null pointer here.
                    let Some(state) = (unsafe { state.as_ref() }) else {
                        return CUresult::CUDA_ERROR_NOT_INITIALIZED;
                    };
                    // SAFETY: the arguments are the caller's, under the same contract.
                    state.intercept(id::$name, |driver| unsafe { driver.$name($($arg),*) })
                }
            )*
        }

        /// The thunks, in the order of [`SYMBOLS`].
        pub(super) static ADDRESSES: [Address; SYMBOLS.len()] =
            [$(Address(functions::$name as pfn::$name as *const c_void)),*];
    };
}

cupola_sys::for_each_driver_symbol!(thunks!);

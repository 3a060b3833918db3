//! The driver's functions: a room for each chapter of the driver API and a file for each group,
//! with the bodies and, at its end, the table of the C functions that lead to them.
//!
//! A body is a safe function over [`Call`](super::calls::call::Call) and converted arguments.
//! The table repeats the C signature; the compiler checks it against the generated one.

mod contexts;
mod copies;
mod device;
mod driver;
mod graphs;
mod kernels;
mod logs;
mod memory;
mod modules;
mod profiler;
mod streams;
mod tensor_map;

pub(super) use copies::{Plan, check_fill};
pub(super) use streams::attributes::Attributes;

use std::ffi::c_void;

use cupola_sys::driver::SYMBOLS;
use cupola_sys::{SymbolId, Version};

pub(super) use modules::jit::Jit;

/// The address of a C function of this crate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(*const c_void);

// SAFETY: the address of code, the same for every thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub(super) fn address(self) -> *const c_void {
        self.0
    }
}

/// A row of a table: a symbol and the function that implements it.
struct Row {
    id: SymbolId,
    function: Function,
}

/// Whether a driver of this version has each of [`SYMBOLS`], but for those it is `without`.
pub(super) fn known(version: Version, without: &[SymbolId]) -> Vec<bool> {
    let rows = SYMBOLS.iter().zip(0u16..);
    rows.map(|(row, id)| row.introduced <= version && !without.contains(&SymbolId::new(id)))
        .collect()
}

/// The functions of a driver of this version that are built, by position in [`SYMBOLS`], but
/// for those it is `without`.
pub(super) fn implemented(version: Version, without: &[SymbolId]) -> Vec<Option<Function>> {
    let mut functions = vec![None; SYMBOLS.len()];
    let tables = [
        contexts::context::TABLE,
        contexts::green::TABLE,
        contexts::primary::TABLE,
        copies::copy2d::TABLE,
        copies::copy3d::TABLE,
        copies::batch::TABLE,
        copies::copy::TABLE,
        copies::fill::TABLE,
        copies::peer::TABLE,
        device::TABLE,
        driver::TABLE,
        graphs::attributes::TABLE,
        graphs::child::TABLE,
        graphs::conditional::TABLE,
        graphs::copy::TABLE,
        graphs::edges::TABLE,
        graphs::executables::enabled::TABLE,
        graphs::event::TABLE,
        graphs::executables::instantiate::TABLE,
        graphs::executables::params::TABLE,
        graphs::generic::TABLE,
        graphs::graph::TABLE,
        graphs::host::TABLE,
        graphs::kernel::TABLE,
        graphs::memory::TABLE,
        graphs::picture::TABLE,
        graphs::executables::update::TABLE,
        graphs::user_object::TABLE,
        graphs::values::TABLE,
        kernels::function::TABLE,
        kernels::kernel::TABLE,
        kernels::launch::TABLE,
        kernels::occupancy::TABLE,
        logs::TABLE,
        memory::allocation::TABLE,
        memory::external::TABLE,
        memory::host::TABLE,
        memory::ipc::TABLE,
        memory::managed::TABLE,
        memory::pointer::TABLE,
        memory::pool::TABLE,
        memory::vmm::TABLE,
        modules::library::TABLE,
        modules::link::TABLE,
        modules::module::TABLE,
        profiler::TABLE,
        streams::attributes::TABLE,
        streams::capture::TABLE,
        streams::event::TABLE,
        streams::memop::TABLE,
        streams::semaphore::TABLE,
        streams::stream::TABLE,
        tensor_map::TABLE,
    ];
    for row in tables.into_iter().flatten() {
        let position = usize::from(row.id.0);
        if SYMBOLS[position].introduced <= version && !without.contains(&row.id) {
            functions[position] = Some(row.function);
        }
    }
    functions
}

/// Makes the C functions of a group and `TABLE`, the list of them. A row is
/// `c_function, its per-thread forms: (arguments) = body;` under the word that says when
/// it may be called.
macro_rules! functions {
    ($($when:ident { $($name:ident $(, $twin:ident)*: $args:tt = $body:ident;)* })*) => {
        $($(
            functions!(@define $when Legacy $name $args $body);
            $(functions!(@define $when PerThread $twin $args $body);)*
        )*)*

        pub(in crate::device::api) static TABLE: &[crate::device::api::Row] = &[$($(
            functions!(@row $name),
            $(functions!(@row $twin),)*
        )*)*];
    };
    (@row $name:ident) => {
        crate::device::api::Row {
            id: cupola_sys::driver::id::$name,
            function: crate::device::api::Function(
                $name as cupola_sys::driver::pfn::$name as *const std::ffi::c_void
            ),
        }
    };
    (@define $when:ident $default:ident $name:ident ($($arg:ident: $ty:ty),*) $body:ident) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> cupola_sys::driver::CUresult {
            use crate::device::calls::call::{DefaultStream, When, enter};
            enter(stringify!($name), When::$when, DefaultStream::$default, |call| {
                $(
                    // SAFETY: the caller keeps the function's documented contract: its
                    // pointers are null or good until the call returns.
                    let $arg = unsafe { crate::device::calls::args::FromC::from_c($arg) };
                )*
                // By path: an argument may have the body's name.
                self::$body(call, $($arg),*)
            })
        }
    };
}
use functions;

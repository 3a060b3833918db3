//! `libcupola.so`: the memory pool of [`cupola_managers`] behind a C ABI, for PyTorch
//! (`CUDAPluggableAllocator` and `MemPool`), CuPy, Numba's external memory management, and C.
//!
//! The header is `include/cupola.h`, made of these sources by `cargo xtask header`. `docs/design/capi.md`
//! says how it is built, and what of PyTorch's hooks is impossible.
//!
//! - Each device has one pool for the process, in its primary context, made at the first allocation:
//!   limited by [`cupola_configure`], the variable `CUPOLA_LIMIT`, or the device's memory less a reserve.
//! - Memory is for a stream ([`cupola_allocate_on`]), as PyTorch wants it, or for all
//!   ([`cupola_allocate`]), as `cudaMalloc` gives it.
//! - An error is a status or null, and its text is kept: [`cupola_last_error`], [`cupola_errors`].
//!   A free of an address that no block begins at is such an error. Nothing unwinds or aborts.
//! - No function changes the context that is current on its thread.
//! - When the process ends nothing is called; in the child of a fork everything is refused.

mod blocks;
mod cupy;
mod device_pool;
mod error;
mod limit;
mod memory;
mod pool_id;
mod private;
mod process;
mod std_function;
mod streams;
mod sync;
mod torch;

pub use cupy::{cupola_cupy_free, cupola_cupy_malloc};
pub use error::CupolaStatus;
pub use memory::{
    CupolaUsage, cupola_allocate, cupola_allocate_on, cupola_configure, cupola_errors, cupola_free,
    cupola_free_on, cupola_last_error, cupola_mem_info, cupola_release_stream, cupola_set_limit,
    cupola_trim, cupola_usage, cupola_use_on,
};
pub use pool_id::PoolId;
pub use torch::{
    cupola_torch_alloc, cupola_torch_base_alloc, cupola_torch_begin_allocate_to_pool,
    cupola_torch_end_allocate_to_pool, cupola_torch_free, cupola_torch_init,
    cupola_torch_memory_fraction, cupola_torch_record_stream, cupola_torch_release_pool,
    cupola_torch_reset, cupola_torch_segment_alloc, cupola_torch_segment_free,
};

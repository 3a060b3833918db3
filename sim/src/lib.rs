//! A software CUDA device: the driver API in Rust, executing real PTX on the CPU.
//!
//! [`Machine`] is a CUDA driver without a GPU: contexts, asynchronous streams, events,
//! memory and kernels, behind the same functions as the real library. It is for tests and
//! for running where there is no GPU; its speed says nothing about a GPU's.
//!
//! ```
//! use cupola_sim::Machine;
//!
//! let machine = Machine::builder().build();
//! let driver = machine.driver();
//! let mut count = 0;
//! // SAFETY: `count` outlives the call.
//! unsafe {
//!     driver.cuInit(0)?;
//!     driver.cuDeviceGetCount(&raw mut count)?;
//! }
//! assert_eq!(count, 1);
//! # Ok::<(), cupola_sys::driver::DriverError>(())
//! ```

mod device;
pub mod exec;
pub mod fault;
pub mod ptx;
pub mod settings;

pub use device::{
    Act, Allocation, CallSite, DeviceConfig, Finding, FindingKind, KernelSite, Machine,
    MachineBuilder, Memory, Order, Profile, Step, Strict, Trace, UnknownProfile, Usage,
};

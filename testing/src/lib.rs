//! Tests without a GPU, for crates that stand on cupola and for cupola itself.
//!
//! * [`TestBench`]: a software [`Machine`] with an execution manager on it, faults on demand,
//!   and at the end a check that nothing is left.
//! * [`FaultTable`]: fails, delays or counts the k-th call of any driver function.
//! * [`Sweep`]: runs a scenario once for every call that it makes, with that call failing, and
//!   says what came of each.
//! * [`TestConfig`]: managers so small that they are full, and so near to their last name
//!   that they wear out, within a test.
//!
//! ```
//! use cupola_managers::ops;
//! use cupola_testing::{CUresult, TestBench, id};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bench = TestBench::new()?;
//! let stream = bench.stream()?;
//! let mut numbers = bench.pool(8 << 20)?.allocate::<u32>(100, &stream)?;
//! bench.faults().fail(id::cuMemsetD32Async, 1, CUresult::CUDA_ERROR_UNKNOWN);
//! assert!(ops::fill(&mut numbers, 7, &stream).is_err());
//! drop((numbers, stream));
//! bench.finish()?; // nothing alive, nothing leaked, no findings of strict mode
//! # Ok(()) }
//! ```
//!
//! This crate is for tests: nothing here belongs into a program.
//!
//! # Speed
//! The software device interprets PTX, and cargo builds tests without optimisation, those of
//! dependencies too: kernels are some 30 times slower then than they need be. Profiles of a
//! dependency say nothing for who depends on it, so this belongs into the `Cargo.toml` of the
//! workspace that has the tests; the tests themselves stay as they are, easy to debug:
//!
//! ```toml
//! [profile.dev.package.cupola-sim]
//! opt-level = 3
//! ```

mod bench;
pub mod sweep;

pub use bench::{BenchBuilder, Remains, TestBench};
pub use cupola_managers::testing::{SlotCounts, TestConfig};
pub use cupola_sim::fault::FaultTable;
pub use cupola_sim::{
    DeviceConfig, Finding, FindingKind, Machine, MachineBuilder, Profile, Strict, Usage,
};
pub use cupola_sys::driver::{CUresult, id};
pub use sweep::{Stage, Sweep, SweepTable};

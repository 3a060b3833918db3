//! Occupancy: how many blocks of a kernel a multiprocessor holds, and launches that fill a device.
//!
//! The driver is asked first: [`Function::active_blocks`](crate::Function::active_blocks),
//! [`Function::potential_block_size`](crate::Function::potential_block_size),
//! [`Function::available_dynamic_shared`](crate::Function::available_dynamic_shared) and
//! [`Function::max_active_clusters`](crate::Function::max_active_clusters) are its calls. It does not
//! say why no more blocks fit. [`Occupancy`] does: the blocks that each resource of a multiprocessor
//! allows are counted here from the device's figures, and where the least of them is not the driver's
//! answer, the driver's counts and the reason is told as the driver's
//! ([`Limit::Driver`]).
//!
//! [`LaunchPlan`] makes the grid of a launch from the size of its problem.
//!
//! ```
//! # use cupola_managers::{Function, ExecutionManager};
//! use cupola_managers::occupancy::PlanConfig;
//! # const PTX: &str = ".version 6.0
//! # .target sm_60
//! # .address_size 64
//! # .visible .entry empty() { ret; }";
//!
//! # fn main() -> cupola_managers::Result<()> {
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! # let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! # let kernel: Function = context.modules().load_ptx(PTX)?.function("empty")?;
//! println!("{}", kernel.occupancy(256, 0)?);
//! let plan = kernel.plan_launch(PlanConfig::new([1920, 1080]))?;
//! assert!(plan.config().block[0] >= 32 && plan.is_thread_per_element());
//! # Ok(()) }
//! ```

mod clusters;
mod curve;
mod limits;
mod model;
mod plan;
mod query;
mod text;

pub use curve::{GridOccupancy, Occupancy, OccupancyCurve};
pub use model::Limit;
pub use plan::{Coverage, LaunchPlan, PlanConfig, ProblemSize};
pub use query::PotentialBlockSize;

//! `GraphUsage`: memory of the device that graphs have beside all pools.

use std::ffi::c_void;
use std::fmt;

use cupola_sys::driver::CUgraphMem_attribute;

use super::Context;
use crate::error::Result;

/// Memory of the device that graphs have and no limit of a pool counts. Memory that a capture has
/// allocated from a pool is the pool's, and not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphUsage {
    /// Executables in the context.
    pub executables: u64,
    /// Those of them that were [measured](crate::Graph::instantiate_measured).
    pub measured: u64,
    /// Bytes that these took: an estimate.
    pub measured_bytes: u64,
    /// Bytes that nodes which allocate memory have at the moment, of all graphs on the device in this
    /// process (`CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT`).
    pub used: u64,
    /// The most of that.
    pub used_peak: u64,
    /// Bytes that the driver keeps for such nodes (`CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT`).
    pub reserved: u64,
    /// The most of that.
    pub reserved_peak: u64,
}

impl fmt::Display for GraphUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} executables of graphs, {} of them measured: some {} bytes; nodes that allocate use {} bytes \
             ({} at most) of {} that are reserved ({} at most)",
            self.executables,
            self.measured,
            self.measured_bytes,
            self.used,
            self.used_peak,
            self.reserved,
            self.reserved_peak
        )
    }
}

impl Context {
    /// What graphs have of the device beside all pools (`cuDeviceGetGraphMemAttribute`).
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) by a driver before CUDA 11.4;
    /// [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked); what the
    /// driver returned.
    #[doc(alias = "cuDeviceGetGraphMemAttribute")]
    #[track_caller]
    pub fn graph_usage(&self) -> Result<GraphUsage> {
        use CUgraphMem_attribute as A;
        let executables = self.core().executables();
        Ok(GraphUsage {
            executables: executables.alive(),
            measured: executables.measured(),
            measured_bytes: executables.bytes(),
            used: self.of_nodes(A::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)?,
            used_peak: self.of_nodes(A::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)?,
            reserved: self.of_nodes(A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)?,
            reserved_peak: self.of_nodes(A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)?,
        })
    }

    #[track_caller]
    fn of_nodes(&self, attribute: CUgraphMem_attribute) -> Result<u64> {
        let core = self.core();
        let driver = core.enter()?;
        let mut value = 0_u64;
        let place = (&raw mut value).cast::<c_void>();
        // SAFETY: `value` outlives the call, and has the size of each of the attributes.
        let asked = unsafe { driver.cuDeviceGetGraphMemAttribute(core.device(), attribute, place) };
        core.check(asked)?;
        Ok(value)
    }
}

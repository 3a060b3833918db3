//! Clusters: blocks that are on neighbouring multiprocessors at the same time.

use core::ptr;

use cupola_sys::driver::{
    CUdevice_attribute as Attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig,
};

use super::query::unsigned;
use crate::device::{Architecture, Attributes};
use crate::error::{Error, Result};
use crate::module::Function;

impl Function {
    /// How many clusters of `cluster` blocks in x, y and z, each of `block` threads in x, y and z and
    /// `shared_bytes` bytes of dynamic shared memory, the whole device holds at a time
    /// (`cuOccupancyMaxActiveClusters`): it asks about the device, also for a kernel of a green
    /// context.
    ///
    /// # Errors
    /// [`Error::UnsupportedByDevice`] before compute capability 9.0; [`Error::Unsupported`] by a driver
    /// before CUDA 11.7; [`Error::Invalid`] naming `cluster` or `block` when one of its sizes is 0;
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned: `CUDA_ERROR_INVALID_CLUSTER_SIZE`
    /// for a cluster that the kernel cannot have.
    #[doc(alias = "cuOccupancyMaxActiveClusters")]
    #[track_caller]
    pub fn max_active_clusters(
        &self,
        cluster: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
    ) -> Result<u32> {
        if cluster.contains(&0) {
            let problem = format!("{cluster:?} has no blocks");
            return Err(Error::invalid("cluster", problem));
        }
        self.check_clusters(block)?;
        let mut attribute = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            ..CUlaunchAttribute::default()
        };
        attribute.value.clusterDim.x = cluster[0];
        attribute.value.clusterDim.y = cluster[1];
        attribute.value.clusterDim.z = cluster[2];
        // A grid of one cluster: how many there are is what is asked.
        let mut attributes = [attribute];
        let config = config(cluster, block, shared_bytes, &mut attributes);
        let driver = self.core().enter()?;
        let mut clusters = 0;
        // SAFETY: `clusters`, the configuration and its attribute outlive the call, and the function's
        // module is loaded.
        let asked = unsafe {
            driver.cuOccupancyMaxActiveClusters(&raw mut clusters, self.raw(), &raw const config)
        };
        self.core().check(asked)?;
        Ok(unsigned(clusters))
    }

    /// The most blocks of `block` threads in x, y and z and `shared_bytes` bytes of dynamic shared
    /// memory that a cluster of the kernel can have (`cuOccupancyMaxPotentialClusterSize`).
    ///
    /// # Errors
    /// As [`max_active_clusters`](Self::max_active_clusters).
    #[doc(alias = "cuOccupancyMaxPotentialClusterSize")]
    #[track_caller]
    pub fn max_cluster_size(&self, block: [u32; 3], shared_bytes: u32) -> Result<u32> {
        self.check_clusters(block)?;
        let config = config([1; 3], block, shared_bytes, &mut []);
        let driver = self.core().enter()?;
        let mut blocks = 0;
        // SAFETY: `blocks` and the configuration outlive the call, and the function's module is loaded.
        let asked = unsafe {
            driver.cuOccupancyMaxPotentialClusterSize(
                &raw mut blocks,
                self.raw(),
                &raw const config,
            )
        };
        self.core().check(asked)?;
        Ok(unsigned(blocks))
    }

    /// Refuses an empty block, and devices without clusters, whose drivers answer in different ways.
    #[track_caller]
    fn check_clusters(&self, block: [u32; 3]) -> Result<()> {
        if block.contains(&0) {
            let problem = format!("{block:?} has no threads");
            return Err(Error::invalid("block", problem));
        }
        let core = self.core();
        let attributes = Attributes::new(core.enter()?, core.device());
        let number = |attribute| core.check(attributes.or_zero(attribute));
        if number(Attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0 {
            return Ok(());
        }
        Err(Error::UnsupportedByDevice {
            feature: "clusters of blocks",
            needs: Architecture::new(9, 0),
            have: Architecture::new(
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
        })
    }
}

fn config(
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    attributes: &mut [CUlaunchAttribute],
) -> CUlaunchConfig {
    let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (grid, block);
    CUlaunchConfig {
        gridDimX: grid_x,
        gridDimY: grid_y,
        gridDimZ: grid_z,
        blockDimX: block_x,
        blockDimY: block_y,
        blockDimZ: block_z,
        sharedMemBytes: shared_bytes,
        hStream: ptr::null_mut(),
        attrs: attributes.as_mut_ptr(),
        // One at most.
        numAttrs: attributes.len() as u32,
    }
}

//! What a launch asks for beyond its sizes.

use cupola_sys::driver::{CUlaunchAttribute, CUlaunchAttributeID};

use super::LaunchConfig;
use crate::error::{Error, Result};

/// What a launch asks for beyond its sizes (`CUlaunchAttribute`): of a kernel that is launched
/// ([`launch_with`](super::launch_with)), on a captured stream too, and of a
/// [node](crate::graph::GraphBuilder::kernel_with).
///
/// ```
/// use cupola_managers::ops::LaunchAttributes;
///
/// let attributes = LaunchAttributes::new().cluster([2, 1, 1]).priority(-1);
/// assert_ne!(attributes, LaunchAttributes::new());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchAttributes {
    cluster: Option<[u32; 3]>,
    is_cooperative: bool,
    priority: Option<i32>,
}

/// Most attributes of a launch.
const MOST: usize = 3;

/// Attributes as the driver takes them.
pub(crate) struct AttributeList {
    attributes: [CUlaunchAttribute; MOST],
    len: usize,
}

impl AttributeList {
    pub(crate) fn as_slice(&self) -> &[CUlaunchAttribute] {
        &self.attributes[..self.len]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [CUlaunchAttribute] {
        &mut self.attributes[..self.len]
    }

    fn add(&mut self, attribute: CUlaunchAttribute) {
        self.attributes[self.len] = attribute;
        self.len += 1;
    }
}

impl LaunchAttributes {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            cluster: None,
            is_cooperative: false,
            priority: None,
        }
    }

    /// Blocks are in clusters of so many in x, y and z, which share their shared memory
    /// (`CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`, Hopper and later).
    #[must_use]
    pub const fn cluster(mut self, blocks: [u32; 3]) -> Self {
        self.cluster = Some(blocks);
        self
    }

    /// All blocks run at the same time, so that they may wait for each other
    /// (`CU_LAUNCH_ATTRIBUTE_COOPERATIVE`).
    #[must_use]
    pub const fn cooperative(mut self) -> Self {
        self.is_cooperative = true;
        self
    }

    /// The kernel's priority, in place of its stream's (`CU_LAUNCH_ATTRIBUTE_PRIORITY`): see
    /// [`StreamConfig::priority`](crate::StreamConfig).
    #[must_use]
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Refuses clusters that the grid does not consist of.
    #[track_caller]
    pub(crate) fn check(&self, config: LaunchConfig) -> Result<()> {
        let Some(cluster) = self.cluster else {
            return Ok(());
        };
        let fits = |(blocks, of): (&u32, &u32)| blocks.checked_rem(*of) == Some(0);
        match config.grid.iter().zip(&cluster).all(fits) {
            true => Ok(()),
            false => {
                let problem = format!("a grid of {:?} is not made of {cluster:?}", config.grid);
                Err(Error::invalid("cluster", problem))
            }
        }
    }

    pub(crate) fn list(&self) -> AttributeList {
        use CUlaunchAttributeID as A;
        let mut list = AttributeList {
            attributes: [CUlaunchAttribute::default(); MOST],
            len: 0,
        };
        let of = |id| CUlaunchAttribute {
            id,
            ..CUlaunchAttribute::default()
        };
        if let Some([x, y, z]) = self.cluster {
            let mut cluster = of(A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
            cluster.value.clusterDim.x = x;
            cluster.value.clusterDim.y = y;
            cluster.value.clusterDim.z = z;
            list.add(cluster);
        }
        if self.is_cooperative {
            let mut cooperative = of(A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
            cooperative.value.cooperative = 1;
            list.add(cooperative);
        }
        if let Some(value) = self.priority {
            let mut priority = of(A::CU_LAUNCH_ATTRIBUTE_PRIORITY);
            priority.value.priority = value;
            list.add(priority);
        }
        list
    }
}

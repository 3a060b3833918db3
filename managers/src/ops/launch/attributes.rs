//! What a launch asks for beyond its sizes.

use std::ffi::c_void;
use std::ptr;

use cupola_sys::Version;
use cupola_sys::driver::{
    CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUlaunchMemSyncDomain, Driver, id,
};

use super::LaunchConfig;
use super::put::{explain, note_use};
use crate::error::{Error, Result};
use crate::module::Function;
use crate::stream::Stream;

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
    is_programmatic: bool,
    memory_domain: Option<MemoryDomain>,
    shared_carveout: Option<u32>,
}

/// A domain of memory synchronisation: a fence of a kernel waits for the writes of its own domain alone
/// (`CUlaunchMemSyncDomain`, Hopper and later).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryDomain {
    /// That of kernels that say nothing.
    Default,
    /// One for kernels that write memory of other devices, whose slow writes the fences of others then do
    /// not wait for.
    Remote,
}

/// Most attributes of a launch.
const MOST: usize = 6;

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
            is_programmatic: false,
            memory_domain: None,
            shared_carveout: None,
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

    /// The kernel may start before the kernel before it on its stream has ended (programmatic dependent
    /// launch, `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`, Hopper and later): its blocks
    /// are set up meanwhile, and wait for that one's writes by `griddepcontrol.wait`.
    ///
    /// Only for kernels that are [known to wait](Function::waits_for_predecessor). One that does not wait
    /// reads what the kernel before it has not written yet; and it may end before that one, and with it
    /// all that follows in the order of the stream, such as the end of memory that both use. A node of a
    /// graph cannot have it: there edges say what waits for what.
    #[must_use]
    pub const fn programmatic(mut self) -> Self {
        self.is_programmatic = true;
        self
    }

    /// The domain whose writes the kernel's fences wait for (`CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN`), in
    /// place of its stream's.
    #[must_use]
    pub const fn memory_domain(mut self, domain: MemoryDomain) -> Self {
        self.memory_domain = Some(domain);
        self
    }

    /// How much of a multiprocessor's cache is to be shared memory, in percent of the most: a hint
    /// (`CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`).
    #[must_use]
    pub const fn shared_carveout(mut self, percent: u32) -> Self {
        self.shared_carveout = Some(percent);
        self
    }

    /// Refuses what the kernel or a grid of this shape cannot have.
    #[track_caller]
    pub(crate) fn check(&self, config: LaunchConfig, function: &Function) -> Result<()> {
        if let Some(cluster) = self.cluster {
            let fits = |(blocks, of): (&u32, &u32)| blocks.checked_rem(*of) == Some(0);
            if !config.grid.iter().zip(&cluster).all(fits) {
                let problem = format!("a grid of {:?} is not made of {cluster:?}", config.grid);
                return Err(Error::invalid("cluster", problem));
            }
        }
        if let Some(percent) = self.shared_carveout.filter(|percent| *percent > 100) {
            let problem = format!("{percent} percent are more than 100");
            return Err(Error::invalid("shared_carveout", problem));
        }
        if self.is_programmatic && !function.waits_for_predecessor() {
            let problem = format!(
                "{} is not known to wait for the kernel before it, and would read what that one has not \
                 written: no griddepcontrol.wait is in its PTX, or it was not loaded from PTX; \
                 Function::assume_waits says that it waits",
                function.name().to_string_lossy()
            );
            return Err(Error::invalid("programmatic", problem));
        }
        Ok(())
    }

    /// Refuses what a node of a graph cannot have.
    pub(crate) fn check_node(&self) -> Result<()> {
        match self.is_programmatic {
            false => Ok(()),
            true => {
                let problem = "the edges of a graph say what waits for what";
                Err(Error::invalid("programmatic", problem))
            }
        }
    }

    /// Refuses attributes that came after the driver: one that does not know them may take them for
    /// something else. Each version is that of the first `cuda.h` which has the attribute; the two that are
    /// not listed, whether the launch is cooperative and its priority, are as old as `cuLaunchKernelEx`
    /// itself, and of nodes there are both in 11.7.
    ///
    /// # Errors
    /// [`Error::Unsupported`], which names the first.
    pub(crate) fn check_driver(&self, driver: &Driver) -> Result<()> {
        let known = [
            (
                self.cluster.is_some(),
                "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
                Version::new(11, 8),
            ),
            (
                self.is_programmatic,
                "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION",
                Version::new(11, 8),
            ),
            (
                self.memory_domain.is_some(),
                "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN",
                Version::new(12, 0),
            ),
            (
                self.shared_carveout.is_some(),
                "CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT",
                Version::new(12, 5),
            ),
        ];
        let have = driver.driver_version();
        for (is_asked_for, symbol, needs) in known {
            if is_asked_for && have < needs {
                return Err(Error::Unsupported {
                    symbol,
                    needs,
                    have,
                });
            }
        }
        Ok(())
    }

    /// Whether all that is asked for is that all blocks run at the same time.
    fn is_cooperative_only(&self) -> bool {
        *self == Self::new().cooperative()
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
        if self.is_programmatic {
            let mut programmatic = of(A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
            programmatic.value.programmaticStreamSerializationAllowed = 1;
            list.add(programmatic);
        }
        if let Some(value) = self.memory_domain {
            use CUlaunchMemSyncDomain as D;
            let mut domain = of(A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
            domain.value.memSyncDomain = match value {
                MemoryDomain::Default => D::CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
                MemoryDomain::Remote => D::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE,
            };
            list.add(domain);
        }
        if let Some(percent) = self.shared_carveout {
            let mut carveout = of(A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
            carveout.value.sharedMemCarveout = percent;
            list.add(carveout);
        }
        list
    }
}

/// Launches a kernel with attributes that were [checked](LaunchAttributes::check).
///
/// # Safety
/// Each pointer leads to a value of the kernel's parameter, device memory among them is ready for work on
/// the stream, and with them the kernel touches only memory that it may.
#[track_caller]
pub(super) unsafe fn launch_ex(
    function: &Function,
    config: LaunchConfig,
    attributes: LaunchAttributes,
    pointers: &mut [*mut c_void],
    stream: &Stream,
) -> Result<()> {
    let driver = stream.core().driver();
    if attributes.is_cooperative_only() && !driver.has(id::cuLaunchKernelEx) {
        // SAFETY: the conditions of this function.
        return unsafe { launch_cooperative(function, config, pointers, stream) };
    }
    attributes.check_driver(driver)?;
    note_use(function, stream);
    let mut list = attributes.list();
    let list = list.as_mut_slice();
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    let mut launch = CUlaunchConfig {
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: config.shared_bytes,
        hStream: ptr::null_mut(),
        attrs: list.as_mut_ptr(),
        // At most as many as there are kinds.
        numAttrs: list.len() as u32,
    };
    let (call, number) = (id::cuLaunchKernelEx, function.number());
    let launched = stream.submit_launch(call, number, |driver, raw| {
        launch.hStream = raw;
        // SAFETY: function and stream are alive and of one context; the driver copies
        // arguments and attributes before it returns; the arguments, and the memory that the kernel
        // touches, are conditions of this function.
        unsafe {
            let (launch, pointers) = (&raw const launch, pointers.as_mut_ptr());
            driver.cuLaunchKernelEx(launch, function.raw(), pointers, ptr::null_mut())
        }
    });
    launched.map_err(|error| explain(error, function, config))
}

/// `cuLaunchCooperativeKernel`, for a driver without `cuLaunchKernelEx`.
///
/// # Safety
/// As [`launch_ex`].
#[cold]
#[track_caller]
unsafe fn launch_cooperative(
    function: &Function,
    config: LaunchConfig,
    pointers: &mut [*mut c_void],
    stream: &Stream,
) -> Result<()> {
    note_use(function, stream);
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    let (call, number) = (id::cuLaunchCooperativeKernel, function.number());
    let (shared, pointers) = (config.shared_bytes, pointers.as_mut_ptr());
    // SAFETY: function and stream are alive and of one context; the driver copies the
    // arguments before it returns; they, and the memory that the kernel touches, are conditions of this
    // function.
    let launched = stream.submit_launch(call, number, |driver, raw| unsafe {
        driver.cuLaunchCooperativeKernel(
            function.raw(),
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            raw,
            pointers,
        )
    });
    launched.map_err(|error| explain(error, function, config))
}

//! `LaunchPlan`: the blocks and the grid of a launch, from the size of its problem.

use cupola_sys::driver::CUdevice_attribute as Attribute;

use super::query::{active_blocks, block_size, fits_nowhere, multiprocessors};
use crate::device::Attributes;
use crate::error::{Error, Result};
use crate::module::Function;
use crate::ops::LaunchConfig;

/// The elements of a problem in x, y and z: neighbours in x are neighbours in memory. Of a number or an
/// array of up to three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProblemSize([u64; 3]);

impl ProblemSize {
    /// Elements in x, y and z; 1 in a dimension that the problem has not.
    #[must_use]
    pub const fn sizes(self) -> [u64; 3] {
        self.0
    }
}

impl From<u64> for ProblemSize {
    fn from(x: u64) -> Self {
        Self([x, 1, 1])
    }
}

impl From<[u64; 1]> for ProblemSize {
    fn from([x]: [u64; 1]) -> Self {
        Self([x, 1, 1])
    }
}

impl From<[u64; 2]> for ProblemSize {
    fn from([x, y]: [u64; 2]) -> Self {
        Self([x, y, 1])
    }
}

impl From<[u64; 3]> for ProblemSize {
    fn from(sizes: [u64; 3]) -> Self {
        Self(sizes)
    }
}

/// How the threads of a launch reach all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// A thread for each element: thread `blockIdx * blockDim + threadIdx` has the element of its
    /// number, and those beyond the problem have none.
    #[default]
    ThreadPerElement,
    /// At most one wave of blocks, which the device holds at the same time. A thread goes on from its
    /// element by `gridDim * blockDim` in each dimension while there is an element: a grid-stride loop.
    GridStride,
}

/// What [`Function::plan_launch`] is to plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanConfig {
    size: ProblemSize,
    shared_bytes: u32,
    block: Option<[u32; 3]>,
    coverage: Coverage,
}

impl PlanConfig {
    /// For a problem of this size: a thread for each element, in blocks of the kernel's
    /// [potential size](Function::potential_block_size), without dynamic shared memory.
    #[must_use]
    pub fn new(size: impl Into<ProblemSize>) -> Self {
        Self {
            size: size.into(),
            shared_bytes: 0,
            block: None,
            coverage: Coverage::default(),
        }
    }

    /// So many bytes of dynamic shared memory a block.
    #[must_use]
    pub const fn shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// Blocks of so many threads in x, y and z.
    #[must_use]
    pub const fn block(mut self, block: [u32; 3]) -> Self {
        self.block = Some(block);
        self
    }

    /// How the threads reach all elements.
    #[must_use]
    pub const fn coverage(mut self, coverage: Coverage) -> Self {
        self.coverage = coverage;
        self
    }
}

/// The blocks and the grid of a launch that reaches every element of a problem. A grid is never empty: a
/// problem without elements has one block, whose threads find none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchPlan {
    config: LaunchConfig,
    size: ProblemSize,
}

impl LaunchPlan {
    /// The launch.
    #[must_use]
    pub const fn config(&self) -> LaunchConfig {
        self.config
    }

    /// The problem.
    #[must_use]
    pub const fn size(&self) -> ProblemSize {
        self.size
    }

    /// The most elements of one thread in x, y and z: the rounds of its grid-stride loop.
    #[must_use]
    pub fn elements_per_thread(&self) -> [u64; 3] {
        let mut rounds = self.size.0;
        for (dimension, rounds) in rounds.iter_mut().enumerate() {
            let (grid, block) = (self.config.grid[dimension], self.config.block[dimension]);
            *rounds = rounds.div_ceil(u64::from(grid) * u64::from(block));
        }
        rounds
    }

    /// Whether no thread has more than one element, so that the kernel needs no loop.
    #[must_use]
    pub fn is_thread_per_element(&self) -> bool {
        self.elements_per_thread().iter().all(|rounds| *rounds <= 1)
    }
}

impl Function {
    /// Blocks and grid for a problem, within the device's limits (`cuOccupancyMaxPotentialBlockSize`,
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`, `cuDeviceGetAttribute`). The threads of a block
    /// are laid along x by the warp, then along y and z as far as the problem goes, so that a warp's
    /// accesses are to neighbours.
    ///
    /// # Errors
    /// [`Error::Invalid`]: naming `size` for more blocks than a grid may have, where
    /// [`Coverage::GridStride`] is the way; naming `block` for one that the kernel cannot have; naming
    /// `shared_bytes` for more than it may have. [`Error::Poisoned`], [`Error::Forked`]; what the driver
    /// returned.
    #[doc(alias = "cuOccupancyMaxPotentialBlockSize")]
    #[track_caller]
    pub fn plan_launch(&self, config: PlanConfig) -> Result<LaunchPlan> {
        let core = self.core();
        let driver = core.enter()?;
        let attributes = Attributes::new(driver, core.device());
        let limits = core.check(LaunchLimits::ask(&attributes))?;
        let size = config.size.0;
        let block = match config.block {
            Some(block) => {
                limits.check_block(block, self.attributes().max_threads_per_block)?;
                block
            }
            None => {
                let potential = self.potential_block_size(config.shared_bytes, None)?;
                limits.block(size, potential.threads)
            }
        };
        let threads = block_size(block.iter().product())?;
        let active = core.check(active_blocks(driver, self, threads, config.shared_bytes))?;
        if active == 0 {
            return Err(fits_nowhere(config.shared_bytes));
        }
        let grid = match config.coverage {
            Coverage::ThreadPerElement => limits.grid(size, block)?,
            Coverage::GridStride => {
                let wave = u64::from(active) * u64::from(multiprocessors(core, driver)?);
                limits.wave_grid(size, block, wave)
            }
        };
        Ok(LaunchPlan {
            config: LaunchConfig {
                grid,
                block,
                shared_bytes: config.shared_bytes,
            },
            size: config.size,
        })
    }
}

/// What limits the sizes of a launch.
#[derive(Clone, Copy, Debug)]
struct LaunchLimits {
    warp: u32,
    max_block: [u32; 3],
    max_grid: [u32; 3],
}

impl LaunchLimits {
    fn ask(attributes: &Attributes<'_>) -> Result<Self, cupola_sys::driver::DriverError> {
        let number = |attribute| Ok(attributes.number(attribute)?.max(1));
        Ok(Self {
            warp: number(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            max_block: [
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid: [
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
        })
    }

    #[track_caller]
    fn check_block(&self, block: [u32; 3], most: u32) -> Result<()> {
        let mut sizes = block.iter().zip(self.max_block);
        let is_within = sizes.all(|(size, most)| (1..=most).contains(size));
        let threads = block
            .into_iter()
            .map(u64::from)
            .fold(1, u64::saturating_mul);
        if is_within && threads <= u64::from(most) {
            return Ok(());
        }
        let problem = format!(
            "{block:?} is not a block of 1 to {most} threads, which the kernel can have, and of at most \
             {:?} in x, y and z",
            self.max_block
        );
        Err(Error::invalid("block", problem))
    }

    /// At most `threads` threads: a warp, or what the problem has, along x; the rest along y and z as
    /// far as the problem goes; what is left then along x.
    fn block(&self, size: [u64; 3], threads: u32) -> [u32; 3] {
        let threads = threads.max(1);
        let along = |dimension: usize, left: u32| {
            let elements = u32::try_from(size[dimension]).unwrap_or(u32::MAX);
            // A power of two, so that threads which have no element are at the end alone.
            let wanted = elements.checked_next_power_of_two().unwrap_or(u32::MAX);
            wanted.min(left).min(self.max_block[dimension]).max(1)
        };
        let row = along(0, threads.min(self.warp));
        let y = along(1, threads / row);
        let z = along(2, threads / (row * y));
        let rows = threads / (row * y * z);
        let wanted = size[0].div_ceil(u64::from(row)).max(1);
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let x = row * rows.min(wanted).min(self.max_block[0] / row).max(1);
        [x, y, z]
    }

    /// A block for each part of the problem that a block has the size of.
    #[track_caller]
    fn grid(&self, size: [u64; 3], block: [u32; 3]) -> Result<[u32; 3]> {
        let blocks = blocks(size, block);
        let mut grid = [1; 3];
        for dimension in 0..3 {
            let most = self.max_grid[dimension];
            grid[dimension] = u32::try_from(blocks[dimension])
                .ok()
                .filter(|blocks| *blocks <= most)
                .ok_or_else(|| {
                    let problem = format!(
                        "{size:?} elements in blocks of {block:?} are {blocks:?} blocks, and a grid has at \
                         most {:?}; Coverage::GridStride has no such limit",
                        self.max_grid
                    );
                    Error::invalid("size", problem)
                })?;
        }
        Ok(grid)
    }

    /// As [`grid`](Self::grid), and no more blocks than `wave`: first along x, then along y and z.
    fn wave_grid(&self, size: [u64; 3], block: [u32; 3], wave: u64) -> [u32; 3] {
        let blocks = blocks(size, block);
        let mut left = wave;
        let mut grid = [1; 3];
        for dimension in 0..3 {
            let most = u64::from(self.max_grid[dimension]).min(left);
            let along = blocks[dimension].min(most);
            left /= along;
            // No more than the limit of a grid, which has 32 bits.
            grid[dimension] = u32::try_from(along).unwrap_or(u32::MAX);
        }
        grid
    }
}

/// Blocks that cover a problem, at least one along each dimension.
fn blocks(size: [u64; 3], block: [u32; 3]) -> [u64; 3] {
    let mut blocks = size;
    for (blocks, threads) in blocks.iter_mut().zip(block) {
        *blocks = blocks.div_ceil(u64::from(threads)).max(1);
    }
    blocks
}

#[cfg(all(test, not(loom)))]
mod tests;

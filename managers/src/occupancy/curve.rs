//! `Occupancy`: how full a multiprocessor is with blocks of one size, and what limits it.

use core::iter;

use super::limits::MultiprocessorLimits;
use super::model::{BlockDemand, BlocksByResource, Limit};
use super::query::{active_blocks, block_size, block_sizes};
use crate::error::Result;
use crate::module::Function;
use crate::ops::LaunchConfig;

/// How full a multiprocessor is with blocks of a kernel that have one size.
///
/// Its text is a line: `256 threads a block: 4 blocks on a multiprocessor, 32 of 64 warps (50 %),
/// limited by registers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    threads: u32,
    shared_bytes: u32,
    blocks: u32,
    counted: BlocksByResource,
    limits: MultiprocessorLimits,
}

impl Occupancy {
    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Dynamic shared memory of a block in bytes.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Blocks on a multiprocessor at a time, as the driver tells. 0 when the kernel cannot be launched
    /// with such blocks.
    #[must_use]
    pub fn active_blocks(&self) -> u32 {
        self.blocks
    }

    /// Warps on a multiprocessor at a time.
    #[must_use]
    pub fn active_warps(&self) -> u32 {
        self.blocks.saturating_mul(self.limits.warps(self.threads))
    }

    /// The most warps that a multiprocessor holds.
    #[must_use]
    pub fn max_warps(&self) -> u32 {
        self.limits.max_warps()
    }

    /// Active warps as a part of all: 1 for a multiprocessor that is full.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        match self.max_warps() {
            0 => 0.0,
            all => f64::from(self.active_warps()) / f64::from(all),
        }
    }

    /// Blocks that run at the same time on all multiprocessors that kernels of the context run on: one
    /// wave.
    #[must_use]
    pub fn wave(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.limits.multiprocessors)
    }

    /// How many blocks the figures of the device give, counted without the driver.
    #[must_use]
    pub fn counted_blocks(&self) -> u32 {
        self.counted.least()
    }

    /// Why a multiprocessor holds no more such blocks: the resources that allow no more than it holds.
    /// There may be several; only with more of each would it hold more. [`Limit::Driver`] alone where
    /// the driver's answer is not [what the figures give](Self::counted_blocks).
    pub fn limits(&self) -> impl Iterator<Item = Limit> {
        let is_driver = self.blocks != self.counted_blocks();
        let counted = self.counted.limits().filter(move |_| !is_driver);
        counted.chain(iter::once(Limit::Driver).filter(move |_| is_driver))
    }

    /// The same blocks in a grid of so many.
    #[must_use]
    pub fn in_grid(self, blocks: u64) -> GridOccupancy {
        GridOccupancy {
            occupancy: self,
            blocks,
        }
    }
}

/// How a grid fills the device: in how many waves, and how full a multiprocessor is meanwhile. Its text
/// is a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridOccupancy {
    occupancy: Occupancy,
    blocks: u64,
}

impl GridOccupancy {
    /// That of a multiprocessor which has as many blocks as it holds.
    #[must_use]
    pub fn occupancy(&self) -> Occupancy {
        self.occupancy
    }

    /// Blocks of the grid.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The grid's blocks, in waves; `None` when no block can run. A little more than a whole number means
    /// that most of the device waits for the last few blocks.
    #[must_use]
    pub fn waves(&self) -> Option<f64> {
        let wave = self.occupancy.wave();
        (wave > 0).then(|| self.blocks as f64 / wave as f64)
    }

    /// Why no more blocks run at a time: [`Limit::Grid`] when the grid is smaller than one wave, else
    /// [those of its blocks](Occupancy::limits).
    pub fn limits(&self) -> impl Iterator<Item = Limit> {
        let is_small = self.is_smaller_than_a_wave();
        let of_block = self.occupancy.limits().filter(move |_| !is_small);
        of_block.chain(iter::once(Limit::Grid).filter(move |_| is_small))
    }

    pub(super) fn is_smaller_than_a_wave(&self) -> bool {
        self.blocks < self.occupancy.wave()
    }
}

/// The occupancy of a kernel at every block size of whole warps. Its text is a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OccupancyCurve {
    points: Vec<Occupancy>,
}

impl OccupancyCurve {
    /// One for each block size, rising: whole warps, and the kernel's largest block if that is none.
    #[must_use]
    pub fn points(&self) -> &[Occupancy] {
        &self.points
    }

    /// The point with the most active warps, and of several the largest block; `None` when no block of the
    /// kernel can run.
    #[must_use]
    pub fn best(&self) -> Option<Occupancy> {
        let points = self.points.iter();
        let best = points.max_by_key(|point| point.active_warps());
        best.copied().filter(|point| point.blocks > 0)
    }
}

impl Function {
    /// How full a multiprocessor is with blocks of `threads` threads and `shared_bytes` bytes of dynamic
    /// shared memory, and why no fuller (`cuOccupancyMaxActiveBlocksPerMultiprocessor`, and the device's
    /// figures by `cuDeviceGetAttribute`).
    ///
    /// # Errors
    /// As [`active_blocks`](Self::active_blocks).
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    #[track_caller]
    pub fn occupancy(&self, threads: u32, shared_bytes: u32) -> Result<Occupancy> {
        block_size(threads)?;
        let question = Question::new(self)?;
        question.point(threads, shared_bytes)
    }

    /// How a launch fills the device.
    ///
    /// # Errors
    /// As [`active_blocks`](Self::active_blocks).
    #[track_caller]
    pub fn launch_occupancy(&self, config: LaunchConfig) -> Result<GridOccupancy> {
        let product = |sizes: [u32; 3]| {
            let sizes = sizes.into_iter().map(u64::from);
            sizes.fold(1, u64::saturating_mul)
        };
        let threads = u32::try_from(product(config.block)).unwrap_or(u32::MAX);
        let occupancy = self.occupancy(threads, config.shared_bytes)?;
        Ok(occupancy.in_grid(product(config.grid)))
    }

    /// The occupancy at every block size, when `shared_bytes` says how much dynamic shared memory a block
    /// of so many threads has, in bytes: `|_| 0` for a kernel that uses none.
    ///
    /// # Errors
    /// As [`active_blocks`](Self::active_blocks).
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    #[track_caller]
    pub fn occupancy_curve(
        &self,
        mut shared_bytes: impl FnMut(u32) -> u32,
    ) -> Result<OccupancyCurve> {
        let question = Question::new(self)?;
        let most = self.attributes().max_threads_per_block;
        let mut points = Vec::new();
        for threads in block_sizes(most, question.limits.warp_size) {
            points.push(question.point(threads, shared_bytes(threads))?);
        }
        Ok(OccupancyCurve { points })
    }
}

/// What is the same for all sizes of a kernel's blocks.
struct Question<'f> {
    function: &'f Function,
    limits: MultiprocessorLimits,
    max_dynamic_shared: u32,
}

impl<'f> Question<'f> {
    #[track_caller]
    fn new(function: &'f Function) -> Result<Self> {
        Ok(Self {
            limits: MultiprocessorLimits::read(function.core())?,
            max_dynamic_shared: function.max_dynamic_shared()?,
            function,
        })
    }

    #[track_caller]
    fn point(&self, threads: u32, shared_bytes: u32) -> Result<Occupancy> {
        let (core, attributes) = (self.function.core(), self.function.attributes());
        let count = block_size(threads)?;
        let driver = core.enter()?;
        let blocks = core.check(active_blocks(driver, self.function, count, shared_bytes))?;
        let counted = self.limits.blocks(BlockDemand {
            threads,
            max_threads: attributes.max_threads_per_block,
            registers: attributes.registers,
            static_shared: attributes.shared_bytes,
            dynamic_shared: shared_bytes,
            max_dynamic_shared: self.max_dynamic_shared,
        });
        Ok(Occupancy {
            threads,
            shared_bytes,
            blocks,
            counted,
            limits: self.limits,
        })
    }
}

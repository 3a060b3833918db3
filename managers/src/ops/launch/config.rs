//! `LaunchConfig`: the shape of a launch, and whether its kernel can have it.

use crate::error::{Error, Result};
use crate::module::{Function, LaunchLimits};

/// How many blocks of how many threads, and how much dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// A row of blocks, each a row of threads.
    #[must_use]
    pub const fn linear(blocks: u32, threads: u32) -> Self {
        Self {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
        }
    }

    /// Enough blocks of `threads` for one thread an element, and at least one block.
    #[must_use]
    pub fn for_elements(elements: u64, threads: u32) -> Self {
        let blocks = elements.div_ceil(u64::from(threads.max(1))).max(1);
        Self::linear(u32::try_from(blocks).unwrap_or(u32::MAX), threads)
    }

    /// Refuses a shape that the kernel cannot be launched with.
    #[inline]
    #[track_caller]
    pub(super) fn check(&self, function: &Function) -> Result<()> {
        match self.is_known_to_fit(function) {
            true => Ok(()),
            false => self.refuse(function),
        }
    }

    /// Whether the kernel can be launched with this shape; false also where the driver is to be asked.
    #[inline]
    pub(super) fn is_known_to_fit(&self, function: &Function) -> bool {
        self.fits(function.limits()) && self.shared_bytes <= function.known_dynamic_shared()
    }

    #[inline]
    fn fits(&self, limits: &LaunchLimits) -> bool {
        // 0 is not within: less one it is the largest number.
        let within = |size: u32, most: u32| size.wrapping_sub(1) < most;
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        let grid =
            within(gx, limits.grid[0]) & within(gy, limits.grid[1]) & within(gz, limits.grid[2]);
        let block =
            within(bx, limits.block[0]) & within(by, limits.block[1]) & within(bz, limits.block[2]);
        grid & block & (self.threads() <= u64::from(limits.threads))
    }

    /// Threads of a block, at most as many as 64 bits hold.
    #[inline]
    fn threads(&self) -> u64 {
        let [x, y, z] = self.block.map(u64::from);
        (x * y).saturating_mul(z)
    }

    #[cold]
    #[track_caller]
    fn refuse(&self, function: &Function) -> Result<()> {
        let limits = function.limits();
        let Self { grid, block, .. } = self;
        let exceeds =
            |sizes: &[u32; 3], most: &[u32; 3]| sizes.iter().zip(most).any(|(n, m)| n > m);
        if grid.contains(&0) {
            return Err(Error::invalid("grid", format!("{grid:?} has no blocks")));
        }
        if block.contains(&0) {
            return Err(Error::invalid("block", format!("{block:?} has no threads")));
        }
        if exceeds(grid, &limits.grid) {
            let most = limits.grid;
            let problem =
                format!("{grid:?} is more than the {most:?} blocks that the device takes");
            return Err(Error::invalid("grid", problem));
        }
        if exceeds(block, &limits.block) {
            let most = limits.block;
            let problem = format!(
                "{block:?} is more than the {most:?} threads of a block that the device has"
            );
            return Err(Error::invalid("block", problem));
        }
        let most = limits.threads;
        if self.threads() > u64::from(most) {
            let problem =
                format!("{block:?} is more than the {most} threads that the kernel can have");
            return Err(Error::invalid("block", problem));
        }
        function.check_dynamic_shared(self.shared_bytes)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const LIMITS: LaunchLimits = LaunchLimits {
        grid: [100, 50, 50],
        block: [u32::MAX; 3],
        threads: 1024,
    };

    // Without it the product could overflow to a small number, and pass for it.
    #[test]
    fn the_threads_of_a_block_do_not_overflow() {
        let fits = |block| {
            let config = LaunchConfig {
                block,
                ..LaunchConfig::linear(1, 1)
            };
            config.fits(&LIMITS)
        };
        assert!(fits([8, 4, 32]));
        assert!(!fits([8, 4, 33]));
        assert!(!fits([1 << 22, 1 << 21, 1 << 21]));
        assert!(!fits([u32::MAX; 3]));
        assert!(!fits([8, 0, 1]));
    }

    // Without it one of the three sizes of a grid could be compared with another one's limit.
    #[test]
    fn each_size_of_a_grid_has_its_own_limit() {
        let fits = |grid| {
            let config = LaunchConfig {
                grid,
                ..LaunchConfig::linear(1, 1)
            };
            config.fits(&LIMITS)
        };
        assert!(fits([100, 50, 50]));
        for grid in [
            [101, 1, 1],
            [1, 51, 1],
            [1, 1, 51],
            [0, 1, 1],
            [1, 0, 1],
            [1, 1, 0],
        ] {
            assert!(!fits(grid), "{grid:?}");
        }
    }

    // Without it an empty input would give an empty grid, which drivers refuse.
    #[test]
    fn a_grid_covers_all_elements_and_is_never_empty() {
        for (elements, blocks) in [(0, 1), (1, 1), (256, 1), (257, 2), (u64::MAX, u32::MAX)] {
            assert_eq!(
                LaunchConfig::for_elements(elements, 256).grid,
                [blocks, 1, 1]
            );
        }
    }
}

//! Whether all blocks of a kernel can run at the same time.

use std::fmt;

use cupola_managers::Error;
use cupola_managers::module::Function;
use cupola_managers::ops::LaunchConfig;

/// Why a cooperative launch was not put.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CooperativeError {
    /// Not all of its blocks can run at the same time.
    TooManyBlocks(TooManyBlocks),
    /// As of any launch.
    Refused(Error),
}

/// A grid that is larger than what runs at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyBlocks {
    /// The kernel.
    pub kernel: String,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Blocks with so many threads and so much shared memory that a multiprocessor runs at a time.
    pub per_multiprocessor: u32,
    /// Multiprocessors that kernels of the context run on.
    pub multiprocessors: u32,
}

impl TooManyBlocks {
    /// The most blocks that run at a time.
    #[must_use]
    pub fn resident(&self) -> u64 {
        u64::from(self.per_multiprocessor) * u64::from(self.multiprocessors)
    }
}

/// Refuses a grid that is not resident at once. An empty grid or block is for the launch to refuse.
#[track_caller]
pub(super) fn check_resident(
    function: &Function,
    config: LaunchConfig,
    multiprocessors: u32,
) -> Result<(), CooperativeError> {
    let product = |[x, y, z]: [u32; 3]| {
        let plane = u64::from(x) * u64::from(y);
        plane.saturating_mul(u64::from(z))
    };
    let (blocks, threads) = (product(config.grid), product(config.block));
    let most = u64::from(function.attributes().max_threads_per_block);
    if blocks == 0 || threads == 0 || threads > most {
        return Ok(());
    }
    // No more than `most`, which has 32 bits.
    let asked = function.active_blocks(threads as u32, config.shared_bytes)?;
    let found = TooManyBlocks {
        kernel: function.name().to_string_lossy().into_owned(),
        blocks,
        per_multiprocessor: asked,
        multiprocessors,
    };
    match blocks <= found.resident() {
        true => Ok(()),
        false => Err(CooperativeError::TooManyBlocks(found)),
    }
}

impl fmt::Display for TooManyBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            blocks,
            per_multiprocessor,
            multiprocessors,
        } = self;
        let resident = self.resident();
        write!(
            f,
            "a cooperative launch of {kernel} with {blocks} blocks, of which {resident} run at a time: \
             {per_multiprocessor} on each of {multiprocessors} multiprocessors. Launch fewer blocks that \
             each do more, or smaller ones"
        )
    }
}

impl fmt::Display for CooperativeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyBlocks(blocks) => blocks.fmt(f),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CooperativeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooManyBlocks(_) => None,
            Self::Refused(error) => Some(error),
        }
    }
}

impl From<Error> for CooperativeError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

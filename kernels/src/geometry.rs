//! How many blocks of how many threads each kernel is launched with.
//!
//! Pure functions of the length and, where only speed depends on it, of the number of
//! multiprocessors. Reductions are the exception: the rounding of a sum of floats depends on the grid,
//! so their grids depend on the length alone and the result is the same on every device.

/// Threads in a block of `cupola_histogram`.
pub const HISTOGRAM_THREADS: u32 = 256;

/// Threads in a block of `cupola_crc32`: exactly this number, the kernel's tables are for it.
pub const CRC32_THREADS: u32 = 256;

/// Threads in a block of the `cupola_reduce` kernels: exactly this number.
pub const REDUCE_THREADS: u32 = 256;

/// Threads in a block of `cupola_saxpy` and `cupola_scale`.
pub const ELEMENTWISE_THREADS: u32 = 256;

/// Bytes that `cupola_crc32` reads side by side: one 16-byte unit for each thread of a block.
pub const CRC32_ROW_BYTES: u64 = 16 * CRC32_THREADS as u64;

/// Threads in a block of the kernels of the device library: exactly this number.
pub const LIBRARY_THREADS: u32 = 256;

/// Packs of each array that a thread of the device library loads at once: `PACKS_IN_FLIGHT` of
/// `cupola.cuh`.
pub const PACKS_IN_FLIGHT: u32 = 4;

/// Largest number of bytes that one block of `cupola_histogram` is given. Its bins have 32
/// bits, so 2^32 - 1 is where they would overflow.
pub const HISTOGRAM_BLOCK_BYTES: u64 = 1 << 31;

/// Blocks of a reduction that a multiprocessor holds at once: `RESIDENT` of its kernels.
const REDUCE_RESIDENT: u32 = 6;

/// Largest grid of a reduction, and so the largest number of partial results: half of what an H100 or H200 holds at once,
/// so that the blocks of the next one find places beside it ([`reduce_may_start_early`]).
pub const REDUCE_MAX_BLOCKS: u32 = 396;

/// Bytes of scratch memory of a reduction, of any type and length: a count of its blocks, and behind 16 bytes the
/// partial result of each block with its marks. All of them are zero between launches.
pub const REDUCE_SCRATCH_BYTES: usize = 16 + 32 * REDUCE_MAX_BLOCKS as usize;

/// The launch of `cupola_stamp` and `cupola_check`, for a block of memory of any size.
pub const STAMP: Geometry = Geometry {
    blocks: 1,
    threads: 64,
    shared_bytes: 0,
};

/// Largest x extent of a grid on every supported GPU.
const MAX_BLOCKS: u64 = i32::MAX as u64;

/// A one-dimensional launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Blocks in the grid; at least 1, because the driver refuses an empty grid.
    pub blocks: u32,
    /// Threads in a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
}

impl Geometry {
    /// `wanted` blocks, at least `least`, within what a grid can hold. None of the kernels
    /// uses dynamic shared memory.
    fn new(wanted: u64, least: u64, threads: u32) -> Self {
        let blocks = wanted.max(least).clamp(1, MAX_BLOCKS);
        Self {
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            threads,
            shared_bytes: 0,
        }
    }
}

/// The launch of `cupola_saxpy` or `cupola_scale` over `n` elements on a device with so many
/// multiprocessors: at most eight blocks for each, which fills it; threads stride over
/// the rest.
#[must_use]
pub fn elementwise(n: u64, multiprocessors: u32) -> Geometry {
    let full = 8 * u64::from(multiprocessors.max(1));
    let needed = n.div_ceil(u64::from(ELEMENTWISE_THREADS));
    Geometry::new(needed.min(full), 1, ELEMENTWISE_THREADS)
}

/// The launch of a kernel of the device library over `n` elements in packs of `lanes`: a block for each
/// tile that it moves at once. Blocks that end let others begin, so a large grid keeps every
/// multiprocessor busy until the end.
#[must_use]
pub fn tiled(n: u64, lanes: u32) -> Geometry {
    let tile = LIBRARY_THREADS * PACKS_IN_FLIGHT * lanes.max(1);
    Geometry::new(n.div_ceil(u64::from(tile)), 1, LIBRARY_THREADS)
}

/// The launch of `cupola_histogram` over `len` bytes.
///
/// A block clears its bins and adds them to the global counters whatever its share, so it
/// gets 16 KiB or more; there are at most eight blocks for each multiprocessor, but enough
/// that none sees more than [`HISTOGRAM_BLOCK_BYTES`].
#[must_use]
pub fn histogram(len: u64, multiprocessors: u32) -> Geometry {
    let full = 8 * u64::from(multiprocessors.max(1));
    let wanted = (len / (16 << 10)).min(full);
    // Twice the bare need: threads share units evenly, but not to the byte.
    let least = len.div_ceil(HISTOGRAM_BLOCK_BYTES / 2);
    Geometry::new(wanted, least, HISTOGRAM_THREADS)
}

/// The launch of `cupola_crc32` over `len` bytes.
///
/// A block makes its tables and moves its share to its place whatever its length, so it
/// gets eight rows or more; there are at most four blocks for each multiprocessor, which is
/// what its registers and tables leave room for.
#[must_use]
pub fn crc32(len: u64, multiprocessors: u32) -> Geometry {
    let full = 4 * u64::from(multiprocessors.max(1));
    let wanted = (len / (8 * CRC32_ROW_BYTES)).min(full);
    Geometry::new(wanted, 1, CRC32_THREADS)
}

/// The launch of a `cupola_reduce` kernel over `n` elements: 4096 for each block, at most
/// [`REDUCE_MAX_BLOCKS`] blocks. It does not depend on the device, so a sum of floats has the same bits on
/// every one.
#[must_use]
pub fn reduce(n: u64) -> Geometry {
    let wanted = n.div_ceil(16 * u64::from(REDUCE_THREADS));
    Geometry::new(wanted.min(u64::from(REDUCE_MAX_BLOCKS)), 1, REDUCE_THREADS)
}

/// Whether a reduction of so many blocks gains by an early start, behind another one, on a device with so many
/// multiprocessors: where two grids find places at once. Else those of the next grid that do crowd some multiprocessors,
/// whose share of the first takes the others' time: 0.65 of the bandwidth in place of 0.92 (H200, 410 blocks).
#[must_use]
pub fn reduce_may_start_early(blocks: u32, multiprocessors: u32) -> bool {
    2 * u64::from(blocks) <= u64::from(REDUCE_RESIDENT) * u64::from(multiprocessors)
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    // Without it a multiprocessor could hold fewer blocks of a reduction than is counted on.
    #[test]
    fn multiprocessors_hold_the_blocks_of_reductions() {
        let wanted = format!(".minnctapersm {REDUCE_RESIDENT}\n");
        for entry in [
            "cupola_reduce_sum_f32",
            "cupola_reduce_min_f32",
            "cupola_reduce_arg_min_f32",
        ] {
            let file = crate::Embedded::with_entry(entry).expect(entry);
            assert_eq!(file.newer().len(), 2);
            for ptx in file.ptx_for((9, 0)) {
                let kernels = ptx.matches(".entry ").count();
                assert_eq!(ptx.matches(&wanted).count(), kernels, "{entry}");
            }
        }
    }

    // Without it the blocks of a grid that waits could take the places of one that runs.
    #[test]
    fn a_reduction_starts_early_where_two_fit() {
        assert!(reduce_may_start_early(REDUCE_MAX_BLOCKS, 132));
        assert!(!reduce_may_start_early(REDUCE_MAX_BLOCKS, 131));
        assert!(reduce_may_start_early(342, 114) && !reduce_may_start_early(343, 114));
        assert!(reduce_may_start_early(1, 1) && !reduce_may_start_early(u32::MAX, 132));
    }

    fn valid(geometry: Geometry, threads: u32) -> bool {
        (1..=i32::MAX as u32).contains(&geometry.blocks)
            && geometry.threads == threads
            && geometry.shared_bytes == 0
    }

    quickcheck! {
        // Without it some length or device could give a grid that the driver refuses, or a reduction more
        // partial results than there is scratch memory for.
        fn every_length_has_a_valid_grid(n: u64, multiprocessors: u32) -> bool {
            valid(elementwise(n, multiprocessors), ELEMENTWISE_THREADS)
                && valid(crc32(n, multiprocessors), CRC32_THREADS)
                && valid(histogram(n, multiprocessors), HISTOGRAM_THREADS)
                && valid(tiled(n, multiprocessors % 17), LIBRARY_THREADS)
                && valid(reduce(n), REDUCE_THREADS)
                && reduce(n).blocks <= REDUCE_MAX_BLOCKS
        }

        // Without it a bin could overflow on a small device with a large buffer.
        fn no_histogram_block_can_overflow_a_bin(len: u64, multiprocessors: u32) -> bool {
            let len = len >> 4; // 2^60 bytes are more than any device has
            let blocks = u64::from(histogram(len, multiprocessors).blocks);
            // A thread's largest share: its units, and a byte each of head and tail.
            let units = (len / 16).div_ceil(blocks * u64::from(HISTOGRAM_THREADS));
            let share = u128::from(units * 16 + 2) * u128::from(HISTOGRAM_THREADS);
            share <= u128::from(u32::MAX)
        }
    }

    // Without it small inputs could be spread thin, or a large one leave the device idle.
    #[test]
    fn grids_grow_with_the_length_up_to_a_full_device() {
        assert_eq!(elementwise(0, 4).blocks, 1);
        assert_eq!(elementwise(257, 4).blocks, 2);
        assert_eq!(elementwise(1 << 30, 4).blocks, 32);
        assert_eq!(histogram(1 << 10, 132).blocks, 1);
        assert_eq!(histogram(4 << 20, 132).blocks, 256);
        assert_eq!(histogram(1 << 30, 132).blocks, 1056);
        assert_eq!(crc32(4 << 20, 132).blocks, 128);
        assert_eq!(crc32(1 << 30, 132).blocks, 528);
        assert_eq!(tiled(0, 4).blocks, 1);
        assert_eq!(tiled(4097, 4).blocks, 2);
        assert_eq!(tiled(1 << 30, 4).blocks, 1 << 18);
        assert_eq!(reduce(0).blocks, 1);
        assert_eq!(reduce(4096).blocks, 1);
        assert_eq!(reduce(4097).blocks, 2);
        assert_eq!(reduce(u64::MAX).blocks, REDUCE_MAX_BLOCKS);
    }

    // Without it a device that reports no multiprocessors would give an empty grid.
    #[test]
    fn a_device_without_multiprocessors_counts_as_one() {
        assert_eq!(elementwise(1 << 20, 0), elementwise(1 << 20, 1));
        assert_eq!(histogram(1 << 20, 0), histogram(1 << 20, 1));
        assert_eq!(crc32(1 << 20, 0), crc32(1 << 20, 1));
    }
}

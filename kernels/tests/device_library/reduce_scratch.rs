//! Kernels of reductions that are launched by hand, in scratch memory that the test reads: what their blocks leave
//! there for each other.

use std::time::Duration;

use cupola_kernels::Embedded;
use cupola_kernels::geometry::{self, REDUCE_SCRATCH_BYTES};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_random::Random;
use cupola_sim::{DeviceConfig, Machine};

use super::{Bench, software, target};

/// A kernel of each size of partial results: 4, 8 and 16 bytes.
const ENTRIES: [&str; 3] = [
    "cupola_reduce_min_u32",
    "cupola_reduce_min_u64",
    "cupola_reduce_arg_min_u64",
];

/// The kernel of each text that the device runs.
fn functions(bench: &Bench, entry: &str) -> Vec<Function> {
    let file = Embedded::with_entry(entry).expect(entry);
    let load = |ptx| bench.context.modules().load_ptx(ptx)?.function(entry);
    file.ptx_for(bench.compute_capability())
        .map(|ptx| load(ptx).unwrap())
        .collect()
}

/// The least of these numbers, or where it is, as the kernel has it.
fn expected(entry: &str, numbers: &[u64]) -> u64 {
    match entry {
        "cupola_reduce_min_u32" => {
            let halves = numbers.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]);
            halves.min().unwrap().into()
        }
        "cupola_reduce_min_u64" => *numbers.iter().min().unwrap(),
        _ => {
            let least = numbers.iter().min();
            numbers.iter().position(|x| Some(x) == least).unwrap() as u64
        }
    }
}

fn elements(entry: &str, numbers: &[u64]) -> u64 {
    let words = 1 + u64::from(entry == "cupola_reduce_min_u32");
    numbers.len() as u64 * words
}

// Without it a reduction could leave something that the next one, of another type or in a smaller grid, takes for what
// one of its own blocks has found.
#[test]
fn scratch_memory_is_zero_behind_a_reduction_as_before_it() {
    let mut benches = Bench::of_each_ptx();
    if !target::is_gpu() {
        let seeds = [5, 6, 7].map(|seed| software((9, 0)).seed(seed).build().driver());
        benches.extend(seeds.map(Bench::over));
    }
    for (seed, bench) in benches.iter().enumerate() {
        let random = &mut Random::new(seed as u64);
        let stream = &bench.stream;
        let words = REDUCE_SCRATCH_BYTES / size_of::<u64>();
        let mut scratch = bench.pool.zeros::<u64>(words, stream).unwrap();
        for entry in ENTRIES {
            for function in functions(bench, entry) {
                // Grids of one block, of two, and larger ones that get smaller.
                for n in [9, 5_000, 30_000 + random.index(9_000), 12_000] {
                    let numbers: Vec<u64> = (0..n).map(|_| random.next_u64()).collect();
                    let input = bench.pool.upload(&numbers, stream).unwrap();
                    let mut result = bench.pool.zeros::<u64>(1, stream).unwrap();
                    let count = elements(entry, &numbers);
                    let grid = geometry::reduce(count).into();
                    let arguments = (&input, count, &mut scratch, &mut result);
                    // SAFETY: the kernel reads so many elements of the input, and writes one or an index;
                    // scratch memory is for the largest grid, and zeroed.
                    unsafe { ops::launch(&function, grid, arguments, stream) }.unwrap();
                    assert_eq!(
                        result.to_vec(stream).unwrap(),
                        [expected(entry, &numbers)],
                        "{entry}"
                    );
                    let left = scratch.to_vec(stream).unwrap();
                    assert_eq!(left.iter().position(|&word| word != 0), None, "{entry}");
                }
            }
        }
    }
}

// Without it the block that takes all could leave out what is behind its first turn, which no grid of the library has.
#[test]
fn every_block_of_a_large_grid_is_heard() {
    // More than what the threads of a block take at once, of any of the kernels.
    const BLOCKS: u32 = 1_100;
    for bench in Bench::of_each_ptx() {
        let (random, stream) = (&mut Random::new(11), &bench.stream);
        // A tile for each block, of elements of 8 bytes.
        let n = 2_048 * BLOCKS as usize;
        let mut numbers = vec![u64::MAX; n];
        let words = 2 + 4 * BLOCKS as usize;
        let mut scratch = bench.pool.zeros::<u64>(words, stream).unwrap();
        let mut result = bench.pool.zeros::<u64>(1, stream).unwrap();
        // The least is the last block's, or any one's.
        for block in [BLOCKS - 1, random.index(BLOCKS as usize) as u32] {
            let least = 2_048 * block as usize + random.index(2_048);
            numbers[least] = 7;
            let input = bench.pool.upload(&numbers, stream).unwrap();
            for entry in ENTRIES {
                let function = &functions(&bench, entry)[0];
                let count = elements(entry, &numbers);
                let grid = LaunchConfig::linear(BLOCKS, geometry::REDUCE_THREADS);
                let arguments = (&input, count, &mut scratch, &mut result);
                // SAFETY: as above; scratch memory is for this grid.
                unsafe { ops::launch(function, grid, arguments, stream) }.unwrap();
                let found = result.to_vec(stream).unwrap();
                let wanted = expected(entry, &numbers);
                assert_eq!(found, [wanted], "{entry}, block {block}");
            }
            numbers[least] = u64::MAX;
        }
        assert!(
            scratch
                .to_vec(stream)
                .unwrap()
                .iter()
                .all(|&word| word == 0)
        );
    }
}

// Without it a block could wait for one that has not begun, and that begins when this one has ended: on a part of a
// device, or where others fill it.
#[test]
fn a_device_with_a_place_for_one_block_comes_to_an_end() {
    if target::is_gpu() {
        eprintln!("SKIPPED: a GPU has more places");
        return;
    }
    // As much as leaves a multiprocessor no room for a second block.
    const SHARED: u32 = 90 << 10;
    let device = DeviceConfig::new()
        .compute_capability(9, 0)
        .multiprocessors(1)
        .kernel_time_limit(Duration::from_secs(60));
    let machine = Machine::builder().device(device).worker_threads(1);
    let bench = Bench::over(machine.build().driver());
    let (random, stream) = (&mut Random::new(3), &bench.stream);
    let numbers: Vec<u64> = (0..50_000).map(|_| random.next_u64()).collect();
    let input = bench.pool.upload(&numbers, stream).unwrap();
    let words = REDUCE_SCRATCH_BYTES / size_of::<u64>();
    let mut scratch = bench.pool.zeros::<u64>(words, stream).unwrap();
    for entry in ENTRIES {
        for function in functions(&bench, entry) {
            function.allow_dynamic_shared(SHARED).unwrap();
            let occupancy = function.occupancy(geometry::REDUCE_THREADS, SHARED);
            assert_eq!(occupancy.unwrap().active_blocks(), 1);
            let mut result = bench.pool.zeros::<u64>(1, stream).unwrap();
            let count = elements(entry, &numbers);
            let mut grid = LaunchConfig::from(geometry::reduce(count));
            grid.shared_bytes = SHARED;
            let arguments = (&input, count, &mut scratch, &mut result);
            // SAFETY: as above; the kernel does not use the shared memory.
            unsafe { ops::launch(&function, grid, arguments, stream) }.unwrap();
            let found = result.to_vec(stream).unwrap();
            assert_eq!(found, [expected(entry, &numbers)], "{entry}");
        }
    }
}

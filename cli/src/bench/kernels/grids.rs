//! Reductions in grids of other sizes than the library's, whose size is a constant: a sum of floats has the
//! same bits on every device. This is what the constant is chosen by.

use cupola_kernels::Embedded;
use cupola_kernels::geometry::{REDUCE_MAX_BLOCKS, REDUCE_SCRATCH_BYTES, REDUCE_THREADS};
use cupola_managers::module::Function;
use cupola_managers::ops::LaunchConfig;
use cupola_managers::{Buffer, Context, Error, MemoryPool, PoolConfig, Stream, ops};

use super::{Clock, Plan, size_name};
use crate::bench::Figures;

/// Numbers of blocks, up to the largest that there is scratch memory for: two to six for each of the 132
/// multiprocessors of an H100, and a power of two.
const GRIDS: [u32; 6] = [264, 396, 512, 528, 660, REDUCE_MAX_BLOCKS];

/// A kernel, and the bytes of its elements.
const KERNELS: [(&str, &str, usize); 3] = [
    ("sum f32", "cupola_reduce_sum_f32", 4),
    ("sum f64", "cupola_reduce_sum_f64", 8),
    ("max f32", "cupola_reduce_max_f32", 4),
];

struct Case {
    name: String,
    function: Function,
    elements: u64,
    grid: LaunchConfig,
    rates: Vec<f64>,
}

/// Memory of any of the launches.
struct Memory {
    input: Buffer<u64>,
    scratch: Buffer<u64>,
    result: Buffer<u64>,
}

impl Memory {
    fn new(pool: &MemoryPool, bytes: usize, stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            input: pool.zeros(bytes / size_of::<u64>(), stream)?,
            scratch: pool.zeros(REDUCE_SCRATCH_BYTES / size_of::<u64>(), stream)?,
            result: pool.zeros(1, stream)?,
        })
    }
}

/// Adds the rows of one size, beside the row `against`.
pub(super) fn measure(
    figures: &mut Figures,
    plan: &Plan,
    context: &Context,
    clock: &Clock,
    bytes: usize,
    against: &str,
) -> Result<(), Error> {
    let pool = context.memory_pool(PoolConfig::limit(bytes as u64 + (64 << 20)))?;
    let mut memory = Memory::new(&pool, bytes, &clock.stream)?;
    let mut cases = Vec::new();
    for (name, entry, element) in KERNELS {
        let Some(file) = Embedded::with_entry(entry) else {
            continue;
        };
        let module = context.modules().load_ptx(file.ptx())?;
        let function = module.function(entry)?;
        // Where no figure counts, one is enough to see that it works.
        let grids = if plan.bars { &GRIDS[..] } else { &GRIDS[..1] };
        for &blocks in grids {
            cases.push(Case {
                name: format!("{name}, {}, {blocks} blocks", size_name(bytes)),
                function: function.clone(),
                elements: (bytes / element) as u64,
                grid: LaunchConfig::linear(blocks, REDUCE_THREADS),
                rates: Vec::new(),
            });
        }
    }
    // The first round warms up.
    for round in 0..=plan.rounds {
        for case in &mut cases {
            let seconds = clock.seconds(plan.launches, |stream| {
                let Memory {
                    input,
                    scratch,
                    result,
                } = &mut memory;
                let arguments = (&*input, case.elements, scratch, result);
                // SAFETY: the kernel reads so many elements, which are of the input's bytes, and writes one;
                // scratch memory is for the largest grid, and zeroed.
                unsafe { ops::launch(&case.function, case.grid, arguments, stream) }
            })?;
            if round > 0 {
                case.rates.push(bytes as f64 / seconds / 1e9);
            }
        }
    }
    for case in &cases {
        figures.push(&case.name, "GB/s", &case.rates, Some(against));
    }
    Ok(())
}

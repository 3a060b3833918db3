//! Reductions that are launched by hand: in other grids than the library's, or of other modules.

use cupola_managers::module::Function;
use cupola_managers::ops::{LaunchAttributes, LaunchConfig};
use cupola_managers::{Buffer, Context, DeviceInfo, Error, PoolConfig, Stream, ops};

use super::{Clock, KernelsError, Plan};
use crate::bench::Figures;
use cupola_kernels::geometry::{REDUCE_SCRATCH_BYTES, reduce_may_start_early};

/// The bits of two ones, as `f32`: what the input is made of.
const ONES: u64 = 0x3f80_0000_3f80_0000;

/// A kernel, and the bytes of its elements.
#[derive(Clone, Copy)]
pub(super) struct Reduction {
    pub(super) name: &'static str,
    pub(super) entry: &'static str,
    pub(super) element: usize,
}

/// A launch of it.
pub(super) struct Case {
    pub(super) row: String,
    pub(super) reduction: Reduction,
    pub(super) function: Function,
    pub(super) grid: LaunchConfig,
    pub(super) attributes: LaunchAttributes,
    /// The row that it is compared with.
    pub(super) against: String,
}

/// Starts a kernel early that may be and gains by it: as the library does.
pub(super) fn early(function: &Function, blocks: u32, info: &DeviceInfo) -> LaunchAttributes {
    let gains = reduce_may_start_early(blocks, info.multiprocessors);
    match gains && function.waits_for_predecessor() {
        true => LaunchAttributes::new().programmatic(),
        false => LaunchAttributes::new(),
    }
}

/// Memory of any of the launches.
struct Memory {
    input: Buffer<u64>,
    scratch: Buffer<u64>,
    result: Buffer<u64>,
}

impl Memory {
    fn new(context: &Context, bytes: usize, stream: &Stream) -> Result<Self, Error> {
        let pool = context.memory_pool(PoolConfig::limit(bytes as u64 + (64 << 20)))?;
        let mut memory = Self {
            input: pool.zeros(bytes / size_of::<u64>(), stream)?,
            scratch: pool.zeros(REDUCE_SCRATCH_BYTES / size_of::<u64>(), stream)?,
            result: pool.zeros(1, stream)?,
        };
        ops::fill(&mut memory.input, ONES, stream)?;
        Ok(memory)
    }

    fn launch(&mut self, case: &Case, stream: &Stream) -> Result<(), Error> {
        let elements = self.input.len() * size_of::<u64>() / case.reduction.element;
        let (scratch, result) = (&mut self.scratch, &mut self.result);
        let arguments = (&self.input, elements as u64, scratch, result);
        // SAFETY: the kernel reads so many elements, which are of the input's bytes, and writes one; scratch
        // memory is for the largest grid, and zeroed. One that starts early waits before it touches memory.
        unsafe {
            ops::launch_with(
                &case.function,
                case.grid,
                case.attributes,
                arguments,
                stream,
            )
        }
    }
}

/// Adds the rows of the cases, over so many bytes. Those of one reduction in one grid leave the same bits.
pub(super) fn measure(
    figures: &mut Figures,
    plan: &Plan,
    context: &Context,
    clock: &Clock,
    bytes: usize,
    cases: &[Case],
) -> Result<(), KernelsError> {
    let mut memory = Memory::new(context, bytes, &clock.stream)?;
    let mut rates = vec![Vec::new(); cases.len()];
    let mut left = Vec::new();
    for round in 0..=plan.rounds {
        for (case, rates) in cases.iter().zip(&mut rates) {
            ops::fill(&mut memory.result, 0_u64, &clock.stream)?;
            let seconds = clock.seconds(plan.launches, |stream| memory.launch(case, stream))?;
            if round > 0 {
                rates.push(bytes as f64 / seconds / 1e9);
                continue;
            }
            // The first round warms up, and is looked at.
            let found = memory.result.to_vec(&clock.stream)?[0];
            let is_same = |(other, _): &&(&Case, u64)| {
                other.reduction.entry == case.reduction.entry && other.grid == case.grid
            };
            if let Some(&(_, expected)) = left.iter().find(is_same).filter(|(_, of)| *of != found) {
                return Err(KernelsError::Wrong {
                    kernel: case.reduction.name,
                    bytes,
                    found: found as f64,
                    expected: expected as f64,
                });
            }
            left.push((case, found));
        }
    }
    for (case, rates) in cases.iter().zip(&rates) {
        figures.push(&case.row, "GB/s", rates, Some(&case.against));
    }
    Ok(())
}

//! Reductions in grids of other sizes than the library's, whose size is a constant: a sum of floats has the
//! same bits on every device. This is what the constant is chosen by.

use cupola_kernels::Embedded;
use cupola_kernels::geometry::{REDUCE_MAX_BLOCKS, REDUCE_THREADS};
use cupola_managers::ops::LaunchConfig;
use cupola_managers::{Context, DeviceInfo, Error};

use super::by_hand::{Case, Reduction, early};
use super::{Plan, size_name};

/// Numbers of blocks, up to the largest that there is scratch memory for: one to three for each of the 132
/// multiprocessors of an H100, and such that all blocks have 11, 12 or 13 tiles of 64 MiB.
const GRIDS: [u32; 6] = [132, 264, 316, 342, 373, REDUCE_MAX_BLOCKS];

const REDUCTIONS: [Reduction; 4] = [
    Reduction {
        name: "sum f32",
        entry: "cupola_reduce_sum_f32",
        element: 4,
    },
    Reduction {
        name: "sum f64",
        entry: "cupola_reduce_sum_f64",
        element: 8,
    },
    Reduction {
        name: "max f32",
        entry: "cupola_reduce_max_f32",
        element: 4,
    },
    Reduction {
        name: "arg_min f32",
        entry: "cupola_reduce_arg_min_f32",
        element: 4,
    },
];

/// The launches over so many bytes, beside the row `against`: of the modules that the library loads, as it launches
/// them.
pub(super) fn cases(
    plan: &Plan,
    context: &Context,
    info: &DeviceInfo,
    bytes: usize,
    against: &str,
) -> Result<Vec<Case>, Error> {
    // Where no figure counts, one is enough to see that it works.
    let grids = if plan.bars { &GRIDS[..] } else { &GRIDS[..1] };
    let mut cases = Vec::new();
    for reduction in REDUCTIONS {
        let Some(file) = Embedded::with_entry(reduction.entry) else {
            continue;
        };
        let mut texts = file.ptx_for(info.compute_capability);
        let ptx = texts.next().unwrap_or_default();
        let function = context.modules().load_ptx(ptx)?.function(reduction.entry)?;
        for &blocks in grids {
            cases.push(Case {
                row: format!("{}, {}, {blocks} blocks", reduction.name, size_name(bytes)),
                reduction,
                attributes: early(&function, blocks, info),
                function: function.clone(),
                grid: LaunchConfig::linear(blocks, REDUCE_THREADS),
                against: against.into(),
            });
        }
    }
    Ok(cases)
}

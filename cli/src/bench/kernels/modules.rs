//! Reductions of the modules for sm_60, of those for sm_70 and for sm_90, and of the last started before the kernel before
//! them has ended: what each of the steps is worth. The library does the last that a device can.

use cupola_kernels::{Embedded, geometry};
use cupola_managers::ops::LaunchAttributes;
use cupola_managers::{Context, DeviceInfo, Error};

use super::by_hand::{Case, Reduction, early};
use super::size_name;

const REDUCTIONS: [Reduction; 5] = [
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
        name: "min f32",
        entry: "cupola_reduce_min_f32",
        element: 4,
    },
    Reduction {
        name: "arg_min f32",
        entry: "cupola_reduce_arg_min_f32",
        element: 4,
    },
    Reduction {
        name: "arg_max f64",
        entry: "cupola_reduce_arg_max_f64",
        element: 8,
    },
];

/// The launches over so many bytes in the library's grid. Those for sm_60 are beside the row `against`, the others beside
/// these, and are only there where the device runs them.
pub(super) fn cases(
    context: &Context,
    info: &DeviceInfo,
    bytes: usize,
    against: &str,
) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    for reduction in REDUCTIONS {
        let Some(file) = Embedded::with_entry(reduction.entry) else {
            continue;
        };
        let load = |ptx| context.modules().load_ptx(ptx)?.function(reduction.entry);
        let geometry = geometry::reduce((bytes / reduction.element) as u64);
        let name = format!("{}, {}", reduction.name, size_name(bytes));
        let portable = Case {
            row: format!("{name}, sm_60 modules"),
            reduction,
            function: load(file.ptx())?,
            grid: geometry.into(),
            attributes: LaunchAttributes::new(),
            against: against.into(),
        };
        let other = |row, function, attributes| Case {
            row,
            reduction,
            function,
            grid: geometry.into(),
            attributes,
            against: portable.row.clone(),
        };
        let mut newer_cases = Vec::new();
        for newer in file.newer() {
            if info.compute_capability < newer.compute_capability() {
                continue;
            }
            let (major, minor) = newer.compute_capability();
            let row = format!("{name}, sm_{major}{minor} modules");
            let function = load(newer.text())?;
            let attributes = early(&function, geometry.blocks, info);
            let none = LaunchAttributes::new();
            newer_cases.push(other(row.clone(), function.clone(), none));
            if attributes != none {
                newer_cases.push(other(format!("{row}, early"), function, attributes));
            }
        }
        cases.push(portable);
        cases.extend(newer_cases);
    }
    Ok(cases)
}

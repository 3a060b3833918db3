//! The shape of a launch: its sizes, and what its attributes ask for.

use std::ffi::c_int;

use cupola_sys::driver::*;

use crate::device::api::kernels::occupancy::blocks_per_multiprocessor;
use crate::device::api::streams::attributes::clamp;
use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::modules::module::Function;
use crate::device::operations::launch::Launch;
use crate::exec::LaunchConfig;

/// A launch before its arguments are read.
pub(in crate::device::api) struct Shape {
    pub(super) config: LaunchConfig,
    pub(super) stream: CUstream,
    pub(super) cooperative: bool,
    pub(super) priority: Option<c_int>,
    /// Events that are recorded after the kernel.
    pub(super) after: Vec<CUevent>,
}

/// How many blocks fit on the multiprocessors at once.
pub(super) fn check_shape(multiprocessors: u64, function: &Function, shape: &Shape) -> Reply<u64> {
    let dynamic = u64::from(shape.config.dynamic_shared);
    let LaunchConfig { grid, block, .. } = shape.config;
    let within = |sizes: [u32; 3], most: [u32; 3]| {
        let mut pairs = sizes.iter().zip(most);
        pairs.all(|(size, most)| (1..=most).contains(size))
    };
    // Within these limits no product is larger than 64 bits.
    if !within(block, [1024, 1024, 64]) || !within(grid, [0x7fff_ffff, 65535, 65535]) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let count = |sizes: [u32; 3]| sizes.map(u64::from).iter().product::<u64>();
    let threads = count(block);
    if threads > 1024 || dynamic > function.most_dynamic() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let resident = blocks_per_multiprocessor(function, threads, dynamic) * multiprocessors;
    if shape.cooperative && count(grid) > resident {
        return Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(resident)
}

/// Takes one attribute of a launch over.
///
/// # Errors
/// An invalid value, or not supported for one that would change what the kernel may rely
/// on.
pub(super) fn apply(call: &Call<'_>, shape: &mut Shape, attribute: &CUlaunchAttribute) -> Reply {
    use CUlaunchAttributeID as A;
    let invalid = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    let value = &attribute.value;
    match attribute.id {
        // Hints, and a stream that waits for all of a kernel is right for all of these.
        A::CU_LAUNCH_ATTRIBUTE_IGNORE
        | A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        | A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
        | A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        | A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
        | A::CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING => Ok(()),
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {
            // SAFETY: the attribute's id says which member of the union is set, and every
            // bit pattern of it is a number.
            match unsafe { value.memSyncDomain }.0 {
                0 | 1 => Ok(()),
                _ => invalid,
            }
        }
        A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            // SAFETY: as above. Read as signed: -1 is the default.
            match unsafe { value.sharedMemCarveout }.cast_signed() {
                -1..=100 => Ok(()),
                _ => invalid,
            }
        }
        A::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
            // SAFETY: as above.
            shape.priority = Some(clamp(unsafe { value.priority }));
            Ok(())
        }
        A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
            // SAFETY: as above.
            shape.cooperative = unsafe { value.cooperative } != 0;
            Ok(())
        }
        A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
            // SAFETY: as above, for three numbers.
            let size = unsafe { value.clusterDim };
            if [size.x, size.y, size.z].iter().all(|len| *len < 2) {
                return Ok(());
            }
            not_supported(call, "clusters of more than one block")
        }
        // Both may come as late as the end of the kernel.
        A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => {
            // SAFETY: as above, for a handle and two numbers.
            after(call, shape, unsafe { value.programmaticEvent }.event)
        }
        A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT => {
            // SAFETY: as above, for a handle and a number.
            after(call, shape, unsafe { value.launchCompletionEvent }.event)
        }
        A::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => {
            not_supported(call, "a preferred cluster size")
        }
        A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE => {
            not_supported(call, "a graph's node in a launch without a graph")
        }
        // Of streams and graphs (synchronisation policy), or unknown.
        _ => invalid,
    }
}

pub(super) fn not_supported(call: &Call<'_>, what: &str) -> Reply {
    call.machine
        .messages
        .add(format!("a launch asks for {what}: not supported"));
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// Has an event recorded after the kernel. It must not take times.
fn after(call: &Call<'_>, shape: &mut Shape, event: CUevent) -> Reply {
    if crate::device::api::streams::event::get(call, event)?.has_timing() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    shape.after.push(event);
    Ok(())
}

/// Sets an attribute of a graph's node, as a launch would have had it.
pub(in crate::device::api) fn set_attribute(
    call: &Call<'_>,
    launch: &mut Launch,
    attribute: &CUlaunchAttribute,
) -> Reply {
    let mut shape = Shape {
        config: launch.config,
        stream: std::ptr::null_mut(),
        cooperative: launch.cooperative,
        priority: launch.priority,
        after: Vec::new(),
    };
    apply(call, &mut shape, attribute)?;
    if !shape.after.is_empty() {
        return not_supported(call, "an event of a graph's kernel");
    }
    let blocks = launch.config.grid.map(u64::from).iter().product::<u64>();
    if shape.cooperative && blocks > launch.resident {
        return Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    (launch.cooperative, launch.priority) = (shape.cooperative, shape.priority);
    Ok(())
}

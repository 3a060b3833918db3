//! What a device says about itself.

use std::ffi::{c_char, c_int};

use cupola_sys::driver::*;

use crate::device::api::copies::region::MAX_PITCH;
use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply, Text};
use crate::device::calls::call::Call;
use crate::device::machine::Device;
use crate::device::machine::profile::Profile;
use crate::device::machine::visible;
use crate::device::memory::VMM;

fn get(call: &Call<'_>, device: Out<CUdevice>, ordinal: c_int) -> Reply {
    call.machine.device(ordinal)?;
    device.set(ordinal)
}

fn count(call: &Call<'_>, count: Out<c_int>) -> Reply {
    count.set(c_int::try_from(call.machine.devices.len()).unwrap_or(c_int::MAX))
}

fn name(call: &Call<'_>, name: Out<c_char>, len: c_int, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    name.set_text(len, &device.config.name)
}

fn uuid(call: &Call<'_>, uuid: Out<CUuuid>, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    let bytes = visible::uuid(device.number, device.config.kind()).map(|byte| byte as c_char);
    uuid.set(CUuuid { bytes })
}

fn total_memory(call: &Call<'_>, bytes: Out<usize>, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    bytes.set(usize::try_from(device.account.total()).unwrap_or(usize::MAX))
}

fn compute_capability(
    call: &Call<'_>,
    major: Out<c_int>,
    minor: Out<c_int>,
    device: CUdevice,
) -> Reply {
    let (high, low) = call.machine.device(device)?.config.capability;
    major.set(signed(high))?;
    minor.set(signed(low))
}

fn bus_id(call: &Call<'_>, id: Out<c_char>, len: c_int, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    id.set_text(len, &bus_id_of(device))
}

fn bus_id_of(device: &Device) -> String {
    format!("0000:{:02X}:00.0", bus(device))
}

/// Instances are parts of one GPU.
fn bus(device: &Device) -> usize {
    match device.config.kind() {
        Profile::Mig => 1,
        _ => device.number + 1,
    }
}

fn by_bus_id(call: &Call<'_>, found: Out<CUdevice>, id: Text) -> Reply {
    let id = id.bytes()?.to_ascii_uppercase();
    // The domain, `0000:`, may be left out.
    let fits = |device: &&std::sync::Arc<Device>| {
        let own = bus_id_of(device).into_bytes();
        id == own || id == own[5..]
    };
    let device = call.machine.devices.iter().find(fits);
    let device = device.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    found.set(device.ordinal as CUdevice)
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUdevice_attribute,
    device: CUdevice,
) -> Reply {
    let device = call.machine.device(device)?;
    value.set(attribute_of(device, attribute).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?)
}

fn signed(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

/// The limits are those of compute capability 8.0, which the device plays by default.
/// Everything that is not modelled (textures, clusters) is 0. Managed memory is where
/// host and devices reach it at any time; other memory of the host must be page-locked.
pub(in crate::device) fn attribute_of(
    device: &Device,
    attribute: CUdevice_attribute,
) -> Option<c_int> {
    use CUdevice_attribute as A;
    let config = &device.config;
    Some(match attribute {
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        | A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X
        | A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => 1024,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => 64,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => c_int::MAX,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y | A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => 65_535,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => 48 << 10,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => 163 << 10,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => 164 << 10,
        A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK => 1 << 10,
        A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY => 64 << 10,
        A::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
        A::CU_DEVICE_ATTRIBUTE_MAX_PITCH => MAX_PITCH as c_int,
        A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
        | A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR => 64 << 10,
        A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE | A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => {
            signed(config.clock_khz)
        }
        A::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT | A::CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT => 512,
        A::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT => 32,
        A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => signed(config.multiprocessors),
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR => 2048,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR => 32,
        A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => signed(config.copy_engines),
        A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => 64,
        A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => 4 << 20,
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => signed(config.capability.0),
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => signed(config.capability.1),
        A::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID => bus(device) as c_int,
        A::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => 1,
        A::CU_DEVICE_ATTRIBUTE_NUMA_ID | A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID => -1,
        A::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT => 1,
        A::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT => config.kernel_time_limit.is_some().into(),
        A::CU_DEVICE_ATTRIBUTE_INTEGRATED => config.integrated.into(),
        A::CU_DEVICE_ATTRIBUTE_GPU_OVERLAP
        | A::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
        | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS
        | A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
        | A::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
        | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
        | A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
        | A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS => 1,
        A::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
        | A::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED => {
            config.kind().may_register().is_ok().into()
        }
        // The first form of the functions is not there, as on an H200.
        A::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
        | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR => 1,
        // The first has an older name with the same number.
        A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED => c_int::from(VMM),
        other if (1..A::CU_DEVICE_ATTRIBUTE_MAX.0).contains(&other.0) => 0,
        _ => return None,
    })
}

functions! {
    Initialized {
        cuDeviceGet: (device: *mut CUdevice, ordinal: c_int) = get;
        cuDeviceGetCount: (count: *mut c_int) = count;
        cuDeviceGetName: (name: *mut c_char, len: c_int, device: CUdevice) = name;
        cuDeviceGetUuid: (uuid: *mut CUuuid, device: CUdevice) = uuid;
        cuDeviceGetUuid_v2: (uuid: *mut CUuuid, device: CUdevice) = uuid;
        cuDeviceTotalMem_v2: (bytes: *mut usize, device: CUdevice) = total_memory;
        cuDeviceComputeCapability: (major: *mut c_int, minor: *mut c_int, device: CUdevice)
            = compute_capability;
        cuDeviceGetPCIBusId: (id: *mut c_char, len: c_int, device: CUdevice) = bus_id;
        cuDeviceGetByPCIBusId: (device: *mut CUdevice, id: *const c_char) = by_bus_id;
        cuDeviceGetAttribute: (value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice)
            = attribute;
    }
}

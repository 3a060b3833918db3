//! What the driver's functions for nodes are given, and which of their forms a driver has.

use std::ffi::c_void;
use std::ptr;

use cupola_sys::Version;
use cupola_sys::driver::flags::GraphInstantiateFlags;
use cupola_sys::driver::{
    CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUdeviceptr, CUgraph, CUgraphDeviceNode, CUgraphExec, CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo, CUgraphNode, CUkernelNodeAttrValue, CUlaunchAttributeID,
    CUmemorytype, Driver, DriverError,
};

use crate::error::{Error, Result};
use crate::module::Function;
use crate::ops::{LaunchAttributes, LaunchConfig, Pattern};

/// A graph, and the nodes in it that another one comes after.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) graph: CUgraph,
    pub(super) after: *const CUgraphNode,
    pub(super) count: usize,
}

/// A kernel with arguments at these addresses.
pub(super) fn kernel(
    function: &Function,
    config: LaunchConfig,
    arguments: &mut [*mut c_void],
) -> CUDA_KERNEL_NODE_PARAMS {
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    CUDA_KERNEL_NODE_PARAMS {
        func: function.raw(),
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: config.shared_bytes,
        kernelParams: arguments.as_mut_ptr(),
        extra: ptr::null_mut(),
        kern: ptr::null_mut(),
        ctx: ptr::null_mut(),
    }
}

/// The form from before CUDA 12.0: a function is in one context there.
fn kernel_v1(new: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: new.func,
        gridDimX: new.gridDimX,
        gridDimY: new.gridDimY,
        gridDimZ: new.gridDimZ,
        blockDimX: new.blockDimX,
        blockDimY: new.blockDimY,
        blockDimZ: new.blockDimZ,
        sharedMemBytes: new.sharedMemBytes,
        kernelParams: new.kernelParams,
        extra: new.extra,
    }
}

/// `cuGraphAddKernelNode`, in the newer of its forms that the driver has.
///
/// # Safety
/// The graph, the nodes and the function are alive, `node` may be written, and the arguments are those
/// of the function.
pub(super) unsafe fn add_kernel(
    driver: &Driver,
    node: *mut CUgraphNode,
    to: Place,
    parameters: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<(), DriverError> {
    let Place {
        graph,
        after,
        count,
    } = to;
    // SAFETY: the conditions of this function; `parameters` outlives the call.
    match unsafe { driver.cuGraphAddKernelNode_v2(node, graph, after, count, parameters) } {
        Err(DriverError::Missing { .. }) => {
            let old = kernel_v1(parameters);
            // SAFETY: as above.
            unsafe { driver.cuGraphAddKernelNode(node, graph, after, count, &raw const old) }
        }
        added => added,
    }
}

/// `cuGraphExecKernelNodeSetParams`, in the newer of its forms that the driver has.
///
/// # Safety
/// Executable, node and function are alive, and the arguments are those of the function.
pub(super) unsafe fn set_kernel(
    driver: &Driver,
    executable: CUgraphExec,
    node: CUgraphNode,
    parameters: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<(), DriverError> {
    // SAFETY: the conditions of this function; `parameters` outlives the call.
    match unsafe { driver.cuGraphExecKernelNodeSetParams_v2(executable, node, parameters) } {
        Err(DriverError::Missing { .. }) => {
            let old = kernel_v1(parameters);
            // SAFETY: as above.
            unsafe { driver.cuGraphExecKernelNodeSetParams(executable, node, &raw const old) }
        }
        set => set,
    }
}

/// Gives a kernel node attributes; a node that cannot have all of them ends.
///
/// # Safety
/// The node is alive, and of a graph that no other thread makes calls with.
pub(super) unsafe fn set_attributes(
    driver: &Driver,
    node: CUgraphNode,
    attributes: LaunchAttributes,
) -> Result<(), DriverError> {
    for attribute in attributes.list().as_slice() {
        let (id, value) = (attribute.id, &raw const attribute.value);
        // SAFETY: the conditions of this function; `value` outlives the call.
        if let Err(refused) = unsafe { driver.cuGraphKernelNodeSetAttribute(node, id, value) } {
            // SAFETY: as above; the caller does not name the node.
            let _ = unsafe { driver.cuGraphDestroyNode(node) };
            return Err(refused);
        }
    }
    Ok(())
}

/// Makes a kernel node one that other kernels may change.
///
/// # Safety
/// The node is alive, and of a graph that no other thread makes calls with.
pub(super) unsafe fn make_updatable(
    driver: &Driver,
    node: CUgraphNode,
) -> Result<CUgraphDeviceNode, DriverError> {
    let id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    let mut value = CUkernelNodeAttrValue::default();
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    // SAFETY: the conditions of this function; `value` outlives the call, which writes the device's name
    // of the node into it although its parameter says that it does not.
    unsafe { driver.cuGraphKernelNodeSetAttribute(node, id, &raw mut value) }?;
    // SAFETY: every bit pattern of the member is a number and an address.
    if unsafe { value.deviceUpdatableKernelNode }.devNode.is_null() {
        // SAFETY: the conditions of this function; `value` outlives the call.
        unsafe { driver.cuGraphKernelNodeGetAttribute(node, id, &raw mut value) }?;
    }
    // SAFETY: every bit pattern of the member is a number and an address.
    Ok(unsafe { value.deviceUpdatableKernelNode }.devNode)
}

/// Refuses a driver that has the functions, but not yet this feature of theirs.
///
/// # Errors
/// [`Error::Unsupported`].
pub(super) fn needs(driver: &Driver, symbol: &'static str, needs: Version) -> Result<()> {
    let have = driver.driver_version();
    match have < needs {
        true => Err(Error::Unsupported {
            symbol,
            needs,
            have,
        }),
        false => Ok(()),
    }
}

/// `cuGraphInstantiateWithFlags`; by a driver before CUDA 11.4 `cuGraphInstantiate`, which has no flags.
///
/// # Safety
/// The graph is alive, and `executable` may be written.
pub(super) unsafe fn instantiate(
    driver: &Driver,
    executable: *mut CUgraphExec,
    graph: CUgraph,
    flags: GraphInstantiateFlags,
) -> Result<(), DriverError> {
    // SAFETY: the conditions of this function.
    match unsafe { driver.cuGraphInstantiateWithFlags(executable, graph, flags.bits()) } {
        Err(DriverError::Missing { .. }) if flags.is_empty() => {
            let (mut node, log) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: as above; without a log none is written, and `node` outlives the call.
            unsafe { driver.cuGraphInstantiate_v2(executable, graph, &raw mut node, log, 0) }
        }
        made => made,
    }
}

/// `cuGraphExecUpdate`, in the newer of its forms that the driver has, and why it was refused if it was.
///
/// # Safety
/// Executable and graph are alive.
pub(super) unsafe fn update(
    driver: &Driver,
    executable: CUgraphExec,
    graph: CUgraph,
) -> (Result<(), DriverError>, CUgraphExecUpdateResult) {
    let mut info = CUgraphExecUpdateResultInfo {
        result: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        errorNode: ptr::null_mut(),
        errorFromNode: ptr::null_mut(),
    };
    // SAFETY: the conditions of this function; `info` outlives the call.
    match unsafe { driver.cuGraphExecUpdate_v2(executable, graph, &raw mut info) } {
        Err(DriverError::Missing { .. }) => {
            let (mut node, mut result) = (ptr::null_mut(), info.result);
            // SAFETY: as above.
            let updated = unsafe {
                driver.cuGraphExecUpdate(executable, graph, &raw mut node, &raw mut result)
            };
            (updated, result)
        }
        updated => (updated, info.result),
    }
}

/// A fill of so many bytes.
#[track_caller]
pub(super) fn fill(
    address: CUdeviceptr,
    bytes: usize,
    pattern: Pattern,
) -> Result<CUDA_MEMSET_NODE_PARAMS> {
    check_bytes(bytes)?;
    let (value, size) = pattern.number();
    Ok(CUDA_MEMSET_NODE_PARAMS {
        dst: address,
        pitch: 0,
        value,
        elementSize: size,
        width: bytes / size as usize,
        height: 1,
    })
}

/// A copy of bytes in a row.
pub(super) struct CopyRow(CUDA_MEMCPY3D);

impl CopyRow {
    /// Of so many bytes, without its ends.
    #[track_caller]
    pub(super) fn of_bytes(bytes: usize) -> Result<Self> {
        check_bytes(bytes)?;
        Ok(Self(CUDA_MEMCPY3D {
            WidthInBytes: bytes,
            Height: 1,
            Depth: 1,
            ..CUDA_MEMCPY3D::default()
        }))
    }

    pub(super) fn source_device(mut self, address: CUdeviceptr) -> Self {
        self.0.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        self.0.srcDevice = address;
        self
    }

    pub(super) fn source_host(mut self, start: *const c_void) -> Self {
        self.0.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        self.0.srcHost = start;
        self
    }

    pub(super) fn target_device(mut self, address: CUdeviceptr) -> Self {
        self.0.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        self.0.dstDevice = address;
        self
    }

    pub(super) fn target_host(mut self, start: *mut c_void) -> Self {
        self.0.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        self.0.dstHost = start;
        self
    }

    pub(super) fn done(self) -> CUDA_MEMCPY3D {
        self.0
    }
}

#[track_caller]
fn check_bytes(bytes: usize) -> Result<()> {
    match bytes {
        0 => Err(Error::invalid("copy", "a node has some elements at least")),
        _ => Ok(()),
    }
}

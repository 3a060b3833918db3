// Written by `cargo xtask bindgen`. Do not edit.
pub type PFN_cuGetErrorString_v6000 = ::core::option::Option<
    unsafe extern "C" fn(
        error: CUresult,
        pStr: *mut *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuGetErrorName_v6000 = ::core::option::Option<
    unsafe extern "C" fn(
        error: CUresult,
        pStr: *mut *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuInit_v2000 = ::core::option::Option<
    unsafe extern "C" fn(Flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuDriverGetVersion_v2020 = ::core::option::Option<
    unsafe extern "C" fn(driverVersion: *mut ::core::ffi::c_int) -> CUresult,
>;
pub type PFN_cuDeviceGet_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        device: *mut CUdevice_v1,
        ordinal: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetCount_v2000 = ::core::option::Option<
    unsafe extern "C" fn(count: *mut ::core::ffi::c_int) -> CUresult,
>;
pub type PFN_cuDeviceGetName_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        name: *mut ::core::ffi::c_char,
        len: ::core::ffi::c_int,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetUuid_v9020 = ::core::option::Option<
    unsafe extern "C" fn(uuid: *mut CUuuid, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceGetUuid_v11040 = ::core::option::Option<
    unsafe extern "C" fn(uuid: *mut CUuuid, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceGetLuid_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        luid: *mut ::core::ffi::c_char,
        deviceNodeMask: *mut ::core::ffi::c_uint,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuDeviceTotalMem_v3020 = ::core::option::Option<
    unsafe extern "C" fn(bytes: *mut usize, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceGetTexture1DLinearMaxWidth_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        maxWidthInElements: *mut usize,
        format: CUarray_format,
        numChannels: ::core::ffi::c_uint,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetAttribute_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pi: *mut ::core::ffi::c_int,
        attrib: CUdevice_attribute,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetHostAtomicCapabilities_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        capabilities: *mut ::core::ffi::c_uint,
        operations: *const CUatomicOperation,
        count: ::core::ffi::c_uint,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetNvSciSyncAttributes_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        nvSciSyncAttrList: *mut ::core::ffi::c_void,
        dev: CUdevice_v1,
        flags: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuDeviceSetMemPool_v11020 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1, pool: CUmemoryPool) -> CUresult,
>;
pub type PFN_cuDeviceGetMemPool_v11020 = ::core::option::Option<
    unsafe extern "C" fn(pool: *mut CUmemoryPool, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceGetDefaultMemPool_v11020 = ::core::option::Option<
    unsafe extern "C" fn(pool_out: *mut CUmemoryPool, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceGetProperties_v2000 = ::core::option::Option<
    unsafe extern "C" fn(prop: *mut CUdevprop_v1, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceComputeCapability_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        major: *mut ::core::ffi::c_int,
        minor: *mut ::core::ffi::c_int,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxRetain_v7000 = ::core::option::Option<
    unsafe extern "C" fn(pctx: *mut CUcontext, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxRelease_v11000 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxSetFlags_v11000 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1, flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxGetState_v7000 = ::core::option::Option<
    unsafe extern "C" fn(
        dev: CUdevice_v1,
        flags: *mut ::core::ffi::c_uint,
        active: *mut ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxReset_v11000 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDeviceGetExecAffinitySupport_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        pi: *mut ::core::ffi::c_int,
        type_: CUexecAffinityType,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuCtxCreate_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pctx: *mut CUcontext,
        flags: ::core::ffi::c_uint,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuCtxCreate_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        pctx: *mut CUcontext,
        paramsArray: *mut CUexecAffinityParam,
        numParams: ::core::ffi::c_int,
        flags: ::core::ffi::c_uint,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuCtxCreate_v12050 = ::core::option::Option<
    unsafe extern "C" fn(
        pctx: *mut CUcontext,
        ctxCreateParams: *mut CUctxCreateParams,
        flags: ::core::ffi::c_uint,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuCtxGetId_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        ctx: CUcontext,
        ctxId: *mut ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuCtxDestroy_v4000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxPushCurrent_v4000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxPopCurrent_v4000 = ::core::option::Option<
    unsafe extern "C" fn(pctx: *mut CUcontext) -> CUresult,
>;
pub type PFN_cuCtxSetCurrent_v4000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxGetCurrent_v4000 = ::core::option::Option<
    unsafe extern "C" fn(pctx: *mut CUcontext) -> CUresult,
>;
pub type PFN_cuCtxGetDevice_v2000 = ::core::option::Option<
    unsafe extern "C" fn(device: *mut CUdevice_v1) -> CUresult,
>;
pub type PFN_cuCtxGetDevice_v13000 = ::core::option::Option<
    unsafe extern "C" fn(device: *mut CUdevice, ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxGetFlags_v7000 = ::core::option::Option<
    unsafe extern "C" fn(flags: *mut ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuCtxSetFlags_v12010 = ::core::option::Option<
    unsafe extern "C" fn(flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuCtxSynchronize_v2000 = ::core::option::Option<
    unsafe extern "C" fn() -> CUresult,
>;
pub type PFN_cuCtxSynchronize_v13000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxSetLimit_v3010 = ::core::option::Option<
    unsafe extern "C" fn(limit: CUlimit, value: usize) -> CUresult,
>;
pub type PFN_cuCtxGetLimit_v3010 = ::core::option::Option<
    unsafe extern "C" fn(pvalue: *mut usize, limit: CUlimit) -> CUresult,
>;
pub type PFN_cuCtxGetCacheConfig_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pconfig: *mut CUfunc_cache) -> CUresult,
>;
pub type PFN_cuCtxSetCacheConfig_v3020 = ::core::option::Option<
    unsafe extern "C" fn(config: CUfunc_cache) -> CUresult,
>;
pub type PFN_cuCtxGetSharedMemConfig_v4020 = ::core::option::Option<
    unsafe extern "C" fn(pConfig: *mut CUsharedconfig) -> CUresult,
>;
pub type PFN_cuCtxSetSharedMemConfig_v4020 = ::core::option::Option<
    unsafe extern "C" fn(config: CUsharedconfig) -> CUresult,
>;
pub type PFN_cuCtxGetApiVersion_v3020 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext, version: *mut ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuCtxGetStreamPriorityRange_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        leastPriority: *mut ::core::ffi::c_int,
        greatestPriority: *mut ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuCtxResetPersistingL2Cache_v11000 = ::core::option::Option<
    unsafe extern "C" fn() -> CUresult,
>;
pub type PFN_cuCtxAttach_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pctx: *mut CUcontext, flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuCtxDetach_v2000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxGetExecAffinity_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        pExecAffinity: *mut CUexecAffinityParam,
        type_: CUexecAffinityType,
    ) -> CUresult,
>;
pub type PFN_cuModuleLoad_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        module: *mut CUmodule,
        fname: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuModuleLoadData_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        module: *mut CUmodule,
        image: *const ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuModuleLoadDataEx_v2010 = ::core::option::Option<
    unsafe extern "C" fn(
        module: *mut CUmodule,
        image: *const ::core::ffi::c_void,
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuModuleLoadFatBinary_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        module: *mut CUmodule,
        fatCubin: *const ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuModuleUnload_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hmod: CUmodule) -> CUresult,
>;
pub type PFN_cuModuleGetFunction_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: *mut CUfunction,
        hmod: CUmodule,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuModuleGetGlobal_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        bytes: *mut usize,
        hmod: CUmodule,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuModuleGetTexRef_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pTexRef: *mut CUtexref,
        hmod: CUmodule,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuModuleGetSurfRef_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        pSurfRef: *mut CUsurfref,
        hmod: CUmodule,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuModuleGetFunctionCount_v12040 = ::core::option::Option<
    unsafe extern "C" fn(count: *mut ::core::ffi::c_uint, hmod: CUmodule) -> CUresult,
>;
pub type PFN_cuModuleEnumerateFunctions_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        functions: *mut CUfunction,
        numFunctions: ::core::ffi::c_uint,
        mod_: CUmodule,
    ) -> CUresult,
>;
pub type PFN_cuLinkCreate_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
        stateOut: *mut CUlinkState,
    ) -> CUresult,
>;
pub type PFN_cuLinkAddData_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        state: CUlinkState,
        type_: CUjitInputType,
        data: *mut ::core::ffi::c_void,
        size: usize,
        name: *const ::core::ffi::c_char,
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLinkAddFile_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        state: CUlinkState,
        type_: CUjitInputType,
        path: *const ::core::ffi::c_char,
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLinkComplete_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        state: CUlinkState,
        cubinOut: *mut *mut ::core::ffi::c_void,
        sizeOut: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuLinkDestroy_v5050 = ::core::option::Option<
    unsafe extern "C" fn(state: CUlinkState) -> CUresult,
>;
pub type PFN_cuMemGetInfo_v3020 = ::core::option::Option<
    unsafe extern "C" fn(free: *mut usize, total: *mut usize) -> CUresult,
>;
pub type PFN_cuMemAlloc_v3020 = ::core::option::Option<
    unsafe extern "C" fn(dptr: *mut CUdeviceptr_v2, bytesize: usize) -> CUresult,
>;
pub type PFN_cuMemAllocPitch_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        pPitch: *mut usize,
        WidthInBytes: usize,
        Height: usize,
        ElementSizeBytes: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemFree_v3020 = ::core::option::Option<
    unsafe extern "C" fn(dptr: CUdeviceptr_v2) -> CUresult,
>;
pub type PFN_cuMemGetAddressRange_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pbase: *mut CUdeviceptr_v2,
        psize: *mut usize,
        dptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuMemAllocHost_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pp: *mut *mut ::core::ffi::c_void, bytesize: usize) -> CUresult,
>;
pub type PFN_cuMemFreeHost_v2000 = ::core::option::Option<
    unsafe extern "C" fn(p: *mut ::core::ffi::c_void) -> CUresult,
>;
pub type PFN_cuMemHostAlloc_v2020 = ::core::option::Option<
    unsafe extern "C" fn(
        pp: *mut *mut ::core::ffi::c_void,
        bytesize: usize,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemHostGetDevicePointer_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pdptr: *mut CUdeviceptr_v2,
        p: *mut ::core::ffi::c_void,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemHostGetFlags_v2030 = ::core::option::Option<
    unsafe extern "C" fn(
        pFlags: *mut ::core::ffi::c_uint,
        p: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuMemAllocManaged_v6000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        bytesize: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetByPCIBusId_v4010 = ::core::option::Option<
    unsafe extern "C" fn(
        dev: *mut CUdevice_v1,
        pciBusId: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetPCIBusId_v4010 = ::core::option::Option<
    unsafe extern "C" fn(
        pciBusId: *mut ::core::ffi::c_char,
        len: ::core::ffi::c_int,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuIpcGetEventHandle_v4010 = ::core::option::Option<
    unsafe extern "C" fn(pHandle: *mut CUipcEventHandle_v1, event: CUevent) -> CUresult,
>;
pub type PFN_cuIpcOpenEventHandle_v4010 = ::core::option::Option<
    unsafe extern "C" fn(phEvent: *mut CUevent, handle: CUipcEventHandle_v1) -> CUresult,
>;
pub type PFN_cuIpcGetMemHandle_v4010 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle: *mut CUipcMemHandle_v1,
        dptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuIpcOpenMemHandle_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        pdptr: *mut CUdeviceptr_v2,
        handle: CUipcMemHandle_v1,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuIpcCloseMemHandle_v4010 = ::core::option::Option<
    unsafe extern "C" fn(dptr: CUdeviceptr_v2) -> CUresult,
>;
pub type PFN_cuMemHostRegister_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        p: *mut ::core::ffi::c_void,
        bytesize: usize,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemHostUnregister_v4000 = ::core::option::Option<
    unsafe extern "C" fn(p: *mut ::core::ffi::c_void) -> CUresult,
>;
pub type PFN_cuMemcpy_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dst: CUdeviceptr_v2,
        src: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyPeer_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstContext: CUcontext,
        srcDevice: CUdeviceptr_v2,
        srcContext: CUcontext,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoD_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoH_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoD_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoA_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoD_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoA_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoH_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoA_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy2D_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v2) -> CUresult,
>;
pub type PFN_cuMemcpy2DUnaligned_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v2) -> CUresult,
>;
pub type PFN_cuMemcpy3D_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_v2) -> CUresult,
>;
pub type PFN_cuMemcpy3DPeer_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_PEER_v1) -> CUresult,
>;
pub type PFN_cuMemcpyAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dst: CUdeviceptr_v2,
        src: CUdeviceptr_v2,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyPeerAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstContext: CUcontext,
        srcDevice: CUdeviceptr_v2,
        srcContext: CUcontext,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoDAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoHAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoDAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoAAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoHAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy2DAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v2, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemcpy3DAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_v2, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemcpy3DPeerAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        pCopy: *const CUDA_MEMCPY3D_PEER_v1,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyBatchAsync_v12080_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dsts: *mut CUdeviceptr_v2,
        srcs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        attrs: *mut CUmemcpyAttributes_v1,
        attrIdxs: *mut usize,
        numAttrs: usize,
        failIdx: *mut usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DBatchAsync_v12080_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        numParams: usize,
        opList: *mut CUDA_MEMCPY3D_BATCH_OP_v1,
        failIdx: *mut usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyBatchAsync_v13000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dsts: *mut CUdeviceptr_v2,
        srcs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        attrs: *mut CUmemcpyAttributes_v1,
        attrIdxs: *mut usize,
        numAttrs: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DBatchAsync_v13000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        numParams: usize,
        opList: *mut CUDA_MEMCPY3D_BATCH_OP_v1,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuFabricCpyBatchAsync_v13050_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        numOps: usize,
        opList: *mut CUDA_FABRIC_COPY_BATCH_OP_v1,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyWithAttributesAsync_v13020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dst: CUdeviceptr_v2,
        src: CUdeviceptr_v2,
        size: usize,
        attr: *mut CUmemcpyAttributes_v1,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        op: *mut CUDA_MEMCPY3D_BATCH_OP_v1,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD8_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        uc: ::core::ffi::c_uchar,
        N: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD16_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        us: ::core::ffi::c_ushort,
        N: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD32_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        ui: ::core::ffi::c_uint,
        N: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D8_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        uc: ::core::ffi::c_uchar,
        Width: usize,
        Height: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D16_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        us: ::core::ffi::c_ushort,
        Width: usize,
        Height: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D32_v7000_ptds = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        ui: ::core::ffi::c_uint,
        Width: usize,
        Height: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD8Async_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        uc: ::core::ffi::c_uchar,
        N: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD16Async_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        us: ::core::ffi::c_ushort,
        N: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD32Async_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        ui: ::core::ffi::c_uint,
        N: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D8Async_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        uc: ::core::ffi::c_uchar,
        Width: usize,
        Height: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D16Async_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        us: ::core::ffi::c_ushort,
        Width: usize,
        Height: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D32Async_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        ui: ::core::ffi::c_uint,
        Width: usize,
        Height: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuArrayCreate_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle: *mut CUarray,
        pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR_v2,
    ) -> CUresult,
>;
pub type PFN_cuArrayGetDescriptor_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR_v2,
        hArray: CUarray,
    ) -> CUresult,
>;
pub type PFN_cuArrayGetSparseProperties_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES_v1,
        array: CUarray,
    ) -> CUresult,
>;
pub type PFN_cuMipmappedArrayGetSparseProperties_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES_v1,
        mipmap: CUmipmappedArray,
    ) -> CUresult,
>;
pub type PFN_cuArrayGetMemoryRequirements_v11060 = ::core::option::Option<
    unsafe extern "C" fn(
        memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS_v1,
        array: CUarray,
        device: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuMipmappedArrayGetMemoryRequirements_v11060 = ::core::option::Option<
    unsafe extern "C" fn(
        memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS_v1,
        mipmap: CUmipmappedArray,
        device: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuArrayGetPlane_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        pPlaneArray: *mut CUarray,
        hArray: CUarray,
        planeIdx: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuArrayDestroy_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hArray: CUarray) -> CUresult,
>;
pub type PFN_cuArray3DCreate_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle: *mut CUarray,
        pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR_v2,
    ) -> CUresult,
>;
pub type PFN_cuArray3DGetDescriptor_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR_v2,
        hArray: CUarray,
    ) -> CUresult,
>;
pub type PFN_cuMipmappedArrayCreate_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle: *mut CUmipmappedArray,
        pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR_v2,
        numMipmapLevels: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMipmappedArrayGetLevel_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pLevelArray: *mut CUarray,
        hMipmappedArray: CUmipmappedArray,
        level: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMipmappedArrayDestroy_v5000 = ::core::option::Option<
    unsafe extern "C" fn(hMipmappedArray: CUmipmappedArray) -> CUresult,
>;
pub type PFN_cuMemAddressReserve_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        ptr: *mut CUdeviceptr_v2,
        size: usize,
        alignment: usize,
        addr: CUdeviceptr_v2,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMemAddressFree_v10020 = ::core::option::Option<
    unsafe extern "C" fn(ptr: CUdeviceptr_v2, size: usize) -> CUresult,
>;
pub type PFN_cuMemCreate_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        handle: *mut CUmemGenericAllocationHandle_v1,
        size: usize,
        prop: *const CUmemAllocationProp_v1,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMemRelease_v10020 = ::core::option::Option<
    unsafe extern "C" fn(handle: CUmemGenericAllocationHandle_v1) -> CUresult,
>;
pub type PFN_cuMemMap_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        ptr: CUdeviceptr_v2,
        size: usize,
        offset: usize,
        handle: CUmemGenericAllocationHandle_v1,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMemMapArrayAsync_v11010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        mapInfoList: *mut CUarrayMapInfo_v1,
        count: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemUnmap_v10020 = ::core::option::Option<
    unsafe extern "C" fn(ptr: CUdeviceptr_v2, size: usize) -> CUresult,
>;
pub type PFN_cuMemSetAccess_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        ptr: CUdeviceptr_v2,
        size: usize,
        desc: *const CUmemAccessDesc_v1,
        count: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemGetAccess_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        flags: *mut ::core::ffi::c_ulonglong,
        location: *const CUmemLocation_v1,
        ptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuMemExportToShareableHandle_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        shareableHandle: *mut ::core::ffi::c_void,
        handle: CUmemGenericAllocationHandle_v1,
        handleType: CUmemAllocationHandleType,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMemImportFromShareableHandle_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        handle: *mut CUmemGenericAllocationHandle_v1,
        osHandle: *mut ::core::ffi::c_void,
        shHandleType: CUmemAllocationHandleType,
    ) -> CUresult,
>;
pub type PFN_cuMemGetAllocationGranularity_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        granularity: *mut usize,
        prop: *const CUmemAllocationProp_v1,
        option: CUmemAllocationGranularity_flags,
    ) -> CUresult,
>;
pub type PFN_cuMemGetAllocationPropertiesFromHandle_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        prop: *mut CUmemAllocationProp_v1,
        handle: CUmemGenericAllocationHandle_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemRetainAllocationHandle_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        handle: *mut CUmemGenericAllocationHandle_v1,
        addr: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuMemFreeAsync_v11020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(dptr: CUdeviceptr_v2, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemAllocAsync_v11020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        bytesize: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolTrimTo_v11020 = ::core::option::Option<
    unsafe extern "C" fn(pool: CUmemoryPool, minBytesToKeep: usize) -> CUresult,
>;
pub type PFN_cuMemPoolSetAttribute_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        pool: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolGetAttribute_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        pool: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolSetAccess_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        pool: CUmemoryPool,
        map: *const CUmemAccessDesc_v1,
        count: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolGetAccess_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        flags: *mut CUmemAccess_flags,
        memPool: CUmemoryPool,
        location: *mut CUmemLocation_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolCreate_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        pool: *mut CUmemoryPool,
        poolProps: *const CUmemPoolProps_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolDestroy_v11020 = ::core::option::Option<
    unsafe extern "C" fn(pool: CUmemoryPool) -> CUresult,
>;
pub type PFN_cuMemGetDefaultMemPool_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        pool_out: *mut CUmemoryPool,
        location: *mut CUmemLocation,
        type_: CUmemAllocationType,
    ) -> CUresult,
>;
pub type PFN_cuMemGetMemPool_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        pool_out: *mut CUmemoryPool,
        location: *mut CUmemLocation,
        type_: CUmemAllocationType,
    ) -> CUresult,
>;
pub type PFN_cuMemSetMemPool_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        location: *mut CUmemLocation,
        type_: CUmemAllocationType,
        pool: CUmemoryPool,
    ) -> CUresult,
>;
pub type PFN_cuMemAllocFromPoolAsync_v11020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        bytesize: usize,
        pool: CUmemoryPool,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolExportToShareableHandle_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        handle_out: *mut ::core::ffi::c_void,
        pool: CUmemoryPool,
        handleType: CUmemAllocationHandleType,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolImportFromShareableHandle_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        pool_out: *mut CUmemoryPool,
        handle: *mut ::core::ffi::c_void,
        handleType: CUmemAllocationHandleType,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolExportPointer_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        shareData_out: *mut CUmemPoolPtrExportData_v1,
        ptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuMemPoolImportPointer_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        ptr_out: *mut CUdeviceptr_v2,
        pool: CUmemoryPool,
        shareData: *mut CUmemPoolPtrExportData_v1,
    ) -> CUresult,
>;
pub type PFN_cuPointerGetAttribute_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        data: *mut ::core::ffi::c_void,
        attribute: CUpointer_attribute,
        ptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuMemPrefetchAsync_v8000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: CUdeviceptr_v2,
        count: usize,
        dstDevice: CUdevice_v1,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemAdvise_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: CUdeviceptr_v2,
        count: usize,
        advice: CUmem_advise,
        device: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemAdvise_v12020 = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: CUdeviceptr_v2,
        count: usize,
        advice: CUmem_advise,
        location: CUmemLocation_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemPrefetchAsync_v12020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: CUdeviceptr_v2,
        count: usize,
        location: CUmemLocation_v1,
        flags: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemPrefetchBatchAsync_v13000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dptrs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        prefetchLocs: *mut CUmemLocation_v1,
        prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemDiscardBatchAsync_v13000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dptrs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemDiscardAndPrefetchBatchAsync_v13000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        dptrs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        prefetchLocs: *mut CUmemLocation_v1,
        prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemRangeGetAttribute_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        data: *mut ::core::ffi::c_void,
        dataSize: usize,
        attribute: CUmem_range_attribute,
        devPtr: CUdeviceptr_v2,
        count: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemRangeGetAttributes_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        data: *mut *mut ::core::ffi::c_void,
        dataSizes: *mut usize,
        attributes: *mut CUmem_range_attribute,
        numAttributes: usize,
        devPtr: CUdeviceptr_v2,
        count: usize,
    ) -> CUresult,
>;
pub type PFN_cuMulticastCreate_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: *mut CUmemGenericAllocationHandle,
        prop: *const CUmulticastObjectProp,
    ) -> CUresult,
>;
pub type PFN_cuMulticastAddDevice_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: CUmemGenericAllocationHandle,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuMulticastBindMem_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: CUmemGenericAllocationHandle,
        mcOffset: usize,
        memHandle: CUmemGenericAllocationHandle,
        memOffset: usize,
        size: usize,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMulticastBindAddr_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: CUmemGenericAllocationHandle,
        mcOffset: usize,
        memptr: CUdeviceptr,
        size: usize,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMulticastUnbind_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: CUmemGenericAllocationHandle,
        dev: CUdevice,
        mcOffset: usize,
        size: usize,
    ) -> CUresult,
>;
pub type PFN_cuMulticastGetGranularity_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        granularity: *mut usize,
        prop: *const CUmulticastObjectProp,
        option: CUmulticastGranularity_flags,
    ) -> CUresult,
>;
pub type PFN_cuMulticastBindMem_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: CUmemGenericAllocationHandle,
        dev: CUdevice,
        mcOffset: usize,
        memHandle: CUmemGenericAllocationHandle,
        memOffset: usize,
        size: usize,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuMulticastBindAddr_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        mcHandle: CUmemGenericAllocationHandle,
        dev: CUdevice,
        mcOffset: usize,
        memptr: CUdeviceptr,
        size: usize,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointIdReserve_v13030 = ::core::option::Option<
    unsafe extern "C" fn(leId: *mut CUlogicalEndpointId, count: cuuint32_t) -> CUresult,
>;
pub type PFN_cuLogicalEndpointIdRelease_v13030 = ::core::option::Option<
    unsafe extern "C" fn(leId: CUlogicalEndpointId, count: cuuint32_t) -> CUresult,
>;
pub type PFN_cuLogicalEndpointCreate_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        leId: CUlogicalEndpointId,
        prop: *const CUlogicalEndpointProp,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointAddDevice_v13030 = ::core::option::Option<
    unsafe extern "C" fn(leId: CUlogicalEndpointId, dev: CUdevice) -> CUresult,
>;
pub type PFN_cuLogicalEndpointDestroy_v13030 = ::core::option::Option<
    unsafe extern "C" fn(leId: CUlogicalEndpointId) -> CUresult,
>;
pub type PFN_cuLogicalEndpointBindAddr_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        leId: CUlogicalEndpointId,
        dev: CUdevice,
        offset: cuuint64_t,
        ptr: *mut ::core::ffi::c_void,
        size: cuuint64_t,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointBindMem_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        leId: CUlogicalEndpointId,
        dev: CUdevice,
        offset: cuuint64_t,
        memHandle: CUmemGenericAllocationHandle,
        memOffset: cuuint64_t,
        size: cuuint64_t,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointUnbind_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        leId: CUlogicalEndpointId,
        dev: CUdevice,
        offset: cuuint64_t,
        size: cuuint64_t,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointExport_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        handle: *mut ::core::ffi::c_void,
        leId: CUlogicalEndpointId,
        handleType: CUlogicalEndpointIpcHandleType,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointImport_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        leId: CUlogicalEndpointId,
        handle: *const ::core::ffi::c_void,
        handleType: CUlogicalEndpointIpcHandleType,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointGetLimits_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        bindAlignment: *mut cuuint64_t,
        maxSize: *mut cuuint64_t,
        prop: *const CUlogicalEndpointProp,
    ) -> CUresult,
>;
pub type PFN_cuLogicalEndpointQuery_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        leId: CUlogicalEndpointId,
        count: cuuint32_t,
        queryStatus: *mut ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetFabricClusterUuid_v13040 = ::core::option::Option<
    unsafe extern "C" fn(uuid: *mut CUuuid, dev: CUdevice) -> CUresult,
>;
pub type PFN_cuDeviceGetCliqueCount_v13040 = ::core::option::Option<
    unsafe extern "C" fn(count: *mut usize, dev: CUdevice) -> CUresult,
>;
pub type PFN_cuDeviceGetCliqueInfo_v13040 = ::core::option::Option<
    unsafe extern "C" fn(
        cliqueInfo: *mut CUcliqueInfo,
        count: *mut usize,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuPointerSetAttribute_v6000 = ::core::option::Option<
    unsafe extern "C" fn(
        value: *const ::core::ffi::c_void,
        attribute: CUpointer_attribute,
        ptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuPointerGetAttributes_v7000 = ::core::option::Option<
    unsafe extern "C" fn(
        numAttributes: ::core::ffi::c_uint,
        attributes: *mut CUpointer_attribute,
        data: *mut *mut ::core::ffi::c_void,
        ptr: CUdeviceptr_v2,
    ) -> CUresult,
>;
pub type PFN_cuStreamCreate_v2000 = ::core::option::Option<
    unsafe extern "C" fn(phStream: *mut CUstream, Flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuStreamCreateWithPriority_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        phStream: *mut CUstream,
        flags: ::core::ffi::c_uint,
        priority: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetId_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        streamId: *mut ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetId_v12000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        streamId: *mut ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetPriority_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        priority: *mut ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetFlags_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, flags: *mut ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuStreamGetCtx_v9020_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, pctx: *mut CUcontext) -> CUresult,
>;
pub type PFN_cuStreamWaitEvent_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        hEvent: CUevent,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamAddCallback_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        callback: CUstreamCallback,
        userData: *mut ::core::ffi::c_void,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamBeginCapture_v10010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, mode: CUstreamCaptureMode) -> CUresult,
>;
pub type PFN_cuStreamBeginCaptureToGraph_v12030_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        mode: CUstreamCaptureMode,
    ) -> CUresult,
>;
pub type PFN_cuStreamBeginRecaptureToGraph_v13030_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        mode: CUstreamCaptureMode,
        hGraph: CUgraph,
        callbackFunc: CUgraphRecaptureCallback,
        userData: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuThreadExchangeStreamCaptureMode_v10010 = ::core::option::Option<
    unsafe extern "C" fn(mode: *mut CUstreamCaptureMode) -> CUresult,
>;
pub type PFN_cuStreamEndCapture_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult,
>;
pub type PFN_cuStreamIsCapturing_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus: *mut CUstreamCaptureStatus,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCaptureInfo_v10010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCaptureInfo_v11030_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
        graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode,
        numDependencies_out: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCaptureInfo_v12030_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
        graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode,
        edgeData_out: *mut *const CUgraphEdgeData,
        numDependencies_out: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuStreamUpdateCaptureDependencies_v11030_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        dependencies: *mut CUgraphNode,
        numDependencies: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamUpdateCaptureDependencies_v12030_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        dependencies: *mut CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamBeginCaptureToCig_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        streamCigCaptureParams: *mut CUstreamCigCaptureParams,
    ) -> CUresult,
>;
pub type PFN_cuStreamBeginCaptureToCig_v13010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        streamCigCaptureParams: *mut CUstreamCigCaptureParams,
    ) -> CUresult,
>;
pub type PFN_cuStreamEndCaptureToCig_v13010 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamEndCaptureToCig_v13010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamAttachMemAsync_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        dptr: CUdeviceptr_v2,
        length: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamQuery_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamSynchronize_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamDestroy_v4000 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamCopyAttributes_v11000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(dst: CUstream, src: CUstream) -> CUresult,
>;
pub type PFN_cuStreamGetAttribute_v11000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        attr: CUstreamAttrID,
        value_out: *mut CUstreamAttrValue_v1,
    ) -> CUresult,
>;
pub type PFN_cuStreamSetAttribute_v11000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        attr: CUstreamAttrID,
        value: *const CUstreamAttrValue_v1,
    ) -> CUresult,
>;
pub type PFN_cuEventCreate_v2000 = ::core::option::Option<
    unsafe extern "C" fn(phEvent: *mut CUevent, Flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuEventRecord_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hEvent: CUevent, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuEventRecordWithFlags_v11010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hEvent: CUevent,
        hStream: CUstream,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuEventQuery_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuEventSynchronize_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuEventDestroy_v4000 = ::core::option::Option<
    unsafe extern "C" fn(hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuEventElapsedTime_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pMilliseconds: *mut f32,
        hStart: CUevent,
        hEnd: CUevent,
    ) -> CUresult,
>;
pub type PFN_cuEventElapsedTime_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        pMilliseconds: *mut f32,
        hStart: CUevent,
        hEnd: CUevent,
    ) -> CUresult,
>;
pub type PFN_cuImportExternalMemory_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        extMem_out: *mut CUexternalMemory,
        memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1,
    ) -> CUresult,
>;
pub type PFN_cuExternalMemoryGetMappedBuffer_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: *mut CUdeviceptr_v2,
        extMem: CUexternalMemory,
        bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1,
    ) -> CUresult,
>;
pub type PFN_cuExternalMemoryGetMappedMipmappedArray_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        mipmap: *mut CUmipmappedArray,
        extMem: CUexternalMemory,
        mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1,
    ) -> CUresult,
>;
pub type PFN_cuDestroyExternalMemory_v10000 = ::core::option::Option<
    unsafe extern "C" fn(extMem: CUexternalMemory) -> CUresult,
>;
pub type PFN_cuImportExternalSemaphore_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        extSem_out: *mut CUexternalSemaphore,
        semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1,
    ) -> CUresult,
>;
pub type PFN_cuSignalExternalSemaphoresAsync_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        extSemArray: *const CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1,
        numExtSems: ::core::ffi::c_uint,
        stream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuWaitExternalSemaphoresAsync_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        extSemArray: *const CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1,
        numExtSems: ::core::ffi::c_uint,
        stream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuDestroyExternalSemaphore_v10000 = ::core::option::Option<
    unsafe extern "C" fn(extSem: CUexternalSemaphore) -> CUresult,
>;
pub type PFN_cuStreamWaitValue32_v8000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue64_v9000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue32_v8000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue64_v9000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamBatchMemOp_v8000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        count: ::core::ffi::c_uint,
        paramArray: *mut CUstreamBatchMemOpParams_v1,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue32_v11070_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue64_v11070_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue32_v11070_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue64_v11070_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamBatchMemOp_v11070_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        count: ::core::ffi::c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuFuncGetAttribute_v2020 = ::core::option::Option<
    unsafe extern "C" fn(
        pi: *mut ::core::ffi::c_int,
        attrib: CUfunction_attribute,
        hfunc: CUfunction,
    ) -> CUresult,
>;
pub type PFN_cuFuncSetAttribute_v9000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: CUfunction,
        attrib: CUfunction_attribute,
        value: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuFuncSetCacheConfig_v3000 = ::core::option::Option<
    unsafe extern "C" fn(hfunc: CUfunction, config: CUfunc_cache) -> CUresult,
>;
pub type PFN_cuFuncSetSharedMemConfig_v4020 = ::core::option::Option<
    unsafe extern "C" fn(hfunc: CUfunction, config: CUsharedconfig) -> CUresult,
>;
pub type PFN_cuFuncGetName_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        name: *mut *const ::core::ffi::c_char,
        hfunc: CUfunction,
    ) -> CUresult,
>;
pub type PFN_cuFuncGetParamInfo_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        func: CUfunction,
        paramIndex: usize,
        paramOffset: *mut usize,
        paramSize: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuFuncGetParamCount_v13020 = ::core::option::Option<
    unsafe extern "C" fn(func: CUfunction, paramCount: *mut usize) -> CUresult,
>;
pub type PFN_cuFuncIsLoaded_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        state: *mut CUfunctionLoadingState,
        hfunc: CUfunction,
    ) -> CUresult,
>;
pub type PFN_cuFuncLoad_v12040 = ::core::option::Option<
    unsafe extern "C" fn(hfunc: CUfunction) -> CUresult,
>;
pub type PFN_cuLaunchKernel_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        f: CUfunction,
        gridDimX: ::core::ffi::c_uint,
        gridDimY: ::core::ffi::c_uint,
        gridDimZ: ::core::ffi::c_uint,
        blockDimX: ::core::ffi::c_uint,
        blockDimY: ::core::ffi::c_uint,
        blockDimZ: ::core::ffi::c_uint,
        sharedMemBytes: ::core::ffi::c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut ::core::ffi::c_void,
        extra: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLaunchKernelEx_v11060_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        config: *const CUlaunchConfig,
        f: CUfunction,
        kernelParams: *mut *mut ::core::ffi::c_void,
        extra: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLaunchCooperativeKernel_v9000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        f: CUfunction,
        gridDimX: ::core::ffi::c_uint,
        gridDimY: ::core::ffi::c_uint,
        gridDimZ: ::core::ffi::c_uint,
        blockDimX: ::core::ffi::c_uint,
        blockDimY: ::core::ffi::c_uint,
        blockDimZ: ::core::ffi::c_uint,
        sharedMemBytes: ::core::ffi::c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLaunchCooperativeKernelMultiDevice_v9000 = ::core::option::Option<
    unsafe extern "C" fn(
        launchParamsList: *mut CUDA_LAUNCH_PARAMS_v1,
        numDevices: ::core::ffi::c_uint,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLaunchHostFunc_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        fn_: CUhostFn,
        userData: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuFuncSetBlockShape_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: CUfunction,
        x: ::core::ffi::c_int,
        y: ::core::ffi::c_int,
        z: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuFuncSetSharedSize_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hfunc: CUfunction, bytes: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuParamSetSize_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hfunc: CUfunction, numbytes: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuParamSeti_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: CUfunction,
        offset: ::core::ffi::c_int,
        value: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuParamSetf_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: CUfunction,
        offset: ::core::ffi::c_int,
        value: f32,
    ) -> CUresult,
>;
pub type PFN_cuParamSetv_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: CUfunction,
        offset: ::core::ffi::c_int,
        ptr: *mut ::core::ffi::c_void,
        numbytes: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLaunch_v2000 = ::core::option::Option<
    unsafe extern "C" fn(f: CUfunction) -> CUresult,
>;
pub type PFN_cuLaunchGrid_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        f: CUfunction,
        grid_width: ::core::ffi::c_int,
        grid_height: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuLaunchGridAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        f: CUfunction,
        grid_width: ::core::ffi::c_int,
        grid_height: ::core::ffi::c_int,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuParamSetTexRef_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hfunc: CUfunction,
        texunit: ::core::ffi::c_int,
        hTexRef: CUtexref,
    ) -> CUresult,
>;
pub type PFN_cuGraphCreate_v10000 = ::core::option::Option<
    unsafe extern "C" fn(phGraph: *mut CUgraph, flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuGraphAddKernelNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeGetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeSetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddKernelNode_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v2,
    ) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeGetParams_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v2,
    ) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeSetParams_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v2,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddMemcpyNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        copyParams: *const CUDA_MEMCPY3D_v2,
        ctx: CUcontext,
    ) -> CUresult,
>;
pub type PFN_cuGraphMemcpyNodeGetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUDA_MEMCPY3D_v2,
    ) -> CUresult,
>;
pub type PFN_cuGraphMemcpyNodeSetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_MEMCPY3D_v2,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddMemsetNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS_v1,
        ctx: CUcontext,
    ) -> CUresult,
>;
pub type PFN_cuGraphMemsetNodeGetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUDA_MEMSET_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphMemsetNodeSetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_MEMSET_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddHostNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_HOST_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphHostNodeGetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUDA_HOST_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphHostNodeSetParams_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_HOST_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddChildGraphNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        childGraph: CUgraph,
    ) -> CUresult,
>;
pub type PFN_cuGraphChildGraphNodeGetGraph_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, phGraph: *mut CUgraph) -> CUresult,
>;
pub type PFN_cuGraphAddEmptyNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddEventRecordNode_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        event: CUevent,
    ) -> CUresult,
>;
pub type PFN_cuGraphEventRecordNodeGetEvent_v11010 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, event_out: *mut CUevent) -> CUresult,
>;
pub type PFN_cuGraphEventRecordNodeSetEvent_v11010 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, event: CUevent) -> CUresult,
>;
pub type PFN_cuGraphAddEventWaitNode_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        event: CUevent,
    ) -> CUresult,
>;
pub type PFN_cuGraphEventWaitNodeGetEvent_v11010 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, event_out: *mut CUevent) -> CUresult,
>;
pub type PFN_cuGraphEventWaitNodeSetEvent_v11010 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, event: CUevent) -> CUresult,
>;
pub type PFN_cuGraphAddExternalSemaphoresSignalNode_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExternalSemaphoresSignalNodeGetParams_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExternalSemaphoresSignalNodeSetParams_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddExternalSemaphoresWaitNode_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExternalSemaphoresWaitNodeGetParams_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExternalSemaphoresWaitNodeSetParams_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddBatchMemOpNode_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphBatchMemOpNodeGetParams_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphBatchMemOpNodeSetParams_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecBatchMemOpNodeSetParams_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        graphExec: CUgraphExec,
        node: CUgraphNode,
        nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphClone_v10000 = ::core::option::Option<
    unsafe extern "C" fn(phGraphClone: *mut CUgraph, originalGraph: CUgraph) -> CUresult,
>;
pub type PFN_cuGraphNodeFindInClone_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phNode: *mut CUgraphNode,
        hOriginalNode: CUgraphNode,
        hClonedGraph: CUgraph,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetType_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, type_: *mut CUgraphNodeType) -> CUresult,
>;
pub type PFN_cuGraphNodeGetContainingGraph_v13010 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, phGraph: *mut CUgraph) -> CUresult,
>;
pub type PFN_cuGraphNodeGetLocalId_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeId: *mut ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetToolsId_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeId: *mut ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuGraphGetId_v13010 = ::core::option::Option<
    unsafe extern "C" fn(hGraph: CUgraph, graphId: *mut ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuGraphExecGetId_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        graphId: *mut ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphGetNodes_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        nodes: *mut CUgraphNode,
        numNodes: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphGetRootNodes_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        rootNodes: *mut CUgraphNode,
        numRootNodes: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphGetEdges_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        from: *mut CUgraphNode,
        to: *mut CUgraphNode,
        numEdges: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphGetEdges_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        from: *mut CUgraphNode,
        to: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numEdges: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetDependencies_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        dependencies: *mut CUgraphNode,
        numDependencies: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetDependencies_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        dependencies: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numDependencies: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetDependentNodes_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        dependentNodes: *mut CUgraphNode,
        numDependentNodes: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetDependentNodes_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        dependentNodes: *mut CUgraphNode,
        edgeData: *mut CUgraphEdgeData,
        numDependentNodes: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddDependencies_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        numDependencies: usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddDependencies_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphRemoveDependencies_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        numDependencies: usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphRemoveDependencies_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edgeData: *const CUgraphEdgeData,
        numDependencies: usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphDestroyNode_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode) -> CUresult,
>;
pub type PFN_cuGraphInstantiateWithFlags_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuGraphInstantiateWithParams_v12000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecGetFlags_v12000 = ::core::option::Option<
    unsafe extern "C" fn(hGraphExec: CUgraphExec, flags: *mut cuuint64_t) -> CUresult,
>;
pub type PFN_cuGraphExecKernelNodeSetParams_v10010 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecKernelNodeSetParams_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v2,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecMemcpyNodeSetParams_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        copyParams: *const CUDA_MEMCPY3D_v2,
        ctx: CUcontext,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecMemsetNodeSetParams_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        memsetParams: *const CUDA_MEMSET_NODE_PARAMS_v1,
        ctx: CUcontext,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecHostNodeSetParams_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_HOST_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecChildGraphNodeSetParams_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        childGraph: CUgraph,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecEventRecordNodeSetEvent_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        event: CUevent,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecEventWaitNodeSetEvent_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        event: CUevent,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecExternalSemaphoresSignalNodeSetParams_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecExternalSemaphoresWaitNodeSetParams_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphUpload_v11010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuGraphLaunch_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuGraphExecDestroy_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hGraphExec: CUgraphExec) -> CUresult,
>;
pub type PFN_cuGraphDestroy_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hGraph: CUgraph) -> CUresult,
>;
pub type PFN_cuGraphExecUpdate_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hGraph: CUgraph,
        hErrorNode_out: *mut CUgraphNode,
        updateResult_out: *mut CUgraphExecUpdateResult,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecUpdate_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hGraph: CUgraph,
        resultInfo: *mut CUgraphExecUpdateResultInfo,
    ) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeCopyAttributes_v11000 = ::core::option::Option<
    unsafe extern "C" fn(dst: CUgraphNode, src: CUgraphNode) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeGetAttribute_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        attr: CUkernelNodeAttrID,
        value_out: *mut CUkernelNodeAttrValue_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphKernelNodeSetAttribute_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        attr: CUkernelNodeAttrID,
        value: *const CUkernelNodeAttrValue_v1,
    ) -> CUresult,
>;
pub type PFN_cuGraphDebugDotPrint_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraph: CUgraph,
        path: *const ::core::ffi::c_char,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddMemAllocNode_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphMemAllocNodeGetParams_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddMemFreeNode_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        dptr: CUdeviceptr,
    ) -> CUresult,
>;
pub type PFN_cuGraphMemFreeNodeGetParams_v11040 = ::core::option::Option<
    unsafe extern "C" fn(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) -> CUresult,
>;
pub type PFN_cuGraphNodeSetEnabled_v11060 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        isEnabled: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetEnabled_v11060 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        isEnabled: *mut ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddNode_v12020 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddNode_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphAddNode_v13040 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphNode: *mut CUgraphNode,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeSetParams_v12020 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeSetParams_v13040 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphNodeGetParams_v13020 = ::core::option::Option<
    unsafe extern "C" fn(
        hNode: CUgraphNode,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphExecNodeSetParams_v12020 = ::core::option::Option<
    unsafe extern "C" fn(
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: *mut CUgraphNodeParams,
    ) -> CUresult,
>;
pub type PFN_cuGraphConditionalHandleCreate_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle_out: *mut CUgraphConditionalHandle,
        hGraph: CUgraph,
        ctx: CUcontext,
        defaultLaunchValue: ::core::ffi::c_uint,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGraphMemTrim_v11040 = ::core::option::Option<
    unsafe extern "C" fn(device: CUdevice) -> CUresult,
>;
pub type PFN_cuDeviceGetGraphMemAttribute_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        device: CUdevice,
        attr: CUgraphMem_attribute,
        value: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuDeviceSetGraphMemAttribute_v11040 = ::core::option::Option<
    unsafe extern "C" fn(
        device: CUdevice,
        attr: CUgraphMem_attribute,
        value: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        numBlocks: *mut ::core::ffi::c_int,
        func: CUfunction,
        blockSize: ::core::ffi::c_int,
        dynamicSMemSize: usize,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000 = ::core::option::Option<
    unsafe extern "C" fn(
        numBlocks: *mut ::core::ffi::c_int,
        func: CUfunction,
        blockSize: ::core::ffi::c_int,
        dynamicSMemSize: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyMaxPotentialBlockSize_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        minGridSize: *mut ::core::ffi::c_int,
        blockSize: *mut ::core::ffi::c_int,
        func: CUfunction,
        blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize,
        blockSizeLimit: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyMaxPotentialBlockSizeWithFlags_v7000 = ::core::option::Option<
    unsafe extern "C" fn(
        minGridSize: *mut ::core::ffi::c_int,
        blockSize: *mut ::core::ffi::c_int,
        func: CUfunction,
        blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize,
        blockSizeLimit: ::core::ffi::c_int,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyAvailableDynamicSMemPerBlock_v10020 = ::core::option::Option<
    unsafe extern "C" fn(
        dynamicSmemSize: *mut usize,
        func: CUfunction,
        numBlocks: ::core::ffi::c_int,
        blockSize: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyMaxPotentialClusterSize_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        clusterSize: *mut ::core::ffi::c_int,
        func: CUfunction,
        config: *const CUlaunchConfig,
    ) -> CUresult,
>;
pub type PFN_cuOccupancyMaxActiveClusters_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        numClusters: *mut ::core::ffi::c_int,
        func: CUfunction,
        config: *const CUlaunchConfig,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetArray_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        hArray: CUarray,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetMipmappedArray_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        hMipmappedArray: CUmipmappedArray,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetAddress_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        ByteOffset: *mut usize,
        hTexRef: CUtexref,
        dptr: CUdeviceptr_v2,
        bytes: usize,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetAddress2D_v4010 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        desc: *const CUDA_ARRAY_DESCRIPTOR_v2,
        dptr: CUdeviceptr_v2,
        Pitch: usize,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetFormat_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        fmt: CUarray_format,
        NumPackedComponents: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetAddressMode_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        dim: ::core::ffi::c_int,
        am: CUaddress_mode,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetFilterMode_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref, fm: CUfilter_mode) -> CUresult,
>;
pub type PFN_cuTexRefSetMipmapFilterMode_v5000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref, fm: CUfilter_mode) -> CUresult,
>;
pub type PFN_cuTexRefSetMipmapLevelBias_v5000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref, bias: f32) -> CUresult,
>;
pub type PFN_cuTexRefSetMipmapLevelClamp_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetMaxAnisotropy_v5000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref, maxAniso: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuTexRefSetBorderColor_v8000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref, pBorderColor: *mut f32) -> CUresult,
>;
pub type PFN_cuTexRefSetFlags_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref, Flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuTexRefGetAddress_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pdptr: *mut CUdeviceptr_v2, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefGetArray_v2000 = ::core::option::Option<
    unsafe extern "C" fn(phArray: *mut CUarray, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefGetMipmappedArray_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        phMipmappedArray: *mut CUmipmappedArray,
        hTexRef: CUtexref,
    ) -> CUresult,
>;
pub type PFN_cuTexRefGetAddressMode_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pam: *mut CUaddress_mode,
        hTexRef: CUtexref,
        dim: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuTexRefGetFilterMode_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pfm: *mut CUfilter_mode, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefGetFormat_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pFormat: *mut CUarray_format,
        pNumChannels: *mut ::core::ffi::c_int,
        hTexRef: CUtexref,
    ) -> CUresult,
>;
pub type PFN_cuTexRefGetMipmapFilterMode_v5000 = ::core::option::Option<
    unsafe extern "C" fn(pfm: *mut CUfilter_mode, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefGetMipmapLevelBias_v5000 = ::core::option::Option<
    unsafe extern "C" fn(pbias: *mut f32, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefGetMipmapLevelClamp_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pminMipmapLevelClamp: *mut f32,
        pmaxMipmapLevelClamp: *mut f32,
        hTexRef: CUtexref,
    ) -> CUresult,
>;
pub type PFN_cuTexRefGetMaxAnisotropy_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pmaxAniso: *mut ::core::ffi::c_int,
        hTexRef: CUtexref,
    ) -> CUresult,
>;
pub type PFN_cuTexRefGetBorderColor_v8000 = ::core::option::Option<
    unsafe extern "C" fn(pBorderColor: *mut f32, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefGetFlags_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pFlags: *mut ::core::ffi::c_uint, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefCreate_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pTexRef: *mut CUtexref) -> CUresult,
>;
pub type PFN_cuTexRefDestroy_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuSurfRefSetArray_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        hSurfRef: CUsurfref,
        hArray: CUarray,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuSurfRefGetArray_v3000 = ::core::option::Option<
    unsafe extern "C" fn(phArray: *mut CUarray, hSurfRef: CUsurfref) -> CUresult,
>;
pub type PFN_cuTexObjectCreate_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pTexObject: *mut CUtexObject_v1,
        pResDesc: *const CUDA_RESOURCE_DESC_v1,
        pTexDesc: *const CUDA_TEXTURE_DESC_v1,
        pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC_v1,
    ) -> CUresult,
>;
pub type PFN_cuTexObjectDestroy_v5000 = ::core::option::Option<
    unsafe extern "C" fn(texObject: CUtexObject_v1) -> CUresult,
>;
pub type PFN_cuTexObjectGetResourceDesc_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pResDesc: *mut CUDA_RESOURCE_DESC_v1,
        texObject: CUtexObject_v1,
    ) -> CUresult,
>;
pub type PFN_cuTexObjectGetTextureDesc_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pTexDesc: *mut CUDA_TEXTURE_DESC_v1,
        texObject: CUtexObject_v1,
    ) -> CUresult,
>;
pub type PFN_cuTexObjectGetResourceViewDesc_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC_v1,
        texObject: CUtexObject_v1,
    ) -> CUresult,
>;
pub type PFN_cuSurfObjectCreate_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pSurfObject: *mut CUsurfObject_v1,
        pResDesc: *const CUDA_RESOURCE_DESC_v1,
    ) -> CUresult,
>;
pub type PFN_cuSurfObjectDestroy_v5000 = ::core::option::Option<
    unsafe extern "C" fn(surfObject: CUsurfObject_v1) -> CUresult,
>;
pub type PFN_cuSurfObjectGetResourceDesc_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pResDesc: *mut CUDA_RESOURCE_DESC_v1,
        surfObject: CUsurfObject_v1,
    ) -> CUresult,
>;
pub type PFN_cuTensorMapEncodeTiled_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        tensorMap: *mut CUtensorMap,
        tensorDataType: CUtensorMapDataType,
        tensorRank: cuuint32_t,
        globalAddress: *mut ::core::ffi::c_void,
        globalDim: *const cuuint64_t,
        globalStrides: *const cuuint64_t,
        boxDim: *const cuuint32_t,
        elementStrides: *const cuuint32_t,
        interleave: CUtensorMapInterleave,
        swizzle: CUtensorMapSwizzle,
        l2Promotion: CUtensorMapL2promotion,
        oobFill: CUtensorMapFloatOOBfill,
    ) -> CUresult,
>;
pub type PFN_cuTensorMapEncodeIm2col_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        tensorMap: *mut CUtensorMap,
        tensorDataType: CUtensorMapDataType,
        tensorRank: cuuint32_t,
        globalAddress: *mut ::core::ffi::c_void,
        globalDim: *const cuuint64_t,
        globalStrides: *const cuuint64_t,
        pixelBoxLowerCorner: *const ::core::ffi::c_int,
        pixelBoxUpperCorner: *const ::core::ffi::c_int,
        channelsPerPixel: cuuint32_t,
        pixelsPerColumn: cuuint32_t,
        elementStrides: *const cuuint32_t,
        interleave: CUtensorMapInterleave,
        swizzle: CUtensorMapSwizzle,
        l2Promotion: CUtensorMapL2promotion,
        oobFill: CUtensorMapFloatOOBfill,
    ) -> CUresult,
>;
pub type PFN_cuTensorMapReplaceAddress_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        tensorMap: *mut CUtensorMap,
        globalAddress: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuTensorMapSetAllocationClass_v13050 = ::core::option::Option<
    unsafe extern "C" fn(
        tensorMap: *mut CUtensorMap,
        allocClass: CUtensorMapAllocClass,
        outAllocClass: *mut CUtensorMapAllocClass,
    ) -> CUresult,
>;
pub type PFN_cuTensorMapEncodeIm2colWide_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        tensorMap: *mut CUtensorMap,
        tensorDataType: CUtensorMapDataType,
        tensorRank: cuuint32_t,
        globalAddress: *mut ::core::ffi::c_void,
        globalDim: *const cuuint64_t,
        globalStrides: *const cuuint64_t,
        pixelBoxLowerCornerWidth: ::core::ffi::c_int,
        pixelBoxUpperCornerWidth: ::core::ffi::c_int,
        channelsPerPixel: cuuint32_t,
        pixelsPerColumn: cuuint32_t,
        elementStrides: *const cuuint32_t,
        interleave: CUtensorMapInterleave,
        mode: CUtensorMapIm2ColWideMode,
        swizzle: CUtensorMapSwizzle,
        l2Promotion: CUtensorMapL2promotion,
        oobFill: CUtensorMapFloatOOBfill,
    ) -> CUresult,
>;
pub type PFN_cuDeviceCanAccessPeer_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        canAccessPeer: *mut ::core::ffi::c_int,
        dev: CUdevice_v1,
        peerDev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuCtxEnablePeerAccess_v4000 = ::core::option::Option<
    unsafe extern "C" fn(peerContext: CUcontext, Flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuCtxDisablePeerAccess_v4000 = ::core::option::Option<
    unsafe extern "C" fn(peerContext: CUcontext) -> CUresult,
>;
pub type PFN_cuDeviceGetP2PAttribute_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        value: *mut ::core::ffi::c_int,
        attrib: CUdevice_P2PAttribute,
        srcDevice: CUdevice_v1,
        dstDevice: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuDeviceGetP2PAtomicCapabilities_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        capabilities: *mut ::core::ffi::c_uint,
        operations: *const CUatomicOperation,
        count: ::core::ffi::c_uint,
        srcDevice: CUdevice,
        dstDevice: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsUnregisterResource_v3000 = ::core::option::Option<
    unsafe extern "C" fn(resource: CUgraphicsResource) -> CUresult,
>;
pub type PFN_cuGraphicsSubResourceGetMappedArray_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        pArray: *mut CUarray,
        resource: CUgraphicsResource,
        arrayIndex: ::core::ffi::c_uint,
        mipLevel: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsResourceGetMappedMipmappedArray_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        pMipmappedArray: *mut CUmipmappedArray,
        resource: CUgraphicsResource,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsResourceGetMappedPointer_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        pDevPtr: *mut CUdeviceptr_v2,
        pSize: *mut usize,
        resource: CUgraphicsResource,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsResourceSetMapFlags_v6050 = ::core::option::Option<
    unsafe extern "C" fn(
        resource: CUgraphicsResource,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsMapResources_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        count: ::core::ffi::c_uint,
        resources: *mut CUgraphicsResource,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsUnmapResources_v7000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        count: ::core::ffi::c_uint,
        resources: *mut CUgraphicsResource,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuGetExportTable_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        ppExportTable: *mut *const ::core::ffi::c_void,
        pExportTableId: *const CUuuid,
    ) -> CUresult,
>;
pub type PFN_cuFuncGetModule_v11000 = ::core::option::Option<
    unsafe extern "C" fn(hmod: *mut CUmodule, hfunc: CUfunction) -> CUresult,
>;
pub type PFN_cuGetProcAddress_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        symbol: *const ::core::ffi::c_char,
        pfn: *mut *mut ::core::ffi::c_void,
        driverVersion: ::core::ffi::c_int,
        flags: cuuint64_t,
    ) -> CUresult,
>;
pub type PFN_cuGetProcAddress_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        symbol: *const ::core::ffi::c_char,
        pfn: *mut *mut ::core::ffi::c_void,
        driverVersion: ::core::ffi::c_int,
        flags: cuuint64_t,
        symbolFound: *mut CUdriverProcAddressQueryResult,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoD_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoH_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoD_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoA_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoD_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoA_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoH_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoA_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoAAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: usize,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoHAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcArray: CUarray,
        srcOffset: usize,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy2D_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v2) -> CUresult,
>;
pub type PFN_cuMemcpy2DUnaligned_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v2) -> CUresult,
>;
pub type PFN_cuMemcpy3D_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_v2) -> CUresult,
>;
pub type PFN_cuMemcpyHtoDAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoHAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoDAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        srcDevice: CUdeviceptr_v2,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy2DAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v2, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemcpy3DAsync_v3020 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_v2, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemsetD8_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        uc: ::core::ffi::c_uchar,
        N: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD16_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        us: ::core::ffi::c_ushort,
        N: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD32_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        ui: ::core::ffi::c_uint,
        N: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D8_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        uc: ::core::ffi::c_uchar,
        Width: usize,
        Height: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D16_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        us: ::core::ffi::c_ushort,
        Width: usize,
        Height: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D32_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        ui: ::core::ffi::c_uint,
        Width: usize,
        Height: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        dst: CUdeviceptr_v2,
        src: CUdeviceptr_v2,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAsync_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        dst: CUdeviceptr_v2,
        src: CUdeviceptr_v2,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyPeer_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstContext: CUcontext,
        srcDevice: CUdeviceptr_v2,
        srcContext: CUcontext,
        ByteCount: usize,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyPeerAsync_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstContext: CUcontext,
        srcDevice: CUdeviceptr_v2,
        srcContext: CUcontext,
        ByteCount: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DPeer_v4000 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_PEER_v1) -> CUresult,
>;
pub type PFN_cuMemcpy3DPeerAsync_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        pCopy: *const CUDA_MEMCPY3D_PEER_v1,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyBatchAsync_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        dsts: *mut CUdeviceptr_v2,
        srcs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        attrs: *mut CUmemcpyAttributes_v1,
        attrIdxs: *mut usize,
        numAttrs: usize,
        failIdx: *mut usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DBatchAsync_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        numParams: usize,
        opList: *mut CUDA_MEMCPY3D_BATCH_OP_v1,
        failIdx: *mut usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyBatchAsync_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        dsts: *mut CUdeviceptr_v2,
        srcs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        attrs: *mut CUmemcpyAttributes_v1,
        attrIdxs: *mut usize,
        numAttrs: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DBatchAsync_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        numParams: usize,
        opList: *mut CUDA_MEMCPY3D_BATCH_OP_v1,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyWithAttributesAsync_v13020 = ::core::option::Option<
    unsafe extern "C" fn(
        dst: CUdeviceptr_v2,
        src: CUdeviceptr_v2,
        size: usize,
        attr: *mut CUmemcpyAttributes_v1,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy3DWithAttributesAsync_v13020 = ::core::option::Option<
    unsafe extern "C" fn(
        op: *mut CUDA_MEMCPY3D_BATCH_OP_v1,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD8Async_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        uc: ::core::ffi::c_uchar,
        N: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD16Async_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        us: ::core::ffi::c_ushort,
        N: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD32Async_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        ui: ::core::ffi::c_uint,
        N: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D8Async_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        uc: ::core::ffi::c_uchar,
        Width: usize,
        Height: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D16Async_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        us: ::core::ffi::c_ushort,
        Width: usize,
        Height: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D32Async_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v2,
        dstPitch: usize,
        ui: ::core::ffi::c_uint,
        Width: usize,
        Height: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetPriority_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        priority: *mut ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetFlags_v5050 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, flags: *mut ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuStreamGetCtx_v9020 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, pctx: *mut CUcontext) -> CUresult,
>;
pub type PFN_cuStreamGetDevice_v12080 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, device: *mut CUdevice) -> CUresult,
>;
pub type PFN_cuStreamGetDevice_v12080_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, device: *mut CUdevice) -> CUresult,
>;
pub type PFN_cuStreamWaitEvent_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        hEvent: CUevent,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamAddCallback_v5000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        callback: CUstreamCallback,
        userData: *mut ::core::ffi::c_void,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamAttachMemAsync_v6000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        dptr: CUdeviceptr_v2,
        length: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamQuery_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamSynchronize_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuEventRecord_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hEvent: CUevent, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuEventRecordWithFlags_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        hEvent: CUevent,
        hStream: CUstream,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLaunchKernel_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        f: CUfunction,
        gridDimX: ::core::ffi::c_uint,
        gridDimY: ::core::ffi::c_uint,
        gridDimZ: ::core::ffi::c_uint,
        blockDimX: ::core::ffi::c_uint,
        blockDimY: ::core::ffi::c_uint,
        blockDimZ: ::core::ffi::c_uint,
        sharedMemBytes: ::core::ffi::c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut ::core::ffi::c_void,
        extra: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLaunchKernelEx_v11060 = ::core::option::Option<
    unsafe extern "C" fn(
        config: *const CUlaunchConfig,
        f: CUfunction,
        kernelParams: *mut *mut ::core::ffi::c_void,
        extra: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLaunchHostFunc_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        fn_: CUhostFn,
        userData: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsMapResources_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        count: ::core::ffi::c_uint,
        resources: *mut CUgraphicsResource,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsUnmapResources_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        count: ::core::ffi::c_uint,
        resources: *mut CUgraphicsResource,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue32_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue32_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue64_v9000 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue64_v9000 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamBatchMemOp_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        count: ::core::ffi::c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue32_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue32_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint32_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWriteValue64_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamWaitValue64_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        addr: CUdeviceptr_v2,
        value: cuuint64_t,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamBatchMemOp_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        stream: CUstream,
        count: ::core::ffi::c_uint,
        paramArray: *mut CUstreamBatchMemOpParams,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemPrefetchAsync_v8000 = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: CUdeviceptr_v2,
        count: usize,
        dstDevice: CUdevice_v1,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemPrefetchAsync_v12020 = ::core::option::Option<
    unsafe extern "C" fn(
        devPtr: CUdeviceptr_v2,
        count: usize,
        location: CUmemLocation_v1,
        flags: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemPrefetchBatchAsync_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptrs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        prefetchLocs: *mut CUmemLocation_v1,
        prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemDiscardBatchAsync_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptrs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemDiscardAndPrefetchBatchAsync_v13000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptrs: *mut CUdeviceptr_v2,
        sizes: *mut usize,
        count: usize,
        prefetchLocs: *mut CUmemLocation_v1,
        prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemGetLocationInfo_v13040 = ::core::option::Option<
    unsafe extern "C" fn(
        ptr: CUdeviceptr_v2,
        size: usize,
        summaryGranularity: usize,
        samplingGranularity: usize,
        location_out: *mut CUmemLocation_v1,
    ) -> CUresult,
>;
pub type PFN_cuLaunchCooperativeKernel_v9000 = ::core::option::Option<
    unsafe extern "C" fn(
        f: CUfunction,
        gridDimX: ::core::ffi::c_uint,
        gridDimY: ::core::ffi::c_uint,
        gridDimZ: ::core::ffi::c_uint,
        blockDimX: ::core::ffi::c_uint,
        blockDimY: ::core::ffi::c_uint,
        blockDimZ: ::core::ffi::c_uint,
        sharedMemBytes: ::core::ffi::c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuSignalExternalSemaphoresAsync_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        extSemArray: *const CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1,
        numExtSems: ::core::ffi::c_uint,
        stream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuWaitExternalSemaphoresAsync_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        extSemArray: *const CUexternalSemaphore,
        paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1,
        numExtSems: ::core::ffi::c_uint,
        stream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuStreamBeginCapture_v10010 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, mode: CUstreamCaptureMode) -> CUresult,
>;
pub type PFN_cuStreamBeginCaptureToGraph_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        hGraph: CUgraph,
        dependencies: *const CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        mode: CUstreamCaptureMode,
    ) -> CUresult,
>;
pub type PFN_cuStreamBeginRecaptureToGraph_v13030 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        mode: CUstreamCaptureMode,
        hGraph: CUgraph,
        callbackFunc: CUgraphRecaptureCallback,
        userData: *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuStreamEndCapture_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult,
>;
pub type PFN_cuStreamIsCapturing_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus: *mut CUstreamCaptureStatus,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCaptureInfo_v10010 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCaptureInfo_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
        graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode,
        numDependencies_out: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCaptureInfo_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        captureStatus_out: *mut CUstreamCaptureStatus,
        id_out: *mut cuuint64_t,
        graph_out: *mut CUgraph,
        dependencies_out: *mut *const CUgraphNode,
        edgeData_out: *mut *const CUgraphEdgeData,
        numDependencies_out: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuStreamUpdateCaptureDependencies_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        dependencies: *mut CUgraphNode,
        numDependencies: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuStreamUpdateCaptureDependencies_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        dependencies: *mut CUgraphNode,
        dependencyData: *const CUgraphEdgeData,
        numDependencies: usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphInstantiateWithParams_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuGraphUpload_v11010 = ::core::option::Option<
    unsafe extern "C" fn(hGraph: CUgraphExec, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuGraphLaunch_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hGraph: CUgraphExec, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamCopyAttributes_v11000 = ::core::option::Option<
    unsafe extern "C" fn(dstStream: CUstream, srcStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamGetAttribute_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        attr: CUstreamAttrID,
        value: *mut CUstreamAttrValue_v1,
    ) -> CUresult,
>;
pub type PFN_cuStreamSetAttribute_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        attr: CUstreamAttrID,
        param: *const CUstreamAttrValue_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemMapArrayAsync_v11010 = ::core::option::Option<
    unsafe extern "C" fn(
        mapInfoList: *mut CUarrayMapInfo_v1,
        count: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemFreeAsync_v11020 = ::core::option::Option<
    unsafe extern "C" fn(dptr: CUdeviceptr_v2, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemAllocAsync_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        bytesize: usize,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemAllocFromPoolAsync_v11020 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v2,
        bytesize: usize,
        pool: CUmemoryPool,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuFlushGPUDirectRDMAWrites_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        target: CUflushGPUDirectRDMAWritesTarget,
        scope: CUflushGPUDirectRDMAWritesScope,
    ) -> CUresult,
>;
pub type PFN_cuUserObjectCreate_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        object_out: *mut CUuserObject,
        ptr: *mut ::core::ffi::c_void,
        destroy: CUhostFn,
        initialRefcount: ::core::ffi::c_uint,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuUserObjectRetain_v11030 = ::core::option::Option<
    unsafe extern "C" fn(object: CUuserObject, count: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuUserObjectRelease_v11030 = ::core::option::Option<
    unsafe extern "C" fn(object: CUuserObject, count: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuGraphRetainUserObject_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        graph: CUgraph,
        object: CUuserObject,
        count: ::core::ffi::c_uint,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphReleaseUserObject_v11030 = ::core::option::Option<
    unsafe extern "C" fn(
        graph: CUgraph,
        object: CUuserObject,
        count: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuModuleGetLoadingMode_v11070 = ::core::option::Option<
    unsafe extern "C" fn(mode: *mut CUmoduleLoadingMode) -> CUresult,
>;
pub type PFN_cuMemGetHandleForAddressRange_v11070 = ::core::option::Option<
    unsafe extern "C" fn(
        handle: *mut ::core::ffi::c_void,
        dptr: CUdeviceptr,
        size: usize,
        handleType: CUmemRangeHandleType,
        flags: ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuLibraryLoadData_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        library: *mut CUlibrary,
        code: *const ::core::ffi::c_void,
        jitOptions: *mut CUjit_option,
        jitOptionsValues: *mut *mut ::core::ffi::c_void,
        numJitOptions: ::core::ffi::c_uint,
        libraryOptions: *mut CUlibraryOption,
        libraryOptionValues: *mut *mut ::core::ffi::c_void,
        numLibraryOptions: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLibraryLoadFromFile_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        library: *mut CUlibrary,
        fileName: *const ::core::ffi::c_char,
        jitOptions: *mut CUjit_option,
        jitOptionsValues: *mut *mut ::core::ffi::c_void,
        numJitOptions: ::core::ffi::c_uint,
        libraryOptions: *mut CUlibraryOption,
        libraryOptionValues: *mut *mut ::core::ffi::c_void,
        numLibraryOptions: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLibraryUnload_v12000 = ::core::option::Option<
    unsafe extern "C" fn(library: CUlibrary) -> CUresult,
>;
pub type PFN_cuLibraryGetKernel_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        pKernel: *mut CUkernel,
        library: CUlibrary,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuLibraryGetModule_v12000 = ::core::option::Option<
    unsafe extern "C" fn(pMod: *mut CUmodule, library: CUlibrary) -> CUresult,
>;
pub type PFN_cuLibraryGetKernelCount_v12040 = ::core::option::Option<
    unsafe extern "C" fn(count: *mut ::core::ffi::c_uint, lib: CUlibrary) -> CUresult,
>;
pub type PFN_cuLibraryEnumerateKernels_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        kernels: *mut CUkernel,
        numKernels: ::core::ffi::c_uint,
        lib: CUlibrary,
    ) -> CUresult,
>;
pub type PFN_cuFabricCpyBatchAsync_v13050 = ::core::option::Option<
    unsafe extern "C" fn(
        numOps: usize,
        opList: *mut CUDA_FABRIC_COPY_BATCH_OP_v1,
        flags: ::core::ffi::c_ulonglong,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuKernelGetFunction_v12000 = ::core::option::Option<
    unsafe extern "C" fn(pFunc: *mut CUfunction, kernel: CUkernel) -> CUresult,
>;
pub type PFN_cuKernelGetLibrary_v12050 = ::core::option::Option<
    unsafe extern "C" fn(pLib: *mut CUlibrary, kernel: CUkernel) -> CUresult,
>;
pub type PFN_cuLibraryGetGlobal_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr,
        bytes: *mut usize,
        library: CUlibrary,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuLibraryGetManaged_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr,
        bytes: *mut usize,
        library: CUlibrary,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuKernelGetAttribute_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        pi: *mut ::core::ffi::c_int,
        attrib: CUfunction_attribute,
        kernel: CUkernel,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuKernelSetAttribute_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        attrib: CUfunction_attribute,
        val: ::core::ffi::c_int,
        kernel: CUkernel,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuKernelSetCacheConfig_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        kernel: CUkernel,
        config: CUfunc_cache,
        dev: CUdevice,
    ) -> CUresult,
>;
pub type PFN_cuKernelGetName_v12030 = ::core::option::Option<
    unsafe extern "C" fn(
        name: *mut *const ::core::ffi::c_char,
        hfunc: CUkernel,
    ) -> CUresult,
>;
pub type PFN_cuKernelGetParamInfo_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        kernel: CUkernel,
        paramIndex: usize,
        paramOffset: *mut usize,
        paramSize: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuKernelGetParamCount_v13020 = ::core::option::Option<
    unsafe extern "C" fn(kernel: CUkernel, paramCount: *mut usize) -> CUresult,
>;
pub type PFN_cuLibraryGetUnifiedFunction_v12000 = ::core::option::Option<
    unsafe extern "C" fn(
        fptr: *mut *mut ::core::ffi::c_void,
        library: CUlibrary,
        symbol: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpGetAttribute_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        get: CUcoredumpSettings,
        value: *mut ::core::ffi::c_void,
        size: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpGetAttributeGlobal_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        get: CUcoredumpSettings,
        value: *mut ::core::ffi::c_void,
        size: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpSetAttribute_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        set: CUcoredumpSettings,
        value: *mut ::core::ffi::c_void,
        size: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpSetAttributeGlobal_v12010 = ::core::option::Option<
    unsafe extern "C" fn(
        set: CUcoredumpSettings,
        value: *mut ::core::ffi::c_void,
        size: *mut usize,
    ) -> CUresult,
>;
pub type PFN_cuDeviceRegisterAsyncNotification_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        device: CUdevice,
        callbackFunc: CUasyncCallback,
        userData: *mut ::core::ffi::c_void,
        callback: *mut CUasyncCallbackHandle,
    ) -> CUresult,
>;
pub type PFN_cuDeviceUnregisterAsyncNotification_v12040 = ::core::option::Option<
    unsafe extern "C" fn(device: CUdevice, callback: CUasyncCallbackHandle) -> CUresult,
>;
pub type PFN_cuGreenCtxCreate_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        phCtx: *mut CUgreenCtx,
        desc: CUdevResourceDesc,
        dev: CUdevice,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGreenCtxDestroy_v12040 = ::core::option::Option<
    unsafe extern "C" fn(hCtx: CUgreenCtx) -> CUresult,
>;
pub type PFN_cuDeviceGetDevResource_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        dev: CUdevice,
        result: *mut CUdevResource,
        type_: CUdevResourceType,
    ) -> CUresult,
>;
pub type PFN_cuCtxGetDevResource_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        hCtx: CUcontext,
        result: *mut CUdevResource,
        type_: CUdevResourceType,
    ) -> CUresult,
>;
pub type PFN_cuGreenCtxGetDevResource_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        hCtx: CUgreenCtx,
        result: *mut CUdevResource,
        type_: CUdevResourceType,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetDevResource_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        result: *mut CUdevResource,
        type_: CUdevResourceType,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetDevResource_v13010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        result: *mut CUdevResource,
        type_: CUdevResourceType,
    ) -> CUresult,
>;
pub type PFN_cuGreenCtxRecordEvent_v12040 = ::core::option::Option<
    unsafe extern "C" fn(hCtx: CUgreenCtx, hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuGreenCtxWaitEvent_v12040 = ::core::option::Option<
    unsafe extern "C" fn(hCtx: CUgreenCtx, hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuDevResourceGenerateDesc_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        phDesc: *mut CUdevResourceDesc,
        resources: *mut CUdevResource,
        nbResources: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuDevSmResourceSplitByCount_v12040 = ::core::option::Option<
    unsafe extern "C" fn(
        result: *mut CUdevResource,
        nbGroups: *mut ::core::ffi::c_uint,
        input: *const CUdevResource,
        remaining: *mut CUdevResource,
        useFlags: ::core::ffi::c_uint,
        minCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuDevSmResourceSplit_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        result: *mut CUdevResource,
        nbGroups: ::core::ffi::c_uint,
        input: *const CUdevResource,
        remainder: *mut CUdevResource,
        flags: ::core::ffi::c_uint,
        groupParams: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetGreenCtx_v12040 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream, phCtx: *mut CUgreenCtx) -> CUresult,
>;
pub type PFN_cuCtxFromGreenCtx_v12040 = ::core::option::Option<
    unsafe extern "C" fn(pContext: *mut CUcontext, hCtx: CUgreenCtx) -> CUresult,
>;
pub type PFN_cuGreenCtxGetId_v12090 = ::core::option::Option<
    unsafe extern "C" fn(
        greenCtx: CUgreenCtx,
        greenCtxId: *mut ::core::ffi::c_ulonglong,
    ) -> CUresult,
>;
pub type PFN_cuCtxRecordEvent_v12050 = ::core::option::Option<
    unsafe extern "C" fn(hCtx: CUcontext, hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuCtxWaitEvent_v12050 = ::core::option::Option<
    unsafe extern "C" fn(hCtx: CUcontext, hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuGreenCtxStreamCreate_v12050 = ::core::option::Option<
    unsafe extern "C" fn(
        phStream: *mut CUstream,
        greenCtx: CUgreenCtx,
        flags: ::core::ffi::c_uint,
        priority: ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCtx_v12050 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        pctx: *mut CUcontext,
        pGreenCtx: *mut CUgreenCtx,
    ) -> CUresult,
>;
pub type PFN_cuStreamGetCtx_v12050_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        pctx: *mut CUcontext,
        pGreenCtx: *mut CUgreenCtx,
    ) -> CUresult,
>;
pub type PFN_cuMemBatchDecompressAsync_v12060 = ::core::option::Option<
    unsafe extern "C" fn(
        paramsArray: *mut CUmemDecompressParams,
        count: usize,
        flags: ::core::ffi::c_uint,
        errorIndex: *mut usize,
        stream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemBatchDecompressAsync_v12060_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        paramsArray: *mut CUmemDecompressParams,
        count: usize,
        flags: ::core::ffi::c_uint,
        errorIndex: *mut usize,
        stream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuLogsRegisterCallback_v12090 = ::core::option::Option<
    unsafe extern "C" fn(
        callbackFunc: CUlogsCallback,
        userData: *mut ::core::ffi::c_void,
        callback: *mut CUlogsCallbackHandle,
    ) -> CUresult,
>;
pub type PFN_cuLogsUnregisterCallback_v12090 = ::core::option::Option<
    unsafe extern "C" fn(callback: CUlogsCallbackHandle) -> CUresult,
>;
pub type PFN_cuLogsCurrent_v12090 = ::core::option::Option<
    unsafe extern "C" fn(
        iterator: *mut CUlogIterator,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLogsDumpToFile_v12090 = ::core::option::Option<
    unsafe extern "C" fn(
        iterator: *mut CUlogIterator,
        pathToFile: *const ::core::ffi::c_char,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLogsDumpToMemory_v12090 = ::core::option::Option<
    unsafe extern "C" fn(
        iterator: *mut CUlogIterator,
        buffer: *mut ::core::ffi::c_char,
        size: *mut usize,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLaunchHostFunc_v13010 = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        fn_: CUhostFn,
        userData: *mut ::core::ffi::c_void,
        syncMode: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLaunchHostFunc_v13010_ptsz = ::core::option::Option<
    unsafe extern "C" fn(
        hStream: CUstream,
        fn_: CUhostFn,
        userData: *mut ::core::ffi::c_void,
        syncMode: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpRegisterStartCallback_v13020 = ::core::option::Option<
    unsafe extern "C" fn(
        callback: CUcoredumpStatusCallback,
        userData: *mut ::core::ffi::c_void,
        callbackOut: *mut CUcoredumpCallbackHandle,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpRegisterCompleteCallback_v13020 = ::core::option::Option<
    unsafe extern "C" fn(
        callback: CUcoredumpStatusCallback,
        userData: *mut ::core::ffi::c_void,
        callbackOut: *mut CUcoredumpCallbackHandle,
    ) -> CUresult,
>;
pub type PFN_cuCoredumpDeregisterStartCallback_v13020 = ::core::option::Option<
    unsafe extern "C" fn(callback: CUcoredumpCallbackHandle) -> CUresult,
>;
pub type PFN_cuCoredumpDeregisterCompleteCallback_v13020 = ::core::option::Option<
    unsafe extern "C" fn(callback: CUcoredumpCallbackHandle) -> CUresult,
>;
pub type PFN_cuMemHostRegister_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        p: *mut ::core::ffi::c_void,
        bytesize: usize,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphicsResourceSetMapFlags_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        resource: CUgraphicsResource,
        flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuLinkCreate_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
        stateOut: *mut CUlinkState,
    ) -> CUresult,
>;
pub type PFN_cuLinkAddData_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        state: CUlinkState,
        type_: CUjitInputType,
        data: *mut ::core::ffi::c_void,
        size: usize,
        name: *const ::core::ffi::c_char,
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuLinkAddFile_v5050 = ::core::option::Option<
    unsafe extern "C" fn(
        state: CUlinkState,
        type_: CUjitInputType,
        path: *const ::core::ffi::c_char,
        numOptions: ::core::ffi::c_uint,
        options: *mut CUjit_option,
        optionValues: *mut *mut ::core::ffi::c_void,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetAddress2D_v3020 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        desc: *const CUDA_ARRAY_DESCRIPTOR_v2,
        dptr: CUdeviceptr_v2,
        Pitch: usize,
    ) -> CUresult,
>;
pub type PFN_cuDeviceTotalMem_v2000 = ::core::option::Option<
    unsafe extern "C" fn(bytes: *mut ::core::ffi::c_uint, dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuCtxCreate_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pctx: *mut CUcontext,
        flags: ::core::ffi::c_uint,
        dev: CUdevice_v1,
    ) -> CUresult,
>;
pub type PFN_cuModuleGetGlobal_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v1,
        bytes: *mut ::core::ffi::c_uint,
        hmod: CUmodule,
        name: *const ::core::ffi::c_char,
    ) -> CUresult,
>;
pub type PFN_cuMemGetInfo_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        free: *mut ::core::ffi::c_uint,
        total: *mut ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemAlloc_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v1,
        bytesize: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemAllocPitch_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dptr: *mut CUdeviceptr_v1,
        pPitch: *mut ::core::ffi::c_uint,
        WidthInBytes: ::core::ffi::c_uint,
        Height: ::core::ffi::c_uint,
        ElementSizeBytes: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemFree_v2000 = ::core::option::Option<
    unsafe extern "C" fn(dptr: CUdeviceptr_v1) -> CUresult,
>;
pub type PFN_cuMemGetAddressRange_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pbase: *mut CUdeviceptr_v1,
        psize: *mut ::core::ffi::c_uint,
        dptr: CUdeviceptr_v1,
    ) -> CUresult,
>;
pub type PFN_cuMemAllocHost_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pp: *mut *mut ::core::ffi::c_void,
        bytesize: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemHostGetDevicePointer_v2020 = ::core::option::Option<
    unsafe extern "C" fn(
        pdptr: *mut CUdeviceptr_v1,
        p: *mut ::core::ffi::c_void,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoD_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoH_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcDevice: CUdeviceptr_v1,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoD_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        srcDevice: CUdeviceptr_v1,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoA_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: ::core::ffi::c_uint,
        srcDevice: CUdeviceptr_v1,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoD_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        srcArray: CUarray,
        srcOffset: ::core::ffi::c_uint,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoA_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: ::core::ffi::c_uint,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoH_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcArray: CUarray,
        srcOffset: ::core::ffi::c_uint,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoA_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: ::core::ffi::c_uint,
        srcArray: CUarray,
        srcOffset: ::core::ffi::c_uint,
        ByteCount: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyHtoAAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstArray: CUarray,
        dstOffset: ::core::ffi::c_uint,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyAtoHAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcArray: CUarray,
        srcOffset: ::core::ffi::c_uint,
        ByteCount: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy2D_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v1) -> CUresult,
>;
pub type PFN_cuMemcpy2DUnaligned_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v1) -> CUresult,
>;
pub type PFN_cuMemcpy3D_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_v1) -> CUresult,
>;
pub type PFN_cuMemcpyHtoDAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        srcHost: *const ::core::ffi::c_void,
        ByteCount: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoHAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstHost: *mut ::core::ffi::c_void,
        srcDevice: CUdeviceptr_v1,
        ByteCount: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpyDtoDAsync_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        srcDevice: CUdeviceptr_v1,
        ByteCount: ::core::ffi::c_uint,
        hStream: CUstream,
    ) -> CUresult,
>;
pub type PFN_cuMemcpy2DAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY2D_v1, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemcpy3DAsync_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pCopy: *const CUDA_MEMCPY3D_v1, hStream: CUstream) -> CUresult,
>;
pub type PFN_cuMemsetD8_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        uc: ::core::ffi::c_uchar,
        N: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD16_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        us: ::core::ffi::c_ushort,
        N: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD32_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        ui: ::core::ffi::c_uint,
        N: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D8_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        dstPitch: ::core::ffi::c_uint,
        uc: ::core::ffi::c_uchar,
        Width: ::core::ffi::c_uint,
        Height: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D16_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        dstPitch: ::core::ffi::c_uint,
        us: ::core::ffi::c_ushort,
        Width: ::core::ffi::c_uint,
        Height: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuMemsetD2D32_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        dstDevice: CUdeviceptr_v1,
        dstPitch: ::core::ffi::c_uint,
        ui: ::core::ffi::c_uint,
        Width: ::core::ffi::c_uint,
        Height: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuArrayCreate_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle: *mut CUarray,
        pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR_v1,
    ) -> CUresult,
>;
pub type PFN_cuArrayGetDescriptor_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR_v1,
        hArray: CUarray,
    ) -> CUresult,
>;
pub type PFN_cuArray3DCreate_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pHandle: *mut CUarray,
        pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR_v1,
    ) -> CUresult,
>;
pub type PFN_cuArray3DGetDescriptor_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR_v1,
        hArray: CUarray,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetAddress_v2000 = ::core::option::Option<
    unsafe extern "C" fn(
        ByteOffset: *mut ::core::ffi::c_uint,
        hTexRef: CUtexref,
        dptr: CUdeviceptr_v1,
        bytes: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuTexRefSetAddress2D_v2020 = ::core::option::Option<
    unsafe extern "C" fn(
        hTexRef: CUtexref,
        desc: *const CUDA_ARRAY_DESCRIPTOR_v1,
        dptr: CUdeviceptr_v1,
        Pitch: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuTexRefGetAddress_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pdptr: *mut CUdeviceptr_v1, hTexRef: CUtexref) -> CUresult,
>;
pub type PFN_cuGraphicsResourceGetMappedPointer_v3000 = ::core::option::Option<
    unsafe extern "C" fn(
        pDevPtr: *mut CUdeviceptr_v1,
        pSize: *mut ::core::ffi::c_uint,
        resource: CUgraphicsResource,
    ) -> CUresult,
>;
pub type PFN_cuCtxDestroy_v2000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuCtxPopCurrent_v2000 = ::core::option::Option<
    unsafe extern "C" fn(pctx: *mut CUcontext) -> CUresult,
>;
pub type PFN_cuCtxPushCurrent_v2000 = ::core::option::Option<
    unsafe extern "C" fn(ctx: CUcontext) -> CUresult,
>;
pub type PFN_cuStreamDestroy_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuEventDestroy_v2000 = ::core::option::Option<
    unsafe extern "C" fn(hEvent: CUevent) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxRelease_v7000 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxReset_v7000 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1) -> CUresult,
>;
pub type PFN_cuDevicePrimaryCtxSetFlags_v7000 = ::core::option::Option<
    unsafe extern "C" fn(dev: CUdevice_v1, flags: ::core::ffi::c_uint) -> CUresult,
>;
pub type PFN_cuStreamBeginCapture_v10000 = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuStreamBeginCapture_v10000_ptsz = ::core::option::Option<
    unsafe extern "C" fn(hStream: CUstream) -> CUresult,
>;
pub type PFN_cuIpcOpenMemHandle_v4010 = ::core::option::Option<
    unsafe extern "C" fn(
        pdptr: *mut CUdeviceptr_v2,
        handle: CUipcMemHandle_v1,
        Flags: ::core::ffi::c_uint,
    ) -> CUresult,
>;
pub type PFN_cuGraphInstantiate_v10000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        phErrorNode: *mut CUgraphNode,
        logBuffer: *mut ::core::ffi::c_char,
        bufferSize: usize,
    ) -> CUresult,
>;
pub type PFN_cuGraphInstantiate_v11000 = ::core::option::Option<
    unsafe extern "C" fn(
        phGraphExec: *mut CUgraphExec,
        hGraph: CUgraph,
        phErrorNode: *mut CUgraphNode,
        logBuffer: *mut ::core::ffi::c_char,
        bufferSize: usize,
    ) -> CUresult,
>;
pub type PFN_cuCheckpointProcessGetRestoreThreadId_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        pid: ::core::ffi::c_int,
        tid: *mut ::core::ffi::c_int,
    ) -> CUresult,
>;
pub type PFN_cuCheckpointProcessGetState_v12080 = ::core::option::Option<
    unsafe extern "C" fn(pid: ::core::ffi::c_int, state: *mut CUprocessState) -> CUresult,
>;
pub type PFN_cuCheckpointProcessLock_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        pid: ::core::ffi::c_int,
        args: *mut CUcheckpointLockArgs,
    ) -> CUresult,
>;
pub type PFN_cuCheckpointProcessCheckpoint_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        pid: ::core::ffi::c_int,
        args: *mut CUcheckpointCheckpointArgs,
    ) -> CUresult,
>;
pub type PFN_cuCheckpointProcessRestore_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        pid: ::core::ffi::c_int,
        args: *mut CUcheckpointRestoreArgs,
    ) -> CUresult,
>;
pub type PFN_cuCheckpointProcessUnlock_v12080 = ::core::option::Option<
    unsafe extern "C" fn(
        pid: ::core::ffi::c_int,
        args: *mut CUcheckpointUnlockArgs,
    ) -> CUresult,
>;
pub type PFN_cuCheckpointOperationComplete_v13040 = ::core::option::Option<
    unsafe extern "C" fn(handle: CUcheckpointOperationHandle) -> CUresult,
>;
pub type PFN_cuProfilerInitialize_v4000 = ::core::option::Option<
    unsafe extern "C" fn(
        configFile: *const ::core::ffi::c_char,
        outputFile: *const ::core::ffi::c_char,
        outputMode: CUoutput_mode,
    ) -> CUresult,
>;
pub type PFN_cuProfilerStart_v4000 = ::core::option::Option<
    unsafe extern "C" fn() -> CUresult,
>;
pub type PFN_cuProfilerStop_v4000 = ::core::option::Option<
    unsafe extern "C" fn() -> CUresult,
>;
const _: PFN_cuArray3DCreate_v2000 = Some(cuArray3DCreate);
const _: PFN_cuArray3DCreate_v3020 = Some(cuArray3DCreate_v2);
const _: PFN_cuArray3DGetDescriptor_v2000 = Some(cuArray3DGetDescriptor);
const _: PFN_cuArray3DGetDescriptor_v3020 = Some(cuArray3DGetDescriptor_v2);
const _: PFN_cuArrayCreate_v2000 = Some(cuArrayCreate);
const _: PFN_cuArrayCreate_v3020 = Some(cuArrayCreate_v2);
const _: PFN_cuArrayDestroy_v2000 = Some(cuArrayDestroy);
const _: PFN_cuArrayGetDescriptor_v2000 = Some(cuArrayGetDescriptor);
const _: PFN_cuArrayGetDescriptor_v3020 = Some(cuArrayGetDescriptor_v2);
const _: PFN_cuArrayGetMemoryRequirements_v11060 = Some(cuArrayGetMemoryRequirements);
const _: PFN_cuArrayGetPlane_v11020 = Some(cuArrayGetPlane);
const _: PFN_cuArrayGetSparseProperties_v11010 = Some(cuArrayGetSparseProperties);
const _: PFN_cuCheckpointOperationComplete_v13040 = Some(cuCheckpointOperationComplete);
const _: PFN_cuCheckpointProcessCheckpoint_v12080 = Some(cuCheckpointProcessCheckpoint);
const _: PFN_cuCheckpointProcessGetRestoreThreadId_v12080 = Some(cuCheckpointProcessGetRestoreThreadId);
const _: PFN_cuCheckpointProcessGetState_v12080 = Some(cuCheckpointProcessGetState);
const _: PFN_cuCheckpointProcessLock_v12080 = Some(cuCheckpointProcessLock);
const _: PFN_cuCheckpointProcessRestore_v12080 = Some(cuCheckpointProcessRestore);
const _: PFN_cuCheckpointProcessUnlock_v12080 = Some(cuCheckpointProcessUnlock);
const _: PFN_cuCoredumpDeregisterCompleteCallback_v13020 = Some(cuCoredumpDeregisterCompleteCallback);
const _: PFN_cuCoredumpDeregisterStartCallback_v13020 = Some(cuCoredumpDeregisterStartCallback);
const _: PFN_cuCoredumpGetAttribute_v12010 = Some(cuCoredumpGetAttribute);
const _: PFN_cuCoredumpGetAttributeGlobal_v12010 = Some(cuCoredumpGetAttributeGlobal);
const _: PFN_cuCoredumpRegisterCompleteCallback_v13020 = Some(cuCoredumpRegisterCompleteCallback);
const _: PFN_cuCoredumpRegisterStartCallback_v13020 = Some(cuCoredumpRegisterStartCallback);
const _: PFN_cuCoredumpSetAttribute_v12010 = Some(cuCoredumpSetAttribute);
const _: PFN_cuCoredumpSetAttributeGlobal_v12010 = Some(cuCoredumpSetAttributeGlobal);
const _: PFN_cuCtxAttach_v2000 = Some(cuCtxAttach);
const _: PFN_cuCtxCreate_v2000 = Some(cuCtxCreate);
const _: PFN_cuCtxCreate_v3020 = Some(cuCtxCreate_v2);
const _: PFN_cuCtxCreate_v11040 = Some(cuCtxCreate_v3);
const _: PFN_cuCtxCreate_v12050 = Some(cuCtxCreate_v4);
const _: PFN_cuCtxDestroy_v2000 = Some(cuCtxDestroy);
const _: PFN_cuCtxDestroy_v4000 = Some(cuCtxDestroy_v2);
const _: PFN_cuCtxDetach_v2000 = Some(cuCtxDetach);
const _: PFN_cuCtxDisablePeerAccess_v4000 = Some(cuCtxDisablePeerAccess);
const _: PFN_cuCtxEnablePeerAccess_v4000 = Some(cuCtxEnablePeerAccess);
const _: PFN_cuCtxFromGreenCtx_v12040 = Some(cuCtxFromGreenCtx);
const _: PFN_cuCtxGetApiVersion_v3020 = Some(cuCtxGetApiVersion);
const _: PFN_cuCtxGetCacheConfig_v3020 = Some(cuCtxGetCacheConfig);
const _: PFN_cuCtxGetCurrent_v4000 = Some(cuCtxGetCurrent);
const _: PFN_cuCtxGetDevResource_v12040 = Some(cuCtxGetDevResource);
const _: PFN_cuCtxGetDevice_v2000 = Some(cuCtxGetDevice);
const _: PFN_cuCtxGetDevice_v13000 = Some(cuCtxGetDevice_v2);
const _: PFN_cuCtxGetExecAffinity_v11040 = Some(cuCtxGetExecAffinity);
const _: PFN_cuCtxGetFlags_v7000 = Some(cuCtxGetFlags);
const _: PFN_cuCtxGetId_v12000 = Some(cuCtxGetId);
const _: PFN_cuCtxGetLimit_v3010 = Some(cuCtxGetLimit);
const _: PFN_cuCtxGetSharedMemConfig_v4020 = Some(cuCtxGetSharedMemConfig);
const _: PFN_cuCtxGetStreamPriorityRange_v5050 = Some(cuCtxGetStreamPriorityRange);
const _: PFN_cuCtxPopCurrent_v2000 = Some(cuCtxPopCurrent);
const _: PFN_cuCtxPopCurrent_v4000 = Some(cuCtxPopCurrent_v2);
const _: PFN_cuCtxPushCurrent_v2000 = Some(cuCtxPushCurrent);
const _: PFN_cuCtxPushCurrent_v4000 = Some(cuCtxPushCurrent_v2);
const _: PFN_cuCtxRecordEvent_v12050 = Some(cuCtxRecordEvent);
const _: PFN_cuCtxResetPersistingL2Cache_v11000 = Some(cuCtxResetPersistingL2Cache);
const _: PFN_cuCtxSetCacheConfig_v3020 = Some(cuCtxSetCacheConfig);
const _: PFN_cuCtxSetCurrent_v4000 = Some(cuCtxSetCurrent);
const _: PFN_cuCtxSetFlags_v12010 = Some(cuCtxSetFlags);
const _: PFN_cuCtxSetLimit_v3010 = Some(cuCtxSetLimit);
const _: PFN_cuCtxSetSharedMemConfig_v4020 = Some(cuCtxSetSharedMemConfig);
const _: PFN_cuCtxSynchronize_v2000 = Some(cuCtxSynchronize);
const _: PFN_cuCtxSynchronize_v13000 = Some(cuCtxSynchronize_v2);
const _: PFN_cuCtxWaitEvent_v12050 = Some(cuCtxWaitEvent);
const _: PFN_cuDestroyExternalMemory_v10000 = Some(cuDestroyExternalMemory);
const _: PFN_cuDestroyExternalSemaphore_v10000 = Some(cuDestroyExternalSemaphore);
const _: PFN_cuDevResourceGenerateDesc_v12040 = Some(cuDevResourceGenerateDesc);
const _: PFN_cuDevSmResourceSplit_v13010 = Some(cuDevSmResourceSplit);
const _: PFN_cuDevSmResourceSplitByCount_v12040 = Some(cuDevSmResourceSplitByCount);
const _: PFN_cuDeviceCanAccessPeer_v4000 = Some(cuDeviceCanAccessPeer);
const _: PFN_cuDeviceComputeCapability_v2000 = Some(cuDeviceComputeCapability);
const _: PFN_cuDeviceGet_v2000 = Some(cuDeviceGet);
const _: PFN_cuDeviceGetAttribute_v2000 = Some(cuDeviceGetAttribute);
const _: PFN_cuDeviceGetByPCIBusId_v4010 = Some(cuDeviceGetByPCIBusId);
const _: PFN_cuDeviceGetCliqueCount_v13040 = Some(cuDeviceGetCliqueCount);
const _: PFN_cuDeviceGetCliqueInfo_v13040 = Some(cuDeviceGetCliqueInfo);
const _: PFN_cuDeviceGetCount_v2000 = Some(cuDeviceGetCount);
const _: PFN_cuDeviceGetDefaultMemPool_v11020 = Some(cuDeviceGetDefaultMemPool);
const _: PFN_cuDeviceGetDevResource_v12040 = Some(cuDeviceGetDevResource);
const _: PFN_cuDeviceGetExecAffinitySupport_v11040 = Some(cuDeviceGetExecAffinitySupport);
const _: PFN_cuDeviceGetFabricClusterUuid_v13040 = Some(cuDeviceGetFabricClusterUuid);
const _: PFN_cuDeviceGetGraphMemAttribute_v11040 = Some(cuDeviceGetGraphMemAttribute);
const _: PFN_cuDeviceGetHostAtomicCapabilities_v13000 = Some(cuDeviceGetHostAtomicCapabilities);
const _: PFN_cuDeviceGetLuid_v10000 = Some(cuDeviceGetLuid);
const _: PFN_cuDeviceGetMemPool_v11020 = Some(cuDeviceGetMemPool);
const _: PFN_cuDeviceGetName_v2000 = Some(cuDeviceGetName);
const _: PFN_cuDeviceGetNvSciSyncAttributes_v10020 = Some(cuDeviceGetNvSciSyncAttributes);
const _: PFN_cuDeviceGetP2PAtomicCapabilities_v13000 = Some(cuDeviceGetP2PAtomicCapabilities);
const _: PFN_cuDeviceGetP2PAttribute_v8000 = Some(cuDeviceGetP2PAttribute);
const _: PFN_cuDeviceGetPCIBusId_v4010 = Some(cuDeviceGetPCIBusId);
const _: PFN_cuDeviceGetProperties_v2000 = Some(cuDeviceGetProperties);
const _: PFN_cuDeviceGetTexture1DLinearMaxWidth_v11010 = Some(cuDeviceGetTexture1DLinearMaxWidth);
const _: PFN_cuDeviceGetUuid_v9020 = Some(cuDeviceGetUuid);
const _: PFN_cuDeviceGetUuid_v11040 = Some(cuDeviceGetUuid_v2);
const _: PFN_cuDeviceGraphMemTrim_v11040 = Some(cuDeviceGraphMemTrim);
const _: PFN_cuDevicePrimaryCtxGetState_v7000 = Some(cuDevicePrimaryCtxGetState);
const _: PFN_cuDevicePrimaryCtxRelease_v7000 = Some(cuDevicePrimaryCtxRelease);
const _: PFN_cuDevicePrimaryCtxRelease_v11000 = Some(cuDevicePrimaryCtxRelease_v2);
const _: PFN_cuDevicePrimaryCtxReset_v7000 = Some(cuDevicePrimaryCtxReset);
const _: PFN_cuDevicePrimaryCtxReset_v11000 = Some(cuDevicePrimaryCtxReset_v2);
const _: PFN_cuDevicePrimaryCtxRetain_v7000 = Some(cuDevicePrimaryCtxRetain);
const _: PFN_cuDevicePrimaryCtxSetFlags_v7000 = Some(cuDevicePrimaryCtxSetFlags);
const _: PFN_cuDevicePrimaryCtxSetFlags_v11000 = Some(cuDevicePrimaryCtxSetFlags_v2);
const _: PFN_cuDeviceRegisterAsyncNotification_v12040 = Some(cuDeviceRegisterAsyncNotification);
const _: PFN_cuDeviceSetGraphMemAttribute_v11040 = Some(cuDeviceSetGraphMemAttribute);
const _: PFN_cuDeviceSetMemPool_v11020 = Some(cuDeviceSetMemPool);
const _: PFN_cuDeviceTotalMem_v2000 = Some(cuDeviceTotalMem);
const _: PFN_cuDeviceTotalMem_v3020 = Some(cuDeviceTotalMem_v2);
const _: PFN_cuDeviceUnregisterAsyncNotification_v12040 = Some(cuDeviceUnregisterAsyncNotification);
const _: PFN_cuDriverGetVersion_v2020 = Some(cuDriverGetVersion);
const _: PFN_cuEventCreate_v2000 = Some(cuEventCreate);
const _: PFN_cuEventDestroy_v2000 = Some(cuEventDestroy);
const _: PFN_cuEventDestroy_v4000 = Some(cuEventDestroy_v2);
const _: PFN_cuEventElapsedTime_v2000 = Some(cuEventElapsedTime);
const _: PFN_cuEventElapsedTime_v12080 = Some(cuEventElapsedTime_v2);
const _: PFN_cuEventQuery_v2000 = Some(cuEventQuery);
const _: PFN_cuEventRecord_v2000 = Some(cuEventRecord);
const _: PFN_cuEventRecordWithFlags_v11010 = Some(cuEventRecordWithFlags);
const _: PFN_cuEventRecordWithFlags_v11010_ptsz = Some(cuEventRecordWithFlags_ptsz);
const _: PFN_cuEventRecord_v7000_ptsz = Some(cuEventRecord_ptsz);
const _: PFN_cuEventSynchronize_v2000 = Some(cuEventSynchronize);
const _: PFN_cuExternalMemoryGetMappedBuffer_v10000 = Some(cuExternalMemoryGetMappedBuffer);
const _: PFN_cuExternalMemoryGetMappedMipmappedArray_v10000 = Some(cuExternalMemoryGetMappedMipmappedArray);
const _: PFN_cuFabricCpyBatchAsync_v13050 = Some(cuFabricCpyBatchAsync);
const _: PFN_cuFabricCpyBatchAsync_v13050_ptsz = Some(cuFabricCpyBatchAsync_ptsz);
const _: PFN_cuFlushGPUDirectRDMAWrites_v11030 = Some(cuFlushGPUDirectRDMAWrites);
const _: PFN_cuFuncGetAttribute_v2020 = Some(cuFuncGetAttribute);
const _: PFN_cuFuncGetModule_v11000 = Some(cuFuncGetModule);
const _: PFN_cuFuncGetName_v12030 = Some(cuFuncGetName);
const _: PFN_cuFuncGetParamCount_v13020 = Some(cuFuncGetParamCount);
const _: PFN_cuFuncGetParamInfo_v12040 = Some(cuFuncGetParamInfo);
const _: PFN_cuFuncIsLoaded_v12040 = Some(cuFuncIsLoaded);
const _: PFN_cuFuncLoad_v12040 = Some(cuFuncLoad);
const _: PFN_cuFuncSetAttribute_v9000 = Some(cuFuncSetAttribute);
const _: PFN_cuFuncSetBlockShape_v2000 = Some(cuFuncSetBlockShape);
const _: PFN_cuFuncSetCacheConfig_v3000 = Some(cuFuncSetCacheConfig);
const _: PFN_cuFuncSetSharedMemConfig_v4020 = Some(cuFuncSetSharedMemConfig);
const _: PFN_cuFuncSetSharedSize_v2000 = Some(cuFuncSetSharedSize);
const _: PFN_cuGetErrorName_v6000 = Some(cuGetErrorName);
const _: PFN_cuGetErrorString_v6000 = Some(cuGetErrorString);
const _: PFN_cuGetExportTable_v3000 = Some(cuGetExportTable);
const _: PFN_cuGetProcAddress_v11030 = Some(cuGetProcAddress);
const _: PFN_cuGetProcAddress_v12000 = Some(cuGetProcAddress_v2);
const _: PFN_cuGraphAddBatchMemOpNode_v11070 = Some(cuGraphAddBatchMemOpNode);
const _: PFN_cuGraphAddChildGraphNode_v10000 = Some(cuGraphAddChildGraphNode);
const _: PFN_cuGraphAddDependencies_v10000 = Some(cuGraphAddDependencies);
const _: PFN_cuGraphAddDependencies_v12030 = Some(cuGraphAddDependencies_v2);
const _: PFN_cuGraphAddEmptyNode_v10000 = Some(cuGraphAddEmptyNode);
const _: PFN_cuGraphAddEventRecordNode_v11010 = Some(cuGraphAddEventRecordNode);
const _: PFN_cuGraphAddEventWaitNode_v11010 = Some(cuGraphAddEventWaitNode);
const _: PFN_cuGraphAddExternalSemaphoresSignalNode_v11020 = Some(cuGraphAddExternalSemaphoresSignalNode);
const _: PFN_cuGraphAddExternalSemaphoresWaitNode_v11020 = Some(cuGraphAddExternalSemaphoresWaitNode);
const _: PFN_cuGraphAddHostNode_v10000 = Some(cuGraphAddHostNode);
const _: PFN_cuGraphAddKernelNode_v10000 = Some(cuGraphAddKernelNode);
const _: PFN_cuGraphAddKernelNode_v12000 = Some(cuGraphAddKernelNode_v2);
const _: PFN_cuGraphAddMemAllocNode_v11040 = Some(cuGraphAddMemAllocNode);
const _: PFN_cuGraphAddMemFreeNode_v11040 = Some(cuGraphAddMemFreeNode);
const _: PFN_cuGraphAddMemcpyNode_v10000 = Some(cuGraphAddMemcpyNode);
const _: PFN_cuGraphAddMemsetNode_v10000 = Some(cuGraphAddMemsetNode);
const _: PFN_cuGraphAddNode_v12020 = Some(cuGraphAddNode);
const _: PFN_cuGraphAddNode_v12030 = Some(cuGraphAddNode_v2);
const _: PFN_cuGraphAddNode_v13040 = Some(cuGraphAddNode_v3);
const _: PFN_cuGraphBatchMemOpNodeGetParams_v11070 = Some(cuGraphBatchMemOpNodeGetParams);
const _: PFN_cuGraphBatchMemOpNodeSetParams_v11070 = Some(cuGraphBatchMemOpNodeSetParams);
const _: PFN_cuGraphChildGraphNodeGetGraph_v10000 = Some(cuGraphChildGraphNodeGetGraph);
const _: PFN_cuGraphClone_v10000 = Some(cuGraphClone);
const _: PFN_cuGraphConditionalHandleCreate_v12030 = Some(cuGraphConditionalHandleCreate);
const _: PFN_cuGraphCreate_v10000 = Some(cuGraphCreate);
const _: PFN_cuGraphDebugDotPrint_v11030 = Some(cuGraphDebugDotPrint);
const _: PFN_cuGraphDestroy_v10000 = Some(cuGraphDestroy);
const _: PFN_cuGraphDestroyNode_v10000 = Some(cuGraphDestroyNode);
const _: PFN_cuGraphEventRecordNodeGetEvent_v11010 = Some(cuGraphEventRecordNodeGetEvent);
const _: PFN_cuGraphEventRecordNodeSetEvent_v11010 = Some(cuGraphEventRecordNodeSetEvent);
const _: PFN_cuGraphEventWaitNodeGetEvent_v11010 = Some(cuGraphEventWaitNodeGetEvent);
const _: PFN_cuGraphEventWaitNodeSetEvent_v11010 = Some(cuGraphEventWaitNodeSetEvent);
const _: PFN_cuGraphExecBatchMemOpNodeSetParams_v11070 = Some(cuGraphExecBatchMemOpNodeSetParams);
const _: PFN_cuGraphExecChildGraphNodeSetParams_v11010 = Some(cuGraphExecChildGraphNodeSetParams);
const _: PFN_cuGraphExecDestroy_v10000 = Some(cuGraphExecDestroy);
const _: PFN_cuGraphExecEventRecordNodeSetEvent_v11010 = Some(cuGraphExecEventRecordNodeSetEvent);
const _: PFN_cuGraphExecEventWaitNodeSetEvent_v11010 = Some(cuGraphExecEventWaitNodeSetEvent);
const _: PFN_cuGraphExecExternalSemaphoresSignalNodeSetParams_v11020 = Some(cuGraphExecExternalSemaphoresSignalNodeSetParams);
const _: PFN_cuGraphExecExternalSemaphoresWaitNodeSetParams_v11020 = Some(cuGraphExecExternalSemaphoresWaitNodeSetParams);
const _: PFN_cuGraphExecGetFlags_v12000 = Some(cuGraphExecGetFlags);
const _: PFN_cuGraphExecGetId_v13010 = Some(cuGraphExecGetId);
const _: PFN_cuGraphExecHostNodeSetParams_v10020 = Some(cuGraphExecHostNodeSetParams);
const _: PFN_cuGraphExecKernelNodeSetParams_v10010 = Some(cuGraphExecKernelNodeSetParams);
const _: PFN_cuGraphExecKernelNodeSetParams_v12000 = Some(cuGraphExecKernelNodeSetParams_v2);
const _: PFN_cuGraphExecMemcpyNodeSetParams_v10020 = Some(cuGraphExecMemcpyNodeSetParams);
const _: PFN_cuGraphExecMemsetNodeSetParams_v10020 = Some(cuGraphExecMemsetNodeSetParams);
const _: PFN_cuGraphExecNodeSetParams_v12020 = Some(cuGraphExecNodeSetParams);
const _: PFN_cuGraphExecUpdate_v10020 = Some(cuGraphExecUpdate);
const _: PFN_cuGraphExecUpdate_v12000 = Some(cuGraphExecUpdate_v2);
const _: PFN_cuGraphExternalSemaphoresSignalNodeGetParams_v11020 = Some(cuGraphExternalSemaphoresSignalNodeGetParams);
const _: PFN_cuGraphExternalSemaphoresSignalNodeSetParams_v11020 = Some(cuGraphExternalSemaphoresSignalNodeSetParams);
const _: PFN_cuGraphExternalSemaphoresWaitNodeGetParams_v11020 = Some(cuGraphExternalSemaphoresWaitNodeGetParams);
const _: PFN_cuGraphExternalSemaphoresWaitNodeSetParams_v11020 = Some(cuGraphExternalSemaphoresWaitNodeSetParams);
const _: PFN_cuGraphGetEdges_v10000 = Some(cuGraphGetEdges);
const _: PFN_cuGraphGetEdges_v12030 = Some(cuGraphGetEdges_v2);
const _: PFN_cuGraphGetId_v13010 = Some(cuGraphGetId);
const _: PFN_cuGraphGetNodes_v10000 = Some(cuGraphGetNodes);
const _: PFN_cuGraphGetRootNodes_v10000 = Some(cuGraphGetRootNodes);
const _: PFN_cuGraphHostNodeGetParams_v10000 = Some(cuGraphHostNodeGetParams);
const _: PFN_cuGraphHostNodeSetParams_v10000 = Some(cuGraphHostNodeSetParams);
const _: PFN_cuGraphInstantiate_v10000 = Some(cuGraphInstantiate);
const _: PFN_cuGraphInstantiateWithFlags_v11040 = Some(cuGraphInstantiateWithFlags);
const _: PFN_cuGraphInstantiateWithParams_v12000 = Some(cuGraphInstantiateWithParams);
const _: PFN_cuGraphInstantiateWithParams_v12000_ptsz = Some(cuGraphInstantiateWithParams_ptsz);
const _: PFN_cuGraphInstantiate_v11000 = Some(cuGraphInstantiate_v2);
const _: PFN_cuGraphKernelNodeCopyAttributes_v11000 = Some(cuGraphKernelNodeCopyAttributes);
const _: PFN_cuGraphKernelNodeGetAttribute_v11000 = Some(cuGraphKernelNodeGetAttribute);
const _: PFN_cuGraphKernelNodeGetParams_v10000 = Some(cuGraphKernelNodeGetParams);
const _: PFN_cuGraphKernelNodeGetParams_v12000 = Some(cuGraphKernelNodeGetParams_v2);
const _: PFN_cuGraphKernelNodeSetAttribute_v11000 = Some(cuGraphKernelNodeSetAttribute);
const _: PFN_cuGraphKernelNodeSetParams_v10000 = Some(cuGraphKernelNodeSetParams);
const _: PFN_cuGraphKernelNodeSetParams_v12000 = Some(cuGraphKernelNodeSetParams_v2);
const _: PFN_cuGraphLaunch_v10000 = Some(cuGraphLaunch);
const _: PFN_cuGraphLaunch_v10000_ptsz = Some(cuGraphLaunch_ptsz);
const _: PFN_cuGraphMemAllocNodeGetParams_v11040 = Some(cuGraphMemAllocNodeGetParams);
const _: PFN_cuGraphMemFreeNodeGetParams_v11040 = Some(cuGraphMemFreeNodeGetParams);
const _: PFN_cuGraphMemcpyNodeGetParams_v10000 = Some(cuGraphMemcpyNodeGetParams);
const _: PFN_cuGraphMemcpyNodeSetParams_v10000 = Some(cuGraphMemcpyNodeSetParams);
const _: PFN_cuGraphMemsetNodeGetParams_v10000 = Some(cuGraphMemsetNodeGetParams);
const _: PFN_cuGraphMemsetNodeSetParams_v10000 = Some(cuGraphMemsetNodeSetParams);
const _: PFN_cuGraphNodeFindInClone_v10000 = Some(cuGraphNodeFindInClone);
const _: PFN_cuGraphNodeGetContainingGraph_v13010 = Some(cuGraphNodeGetContainingGraph);
const _: PFN_cuGraphNodeGetDependencies_v10000 = Some(cuGraphNodeGetDependencies);
const _: PFN_cuGraphNodeGetDependencies_v12030 = Some(cuGraphNodeGetDependencies_v2);
const _: PFN_cuGraphNodeGetDependentNodes_v10000 = Some(cuGraphNodeGetDependentNodes);
const _: PFN_cuGraphNodeGetDependentNodes_v12030 = Some(cuGraphNodeGetDependentNodes_v2);
const _: PFN_cuGraphNodeGetEnabled_v11060 = Some(cuGraphNodeGetEnabled);
const _: PFN_cuGraphNodeGetLocalId_v13010 = Some(cuGraphNodeGetLocalId);
const _: PFN_cuGraphNodeGetParams_v13020 = Some(cuGraphNodeGetParams);
const _: PFN_cuGraphNodeGetToolsId_v13010 = Some(cuGraphNodeGetToolsId);
const _: PFN_cuGraphNodeGetType_v10000 = Some(cuGraphNodeGetType);
const _: PFN_cuGraphNodeSetEnabled_v11060 = Some(cuGraphNodeSetEnabled);
const _: PFN_cuGraphNodeSetParams_v12020 = Some(cuGraphNodeSetParams);
const _: PFN_cuGraphNodeSetParams_v13040 = Some(cuGraphNodeSetParams_v2);
const _: PFN_cuGraphReleaseUserObject_v11030 = Some(cuGraphReleaseUserObject);
const _: PFN_cuGraphRemoveDependencies_v10000 = Some(cuGraphRemoveDependencies);
const _: PFN_cuGraphRemoveDependencies_v12030 = Some(cuGraphRemoveDependencies_v2);
const _: PFN_cuGraphRetainUserObject_v11030 = Some(cuGraphRetainUserObject);
const _: PFN_cuGraphUpload_v11010 = Some(cuGraphUpload);
const _: PFN_cuGraphUpload_v11010_ptsz = Some(cuGraphUpload_ptsz);
const _: PFN_cuGraphicsMapResources_v3000 = Some(cuGraphicsMapResources);
const _: PFN_cuGraphicsMapResources_v7000_ptsz = Some(cuGraphicsMapResources_ptsz);
const _: PFN_cuGraphicsResourceGetMappedMipmappedArray_v5000 = Some(cuGraphicsResourceGetMappedMipmappedArray);
const _: PFN_cuGraphicsResourceGetMappedPointer_v3000 = Some(cuGraphicsResourceGetMappedPointer);
const _: PFN_cuGraphicsResourceGetMappedPointer_v3020 = Some(cuGraphicsResourceGetMappedPointer_v2);
const _: PFN_cuGraphicsResourceSetMapFlags_v3000 = Some(cuGraphicsResourceSetMapFlags);
const _: PFN_cuGraphicsResourceSetMapFlags_v6050 = Some(cuGraphicsResourceSetMapFlags_v2);
const _: PFN_cuGraphicsSubResourceGetMappedArray_v3000 = Some(cuGraphicsSubResourceGetMappedArray);
const _: PFN_cuGraphicsUnmapResources_v3000 = Some(cuGraphicsUnmapResources);
const _: PFN_cuGraphicsUnmapResources_v7000_ptsz = Some(cuGraphicsUnmapResources_ptsz);
const _: PFN_cuGraphicsUnregisterResource_v3000 = Some(cuGraphicsUnregisterResource);
const _: PFN_cuGreenCtxCreate_v12040 = Some(cuGreenCtxCreate);
const _: PFN_cuGreenCtxDestroy_v12040 = Some(cuGreenCtxDestroy);
const _: PFN_cuGreenCtxGetDevResource_v12040 = Some(cuGreenCtxGetDevResource);
const _: PFN_cuGreenCtxGetId_v12090 = Some(cuGreenCtxGetId);
const _: PFN_cuGreenCtxRecordEvent_v12040 = Some(cuGreenCtxRecordEvent);
const _: PFN_cuGreenCtxStreamCreate_v12050 = Some(cuGreenCtxStreamCreate);
const _: PFN_cuGreenCtxWaitEvent_v12040 = Some(cuGreenCtxWaitEvent);
const _: PFN_cuImportExternalMemory_v10000 = Some(cuImportExternalMemory);
const _: PFN_cuImportExternalSemaphore_v10000 = Some(cuImportExternalSemaphore);
const _: PFN_cuInit_v2000 = Some(cuInit);
const _: PFN_cuIpcCloseMemHandle_v4010 = Some(cuIpcCloseMemHandle);
const _: PFN_cuIpcGetEventHandle_v4010 = Some(cuIpcGetEventHandle);
const _: PFN_cuIpcGetMemHandle_v4010 = Some(cuIpcGetMemHandle);
const _: PFN_cuIpcOpenEventHandle_v4010 = Some(cuIpcOpenEventHandle);
const _: PFN_cuIpcOpenMemHandle_v4010 = Some(cuIpcOpenMemHandle);
const _: PFN_cuIpcOpenMemHandle_v11000 = Some(cuIpcOpenMemHandle_v2);
const _: PFN_cuKernelGetAttribute_v12000 = Some(cuKernelGetAttribute);
const _: PFN_cuKernelGetFunction_v12000 = Some(cuKernelGetFunction);
const _: PFN_cuKernelGetLibrary_v12050 = Some(cuKernelGetLibrary);
const _: PFN_cuKernelGetName_v12030 = Some(cuKernelGetName);
const _: PFN_cuKernelGetParamCount_v13020 = Some(cuKernelGetParamCount);
const _: PFN_cuKernelGetParamInfo_v12040 = Some(cuKernelGetParamInfo);
const _: PFN_cuKernelSetAttribute_v12000 = Some(cuKernelSetAttribute);
const _: PFN_cuKernelSetCacheConfig_v12000 = Some(cuKernelSetCacheConfig);
const _: PFN_cuLaunch_v2000 = Some(cuLaunch);
const _: PFN_cuLaunchCooperativeKernel_v9000 = Some(cuLaunchCooperativeKernel);
const _: PFN_cuLaunchCooperativeKernelMultiDevice_v9000 = Some(cuLaunchCooperativeKernelMultiDevice);
const _: PFN_cuLaunchCooperativeKernel_v9000_ptsz = Some(cuLaunchCooperativeKernel_ptsz);
const _: PFN_cuLaunchGrid_v2000 = Some(cuLaunchGrid);
const _: PFN_cuLaunchGridAsync_v2000 = Some(cuLaunchGridAsync);
const _: PFN_cuLaunchHostFunc_v10000 = Some(cuLaunchHostFunc);
const _: PFN_cuLaunchHostFunc_v10000_ptsz = Some(cuLaunchHostFunc_ptsz);
const _: PFN_cuLaunchHostFunc_v13010 = Some(cuLaunchHostFunc_v2);
const _: PFN_cuLaunchHostFunc_v13010_ptsz = Some(cuLaunchHostFunc_v2_ptsz);
const _: PFN_cuLaunchKernel_v4000 = Some(cuLaunchKernel);
const _: PFN_cuLaunchKernelEx_v11060 = Some(cuLaunchKernelEx);
const _: PFN_cuLaunchKernelEx_v11060_ptsz = Some(cuLaunchKernelEx_ptsz);
const _: PFN_cuLaunchKernel_v7000_ptsz = Some(cuLaunchKernel_ptsz);
const _: PFN_cuLibraryEnumerateKernels_v12040 = Some(cuLibraryEnumerateKernels);
const _: PFN_cuLibraryGetGlobal_v12000 = Some(cuLibraryGetGlobal);
const _: PFN_cuLibraryGetKernel_v12000 = Some(cuLibraryGetKernel);
const _: PFN_cuLibraryGetKernelCount_v12040 = Some(cuLibraryGetKernelCount);
const _: PFN_cuLibraryGetManaged_v12000 = Some(cuLibraryGetManaged);
const _: PFN_cuLibraryGetModule_v12000 = Some(cuLibraryGetModule);
const _: PFN_cuLibraryGetUnifiedFunction_v12000 = Some(cuLibraryGetUnifiedFunction);
const _: PFN_cuLibraryLoadData_v12000 = Some(cuLibraryLoadData);
const _: PFN_cuLibraryLoadFromFile_v12000 = Some(cuLibraryLoadFromFile);
const _: PFN_cuLibraryUnload_v12000 = Some(cuLibraryUnload);
const _: PFN_cuLinkAddData_v5050 = Some(cuLinkAddData);
const _: PFN_cuLinkAddData_v6050 = Some(cuLinkAddData_v2);
const _: PFN_cuLinkAddFile_v5050 = Some(cuLinkAddFile);
const _: PFN_cuLinkAddFile_v6050 = Some(cuLinkAddFile_v2);
const _: PFN_cuLinkComplete_v5050 = Some(cuLinkComplete);
const _: PFN_cuLinkCreate_v5050 = Some(cuLinkCreate);
const _: PFN_cuLinkCreate_v6050 = Some(cuLinkCreate_v2);
const _: PFN_cuLinkDestroy_v5050 = Some(cuLinkDestroy);
const _: PFN_cuLogicalEndpointAddDevice_v13030 = Some(cuLogicalEndpointAddDevice);
const _: PFN_cuLogicalEndpointBindAddr_v13030 = Some(cuLogicalEndpointBindAddr);
const _: PFN_cuLogicalEndpointBindMem_v13030 = Some(cuLogicalEndpointBindMem);
const _: PFN_cuLogicalEndpointCreate_v13030 = Some(cuLogicalEndpointCreate);
const _: PFN_cuLogicalEndpointDestroy_v13030 = Some(cuLogicalEndpointDestroy);
const _: PFN_cuLogicalEndpointExport_v13030 = Some(cuLogicalEndpointExport);
const _: PFN_cuLogicalEndpointGetLimits_v13030 = Some(cuLogicalEndpointGetLimits);
const _: PFN_cuLogicalEndpointIdRelease_v13030 = Some(cuLogicalEndpointIdRelease);
const _: PFN_cuLogicalEndpointIdReserve_v13030 = Some(cuLogicalEndpointIdReserve);
const _: PFN_cuLogicalEndpointImport_v13030 = Some(cuLogicalEndpointImport);
const _: PFN_cuLogicalEndpointQuery_v13030 = Some(cuLogicalEndpointQuery);
const _: PFN_cuLogicalEndpointUnbind_v13030 = Some(cuLogicalEndpointUnbind);
const _: PFN_cuLogsCurrent_v12090 = Some(cuLogsCurrent);
const _: PFN_cuLogsDumpToFile_v12090 = Some(cuLogsDumpToFile);
const _: PFN_cuLogsDumpToMemory_v12090 = Some(cuLogsDumpToMemory);
const _: PFN_cuLogsRegisterCallback_v12090 = Some(cuLogsRegisterCallback);
const _: PFN_cuLogsUnregisterCallback_v12090 = Some(cuLogsUnregisterCallback);
const _: PFN_cuMemAddressFree_v10020 = Some(cuMemAddressFree);
const _: PFN_cuMemAddressReserve_v10020 = Some(cuMemAddressReserve);
const _: PFN_cuMemAdvise_v8000 = Some(cuMemAdvise);
const _: PFN_cuMemAdvise_v12020 = Some(cuMemAdvise_v2);
const _: PFN_cuMemAlloc_v2000 = Some(cuMemAlloc);
const _: PFN_cuMemAllocAsync_v11020 = Some(cuMemAllocAsync);
const _: PFN_cuMemAllocAsync_v11020_ptsz = Some(cuMemAllocAsync_ptsz);
const _: PFN_cuMemAllocFromPoolAsync_v11020 = Some(cuMemAllocFromPoolAsync);
const _: PFN_cuMemAllocFromPoolAsync_v11020_ptsz = Some(cuMemAllocFromPoolAsync_ptsz);
const _: PFN_cuMemAllocHost_v2000 = Some(cuMemAllocHost);
const _: PFN_cuMemAllocHost_v3020 = Some(cuMemAllocHost_v2);
const _: PFN_cuMemAllocManaged_v6000 = Some(cuMemAllocManaged);
const _: PFN_cuMemAllocPitch_v2000 = Some(cuMemAllocPitch);
const _: PFN_cuMemAllocPitch_v3020 = Some(cuMemAllocPitch_v2);
const _: PFN_cuMemAlloc_v3020 = Some(cuMemAlloc_v2);
const _: PFN_cuMemBatchDecompressAsync_v12060 = Some(cuMemBatchDecompressAsync);
const _: PFN_cuMemBatchDecompressAsync_v12060_ptsz = Some(cuMemBatchDecompressAsync_ptsz);
const _: PFN_cuMemCreate_v10020 = Some(cuMemCreate);
const _: PFN_cuMemDiscardAndPrefetchBatchAsync_v13000 = Some(cuMemDiscardAndPrefetchBatchAsync);
const _: PFN_cuMemDiscardAndPrefetchBatchAsync_v13000_ptsz = Some(cuMemDiscardAndPrefetchBatchAsync_ptsz);
const _: PFN_cuMemDiscardBatchAsync_v13000 = Some(cuMemDiscardBatchAsync);
const _: PFN_cuMemDiscardBatchAsync_v13000_ptsz = Some(cuMemDiscardBatchAsync_ptsz);
const _: PFN_cuMemExportToShareableHandle_v10020 = Some(cuMemExportToShareableHandle);
const _: PFN_cuMemFree_v2000 = Some(cuMemFree);
const _: PFN_cuMemFreeAsync_v11020 = Some(cuMemFreeAsync);
const _: PFN_cuMemFreeAsync_v11020_ptsz = Some(cuMemFreeAsync_ptsz);
const _: PFN_cuMemFreeHost_v2000 = Some(cuMemFreeHost);
const _: PFN_cuMemFree_v3020 = Some(cuMemFree_v2);
const _: PFN_cuMemGetAccess_v10020 = Some(cuMemGetAccess);
const _: PFN_cuMemGetAddressRange_v2000 = Some(cuMemGetAddressRange);
const _: PFN_cuMemGetAddressRange_v3020 = Some(cuMemGetAddressRange_v2);
const _: PFN_cuMemGetAllocationGranularity_v10020 = Some(cuMemGetAllocationGranularity);
const _: PFN_cuMemGetAllocationPropertiesFromHandle_v10020 = Some(cuMemGetAllocationPropertiesFromHandle);
const _: PFN_cuMemGetDefaultMemPool_v13000 = Some(cuMemGetDefaultMemPool);
const _: PFN_cuMemGetHandleForAddressRange_v11070 = Some(cuMemGetHandleForAddressRange);
const _: PFN_cuMemGetInfo_v2000 = Some(cuMemGetInfo);
const _: PFN_cuMemGetInfo_v3020 = Some(cuMemGetInfo_v2);
const _: PFN_cuMemGetLocationInfo_v13040 = Some(cuMemGetLocationInfo);
const _: PFN_cuMemGetMemPool_v13000 = Some(cuMemGetMemPool);
const _: PFN_cuMemHostAlloc_v2020 = Some(cuMemHostAlloc);
const _: PFN_cuMemHostGetDevicePointer_v2020 = Some(cuMemHostGetDevicePointer);
const _: PFN_cuMemHostGetDevicePointer_v3020 = Some(cuMemHostGetDevicePointer_v2);
const _: PFN_cuMemHostGetFlags_v2030 = Some(cuMemHostGetFlags);
const _: PFN_cuMemHostRegister_v4000 = Some(cuMemHostRegister);
const _: PFN_cuMemHostRegister_v6050 = Some(cuMemHostRegister_v2);
const _: PFN_cuMemHostUnregister_v4000 = Some(cuMemHostUnregister);
const _: PFN_cuMemImportFromShareableHandle_v10020 = Some(cuMemImportFromShareableHandle);
const _: PFN_cuMemMap_v10020 = Some(cuMemMap);
const _: PFN_cuMemMapArrayAsync_v11010 = Some(cuMemMapArrayAsync);
const _: PFN_cuMemMapArrayAsync_v11010_ptsz = Some(cuMemMapArrayAsync_ptsz);
const _: PFN_cuMemPoolCreate_v11020 = Some(cuMemPoolCreate);
const _: PFN_cuMemPoolDestroy_v11020 = Some(cuMemPoolDestroy);
const _: PFN_cuMemPoolExportPointer_v11020 = Some(cuMemPoolExportPointer);
const _: PFN_cuMemPoolExportToShareableHandle_v11020 = Some(cuMemPoolExportToShareableHandle);
const _: PFN_cuMemPoolGetAccess_v11020 = Some(cuMemPoolGetAccess);
const _: PFN_cuMemPoolGetAttribute_v11020 = Some(cuMemPoolGetAttribute);
const _: PFN_cuMemPoolImportFromShareableHandle_v11020 = Some(cuMemPoolImportFromShareableHandle);
const _: PFN_cuMemPoolImportPointer_v11020 = Some(cuMemPoolImportPointer);
const _: PFN_cuMemPoolSetAccess_v11020 = Some(cuMemPoolSetAccess);
const _: PFN_cuMemPoolSetAttribute_v11020 = Some(cuMemPoolSetAttribute);
const _: PFN_cuMemPoolTrimTo_v11020 = Some(cuMemPoolTrimTo);
const _: PFN_cuMemPrefetchAsync_v8000 = Some(cuMemPrefetchAsync);
const _: PFN_cuMemPrefetchAsync_v8000_ptsz = Some(cuMemPrefetchAsync_ptsz);
const _: PFN_cuMemPrefetchAsync_v12020 = Some(cuMemPrefetchAsync_v2);
const _: PFN_cuMemPrefetchAsync_v12020_ptsz = Some(cuMemPrefetchAsync_v2_ptsz);
const _: PFN_cuMemPrefetchBatchAsync_v13000 = Some(cuMemPrefetchBatchAsync);
const _: PFN_cuMemPrefetchBatchAsync_v13000_ptsz = Some(cuMemPrefetchBatchAsync_ptsz);
const _: PFN_cuMemRangeGetAttribute_v8000 = Some(cuMemRangeGetAttribute);
const _: PFN_cuMemRangeGetAttributes_v8000 = Some(cuMemRangeGetAttributes);
const _: PFN_cuMemRelease_v10020 = Some(cuMemRelease);
const _: PFN_cuMemRetainAllocationHandle_v11000 = Some(cuMemRetainAllocationHandle);
const _: PFN_cuMemSetAccess_v10020 = Some(cuMemSetAccess);
const _: PFN_cuMemSetMemPool_v13000 = Some(cuMemSetMemPool);
const _: PFN_cuMemUnmap_v10020 = Some(cuMemUnmap);
const _: PFN_cuMemcpy_v4000 = Some(cuMemcpy);
const _: PFN_cuMemcpy2D_v2000 = Some(cuMemcpy2D);
const _: PFN_cuMemcpy2DAsync_v2000 = Some(cuMemcpy2DAsync);
const _: PFN_cuMemcpy2DAsync_v3020 = Some(cuMemcpy2DAsync_v2);
const _: PFN_cuMemcpy2DAsync_v7000_ptsz = Some(cuMemcpy2DAsync_v2_ptsz);
const _: PFN_cuMemcpy2DUnaligned_v2000 = Some(cuMemcpy2DUnaligned);
const _: PFN_cuMemcpy2DUnaligned_v3020 = Some(cuMemcpy2DUnaligned_v2);
const _: PFN_cuMemcpy2DUnaligned_v7000_ptds = Some(cuMemcpy2DUnaligned_v2_ptds);
const _: PFN_cuMemcpy2D_v3020 = Some(cuMemcpy2D_v2);
const _: PFN_cuMemcpy2D_v7000_ptds = Some(cuMemcpy2D_v2_ptds);
const _: PFN_cuMemcpy3D_v2000 = Some(cuMemcpy3D);
const _: PFN_cuMemcpy3DAsync_v2000 = Some(cuMemcpy3DAsync);
const _: PFN_cuMemcpy3DAsync_v3020 = Some(cuMemcpy3DAsync_v2);
const _: PFN_cuMemcpy3DAsync_v7000_ptsz = Some(cuMemcpy3DAsync_v2_ptsz);
const _: PFN_cuMemcpy3DBatchAsync_v12080 = Some(cuMemcpy3DBatchAsync);
const _: PFN_cuMemcpy3DBatchAsync_v12080_ptsz = Some(cuMemcpy3DBatchAsync_ptsz);
const _: PFN_cuMemcpy3DBatchAsync_v13000 = Some(cuMemcpy3DBatchAsync_v2);
const _: PFN_cuMemcpy3DBatchAsync_v13000_ptsz = Some(cuMemcpy3DBatchAsync_v2_ptsz);
const _: PFN_cuMemcpy3DPeer_v4000 = Some(cuMemcpy3DPeer);
const _: PFN_cuMemcpy3DPeerAsync_v4000 = Some(cuMemcpy3DPeerAsync);
const _: PFN_cuMemcpy3DPeerAsync_v7000_ptsz = Some(cuMemcpy3DPeerAsync_ptsz);
const _: PFN_cuMemcpy3DPeer_v7000_ptds = Some(cuMemcpy3DPeer_ptds);
const _: PFN_cuMemcpy3DWithAttributesAsync_v13020 = Some(cuMemcpy3DWithAttributesAsync);
const _: PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz = Some(cuMemcpy3DWithAttributesAsync_ptsz);
const _: PFN_cuMemcpy3D_v3020 = Some(cuMemcpy3D_v2);
const _: PFN_cuMemcpy3D_v7000_ptds = Some(cuMemcpy3D_v2_ptds);
const _: PFN_cuMemcpyAsync_v4000 = Some(cuMemcpyAsync);
const _: PFN_cuMemcpyAsync_v7000_ptsz = Some(cuMemcpyAsync_ptsz);
const _: PFN_cuMemcpyAtoA_v2000 = Some(cuMemcpyAtoA);
const _: PFN_cuMemcpyAtoA_v3020 = Some(cuMemcpyAtoA_v2);
const _: PFN_cuMemcpyAtoA_v7000_ptds = Some(cuMemcpyAtoA_v2_ptds);
const _: PFN_cuMemcpyAtoD_v2000 = Some(cuMemcpyAtoD);
const _: PFN_cuMemcpyAtoD_v3020 = Some(cuMemcpyAtoD_v2);
const _: PFN_cuMemcpyAtoD_v7000_ptds = Some(cuMemcpyAtoD_v2_ptds);
const _: PFN_cuMemcpyAtoH_v2000 = Some(cuMemcpyAtoH);
const _: PFN_cuMemcpyAtoHAsync_v2000 = Some(cuMemcpyAtoHAsync);
const _: PFN_cuMemcpyAtoHAsync_v3020 = Some(cuMemcpyAtoHAsync_v2);
const _: PFN_cuMemcpyAtoHAsync_v7000_ptsz = Some(cuMemcpyAtoHAsync_v2_ptsz);
const _: PFN_cuMemcpyAtoH_v3020 = Some(cuMemcpyAtoH_v2);
const _: PFN_cuMemcpyAtoH_v7000_ptds = Some(cuMemcpyAtoH_v2_ptds);
const _: PFN_cuMemcpyBatchAsync_v12080 = Some(cuMemcpyBatchAsync);
const _: PFN_cuMemcpyBatchAsync_v12080_ptsz = Some(cuMemcpyBatchAsync_ptsz);
const _: PFN_cuMemcpyBatchAsync_v13000 = Some(cuMemcpyBatchAsync_v2);
const _: PFN_cuMemcpyBatchAsync_v13000_ptsz = Some(cuMemcpyBatchAsync_v2_ptsz);
const _: PFN_cuMemcpyDtoA_v2000 = Some(cuMemcpyDtoA);
const _: PFN_cuMemcpyDtoA_v3020 = Some(cuMemcpyDtoA_v2);
const _: PFN_cuMemcpyDtoA_v7000_ptds = Some(cuMemcpyDtoA_v2_ptds);
const _: PFN_cuMemcpyDtoD_v2000 = Some(cuMemcpyDtoD);
const _: PFN_cuMemcpyDtoDAsync_v3000 = Some(cuMemcpyDtoDAsync);
const _: PFN_cuMemcpyDtoDAsync_v3020 = Some(cuMemcpyDtoDAsync_v2);
const _: PFN_cuMemcpyDtoDAsync_v7000_ptsz = Some(cuMemcpyDtoDAsync_v2_ptsz);
const _: PFN_cuMemcpyDtoD_v3020 = Some(cuMemcpyDtoD_v2);
const _: PFN_cuMemcpyDtoD_v7000_ptds = Some(cuMemcpyDtoD_v2_ptds);
const _: PFN_cuMemcpyDtoH_v2000 = Some(cuMemcpyDtoH);
const _: PFN_cuMemcpyDtoHAsync_v2000 = Some(cuMemcpyDtoHAsync);
const _: PFN_cuMemcpyDtoHAsync_v3020 = Some(cuMemcpyDtoHAsync_v2);
const _: PFN_cuMemcpyDtoHAsync_v7000_ptsz = Some(cuMemcpyDtoHAsync_v2_ptsz);
const _: PFN_cuMemcpyDtoH_v3020 = Some(cuMemcpyDtoH_v2);
const _: PFN_cuMemcpyDtoH_v7000_ptds = Some(cuMemcpyDtoH_v2_ptds);
const _: PFN_cuMemcpyHtoA_v2000 = Some(cuMemcpyHtoA);
const _: PFN_cuMemcpyHtoAAsync_v2000 = Some(cuMemcpyHtoAAsync);
const _: PFN_cuMemcpyHtoAAsync_v3020 = Some(cuMemcpyHtoAAsync_v2);
const _: PFN_cuMemcpyHtoAAsync_v7000_ptsz = Some(cuMemcpyHtoAAsync_v2_ptsz);
const _: PFN_cuMemcpyHtoA_v3020 = Some(cuMemcpyHtoA_v2);
const _: PFN_cuMemcpyHtoA_v7000_ptds = Some(cuMemcpyHtoA_v2_ptds);
const _: PFN_cuMemcpyHtoD_v2000 = Some(cuMemcpyHtoD);
const _: PFN_cuMemcpyHtoDAsync_v2000 = Some(cuMemcpyHtoDAsync);
const _: PFN_cuMemcpyHtoDAsync_v3020 = Some(cuMemcpyHtoDAsync_v2);
const _: PFN_cuMemcpyHtoDAsync_v7000_ptsz = Some(cuMemcpyHtoDAsync_v2_ptsz);
const _: PFN_cuMemcpyHtoD_v3020 = Some(cuMemcpyHtoD_v2);
const _: PFN_cuMemcpyHtoD_v7000_ptds = Some(cuMemcpyHtoD_v2_ptds);
const _: PFN_cuMemcpyPeer_v4000 = Some(cuMemcpyPeer);
const _: PFN_cuMemcpyPeerAsync_v4000 = Some(cuMemcpyPeerAsync);
const _: PFN_cuMemcpyPeerAsync_v7000_ptsz = Some(cuMemcpyPeerAsync_ptsz);
const _: PFN_cuMemcpyPeer_v7000_ptds = Some(cuMemcpyPeer_ptds);
const _: PFN_cuMemcpyWithAttributesAsync_v13020 = Some(cuMemcpyWithAttributesAsync);
const _: PFN_cuMemcpyWithAttributesAsync_v13020_ptsz = Some(cuMemcpyWithAttributesAsync_ptsz);
const _: PFN_cuMemcpy_v7000_ptds = Some(cuMemcpy_ptds);
const _: PFN_cuMemsetD16_v2000 = Some(cuMemsetD16);
const _: PFN_cuMemsetD16Async_v3020 = Some(cuMemsetD16Async);
const _: PFN_cuMemsetD16Async_v7000_ptsz = Some(cuMemsetD16Async_ptsz);
const _: PFN_cuMemsetD16_v3020 = Some(cuMemsetD16_v2);
const _: PFN_cuMemsetD16_v7000_ptds = Some(cuMemsetD16_v2_ptds);
const _: PFN_cuMemsetD2D16_v2000 = Some(cuMemsetD2D16);
const _: PFN_cuMemsetD2D16Async_v3020 = Some(cuMemsetD2D16Async);
const _: PFN_cuMemsetD2D16Async_v7000_ptsz = Some(cuMemsetD2D16Async_ptsz);
const _: PFN_cuMemsetD2D16_v3020 = Some(cuMemsetD2D16_v2);
const _: PFN_cuMemsetD2D16_v7000_ptds = Some(cuMemsetD2D16_v2_ptds);
const _: PFN_cuMemsetD2D32_v2000 = Some(cuMemsetD2D32);
const _: PFN_cuMemsetD2D32Async_v3020 = Some(cuMemsetD2D32Async);
const _: PFN_cuMemsetD2D32Async_v7000_ptsz = Some(cuMemsetD2D32Async_ptsz);
const _: PFN_cuMemsetD2D32_v3020 = Some(cuMemsetD2D32_v2);
const _: PFN_cuMemsetD2D32_v7000_ptds = Some(cuMemsetD2D32_v2_ptds);
const _: PFN_cuMemsetD2D8_v2000 = Some(cuMemsetD2D8);
const _: PFN_cuMemsetD2D8Async_v3020 = Some(cuMemsetD2D8Async);
const _: PFN_cuMemsetD2D8Async_v7000_ptsz = Some(cuMemsetD2D8Async_ptsz);
const _: PFN_cuMemsetD2D8_v3020 = Some(cuMemsetD2D8_v2);
const _: PFN_cuMemsetD2D8_v7000_ptds = Some(cuMemsetD2D8_v2_ptds);
const _: PFN_cuMemsetD32_v2000 = Some(cuMemsetD32);
const _: PFN_cuMemsetD32Async_v3020 = Some(cuMemsetD32Async);
const _: PFN_cuMemsetD32Async_v7000_ptsz = Some(cuMemsetD32Async_ptsz);
const _: PFN_cuMemsetD32_v3020 = Some(cuMemsetD32_v2);
const _: PFN_cuMemsetD32_v7000_ptds = Some(cuMemsetD32_v2_ptds);
const _: PFN_cuMemsetD8_v2000 = Some(cuMemsetD8);
const _: PFN_cuMemsetD8Async_v3020 = Some(cuMemsetD8Async);
const _: PFN_cuMemsetD8Async_v7000_ptsz = Some(cuMemsetD8Async_ptsz);
const _: PFN_cuMemsetD8_v3020 = Some(cuMemsetD8_v2);
const _: PFN_cuMemsetD8_v7000_ptds = Some(cuMemsetD8_v2_ptds);
const _: PFN_cuMipmappedArrayCreate_v5000 = Some(cuMipmappedArrayCreate);
const _: PFN_cuMipmappedArrayDestroy_v5000 = Some(cuMipmappedArrayDestroy);
const _: PFN_cuMipmappedArrayGetLevel_v5000 = Some(cuMipmappedArrayGetLevel);
const _: PFN_cuMipmappedArrayGetMemoryRequirements_v11060 = Some(cuMipmappedArrayGetMemoryRequirements);
const _: PFN_cuMipmappedArrayGetSparseProperties_v11010 = Some(cuMipmappedArrayGetSparseProperties);
const _: PFN_cuModuleEnumerateFunctions_v12040 = Some(cuModuleEnumerateFunctions);
const _: PFN_cuModuleGetFunction_v2000 = Some(cuModuleGetFunction);
const _: PFN_cuModuleGetFunctionCount_v12040 = Some(cuModuleGetFunctionCount);
const _: PFN_cuModuleGetGlobal_v2000 = Some(cuModuleGetGlobal);
const _: PFN_cuModuleGetGlobal_v3020 = Some(cuModuleGetGlobal_v2);
const _: PFN_cuModuleGetLoadingMode_v11070 = Some(cuModuleGetLoadingMode);
const _: PFN_cuModuleGetSurfRef_v3000 = Some(cuModuleGetSurfRef);
const _: PFN_cuModuleGetTexRef_v2000 = Some(cuModuleGetTexRef);
const _: PFN_cuModuleLoad_v2000 = Some(cuModuleLoad);
const _: PFN_cuModuleLoadData_v2000 = Some(cuModuleLoadData);
const _: PFN_cuModuleLoadDataEx_v2010 = Some(cuModuleLoadDataEx);
const _: PFN_cuModuleLoadFatBinary_v2000 = Some(cuModuleLoadFatBinary);
const _: PFN_cuModuleUnload_v2000 = Some(cuModuleUnload);
const _: PFN_cuMulticastAddDevice_v12010 = Some(cuMulticastAddDevice);
const _: PFN_cuMulticastBindAddr_v12010 = Some(cuMulticastBindAddr);
const _: PFN_cuMulticastBindAddr_v13010 = Some(cuMulticastBindAddr_v2);
const _: PFN_cuMulticastBindMem_v12010 = Some(cuMulticastBindMem);
const _: PFN_cuMulticastBindMem_v13010 = Some(cuMulticastBindMem_v2);
const _: PFN_cuMulticastCreate_v12010 = Some(cuMulticastCreate);
const _: PFN_cuMulticastGetGranularity_v12010 = Some(cuMulticastGetGranularity);
const _: PFN_cuMulticastUnbind_v12010 = Some(cuMulticastUnbind);
const _: PFN_cuOccupancyAvailableDynamicSMemPerBlock_v10020 = Some(cuOccupancyAvailableDynamicSMemPerBlock);
const _: PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050 = Some(cuOccupancyMaxActiveBlocksPerMultiprocessor);
const _: PFN_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000 = Some(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
const _: PFN_cuOccupancyMaxActiveClusters_v11070 = Some(cuOccupancyMaxActiveClusters);
const _: PFN_cuOccupancyMaxPotentialBlockSize_v6050 = Some(cuOccupancyMaxPotentialBlockSize);
const _: PFN_cuOccupancyMaxPotentialBlockSizeWithFlags_v7000 = Some(cuOccupancyMaxPotentialBlockSizeWithFlags);
const _: PFN_cuOccupancyMaxPotentialClusterSize_v11070 = Some(cuOccupancyMaxPotentialClusterSize);
const _: PFN_cuParamSetSize_v2000 = Some(cuParamSetSize);
const _: PFN_cuParamSetTexRef_v2000 = Some(cuParamSetTexRef);
const _: PFN_cuParamSetf_v2000 = Some(cuParamSetf);
const _: PFN_cuParamSeti_v2000 = Some(cuParamSeti);
const _: PFN_cuParamSetv_v2000 = Some(cuParamSetv);
const _: PFN_cuPointerGetAttribute_v4000 = Some(cuPointerGetAttribute);
const _: PFN_cuPointerGetAttributes_v7000 = Some(cuPointerGetAttributes);
const _: PFN_cuPointerSetAttribute_v6000 = Some(cuPointerSetAttribute);
const _: PFN_cuProfilerInitialize_v4000 = Some(cuProfilerInitialize);
const _: PFN_cuProfilerStart_v4000 = Some(cuProfilerStart);
const _: PFN_cuProfilerStop_v4000 = Some(cuProfilerStop);
const _: PFN_cuSignalExternalSemaphoresAsync_v10000 = Some(cuSignalExternalSemaphoresAsync);
const _: PFN_cuSignalExternalSemaphoresAsync_v10000_ptsz = Some(cuSignalExternalSemaphoresAsync_ptsz);
const _: PFN_cuStreamAddCallback_v5000 = Some(cuStreamAddCallback);
const _: PFN_cuStreamAddCallback_v7000_ptsz = Some(cuStreamAddCallback_ptsz);
const _: PFN_cuStreamAttachMemAsync_v6000 = Some(cuStreamAttachMemAsync);
const _: PFN_cuStreamAttachMemAsync_v7000_ptsz = Some(cuStreamAttachMemAsync_ptsz);
const _: PFN_cuStreamBatchMemOp_v8000 = Some(cuStreamBatchMemOp);
const _: PFN_cuStreamBatchMemOp_v8000_ptsz = Some(cuStreamBatchMemOp_ptsz);
const _: PFN_cuStreamBatchMemOp_v11070 = Some(cuStreamBatchMemOp_v2);
const _: PFN_cuStreamBatchMemOp_v11070_ptsz = Some(cuStreamBatchMemOp_v2_ptsz);
const _: PFN_cuStreamBeginCapture_v10000 = Some(cuStreamBeginCapture);
const _: PFN_cuStreamBeginCaptureToCig_v13010 = Some(cuStreamBeginCaptureToCig);
const _: PFN_cuStreamBeginCaptureToCig_v13010_ptsz = Some(cuStreamBeginCaptureToCig_ptsz);
const _: PFN_cuStreamBeginCaptureToGraph_v12030 = Some(cuStreamBeginCaptureToGraph);
const _: PFN_cuStreamBeginCaptureToGraph_v12030_ptsz = Some(cuStreamBeginCaptureToGraph_ptsz);
const _: PFN_cuStreamBeginCapture_v10000_ptsz = Some(cuStreamBeginCapture_ptsz);
const _: PFN_cuStreamBeginCapture_v10010 = Some(cuStreamBeginCapture_v2);
const _: PFN_cuStreamBeginCapture_v10010_ptsz = Some(cuStreamBeginCapture_v2_ptsz);
const _: PFN_cuStreamBeginRecaptureToGraph_v13030 = Some(cuStreamBeginRecaptureToGraph);
const _: PFN_cuStreamBeginRecaptureToGraph_v13030_ptsz = Some(cuStreamBeginRecaptureToGraph_ptsz);
const _: PFN_cuStreamCopyAttributes_v11000 = Some(cuStreamCopyAttributes);
const _: PFN_cuStreamCopyAttributes_v11000_ptsz = Some(cuStreamCopyAttributes_ptsz);
const _: PFN_cuStreamCreate_v2000 = Some(cuStreamCreate);
const _: PFN_cuStreamCreateWithPriority_v5050 = Some(cuStreamCreateWithPriority);
const _: PFN_cuStreamDestroy_v2000 = Some(cuStreamDestroy);
const _: PFN_cuStreamDestroy_v4000 = Some(cuStreamDestroy_v2);
const _: PFN_cuStreamEndCapture_v10000 = Some(cuStreamEndCapture);
const _: PFN_cuStreamEndCaptureToCig_v13010 = Some(cuStreamEndCaptureToCig);
const _: PFN_cuStreamEndCaptureToCig_v13010_ptsz = Some(cuStreamEndCaptureToCig_ptsz);
const _: PFN_cuStreamEndCapture_v10000_ptsz = Some(cuStreamEndCapture_ptsz);
const _: PFN_cuStreamGetAttribute_v11000 = Some(cuStreamGetAttribute);
const _: PFN_cuStreamGetAttribute_v11000_ptsz = Some(cuStreamGetAttribute_ptsz);
const _: PFN_cuStreamGetCaptureInfo_v10010 = Some(cuStreamGetCaptureInfo);
const _: PFN_cuStreamGetCaptureInfo_v10010_ptsz = Some(cuStreamGetCaptureInfo_ptsz);
const _: PFN_cuStreamGetCaptureInfo_v11030 = Some(cuStreamGetCaptureInfo_v2);
const _: PFN_cuStreamGetCaptureInfo_v11030_ptsz = Some(cuStreamGetCaptureInfo_v2_ptsz);
const _: PFN_cuStreamGetCaptureInfo_v12030 = Some(cuStreamGetCaptureInfo_v3);
const _: PFN_cuStreamGetCaptureInfo_v12030_ptsz = Some(cuStreamGetCaptureInfo_v3_ptsz);
const _: PFN_cuStreamGetCtx_v9020 = Some(cuStreamGetCtx);
const _: PFN_cuStreamGetCtx_v9020_ptsz = Some(cuStreamGetCtx_ptsz);
const _: PFN_cuStreamGetCtx_v12050 = Some(cuStreamGetCtx_v2);
const _: PFN_cuStreamGetCtx_v12050_ptsz = Some(cuStreamGetCtx_v2_ptsz);
const _: PFN_cuStreamGetDevResource_v13010 = Some(cuStreamGetDevResource);
const _: PFN_cuStreamGetDevResource_v13010_ptsz = Some(cuStreamGetDevResource_ptsz);
const _: PFN_cuStreamGetDevice_v12080 = Some(cuStreamGetDevice);
const _: PFN_cuStreamGetDevice_v12080_ptsz = Some(cuStreamGetDevice_ptsz);
const _: PFN_cuStreamGetFlags_v5050 = Some(cuStreamGetFlags);
const _: PFN_cuStreamGetFlags_v7000_ptsz = Some(cuStreamGetFlags_ptsz);
const _: PFN_cuStreamGetGreenCtx_v12040 = Some(cuStreamGetGreenCtx);
const _: PFN_cuStreamGetId_v12000 = Some(cuStreamGetId);
const _: PFN_cuStreamGetId_v12000_ptsz = Some(cuStreamGetId_ptsz);
const _: PFN_cuStreamGetPriority_v5050 = Some(cuStreamGetPriority);
const _: PFN_cuStreamGetPriority_v7000_ptsz = Some(cuStreamGetPriority_ptsz);
const _: PFN_cuStreamIsCapturing_v10000 = Some(cuStreamIsCapturing);
const _: PFN_cuStreamIsCapturing_v10000_ptsz = Some(cuStreamIsCapturing_ptsz);
const _: PFN_cuStreamQuery_v2000 = Some(cuStreamQuery);
const _: PFN_cuStreamQuery_v7000_ptsz = Some(cuStreamQuery_ptsz);
const _: PFN_cuStreamSetAttribute_v11000 = Some(cuStreamSetAttribute);
const _: PFN_cuStreamSetAttribute_v11000_ptsz = Some(cuStreamSetAttribute_ptsz);
const _: PFN_cuStreamSynchronize_v2000 = Some(cuStreamSynchronize);
const _: PFN_cuStreamSynchronize_v7000_ptsz = Some(cuStreamSynchronize_ptsz);
const _: PFN_cuStreamUpdateCaptureDependencies_v11030 = Some(cuStreamUpdateCaptureDependencies);
const _: PFN_cuStreamUpdateCaptureDependencies_v11030_ptsz = Some(cuStreamUpdateCaptureDependencies_ptsz);
const _: PFN_cuStreamUpdateCaptureDependencies_v12030 = Some(cuStreamUpdateCaptureDependencies_v2);
const _: PFN_cuStreamUpdateCaptureDependencies_v12030_ptsz = Some(cuStreamUpdateCaptureDependencies_v2_ptsz);
const _: PFN_cuStreamWaitEvent_v3020 = Some(cuStreamWaitEvent);
const _: PFN_cuStreamWaitEvent_v7000_ptsz = Some(cuStreamWaitEvent_ptsz);
const _: PFN_cuStreamWaitValue32_v8000 = Some(cuStreamWaitValue32);
const _: PFN_cuStreamWaitValue32_v8000_ptsz = Some(cuStreamWaitValue32_ptsz);
const _: PFN_cuStreamWaitValue32_v11070 = Some(cuStreamWaitValue32_v2);
const _: PFN_cuStreamWaitValue32_v11070_ptsz = Some(cuStreamWaitValue32_v2_ptsz);
const _: PFN_cuStreamWaitValue64_v9000 = Some(cuStreamWaitValue64);
const _: PFN_cuStreamWaitValue64_v9000_ptsz = Some(cuStreamWaitValue64_ptsz);
const _: PFN_cuStreamWaitValue64_v11070 = Some(cuStreamWaitValue64_v2);
const _: PFN_cuStreamWaitValue64_v11070_ptsz = Some(cuStreamWaitValue64_v2_ptsz);
const _: PFN_cuStreamWriteValue32_v8000 = Some(cuStreamWriteValue32);
const _: PFN_cuStreamWriteValue32_v8000_ptsz = Some(cuStreamWriteValue32_ptsz);
const _: PFN_cuStreamWriteValue32_v11070 = Some(cuStreamWriteValue32_v2);
const _: PFN_cuStreamWriteValue32_v11070_ptsz = Some(cuStreamWriteValue32_v2_ptsz);
const _: PFN_cuStreamWriteValue64_v9000 = Some(cuStreamWriteValue64);
const _: PFN_cuStreamWriteValue64_v9000_ptsz = Some(cuStreamWriteValue64_ptsz);
const _: PFN_cuStreamWriteValue64_v11070 = Some(cuStreamWriteValue64_v2);
const _: PFN_cuStreamWriteValue64_v11070_ptsz = Some(cuStreamWriteValue64_v2_ptsz);
const _: PFN_cuSurfObjectCreate_v5000 = Some(cuSurfObjectCreate);
const _: PFN_cuSurfObjectDestroy_v5000 = Some(cuSurfObjectDestroy);
const _: PFN_cuSurfObjectGetResourceDesc_v5000 = Some(cuSurfObjectGetResourceDesc);
const _: PFN_cuSurfRefGetArray_v3000 = Some(cuSurfRefGetArray);
const _: PFN_cuSurfRefSetArray_v3000 = Some(cuSurfRefSetArray);
const _: PFN_cuTensorMapEncodeIm2col_v12000 = Some(cuTensorMapEncodeIm2col);
const _: PFN_cuTensorMapEncodeIm2colWide_v12080 = Some(cuTensorMapEncodeIm2colWide);
const _: PFN_cuTensorMapEncodeTiled_v12000 = Some(cuTensorMapEncodeTiled);
const _: PFN_cuTensorMapReplaceAddress_v12000 = Some(cuTensorMapReplaceAddress);
const _: PFN_cuTensorMapSetAllocationClass_v13050 = Some(cuTensorMapSetAllocationClass);
const _: PFN_cuTexObjectCreate_v5000 = Some(cuTexObjectCreate);
const _: PFN_cuTexObjectDestroy_v5000 = Some(cuTexObjectDestroy);
const _: PFN_cuTexObjectGetResourceDesc_v5000 = Some(cuTexObjectGetResourceDesc);
const _: PFN_cuTexObjectGetResourceViewDesc_v5000 = Some(cuTexObjectGetResourceViewDesc);
const _: PFN_cuTexObjectGetTextureDesc_v5000 = Some(cuTexObjectGetTextureDesc);
const _: PFN_cuTexRefCreate_v2000 = Some(cuTexRefCreate);
const _: PFN_cuTexRefDestroy_v2000 = Some(cuTexRefDestroy);
const _: PFN_cuTexRefGetAddress_v2000 = Some(cuTexRefGetAddress);
const _: PFN_cuTexRefGetAddressMode_v2000 = Some(cuTexRefGetAddressMode);
const _: PFN_cuTexRefGetAddress_v3020 = Some(cuTexRefGetAddress_v2);
const _: PFN_cuTexRefGetArray_v2000 = Some(cuTexRefGetArray);
const _: PFN_cuTexRefGetBorderColor_v8000 = Some(cuTexRefGetBorderColor);
const _: PFN_cuTexRefGetFilterMode_v2000 = Some(cuTexRefGetFilterMode);
const _: PFN_cuTexRefGetFlags_v2000 = Some(cuTexRefGetFlags);
const _: PFN_cuTexRefGetFormat_v2000 = Some(cuTexRefGetFormat);
const _: PFN_cuTexRefGetMaxAnisotropy_v5000 = Some(cuTexRefGetMaxAnisotropy);
const _: PFN_cuTexRefGetMipmapFilterMode_v5000 = Some(cuTexRefGetMipmapFilterMode);
const _: PFN_cuTexRefGetMipmapLevelBias_v5000 = Some(cuTexRefGetMipmapLevelBias);
const _: PFN_cuTexRefGetMipmapLevelClamp_v5000 = Some(cuTexRefGetMipmapLevelClamp);
const _: PFN_cuTexRefGetMipmappedArray_v5000 = Some(cuTexRefGetMipmappedArray);
const _: PFN_cuTexRefSetAddress_v2000 = Some(cuTexRefSetAddress);
const _: PFN_cuTexRefSetAddress2D_v2020 = Some(cuTexRefSetAddress2D);
const _: PFN_cuTexRefSetAddress2D_v3020 = Some(cuTexRefSetAddress2D_v2);
const _: PFN_cuTexRefSetAddress2D_v4010 = Some(cuTexRefSetAddress2D_v3);
const _: PFN_cuTexRefSetAddressMode_v2000 = Some(cuTexRefSetAddressMode);
const _: PFN_cuTexRefSetAddress_v3020 = Some(cuTexRefSetAddress_v2);
const _: PFN_cuTexRefSetArray_v2000 = Some(cuTexRefSetArray);
const _: PFN_cuTexRefSetBorderColor_v8000 = Some(cuTexRefSetBorderColor);
const _: PFN_cuTexRefSetFilterMode_v2000 = Some(cuTexRefSetFilterMode);
const _: PFN_cuTexRefSetFlags_v2000 = Some(cuTexRefSetFlags);
const _: PFN_cuTexRefSetFormat_v2000 = Some(cuTexRefSetFormat);
const _: PFN_cuTexRefSetMaxAnisotropy_v5000 = Some(cuTexRefSetMaxAnisotropy);
const _: PFN_cuTexRefSetMipmapFilterMode_v5000 = Some(cuTexRefSetMipmapFilterMode);
const _: PFN_cuTexRefSetMipmapLevelBias_v5000 = Some(cuTexRefSetMipmapLevelBias);
const _: PFN_cuTexRefSetMipmapLevelClamp_v5000 = Some(cuTexRefSetMipmapLevelClamp);
const _: PFN_cuTexRefSetMipmappedArray_v5000 = Some(cuTexRefSetMipmappedArray);
const _: PFN_cuThreadExchangeStreamCaptureMode_v10010 = Some(cuThreadExchangeStreamCaptureMode);
const _: PFN_cuUserObjectCreate_v11030 = Some(cuUserObjectCreate);
const _: PFN_cuUserObjectRelease_v11030 = Some(cuUserObjectRelease);
const _: PFN_cuUserObjectRetain_v11030 = Some(cuUserObjectRetain);
const _: PFN_cuWaitExternalSemaphoresAsync_v10000 = Some(cuWaitExternalSemaphoresAsync);
const _: PFN_cuWaitExternalSemaphoresAsync_v10000_ptsz = Some(cuWaitExternalSemaphoresAsync_ptsz);

//! Flags of memory, arrays, textures and what is shared with other APIs and processes.

use crate::driver::*;

flags! {
    /// What pinned memory is made for. Without any flag it is plain pinned memory, the
    /// right choice for most staging buffers.
    HostAllocFlags(u32): "cuMemHostAlloc" "cuMemHostGetFlags" {
        /// Pinned for all contexts, not only the current one.
        PORTABLE = CU_MEMHOSTALLOC_PORTABLE;
        /// Mapped for the device.
        DEVICEMAP = CU_MEMHOSTALLOC_DEVICEMAP;
        /// Write-combined: reading it with the processor is very slow.
        WRITECOMBINED = CU_MEMHOSTALLOC_WRITECOMBINED;
    }

    /// How existing host memory is pinned.
    HostRegisterFlags(u32): "cuMemHostRegister" "cuMemHostRegister_v2" {
        /// Pinned for all contexts, not only the current one.
        PORTABLE = CU_MEMHOSTREGISTER_PORTABLE;
        /// Mapped for the device.
        DEVICEMAP = CU_MEMHOSTREGISTER_DEVICEMAP;
        /// The memory is another device's registers.
        IOMEMORY = CU_MEMHOSTREGISTER_IOMEMORY;
        /// The device only reads it.
        READ_ONLY = CU_MEMHOSTREGISTER_READ_ONLY;
    }

    /// Who may touch managed memory.
    MemAttachFlags(u32): "cuMemAllocManaged" "cuStreamAttachMemAsync" {
        /// Any stream of any device.
        GLOBAL = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
        /// The host only, until it is attached otherwise.
        HOST = CUmemAttach_flags::CU_MEM_ATTACH_HOST.0;
        /// One stream.
        SINGLE = CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;
    }

    /// How memory of another process is opened.
    IpcMemFlags(u32): "cuIpcOpenMemHandle" "cuIpcOpenMemHandle_v2" {
        /// Peer access is enabled where it is needed.
        LAZY_ENABLE_PEER_ACCESS = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
    }

    /// What a location may do with mapped memory. `cuMemGetAccess` writes it as 64 bits.
    MemAccessFlags(u32): "cuMemGetAccess" "cuMemPoolGetAccess" "CUmemAccessDesc_st.flags" {
        /// Read.
        READ = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ.0;
        /// Read and write.
        READWRITE = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE.0;
    }

    /// What the device may do with a pointer's memory; the value of the attribute
    /// `CU_POINTER_ATTRIBUTE_ACCESS_FLAGS`.
    PointerAccessFlags(u32): {
        /// Read.
        READ = CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ.0;
        /// Read and write.
        READWRITE = CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE.0;
    }

    /// How an address range is exported.
    MemRangeFlags(u64): "cuMemGetHandleForAddressRange" {
        /// A DMA-BUF that goes over PCIe.
        DMA_BUF_MAPPING_TYPE_PCIE = CUmemRangeFlags::CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE.0;
    }

    /// As what physical memory can be shared with other processes.
    HandleTypeFlags(u32):
        "CUmemAllocationProp_st.requestedHandleTypes" "CUmemPoolProps_st.handleTypes"
    {
        /// A file descriptor (Linux).
        POSIX_FILE_DESCRIPTOR = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0;
        /// An NT handle (Windows).
        WIN32 = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_WIN32.0;
        /// A global handle (Windows).
        WIN32_KMT = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_WIN32_KMT.0;
        /// A handle that other nodes of the NVLink fabric can open.
        FABRIC = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC.0;
    }

    /// What physical memory will be used for.
    MemCreateUsage(u16): "CUmemAllocationProp_st__bindgen_ty_1.usage" {
        /// Tiles of sparse arrays.
        TILE_POOL = CU_MEM_CREATE_USAGE_TILE_POOL;
        /// Hardware decompression.
        HW_DECOMPRESS = CU_MEM_CREATE_USAGE_HW_DECOMPRESS;
        /// GPUDirect RDMA over PCIe.
        GPU_DIRECT_RDMA_OVER_PCIE = CU_MEM_CREATE_USAGE_GPU_DIRECT_RDMA_OVER_PCIE;
    }

    /// What a pool's memory will be used for.
    MemPoolUsage(u16): "CUmemPoolProps_st.usage" {
        /// Hardware decompression.
        HW_DECOMPRESS = CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS;
    }

    /// Hints for a copy with attributes.
    MemcpyFlags(u32): "CUmemcpyAttributes_st.flags" "CUDA_MEMCPY3D_BATCH_OP_st.flags" {
        /// Leave the multiprocessors to kernels, even if the copy takes longer.
        PREFER_OVERLAP_WITH_COMPUTE = CUmemcpyFlags::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE.0;
    }

    /// What an array is.
    ArrayFlags(u32): "CUDA_ARRAY3D_DESCRIPTOR_st.Flags" "CUDA_ARRAY3D_DESCRIPTOR_v1_st.Flags" {
        /// A stack of layers; the depth is their number.
        LAYERED = CUDA_ARRAY3D_LAYERED;
        /// Surfaces can be bound to it.
        SURFACE_LDST = CUDA_ARRAY3D_SURFACE_LDST;
        /// Six faces of a cube.
        CUBEMAP = CUDA_ARRAY3D_CUBEMAP;
        /// Texture gathers can read it.
        TEXTURE_GATHER = CUDA_ARRAY3D_TEXTURE_GATHER;
        /// It is a depth texture.
        DEPTH_TEXTURE = CUDA_ARRAY3D_DEPTH_TEXTURE;
        /// Graphics APIs can render into it.
        COLOR_ATTACHMENT = CUDA_ARRAY3D_COLOR_ATTACHMENT;
        /// Tiles of it can be without memory.
        SPARSE = CUDA_ARRAY3D_SPARSE;
        /// Memory is mapped to it later.
        DEFERRED_MAPPING = CUDA_ARRAY3D_DEFERRED_MAPPING;
        /// Video encoders and decoders can use it.
        VIDEO_ENCODE_DECODE = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    }

    /// How a sparse array's smallest levels lie.
    SparseArrayFlags(u32): "CUDA_ARRAY_SPARSE_PROPERTIES_st.flags" {
        /// One tail of mip levels for all layers.
        SINGLE_MIPTAIL = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
    }

    /// How a texture is read.
    TextureFlags(u32): "cuTexRefGetFlags" "cuTexRefSetFlags" "CUDA_TEXTURE_DESC_st.flags" {
        /// Integers stay integers.
        READ_AS_INTEGER = CU_TRSF_READ_AS_INTEGER;
        /// Coordinates run from 0 to 1.
        NORMALIZED_COORDINATES = CU_TRSF_NORMALIZED_COORDINATES;
        /// Values are converted from sRGB.
        SRGB = CU_TRSF_SRGB;
        /// No shortcuts in trilinear filtering.
        DISABLE_TRILINEAR_OPTIMIZATION = CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
        /// Filtering goes across the edges of a cube.
        SEAMLESS_CUBEMAP = CU_TRSF_SEAMLESS_CUBEMAP;
    }

    /// What binding an array to a texture reference replaces.
    TextureArrayFlags(u32): "cuTexRefSetArray" "cuTexRefSetMipmappedArray" {
        /// The reference takes the array's format; required.
        OVERRIDE_FORMAT = CU_TRSA_OVERRIDE_FORMAT;
    }

    /// How external memory was allocated.
    ExternalMemoryFlags(u32): "CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st.flags" {
        /// It belongs to one resource alone.
        DEDICATED = CUDA_EXTERNAL_MEMORY_DEDICATED;
    }

    /// What signalling an external semaphore leaves out.
    ExternalSemaphoreSignalFlags(u32): "CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_st.flags" {
        /// Making NvSciBuf memory visible to others.
        SKIP_NVSCIBUF_MEMSYNC = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC;
    }

    /// What waiting for an external semaphore leaves out.
    ExternalSemaphoreWaitFlags(u32): "CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_st.flags" {
        /// Making NvSciBuf memory of others visible here.
        SKIP_NVSCIBUF_MEMSYNC = CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC;
    }

    /// What a device will do with an NvSciSync object.
    NvSciSyncFlags(u32): "cuDeviceGetNvSciSyncAttributes" {
        /// Signal it.
        SIGNAL = CUDA_NVSCISYNC_ATTR_SIGNAL;
        /// Wait for it.
        WAIT = CUDA_NVSCISYNC_ATTR_WAIT;
    }

    /// How CUDA will use a graphics resource.
    GraphicsRegisterFlags(u32): {
        /// It reads only.
        READ_ONLY = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY.0;
        /// It overwrites everything.
        WRITE_DISCARD = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD.0;
        /// It binds surfaces to it.
        SURFACE_LDST = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST.0;
        /// It does texture gathers.
        TEXTURE_GATHER = CUgraphicsRegisterFlags::CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER.0;
    }

    /// How CUDA will use a graphics resource while it is mapped.
    GraphicsMapFlags(u32): "cuGraphicsResourceSetMapFlags" "cuGraphicsResourceSetMapFlags_v2" {
        /// It reads only.
        READ_ONLY = CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY.0;
        /// It overwrites everything.
        WRITE_DISCARD = CUgraphicsMapResourceFlags::CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD.0;
    }

    /// What a logical endpoint is made for.
    LogicalEndpointFlags(u32): "CUlogicalEndpointProp_struct.flags" {
        /// Operations that are counted.
        COUNTED_OPS = CUlogicalEndpointFlag::CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS.0;
    }

    /// Ways to make remote writes visible; the value of the device attribute
    /// `CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS`.
    FlushWritesOptions(u32): {
        /// `cuFlushGPUDirectRDMAWrites`.
        HOST = CUflushGPUDirectRDMAWritesOptions::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST.0;
        /// Stream memory operations.
        MEMOPS = CUflushGPUDirectRDMAWritesOptions::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS.0;
    }

    /// Which forms of an atomic operation work between a device and its host or peer; what
    /// `cuDeviceGetHostAtomicCapabilities` and `cuDeviceGetP2PAtomicCapabilities` write.
    AtomicCapabilityFlags(u32): {
        /// On signed numbers.
        SIGNED = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_SIGNED.0;
        /// On unsigned numbers.
        UNSIGNED = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_UNSIGNED.0;
        /// Without returning the old value.
        REDUCTION = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_REDUCTION.0;
        /// On 32 bits.
        SCALAR_32 = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_SCALAR_32.0;
        /// On 64 bits.
        SCALAR_64 = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_SCALAR_64.0;
        /// On 128 bits.
        SCALAR_128 = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_SCALAR_128.0;
        /// On four times 32 bits.
        VECTOR_32X4 = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_VECTOR_32x4.0;
    }
}

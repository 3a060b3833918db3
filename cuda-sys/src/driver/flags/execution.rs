//! Flags of contexts, streams, events, launches and graphs.

use crate::driver::*;

flags! {
    /// How a context schedules its waits, and what it allows.
    ContextFlags(u32):
        "cuCtxCreate" "cuCtxCreate_v2" "cuCtxCreate_v3" "cuCtxCreate_v4" "cuCtxGetFlags" "cuCtxSetFlags"
        "cuDevicePrimaryCtxGetState" "cuDevicePrimaryCtxSetFlags" "cuDevicePrimaryCtxSetFlags_v2"
    {
        /// Waiting spins: the shortest latency, and a busy core.
        SCHED_SPIN = CUctx_flags::CU_CTX_SCHED_SPIN.0;
        /// Waiting spins but offers the core to other threads.
        SCHED_YIELD = CUctx_flags::CU_CTX_SCHED_YIELD.0;
        /// Waiting sleeps until the device is done.
        SCHED_BLOCKING_SYNC = CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC.0;
        /// The bits that hold how waiting is done.
        SCHED_MASK = CUctx_flags::CU_CTX_SCHED_MASK.0;
        /// Pinned memory can be mapped; every 64-bit device does that anyway.
        MAP_HOST = CUctx_flags::CU_CTX_MAP_HOST.0;
        /// Local memory is not given back after a kernel that needed much of it.
        LMEM_RESIZE_TO_MAX = CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX.0;
        /// A core dump of the device is written when a kernel fails.
        COREDUMP_ENABLE = CUctx_flags::CU_CTX_COREDUMP_ENABLE.0;
        /// A core dump of the device is written when the user's pipe asks.
        USER_COREDUMP_ENABLE = CUctx_flags::CU_CTX_USER_COREDUMP_ENABLE.0;
        /// Copies and fills that could return early wait until they are done.
        SYNC_MEMOPS = CUctx_flags::CU_CTX_SYNC_MEMOPS.0;
    }

    /// How a stream relates to the legacy default stream.
    StreamFlags(u32):
        "cuStreamCreate" "cuStreamCreateWithPriority" "cuStreamGetFlags" "cuGreenCtxStreamCreate"
    {
        /// The stream and the legacy default stream do not wait for each other.
        NON_BLOCKING = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    }

    /// What an event can do.
    EventFlags(u32): "cuEventCreate" {
        /// Waiting for the event sleeps instead of spinning.
        BLOCKING_SYNC = CUevent_flags::CU_EVENT_BLOCKING_SYNC.0;
        /// The event keeps no time: recording and waiting are cheaper.
        DISABLE_TIMING = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        /// The event can be shared with other processes; needs `DISABLE_TIMING`.
        INTERPROCESS = CUevent_flags::CU_EVENT_INTERPROCESS.0;
    }

    /// How an event is recorded.
    EventRecordFlags(u32):
        "cuEventRecordWithFlags" "CUlaunchAttributeValue_union__bindgen_ty_2.flags"
        "CUlaunchAttributeValue_union__bindgen_ty_3.flags"
    {
        /// While a stream is captured, the record becomes a node that others can wait for.
        EXTERNAL = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
    }

    /// How a stream waits for an event.
    EventWaitFlags(u32): "cuStreamWaitEvent" {
        /// While a stream is captured, the wait becomes a node for an event from outside.
        EXTERNAL = CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0;
    }

    /// What a stream waits for in memory. The two lowest bits are a number: without any
    /// flag the wait ends when `value <= *address` (as a wrapping difference).
    WaitValueFlags(u32):
        "cuStreamWaitValue32" "cuStreamWaitValue32_v2" "cuStreamWaitValue64" "cuStreamWaitValue64_v2"
        "CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st.flags"
    {
        /// Until the two are equal.
        EQ = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
        /// Until they have a bit in common.
        AND = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_AND.0;
        /// Until some bit is clear in both.
        NOR = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR.0;
        /// What other devices wrote remotely before becomes visible after the wait.
        FLUSH = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;
    }

    /// How a stream writes a value to memory.
    WriteValueFlags(u32):
        "cuStreamWriteValue32" "cuStreamWriteValue32_v2" "cuStreamWriteValue64" "cuStreamWriteValue64_v2"
        "CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st.flags"
    {
        /// The write may become visible before earlier work of the stream does.
        NO_MEMORY_BARRIER = CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0;
    }

    /// How far a memory barrier in a stream reaches: the whole system without any flag.
    MemoryBarrierFlags(u32):
        "CUstreamBatchMemOpParams_union_CUstreamMemOpMemoryBarrierParams_st.flags"
    {
        /// This device only.
        GPU = CUstreamMemoryBarrier_flags::CU_STREAM_MEMORY_BARRIER_TYPE_GPU.0;
    }

    /// What happens to the dependencies of the next captured node: added without any flag.
    CaptureDependencyFlags(u32):
        "cuStreamUpdateCaptureDependencies" "cuStreamUpdateCaptureDependencies_v2"
    {
        /// The given ones replace those that the stream had.
        SET = CUstreamUpdateCaptureDependencies_flags::CU_STREAM_SET_CAPTURE_DEPENDENCIES.0;
    }

    /// What the occupancy calculation assumes.
    OccupancyFlags(u32):
        "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" "cuOccupancyMaxPotentialBlockSizeWithFlags"
    {
        /// Caching of global memory in L1 may be off if that raises the occupancy.
        DISABLE_CACHING_OVERRIDE = CUoccupancy_flags::CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE.0;
    }

    /// What a cooperative launch on several devices leaves out.
    CooperativeMultiDeviceFlags(u32): "cuLaunchCooperativeKernelMultiDevice" {
        /// Each device starts without waiting for earlier work on the others.
        NO_PRE_LAUNCH_SYNC = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC;
        /// Later work starts without waiting for the launch on the other devices.
        NO_POST_LAUNCH_SYNC = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC;
    }

    /// How a graph is made executable.
    GraphInstantiateFlags(u64):
        "cuGraphInstantiateWithFlags" "cuGraphExecGetFlags" "CUDA_GRAPH_INSTANTIATE_PARAMS_st.flags"
    {
        /// Memory that the graph allocated and that is not freed yet is freed before a relaunch.
        AUTO_FREE_ON_LAUNCH = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.0;
        /// The graph is uploaded at once, on the stream in the parameters.
        UPLOAD = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.0;
        /// Device code can launch the graph.
        DEVICE_LAUNCH = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH.0;
        /// Each node has the priority that it was captured with, not the launch stream's.
        USE_NODE_PRIORITY = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0;
    }

    /// What a printed graph shows of its nodes.
    GraphDebugDotFlags(u32): "cuGraphDebugDotPrint" {
        /// Everything.
        VERBOSE = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE.0;
        /// The runtime API's structures instead of the driver's.
        RUNTIME_TYPES = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES.0;
        /// Parameters of kernel nodes.
        KERNEL_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS.0;
        /// Parameters of copies.
        MEMCPY_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS.0;
        /// Parameters of fills.
        MEMSET_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS.0;
        /// Parameters of host functions.
        HOST_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS.0;
        /// Events of record and wait nodes.
        EVENT_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS.0;
        /// Parameters of nodes that signal external semaphores.
        EXT_SEMAS_SIGNAL_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS.0;
        /// Parameters of nodes that wait for external semaphores.
        EXT_SEMAS_WAIT_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS.0;
        /// Attributes of kernel nodes.
        KERNEL_NODE_ATTRIBUTES = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES.0;
        /// Handles of nodes and kernels.
        HANDLES = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES.0;
        /// Parameters of allocations.
        MEM_ALLOC_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS.0;
        /// Parameters of frees.
        MEM_FREE_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS.0;
        /// Parameters of batches of stream memory operations.
        BATCH_MEM_OP_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS.0;
        /// What kinds of edges there are.
        EXTRA_TOPO_INFO = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO.0;
        /// Parameters of conditional nodes.
        CONDITIONAL_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS.0;
        /// Parameters of batches of copies.
        MEMCPY_BATCH_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_BATCH_NODE_PARAMS.0;
        /// Parameters of batches of copies over a fabric.
        FABRIC_CPY_BATCH_NODE_PARAMS = CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_FABRIC_CPY_BATCH_NODE_PARAMS.0;
    }

    /// How a condition of a graph starts.
    GraphConditionalFlags(u32): "cuGraphConditionalHandleCreate" {
        /// The condition is set to its default value at each launch.
        ASSIGN_DEFAULT = CU_GRAPH_COND_ASSIGN_DEFAULT;
    }

    /// How a user object's destructor runs.
    UserObjectFlags(u32): "cuUserObjectCreate" {
        /// Nothing waits for the destructor; the only mode there is, so it is required.
        NO_DESTRUCTOR_SYNC = CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.0;
    }

    /// How a graph takes references to a user object.
    UserObjectRetainFlags(u32): "cuGraphRetainUserObject" {
        /// The caller's references move to the graph.
        MOVE = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE.0;
    }

    /// How a green context is made.
    GreenContextFlags(u32): "cuGreenCtxCreate" {
        /// It has a default stream of its own; required.
        DEFAULT_STREAM = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
    }

    /// What a group of multiprocessors may be made of.
    SmGroupFlags(u32): "CUdevSmResource_st.flags" "CU_DEV_SM_RESOURCE_GROUP_PARAMS_st.flags" {
        /// Reach the count that was asked for, even with multiprocessors that do not fit.
        BACKFILL = CUdevSmResourceGroup_flags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0;
        /// Take them from the locality domain that is given.
        LOCALITY_DOMAIN_ID = CUdevSmResourceGroup_flags::CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID.0;
        /// Take more from that domain than its attribute counts.
        LOCALITY_DOMAIN_SUPPLEMENTAL_SMS = CUdevSmResourceGroup_flags::CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS.0;
    }

    /// What splitting multiprocessors by count respects.
    SmSplitFlags(u32): "cuDevSmResourceSplitByCount" {
        /// Split finer, at the cost of large clusters.
        IGNORE_SM_COSCHEDULING = CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING.0;
        /// Make groups in which the largest clusters fit.
        MAX_POTENTIAL_CLUSTER_SIZE = CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE.0;
    }

    /// Which form of a function is asked for.
    ProcAddressFlags(u64): "cuGetProcAddress" "cuGetProcAddress_v2" {
        /// With the legacy default stream.
        LEGACY_STREAM = CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM.0;
        /// With the calling thread's default stream.
        PER_THREAD_DEFAULT_STREAM = CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.0;
    }

    /// What a core dump leaves out; the value of the attribute
    /// `CU_COREDUMP_GENERATION_FLAGS`.
    CoredumpFlags(u32): {
        /// ELF images as loaded.
        SKIP_NONRELOCATED_ELF_IMAGES = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_NONRELOCATED_ELF_IMAGES.0;
        /// Global memory.
        SKIP_GLOBAL_MEMORY = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_GLOBAL_MEMORY.0;
        /// Shared memory.
        SKIP_SHARED_MEMORY = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_SHARED_MEMORY.0;
        /// Local memory.
        SKIP_LOCAL_MEMORY = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_LOCAL_MEMORY.0;
        /// The process goes on after the dump.
        SKIP_ABORT = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_ABORT.0;
        /// Constant memory.
        SKIP_CONSTBANK_MEMORY = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_CONSTBANK_MEMORY.0;
        /// The dump is compressed with gzip.
        GZIP_COMPRESS = CUCoredumpGenerationFlags::CU_COREDUMP_GZIP_COMPRESS.0;
        /// Contexts without a fault.
        FAULTED_CONTEXTS_ONLY = CUCoredumpGenerationFlags::CU_COREDUMP_FAULTED_CONTEXTS_ONLY.0;
        /// Tensor memory.
        SKIP_TENSOR_MEMORY = CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_TENSOR_MEMORY.0;
        /// No check for late errors when the process exits.
        NO_ERRBAR_AT_EXIT = CUCoredumpGenerationFlags::CU_COREDUMP_NO_ERRBAR_AT_EXIT.0;
        /// Only the log is written, no dump.
        LOG_ONLY = CUCoredumpGenerationFlags::CU_COREDUMP_LOG_ONLY.0;
        /// All kinds of memory and the images, and the process goes on.
        LIGHTWEIGHT = CUCoredumpGenerationFlags::CU_COREDUMP_LIGHTWEIGHT_FLAGS.0;
    }

    /// Arguments of 32 bits of which no bit means anything yet: they must be zero.
    ReservedFlags(u32):
        "cuInit" "cuCtxAttach" "cuCtxEnablePeerAccess" "cuDevSmResourceSplit" "cuGraphCreate" "cuLogsCurrent"
        "cuLogsDumpToFile" "cuLogsDumpToMemory" "cuMemBatchDecompressAsync" "cuMemHostGetDevicePointer"
        "cuMemHostGetDevicePointer_v2" "cuMemPrefetchAsync_v2" "cuStreamAddCallback" "cuStreamBatchMemOp"
        "cuStreamBatchMemOp_v2" "cuSurfRefSetArray" "CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st.flags"
        "CUDA_BATCH_MEM_OP_NODE_PARAMS_v2_st.flags" "CUDA_MEMCPY_NODE_PARAMS_st.flags" "CUDA_RESOURCE_DESC_st.flags"
        "CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st.flags" "CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st.flags"
        "CUarrayMapInfo_st.flags" "CUstreamBatchMemOpParams_union_CUstreamMemOpFlushRemoteWritesParams_st.flags"
        "CUstreamBatchMemOpParams_union_CUstreamMemOpAtomicReductionParams_st.flags"
        "CUDA_FABRIC_COPY_BATCH_OP_st.flags"
    {}

    /// Arguments of 64 bits of which no bit means anything yet: they must be zero.
    ReservedFlags64(u64):
        "cuFabricCpyBatchAsync" "cuLogicalEndpointBindAddr" "cuLogicalEndpointBindMem" "cuMemAddressReserve"
        "cuMemCreate" "cuMemDiscardAndPrefetchBatchAsync" "cuMemDiscardBatchAsync" "cuMemExportToShareableHandle"
        "cuMemMap" "cuMemPoolExportToShareableHandle" "cuMemPoolImportFromShareableHandle" "cuMemPrefetchBatchAsync"
        "cuMemcpy3DBatchAsync" "cuMemcpy3DBatchAsync_v2" "cuMemcpy3DWithAttributesAsync" "cuMulticastBindAddr"
        "cuMulticastBindAddr_v2" "cuMulticastBindMem" "cuMulticastBindMem_v2" "CUmulticastObjectProp_st.flags"
        "CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1_st.flags"
    {}
}

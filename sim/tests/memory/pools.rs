//! Memory pools: their accounts, limits and which is current.

use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: Code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Without it, the account of a pool could drift from what programs ask it.
#[test]
fn pools_count_in_the_order_of_calls() {
    let bench = TestBench::with_memory(1 << 30);
    let d = &bench.driver;
    let mut pool = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { d.cuDeviceGetDefaultMemPool(&raw mut pool, 0) }.unwrap();
    let get = |attribute: CUmemPool_attribute| {
        let mut value = 0u64;
        let place = (&raw mut value).cast();
        // SAFETY: the attribute is 64 bits.
        unsafe { d.cuMemPoolGetAttribute(pool, attribute, place) }.unwrap();
        value
    };
    let used = || get(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    let peak = || get(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    let reserved = || get(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);

    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let gate = Gate::new();
    gate.block(&bench, stream);
    let (mut a, mut b) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocAsync(&raw mut a, 700 << 20, stream).unwrap();
        assert_eq!(used(), 700 << 20);
        d.cuMemFreeAsync(a, stream).unwrap();
        // The stream has not got there, but the next allocation may reuse the memory in
        // stream order, so it fits.
        assert_eq!(used(), 0);
        d.cuMemAllocAsync(&raw mut b, 800 << 20, stream).unwrap();
        assert_eq!(code(d.cuMemFreeAsync(a, stream)), INVALID);
        assert_eq!(code(d.cuMemFree_v2(a)), INVALID);
    }
    assert_eq!((used(), peak()), (800 << 20, 800 << 20));
    gate.open();
    // SAFETY: the stream and the memory are live.
    unsafe { d.cuMemFreeAsync(b, stream) }.unwrap();
    assert!(reserved() >= 800 << 20);
    // SAFETY: the stream is live.
    unsafe { d.cuStreamSynchronize(stream) }.unwrap();
    // The threshold is zero: a synchronisation gives all back.
    assert_eq!(reserved(), 0);
    let mut threshold = 64u64 << 20;
    let name = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the attribute is 64 bits; the places outlive the calls.
    unsafe {
        d.cuMemPoolSetAttribute(pool, name, (&raw mut threshold).cast())
            .unwrap();
        d.cuMemAllocAsync(&raw mut a, 100 << 20, stream).unwrap();
        d.cuMemFreeAsync(a, stream).unwrap();
        d.cuStreamSynchronize(stream).unwrap();
        assert_eq!(reserved(), 64 << 20);
        d.cuMemPoolTrimTo(pool, 0).unwrap();
        assert_eq!(reserved(), 0);
        // Nothing is nothing, and can be freed.
        d.cuMemAllocAsync(&raw mut a, 0, stream).unwrap();
        assert_eq!(a, 0);
        d.cuMemFreeAsync(a, stream).unwrap();
        assert_eq!(code(d.cuMemPoolDestroy(pool)), INVALID);
        d.cuStreamDestroy_v2(stream).unwrap();
    }
    bench.finish();
}

fn pool_of(bench: &TestBench, max_size: usize) -> CUmemoryPool {
    let mut pool = std::ptr::null_mut();
    // SAFETY: all zeros are valid properties; the place outlives the call.
    unsafe {
        let mut props: CUmemPoolProps = std::mem::zeroed();
        props.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        props.maxSize = max_size;
        bench
            .driver
            .cuMemPoolCreate(&raw mut pool, &raw const props)
            .unwrap();
    }
    pool
}

/// Without it, a pool could grow past its limit, or keep memory that another needs.
#[test]
fn pools_have_limits_and_give_way() {
    let bench = TestBench::with_memory(256 << 20);
    let d = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let pool = pool_of(&bench, 64 << 20);
    let (mut a, mut b) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocFromPoolAsync(&raw mut a, 60 << 20, pool, stream)
            .unwrap();
        let more = d.cuMemAllocFromPoolAsync(&raw mut b, 5 << 20, pool, stream);
        assert_eq!(code(more), MEMORY);
        d.cuMemFreeAsync(a, stream).unwrap();
        // The pool holds 64 MiB and uses none: they are there for every allocation that needs them.
        d.cuMemAlloc_v2(&raw mut b, 256 << 20).unwrap();
        let more = d.cuMemAllocFromPoolAsync(&raw mut a, 1, pool, stream);
        assert_eq!(code(more), MEMORY);
        d.cuMemFree_v2(b).unwrap();
        // A destroyed pool keeps what is in use, and gives nothing any more.
        d.cuMemAllocFromPoolAsync(&raw mut a, 1 << 20, pool, stream)
            .unwrap();
        d.cuMemPoolDestroy(pool).unwrap();
        let more = d.cuMemAllocFromPoolAsync(&raw mut b, 1, pool, stream);
        assert_eq!(code(more), INVALID);
        d.cuMemsetD8Async(a, 1, 1 << 20, stream).unwrap();
        d.cuMemFreeAsync(a, stream).unwrap();
        d.cuStreamDestroy_v2(stream).unwrap();
    }
    bench.synchronize();
    bench.finish();
}

/// Without it, the current pool could be one that is gone.
#[test]
fn the_current_pool_can_be_changed() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let pool = pool_of(&bench, 1 << 20);
    let (mut default, mut current, mut a) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuDeviceGetDefaultMemPool(&raw mut default, 0).unwrap();
        d.cuDeviceSetMemPool(0, pool).unwrap();
        d.cuDeviceGetMemPool(&raw mut current, 0).unwrap();
        assert_eq!(current, pool);
        let more = d.cuMemAllocAsync(&raw mut a, 2 << 20, std::ptr::null_mut());
        assert_eq!(code(more), MEMORY);
        d.cuMemPoolDestroy(pool).unwrap();
        d.cuDeviceGetMemPool(&raw mut current, 0).unwrap();
        assert_eq!(current, default);
        assert_eq!(code(d.cuDeviceSetMemPool(0, pool)), INVALID);
    }
    bench.finish();
}

/// Without it, a pool that is not built could look like a mistake of the program.
#[test]
fn pools_of_other_memory_are_not_supported() {
    let bench = TestBench::with_memory(1 << 30);
    let create = |change: &dyn Fn(&mut CUmemPoolProps)| {
        let mut pool = std::ptr::null_mut();
        // SAFETY: all zeros are valid properties; the place outlives the call.
        unsafe {
            let mut props: CUmemPoolProps = std::mem::zeroed();
            props.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
            props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
            change(&mut props);
            code(
                bench
                    .driver
                    .cuMemPoolCreate(&raw mut pool, &raw const props),
            )
        }
    };
    let missing = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    let host = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST;
    assert_eq!(create(&|props| props.location.type_ = host), missing);
    let managed = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED;
    assert_eq!(create(&|props| props.allocType = managed), missing);
    let file = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    assert_eq!(create(&|props| props.handleTypes = file), missing);
    let none = CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID;
    assert_eq!(create(&|props| props.location.type_ = none), INVALID);
    assert_eq!(bench.machine.messages().len(), 3);
    bench.finish();
}

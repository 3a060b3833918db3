//! Functions of a module: which there are, and what they need.

use std::ffi::CStr;

use cupola_sys::driver::*;

use crate::ptx::KERNELS;
use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Without it, a kernel that the device cannot execute could make its whole module
/// unusable, or fail without a word.
#[test]
fn one_strange_kernel_does_not_spoil_the_others() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let (mut place, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        let strange = d.cuModuleGetFunction(&raw mut place, module, c"strange".as_ptr());
        assert_eq!(code(strange), CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let none = d.cuModuleGetFunction(&raw mut place, module, c"none".as_ptr());
        assert_eq!(code(none), CUresult::CUDA_ERROR_NOT_FOUND);
        d.cuModuleGetFunctionCount(&raw mut count, module).unwrap();
        assert_eq!(count, 7);
        let mut all = [std::ptr::null_mut(); 7];
        d.cuModuleEnumerateFunctions(all.as_mut_ptr(), 7, module)
            .unwrap();
        assert!(all.contains(&bench.function(module, c"store")));
    }
    let said = bench.machine.messages().join("\n");
    assert!(said.contains("wgmma"), "{said}");
    bench.unload(module);
    bench.finish();
}

/// Without it, callers could not check arguments or choose block sizes.
#[test]
fn functions_say_what_they_need() {
    use CUfunction_attribute as A;
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let (store, small) = (
        bench.function(module, c"store"),
        bench.function(module, c"shared_of_its_own"),
    );
    let ask = |function, attribute| {
        let mut value = -7;
        // SAFETY: the place outlives the call.
        unsafe { d.cuFuncGetAttribute(&raw mut value, attribute, function) }.unwrap();
        value
    };
    assert_eq!(ask(store, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_eq!(ask(small, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    assert_eq!(ask(small, A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    assert_eq!(ask(store, A::CU_FUNC_ATTRIBUTE_PTX_VERSION), 60);
    assert_eq!(ask(store, A::CU_FUNC_ATTRIBUTE_BINARY_VERSION), 80);
    let (mut offset, mut size) = (9, 9);
    let (mut blocks, mut grid, mut block) = (9, 9, 9);
    let (mut name, mut owner) = (std::ptr::null(), std::ptr::null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuFuncGetParamInfo(store, 1, &raw mut offset, &raw mut size)
            .unwrap();
        assert_eq!((offset, size), (8, 4));
        let beyond = d.cuFuncGetParamInfo(store, 2, &raw mut offset, &raw mut size);
        assert_eq!(code(beyond), INVALID);
        d.cuFuncGetName(&raw mut name, store).unwrap();
        assert_eq!(CStr::from_ptr(name), c"store");
        d.cuFuncGetModule(&raw mut owner, store).unwrap();
        assert_eq!(owner, module);
        let place = &raw mut blocks;
        d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, store, 256, 0)
            .unwrap();
        assert_eq!(blocks, 8);
        d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, store, 32, 40 << 10)
            .unwrap();
        assert_eq!(blocks, 4);
        d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, small, 65, 0)
            .unwrap();
        assert_eq!(blocks, 0);
        let places = (&raw mut grid, &raw mut block);
        d.cuOccupancyMaxPotentialBlockSize(places.0, places.1, store, None, 0, 0)
            .unwrap();
        assert_eq!((grid, block), (16, 1024));
        let bad = d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, store, 0, 0);
        assert_eq!(code(bad), INVALID);
    }
    bench.unload(module);
    bench.finish();
}

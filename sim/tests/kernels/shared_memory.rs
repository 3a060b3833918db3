//! Limits of shared memory: what a module may declare, and what a launch may ask for.

use std::ffi::{CStr, CString};

use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

fn load(bench: &TestBench, shared: u32) -> Result<CUmodule, Code> {
    let text = format!(
        ".version 7.0\n.target sm_60\n.address_size 64
        .global .u32 variable;
        .visible .entry small() {{ ret; }}
        .visible .entry large() {{ .shared .align 4 .b8 space[{shared}]; ret; }}"
    );
    let text = CString::new(text).unwrap();
    let mut module = std::ptr::null_mut();
    // SAFETY: the text and the place outlive the call.
    let result = unsafe {
        bench
            .driver
            .cuModuleLoadData(&raw mut module, text.as_ptr().cast())
    };
    match code(result) {
        CUresult::CUDA_SUCCESS => Ok(module),
        other => Err(other),
    }
}

fn function(bench: &TestBench, module: CUmodule, name: &CStr) -> CUfunction {
    let mut function = std::ptr::null_mut();
    // SAFETY: the name and the place outlive the call.
    unsafe {
        bench
            .driver
            .cuModuleGetFunction(&raw mut function, module, name.as_ptr())
    }
    .unwrap();
    function
}

fn launch(bench: &TestBench, function: CUfunction, dynamic: u32) -> Code {
    let null = std::ptr::null_mut();
    let none = std::ptr::null_mut();
    // SAFETY: the kernel has no parameters.
    code(unsafe {
        bench.driver.cuLaunchKernel(
            function,
            1,
            1,
            1,
            1,
            1,
            1,
            dynamic,
            std::ptr::null_mut(),
            null,
            none,
        )
    })
}

fn allow(bench: &TestBench, function: CUfunction, dynamic: i32) -> Code {
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: no pointers but the function's handle.
    code(unsafe {
        bench
            .driver
            .cuFuncSetAttribute(function, attribute, dynamic)
    })
}

/// Without it, PTX that NVIDIA's driver refuses would run here.
#[test]
fn too_much_static_shared_memory_is_invalid_ptx() {
    let bench = TestBench::new();
    let module = load(&bench, 48 << 10).unwrap();
    assert_eq!(
        load(&bench, (48 << 10) + 1),
        Err(CUresult::CUDA_ERROR_INVALID_PTX)
    );
    let messages = bench.machine.messages();
    let said = |text: &String| text.contains("large") && text.contains("49153");
    assert!(messages.iter().any(said), "{messages:?}");
    // SAFETY: a live handle.
    unsafe { bench.driver.cuModuleUnload(module) }.unwrap();
    bench.finish();
}

/// Without it, the limit that a program reads and the one that launches obey could differ.
#[test]
fn launches_obey_the_limit_that_the_device_says() {
    let bench = TestBench::new();
    let module = load(&bench, 1020).unwrap();
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut most = 0;
    // SAFETY: the place outlives the call.
    unsafe {
        bench
            .driver
            .cuDeviceGetAttribute(&raw mut most, attribute, 0)
    }
    .unwrap();
    for (name, fixed) in [(c"small", 0), (c"large", 1020)] {
        let function = function(&bench, module, name);
        let room = most - fixed;
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        assert_eq!(launch(&bench, function, room.cast_unsigned()), invalid);
        assert_eq!(allow(&bench, function, room + 1), invalid);
        assert_eq!(allow(&bench, function, room), CUresult::CUDA_SUCCESS);
        assert_eq!(
            launch(&bench, function, room.cast_unsigned()),
            CUresult::CUDA_SUCCESS
        );
        assert_eq!(launch(&bench, function, room.cast_unsigned() + 1), invalid);
    }
    bench.synchronize();
    // SAFETY: a live handle.
    unsafe { bench.driver.cuModuleUnload(module) }.unwrap();
    bench.finish();
}

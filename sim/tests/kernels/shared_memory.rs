//! Limits of shared memory: what a module may declare, and what a launch may ask for.

use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

fn load(bench: &TestBench, shared: u32) -> Result<CUmodule, Code> {
    let text = format!(
        ".version 7.0\n.target sm_60\n.address_size 64
        .global .u32 variable;
        .visible .entry small() {{ ret; }}
        .visible .entry large() {{ .shared .align 4 .b8 space[{shared}]; ret; }}"
    );
    bench.try_load(&text)
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
    bench.unload(module);
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
        let function = bench.function(module, name);
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
    bench.unload(module);
    bench.finish();
}

//! Launches that are refused: what no GPU takes, and what the device does not have.

use std::ptr::null_mut;

use cupola_sys::driver::*;

use crate::ptx::{HEAD, KERNEL, KERNELS};
use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Without it, launches that no GPU takes would pass here.
#[test]
fn bad_launches_are_errors_of_the_call() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let (nothing, store, small) = (
        bench.function(module, c"nothing"),
        bench.function(module, c"store"),
        bench.function(module, c"shared_of_its_own"),
    );
    let null = null_mut();
    let shape = |f, grid: [u32; 3], block: [u32; 3], shared| {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: the function has no parameters, or the launch is refused for them.
        code(unsafe {
            d.cuLaunchKernel(
                f,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                null,
                null.cast(),
                null.cast(),
            )
        })
    };
    assert_eq!(shape(nothing, [1; 3], [1; 3], 0), CUresult::CUDA_SUCCESS);
    assert_eq!(shape(nothing, [0, 1, 1], [1; 3], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1, 0, 1], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1025, 1, 1], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1, 1, 65], 0), INVALID);
    assert_eq!(shape(nothing, [1, 70_000, 1], [1; 3], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1; 3], 49 << 10), INVALID);
    assert_eq!(shape(store, [1; 3], [1; 3], 0), INVALID);
    assert_eq!(shape(small, [1; 3], [65, 1, 1], 0), INVALID);
    assert_eq!(
        shape(null.cast(), [1; 3], [1; 3], 0),
        CUresult::CUDA_ERROR_INVALID_HANDLE
    );
    let name = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: live handles.
    unsafe {
        assert_eq!(
            code(d.cuFuncSetAttribute(nothing, name, 300 << 10)),
            INVALID
        );
        assert_eq!(code(d.cuFuncSetAttribute(nothing, name, -1)), INVALID);
        d.cuFuncSetAttribute(nothing, name, 100 << 10).unwrap();
        assert_eq!(
            shape(nothing, [1; 3], [1; 3], 49 << 10),
            CUresult::CUDA_SUCCESS
        );
        // 8 multiprocessors with 32 blocks each.
        let one = (1, 1, 1);
        let (x, y, z) = one;
        d.cuLaunchCooperativeKernel(nothing, 256, 1, 1, x, y, z, 0, null, null.cast())
            .unwrap();
        let large = d.cuLaunchCooperativeKernel(nothing, 257, 1, 1, x, y, z, 0, null, null.cast());
        assert_eq!(
            code(large),
            CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
        );
    }
    bench.synchronize();
    bench.unload(module);
    bench.finish();
}

/// Without it, what the device leaves out of occupancy and launches would be done half, or
/// refused without a word.
#[test]
fn clusters_and_several_devices_are_refused_by_name() {
    let bench = TestBench::new();
    let module = bench.load(&format!("{HEAD}{KERNEL}"));
    let function = bench.function(module, c"k");
    let driver = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let part = CUDA_LAUNCH_PARAMS {
        function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        kernelParams: null_mut(),
    };
    let several = |parts: &mut [CUDA_LAUNCH_PARAMS], count: u32| {
        // SAFETY: the list outlives the call, and the kernel has no parameters.
        code(unsafe { driver.cuLaunchCooperativeKernelMultiDevice(parts.as_mut_ptr(), count, 0) })
    };
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(several(&mut [part], 0), invalid);
    assert_eq!(several(&mut [part], 1), CUresult::CUDA_SUCCESS);
    assert_eq!(several(&mut [part, part], 2), unsupported);
    let mut in_default = part;
    in_default.hStream = null_mut();
    assert_eq!(several(&mut [in_default], 1), invalid);
    let messages = bench.machine.messages();
    assert!(messages.last().unwrap().contains("several devices"));

    let mut attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: CUlaunchAttributeValue {
            clusterDim: CUlaunchAttributeValue_union__bindgen_ty_1 { x: 2, y: 1, z: 1 },
        },
    };
    let config = CUlaunchConfig {
        gridDimX: 2,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: &raw mut attribute,
        numAttrs: 1,
    };
    let mut count = 0;
    // SAFETY: the configuration and the place outlive the calls.
    unsafe {
        let launched = driver.cuLaunchKernelEx(&raw const config, function, null_mut(), null_mut());
        assert_eq!(code(launched), unsupported);
        let asked =
            driver.cuOccupancyMaxActiveClusters(&raw mut count, function, &raw const config);
        assert_eq!(code(asked), unsupported);
        assert_eq!(
            code(driver.cuProfilerInitialize(c"a".as_ptr(), c"b".as_ptr(), CUoutput_mode(0))),
            unsupported
        );
        driver.cuStreamDestroy_v2(stream).unwrap();
        driver.cuModuleUnload(module).unwrap();
    }
    let messages = bench.machine.messages();
    assert!(
        messages
            .iter()
            .filter(|text| text.contains("cluster"))
            .count()
            == 2
    );
    bench.finish();
}

/// Without it, dimensions whose product is beyond 64 bits would end the call in a panic,
/// or launch something small.
#[test]
fn no_dimension_is_too_large_to_be_refused() {
    let bench = TestBench::new();
    let function = bench.function(bench.load(&format!("{HEAD}{KERNEL}")), c"k");
    let most = u32::MAX;
    // SAFETY: the kernel has no parameters.
    unsafe {
        let driver = &bench.driver;
        for (grid, block) in [
            ([1; 3], [most; 3]),
            ([most; 3], [1; 3]),
            ([most; 3], [most; 3]),
        ] {
            let launched = driver.cuLaunchKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                0,
                null_mut(),
                null_mut(),
                null_mut(),
            );
            assert_eq!(code(launched), CUresult::CUDA_ERROR_INVALID_VALUE);
            let launched = driver.cuLaunchCooperativeKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                0,
                null_mut(),
                null_mut(),
            );
            assert_eq!(code(launched), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    }
}

//! The driver itself: versions, missing functions, the search for functions, error texts,
//! and what devices say.

use std::ffi::{CStr, c_int, c_void};

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;
use cupola_sys::{CallError, Version};

use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

fn machine_of(major: u32, minor: u32) -> Machine {
    Machine::builder()
        .driver_version(Version::new(major, minor))
        .build()
}

/// Without it, old drivers could not be tested: the machine would have functions that
/// their version lacks, or lack ones that it has.
#[test]
fn old_drivers_lack_newer_functions() {
    let newest = Machine::builder().build().driver();
    for (major, minor) in [(11, 4), (12, 2), (13, 0)] {
        let machine = machine_of(major, minor);
        let driver = machine.driver();
        let version = Version::new(major, minor);
        assert_eq!(driver.driver_version(), version);
        for (position, symbol) in SYMBOLS.iter().enumerate() {
            let id = cupola_sys::SymbolId::new(position as u16);
            let wanted = newest.has(id) && symbol.introduced <= version;
            assert_eq!(driver.has(id), wanted, "{} in {version}", symbol.as_str());
        }
        for old in [id::cuInit, id::cuLaunchKernel, id::cuMemAlloc_v2] {
            assert!(driver.has(old));
        }
        assert_eq!(
            driver.has(id::cuCtxCreate_v4),
            version >= Version::new(12, 5)
        );
        assert_eq!(
            driver.has(id::cuGetProcAddress_v2),
            version >= Version::new(12, 0)
        );
        assert!(driver.has(id::cuMemAllocAsync));
        let mut time = 0f32;
        let null = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        let result = unsafe { driver.cuEventElapsedTime_v2(&raw mut time, null, null) };
        match result {
            Err(CallError::Missing { have, .. }) => assert!(have < Version::new(12, 8)),
            Err(CallError::Failed { .. }) => assert!(version >= Version::new(12, 8)),
            Ok(()) => panic!("null is no event"),
        }
    }
}

/// Without it, a per-thread form could be missing where the other is there, and foreign
/// programs would fall back to the wrong stream.
#[test]
fn default_stream_functions_come_in_both_forms() {
    let driver = Machine::builder().build().driver();
    let known: Vec<_> = (0..SYMBOLS.len() as u16)
        .map(cupola_sys::SymbolId::new)
        .filter(|id| driver.has(*id))
        .map(|id| SYMBOLS[usize::from(id.0)].as_str())
        .collect();
    for symbol in SYMBOLS.iter().filter(|symbol| symbol.is_per_thread()) {
        let name = symbol.as_str();
        let plain = name.trim_end_matches("_ptsz").trim_end_matches("_ptds");
        assert_eq!(known.contains(&name), known.contains(&plain), "{name}");
    }
    assert!(known.contains(&"cuLaunchKernel_ptsz"));
}

/// Without it, the search could give another ABI than the version asked for. The answers
/// are those of an H200 with driver 580.
#[test]
fn functions_are_found_by_name_and_version() {
    let machine = Machine::builder().build();
    let d = machine.driver();
    let find = |name: &CStr, version: c_int, flags: u64| {
        let (mut found, mut status) = (std::ptr::null_mut(), CUdriverProcAddressQueryResult(9));
        let (place, answer) = (&raw mut found, &raw mut status);
        // SAFETY: the places outlive the call.
        let result = unsafe { d.cuGetProcAddress_v2(name.as_ptr(), place, version, flags, answer) };
        (code(result), found.cast_const(), status.0)
    };
    let ok = CUresult::CUDA_SUCCESS;
    let at = |id| d.address(id).unwrap();
    let null = std::ptr::null::<c_void>();
    assert_eq!(find(c"cuMemAlloc", 3020, 0), (ok, at(id::cuMemAlloc_v2), 0));
    assert_eq!(
        find(c"cuMemAlloc", 13_000, 1),
        (ok, at(id::cuMemAlloc_v2), 0)
    );
    // Without a per-thread form the one there is serves.
    assert_eq!(
        find(c"cuMemAlloc", 13_000, 2),
        (ok, at(id::cuMemAlloc_v2), 0)
    );
    assert_eq!(
        find(c"cuStreamQuery", 7000, 0),
        (ok, at(id::cuStreamQuery), 0)
    );
    assert_eq!(
        find(c"cuStreamQuery", 7000, 2),
        (ok, at(id::cuStreamQuery_ptsz), 0)
    );
    assert_eq!(find(c"cuStreamQuery", 2000, 2), (ok, null, 2));
    assert_eq!(
        find(c"cuCtxCreate", 12_000, 0),
        (ok, at(id::cuCtxCreate_v3), 0)
    );
    assert_eq!(
        find(c"cuCtxCreate", 13_000, 0),
        (ok, at(id::cuCtxCreate_v4), 0)
    );
    assert_eq!(find(c"cuMemAllocAsync", 11_000, 0), (ok, null, 2));
    assert_eq!(find(c"cuMemAlloc_v2", 13_000, 0), (ok, null, 1));
    assert_eq!(find(c"cuNope", 13_000, 0), (ok, null, 1));
    assert_eq!(find(c"cuMemAlloc", 13_000, 7).0, INVALID);

    let mut found = std::ptr::without_provenance_mut(5);
    let place = &raw mut found;
    // SAFETY: the place outlives the calls.
    unsafe {
        let missing = d.cuGetProcAddress(c"cuNope".as_ptr(), place, 13_000, 0);
        assert_eq!(code(missing), CUresult::CUDA_ERROR_NOT_FOUND);
        d.cuGetProcAddress(c"cuInit".as_ptr(), place, 13_000, 0)
            .unwrap();
        assert_eq!(found.cast_const(), at(id::cuInit));
        let table = CUuuid { bytes: [0; 16] };
        let mut tables = null;
        let none = d.cuGetExportTable(&raw mut tables, &raw const table);
        assert_ne!(code(none), ok);
        assert!(tables.is_null());
    }
}

/// Without it, a function called outside of a driver's scope would look for a machine in
/// empty air.
#[test]
fn a_function_without_a_machine_says_so() {
    let machine = Machine::builder().build();
    let init = machine.driver().address(id::cuInit).unwrap();
    // SAFETY: the table's address is a function of this type.
    let init: pfn::cuInit = unsafe { std::mem::transmute(init) };
    // SAFETY: no pointers.
    assert_eq!(unsafe { init(0) }, CUresult::CUDA_ERROR_NOT_INITIALIZED);
}

/// Without it two owners of one driver could not tell that a thread has one current context in both.
#[test]
fn two_drivers_of_one_machine_are_the_same() {
    let [one, two] = [(); 2].map(|()| Machine::builder().build());
    assert!(one.driver().is_same(&one.driver()));
    assert!(!one.driver().is_same(&two.driver()));
    let table = cupola_sim::fault::FaultTable::new(one.driver());
    assert!(table.driver().is_same(&table.driver()));
    assert!(!table.driver().is_same(&one.driver()));
}

/// Without it, C programs would print nothing for an error.
#[test]
fn errors_have_names() {
    let d = Machine::builder().build().driver();
    let mut text = std::ptr::null();
    for (number, wanted) in [
        (0, c"CUDA_SUCCESS"),
        (2, c"CUDA_ERROR_OUT_OF_MEMORY"),
        (700, c"CUDA_ERROR_ILLEGAL_ADDRESS"),
    ] {
        // SAFETY: the place outlives the call, and texts live for ever.
        unsafe {
            d.cuGetErrorName(CUresult(number), &raw mut text).unwrap();
            assert_eq!(CStr::from_ptr(text), wanted);
            d.cuGetErrorString(CUresult(number), &raw mut text).unwrap();
            assert!(!text.is_null());
        }
    }
    // SAFETY: the place outlives the call.
    let unknown = unsafe { d.cuGetErrorName(CUresult(12_345), &raw mut text) };
    assert_eq!(code(unknown), INVALID);
    assert!(text.is_null());
}

/// Without it, a device could pose as hardware, or be described wrong.
#[test]
fn devices_say_what_they_are() {
    use CUdevice_attribute as A;
    let config = DeviceConfig::new().memory(3 << 30).compute_capability(9, 0);
    let config = config.multiprocessors(5).copy_engines(3).clock_khz(1234);
    let bench = TestBench::with(
        Machine::builder()
            .device(config)
            .add_device(DeviceConfig::new()),
    );
    let d = &bench.driver;
    let mut name = [1; 64];
    let (mut count, mut device, mut bytes, mut major, mut minor) = (0, 9, 0usize, 0, 0);
    let (mut one, mut two) = (CUuuid { bytes: [0; 16] }, CUuuid { bytes: [0; 16] });
    let ask = |attribute| {
        let mut value = -7;
        // SAFETY: the place outlives the call.
        unsafe { d.cuDeviceGetAttribute(&raw mut value, attribute, 0) }.unwrap();
        value
    };
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuDeviceGetCount(&raw mut count).unwrap();
        d.cuDeviceGetName(name.as_mut_ptr(), 64, 1).unwrap();
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"cupola software device");
        d.cuDeviceGetName(name.as_mut_ptr(), 7, 0).unwrap();
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"cupola");
        d.cuDeviceTotalMem_v2(&raw mut bytes, 0).unwrap();
        d.cuDeviceComputeCapability(&raw mut major, &raw mut minor, 0)
            .unwrap();
        d.cuDeviceGetUuid_v2(&raw mut one, 0).unwrap();
        d.cuDeviceGetUuid_v2(&raw mut two, 1).unwrap();
        assert_ne!(one.bytes, two.bytes);
        d.cuDeviceGetPCIBusId(name.as_mut_ptr(), 64, 1).unwrap();
        d.cuDeviceGetByPCIBusId(&raw mut device, name.as_ptr())
            .unwrap();
        assert_eq!(device, 1);
        let absent = code(d.cuDeviceGet(&raw mut device, 2));
        assert_eq!(absent, CUresult::CUDA_ERROR_INVALID_DEVICE);
        for bad in [A(0), A(9999)] {
            assert_eq!(
                code(d.cuDeviceGetAttribute(&raw mut device, bad, 0)),
                INVALID
            );
        }
    }
    assert_eq!((count, bytes, major, minor), (2, 3 << 30, 9, 0));
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 5);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT), 3);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE), 1234);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 1);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS), 0);
    assert_eq!(ask(A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
    bench.finish();
}

/// Without it, a call of what is not built could pretend to work, or fail without saying what is
/// missing.
#[test]
fn what_is_not_built_is_missing_by_name() {
    let driver = Machine::builder().build().driver();
    let mut array = std::ptr::null_mut();
    let null = std::ptr::null_mut();
    // SAFETY: the place outlives the calls, and no function is there to use the handles.
    let results = unsafe {
        [
            driver.cuArrayCreate_v2(&raw mut array, std::ptr::null()),
            driver.cuArrayDestroy(null),
            driver.cuTexObjectDestroy(0),
        ]
    };
    let names = ["cuArrayCreate_v2", "cuArrayDestroy", "cuTexObjectDestroy"];
    for (result, name) in results.into_iter().zip(names) {
        let missing = result.unwrap_err();
        assert!(matches!(missing, CallError::Missing { .. }), "{missing}");
        assert!(missing.to_string().contains(name), "{missing}");
    }
}

/// Without it, a library would hide functions that every driver of its version has from programs
/// that ask for them by name, or give an older form that takes other arguments.
#[test]
fn a_library_gives_what_its_version_has() {
    fn exported(id: cupola_sys::SymbolId) -> *const c_void {
        std::ptr::without_provenance(usize::from(id.0) + 1)
    }
    let find = |machine: &Machine, name: &CStr, version: c_int| {
        let d = machine.driver();
        let mut found = std::ptr::null_mut();
        let mut status = CUdriverProcAddressQueryResult(9);
        let (place, answer) = (&raw mut found, &raw mut status);
        // SAFETY: the places outlive the call.
        let result = unsafe { d.cuGetProcAddress_v2(name.as_ptr(), place, version, 0, answer) };
        assert_eq!(code(result), CUresult::CUDA_SUCCESS);
        (found.cast_const(), status.0)
    };
    let null = std::ptr::null();
    let library = || Machine::builder().exports(exported);
    let all = library().build();
    // Not built, and there since CUDA 10.
    let node = exported(id::cuExternalMemoryGetMappedMipmappedArray);
    assert!(
        !all.driver()
            .has(id::cuExternalMemoryGetMappedMipmappedArray)
    );
    assert_eq!(
        find(&all, c"cuExternalMemoryGetMappedMipmappedArray", 10_000),
        (node, 0)
    );
    assert_eq!(
        find(&all, c"cuExternalMemoryGetMappedMipmappedArray", 9_000),
        (null, 2)
    );
    let first = exported(id::cuMemAlloc);
    assert_eq!(find(&all, c"cuMemAlloc", 2_000), (first, 0));
    // Newer than the driver, or taken away: that is not there at all.
    let old = library().driver_version(Version::new(12, 2)).build();
    assert_eq!(find(&old, c"cuFuncGetParamInfo", 13_000), (null, 1));
    assert_eq!(
        find(&old, c"cuExternalMemoryGetMappedMipmappedArray", 13_000),
        (node, 0)
    );
    let without = library()
        .without(id::cuExternalMemoryGetMappedMipmappedArray)
        .build();
    assert_eq!(
        find(&without, c"cuExternalMemoryGetMappedMipmappedArray", 13_000),
        (null, 1)
    );
    let hidden = library().hide_unsupported(true).build();
    assert_eq!(
        find(&hidden, c"cuExternalMemoryGetMappedMipmappedArray", 13_000),
        (null, 1)
    );
    let alloc = exported(id::cuMemAlloc_v2);
    assert_eq!(find(&hidden, c"cuMemAlloc", 13_000), (alloc, 0));
}

/// Without it, programs that load the first forms by name would stop at the first of them.
#[test]
fn the_first_forms_of_functions_work() {
    let machine = Machine::builder().build();
    let d = machine.driver();
    let (mut context, mut popped) = (std::ptr::null_mut(), std::ptr::null_mut());
    let (mut stream, mut event) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuInit(0).unwrap();
        d.cuCtxCreate(&raw mut context, 0, 0).unwrap();
        d.cuStreamCreate(&raw mut stream, 0).unwrap();
        d.cuEventCreate(&raw mut event, 0).unwrap();
        d.cuEventDestroy(event).unwrap();
        d.cuStreamDestroy(stream).unwrap();
        d.cuCtxPopCurrent(&raw mut popped).unwrap();
        assert_eq!(popped, context);
        d.cuCtxPushCurrent(context).unwrap();
        d.cuCtxDestroy(context).unwrap();
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, a device could become another one when others are hidden, or a list that a driver
/// refuses pass.
#[test]
fn visible_devices_keep_what_they_are() {
    let devices = |list: &str| {
        let builder = Machine::builder().devices(0);
        let one = |name| DeviceConfig::new().name(name);
        let builder = builder.add_device(one("a")).add_device(one("b"));
        builder
            .without_peer_access(1, 0)
            .visible_devices(list)
            .build()
    };
    let seen = |machine: &Machine| {
        let d = machine.driver();
        let mut count = 0;
        // SAFETY: the places outlive the calls.
        unsafe {
            d.cuInit(0).unwrap();
            d.cuDeviceGetCount(&raw mut count).unwrap();
            let one = |device| {
                let mut uuid = CUuuid { bytes: [0; 16] };
                let (mut name, mut bus) = ([0u8; 8], [0u8; 16]);
                d.cuDeviceGetUuid_v2(&raw mut uuid, device).unwrap();
                d.cuDeviceGetName(name.as_mut_ptr().cast(), 8, device)
                    .unwrap();
                d.cuDeviceGetPCIBusId(bus.as_mut_ptr().cast(), 16, device)
                    .unwrap();
                (uuid.bytes, name, bus)
            };
            (0..count).map(one).collect::<Vec<_>>()
        }
    };
    let all = seen(&devices("0,1"));
    assert_eq!(seen(&devices("1")), [all[1]]);
    let turned = devices("1,0");
    assert_eq!(seen(&turned), [all[1], all[0]]);
    let reaches = |device, peer| {
        let mut can = 9;
        // SAFETY: the place outlives the call.
        unsafe {
            turned
                .driver()
                .cuDeviceCanAccessPeer(&raw mut can, device, peer)
        }
        .unwrap();
        can
    };
    assert_eq!((reaches(0, 1), reaches(1, 0)), (0, 1));
    for (list, wanted) in [
        ("", CUresult::CUDA_ERROR_NO_DEVICE),
        ("2,0", CUresult::CUDA_ERROR_NO_DEVICE),
        ("0,1,0", CUresult::CUDA_ERROR_INVALID_DEVICE),
    ] {
        // SAFETY: no pointers.
        let begun = unsafe { devices(list).driver().cuInit(0) };
        assert_eq!(code(begun), wanted, "{list:?}");
    }
}

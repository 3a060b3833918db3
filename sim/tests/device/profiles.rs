//! Profiles: devices that are not a GPU with memory of its own behind a bus.

use std::ffi::{CStr, c_void};
use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, Profile};
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code, started, without_hanging};

const OK: Code = CUresult::CUDA_SUCCESS;
const NOT_READY: Code = CUresult::CUDA_ERROR_NOT_READY;
const NOT_SUPPORTED: Code = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const ALL: [Profile; 4] = [
    Profile::Discrete,
    Profile::Confidential,
    Profile::Integrated,
    Profile::Mig,
];

fn bench(profile: Profile) -> TestBench {
    TestBench::with(Machine::builder().profile(profile))
}

fn attribute(bench: &TestBench, attribute: CUdevice_attribute) -> i32 {
    let mut value = -7;
    // SAFETY: the place outlives the call.
    unsafe {
        bench
            .driver
            .cuDeviceGetAttribute(&raw mut value, attribute, 0)
    }
    .unwrap();
    value
}

/// Copies page-locked memory up and down in a stream that a function holds up, which another
/// thread ends after a while; what the stream says of itself when each copy's call has returned.
fn copies_behind_a_function(bench: &TestBench, opens: bool) -> [Code; 2] {
    let d = &bench.driver;
    let (stream, memory, host) = (
        bench.stream(NON_BLOCKING),
        bench.alloc(64),
        bench.pinned(64),
    );
    let mut said = [OK; 2];
    for (upload, said) in [true, false].into_iter().zip(&mut said) {
        let gate = Gate::new();
        gate.block(bench, stream);
        std::thread::scope(|scope| {
            if opens {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(20));
                    gate.open();
                });
            }
            let place = host.as_mut_ptr().cast::<c_void>();
            // SAFETY: live handles and memory, which outlives the stream's work.
            unsafe {
                match upload {
                    true => d.cuMemcpyHtoDAsync_v2(memory, place, 64, stream),
                    false => d.cuMemcpyDtoHAsync_v2(place, memory, 64, stream),
                }
            }
            .unwrap();
            *said = bench.query(stream);
            gate.open();
        });
        bench.wait(stream);
    }
    bench.destroy(&[stream]);
    bench.free(memory);
    bench.unpin(host);
    said
}

/// Without it, a program that counts on asynchronous copies would find out on a confidential GPU
/// alone that they block.
#[test]
fn confidential_copies_return_when_they_are_done() {
    without_hanging(|| {
        for profile in ALL {
            let bench = bench(profile);
            let is_confidential = profile == Profile::Confidential;
            let wanted = if is_confidential { OK } else { NOT_READY };
            let said = copies_behind_a_function(&bench, is_confidential);
            assert_eq!(said, [wanted; 2], "{profile:?}");
            bench.finish();
        }
    });
}

/// Without it, a blocking copy could end a capture that a GPU lets go on, or run.
#[test]
fn confidential_copies_are_captured() {
    let bench = bench(Profile::Confidential);
    let d = &bench.driver;
    let (stream, memory, host) = (bench.stream(NON_BLOCKING), bench.alloc(4), bench.pinned(4));
    host.copy_from_slice(&[1, 2, 3, 4]);
    bench.upload(memory, &[9; 4]);
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    let (mut graph, mut exec) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the places outlive the calls, the memory the graph's launch.
    unsafe {
        d.cuStreamBeginCapture_v2(stream, mode).unwrap();
        d.cuMemcpyHtoDAsync_v2(memory, host.as_ptr().cast(), 4, stream)
            .unwrap();
        d.cuStreamEndCapture(stream, &raw mut graph).unwrap();
        d.cuGraphInstantiateWithFlags(&raw mut exec, graph, 0)
            .unwrap();
        assert_eq!(bench.download(memory, 4), [9; 4], "nothing has run");
        d.cuGraphLaunch(exec, stream).unwrap();
        bench.wait(stream);
        d.cuGraphExecDestroy(exec).unwrap();
        d.cuGraphDestroy(graph).unwrap();
    }
    assert_eq!(bench.download(memory, 4), [1, 2, 3, 4]);
    bench.destroy(&[stream]);
    bench.free(memory);
    bench.unpin(host);
    bench.finish();
}

/// Without it, registration could work where it does not, or the attribute and the call differ.
#[test]
fn registration_is_refused_as_on_such_devices() {
    use CUdevice_attribute as A;
    let mut own = vec![0u8; 4096];
    let start = own.as_mut_ptr().cast::<c_void>();
    for (profile, wanted) in [
        (Profile::Discrete, OK),
        (Profile::Mig, OK),
        (Profile::Confidential, NOT_SUPPORTED),
        (
            Profile::Integrated,
            CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
        ),
    ] {
        let bench = bench(profile);
        for flags in [0, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_DEVICEMAP] {
            // SAFETY: the memory outlives its registration.
            let said = code(unsafe { bench.driver.cuMemHostRegister_v2(start, 4096, flags) });
            assert_eq!(said, wanted, "{profile:?}");
            if wanted == OK {
                // SAFETY: registered above.
                unsafe { bench.driver.cuMemHostUnregister(start) }.unwrap();
            }
        }
        let registers = attribute(&bench, A::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
        assert_eq!(registers, i32::from(wanted == OK), "{profile:?}");
        // The refusal is no fault: page-locked memory is there all the same.
        let memory = bench.pinned(64);
        bench.unpin(memory);
        bench.finish();
    }
}

/// Without it, a program could count on peers that such devices never have.
#[test]
fn only_discrete_devices_are_peers() {
    for profile in ALL {
        // The order of the calls makes no difference.
        let builder = Machine::builder().profile(profile).devices(2);
        let (_machine, driver) = started(builder);
        let (mut count, mut answer) = (0, -7);
        // SAFETY: the places outlive the calls.
        unsafe {
            driver.cuDeviceGetCount(&raw mut count).unwrap();
            // A process sees one instance of a GPU.
            assert_eq!(count, if profile == Profile::Mig { 1 } else { 2 });
            if count == 2 {
                driver.cuDeviceCanAccessPeer(&raw mut answer, 0, 1).unwrap();
                assert_eq!(answer, i32::from(profile == Profile::Discrete));
            }
        }
    }
}

/// Without it, memory of an integrated device could look as if it were apart from the host's.
#[test]
fn an_integrated_device_has_the_hosts_memory() {
    let bench = bench(Profile::Integrated);
    let free = || {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the places outlive the call.
        unsafe { bench.driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) }.unwrap();
        free
    };
    use CUdevice_attribute as A;
    assert_eq!(attribute(&bench, A::CU_DEVICE_ATTRIBUTE_INTEGRATED), 1);
    assert_eq!(
        attribute(&bench, A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
        1
    );
    let before = free();
    let memory = bench.pinned(1 << 20);
    assert_eq!(before - free(), 1 << 20);
    bench.unpin(memory);
    assert_eq!(free(), before);
    // The context takes along what the program leaves.
    let (_machine, driver, context) = (bench.machine.clone(), &bench.driver, bench.context);
    let _left = bench.pinned(4096);
    let mut other = std::ptr::null_mut();
    // SAFETY: the place outlives the call; the memory is not used any more.
    unsafe {
        driver.cuCtxDestroy_v2(context).unwrap();
        driver.cuCtxCreate_v2(&raw mut other, 0, 0).unwrap();
        assert_eq!(free(), before);
        driver.cuCtxDestroy_v2(other).unwrap();
    }
}

/// Without it, an instance could pass for the whole GPU, or be named in no list of devices.
#[test]
fn an_instance_is_a_part_of_a_gpu_with_a_name_of_its_own() {
    use CUdevice_attribute as A;
    let builder = Machine::builder().profile(Profile::Mig);
    let bench = TestBench::with(builder.device(DeviceConfig::new().multiprocessors(132)));
    let d = &bench.driver;
    // What is told stays.
    assert_eq!(
        attribute(&bench, A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        132
    );
    assert_eq!(
        attribute(&bench, A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
        1
    );
    let (mut name, mut total) = ([0; 64], 0usize);
    let memory = bench.alloc(64);
    let mut handle = CUipcMemHandle::default();
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuDeviceGetName(name.as_mut_ptr(), 64, 0).unwrap();
        let name = CStr::from_ptr(name.as_ptr());
        assert_eq!(name, c"cupola software device MIG 1g.2gb");
        d.cuDeviceTotalMem_v2(&raw mut total, 0).unwrap();
        let shared = code(d.cuIpcGetMemHandle(&raw mut handle, memory));
        assert_eq!(shared, NOT_SUPPORTED);
    }
    assert_eq!(total, 2 << 30);
    bench.free(memory);
    bench.finish();

    let uuid = |driver: &Driver| {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: the place outlives the call.
        unsafe { driver.cuDeviceGetUuid_v2(&raw mut uuid, 0) }.unwrap();
        let hex = uuid.bytes.iter();
        hex.map(|byte| format!("{:02x}", byte.cast_unsigned()))
            .collect::<String>()
    };
    let three = || Machine::builder().devices(3).profile(Profile::Mig);
    let (_machine, first) = started(three());
    let (_machine, third) = started(three().visible_devices("2,1"));
    let (first, third) = (uuid(&first), uuid(&third));
    assert_ne!(first, third);
    let (_machine, named) = started(three().visible_devices(&format!("MIG-{third}")));
    assert_eq!(uuid(&named), third);
    let machine = three().visible_devices(&format!("GPU-{third}")).build();
    // SAFETY: no pointers.
    let nothing = code(unsafe { machine.driver().cuInit(0) });
    assert_eq!(nothing, CUresult::CUDA_ERROR_NO_DEVICE);
}

//! Launches that are refused and kernels that end before their time.

use std::ffi::c_void;

use cupola_sim::FindingKind as Kind;

use crate::client::{expect, expect_kernel, found};

const NULL: cupola_sys::driver::CUstream = std::ptr::null_mut();

// 27. Without it, a packed buffer that is too short would be a bare invalid value.
#[test]
fn a_parameter_buffer_is_too_short() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        let mut params = [out, 4];
        let mut size = if bug { 8usize } else { 16 };
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1),
            params.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2),
            (&raw mut size).cast(),
            std::ptr::null_mut(),
        ];
        let function = client.function("fill");
        // SAFETY: the list names a buffer of that size, and all of it outlives the call.
        let launched = unsafe {
            client.driver.cuLaunchKernel(
                function,
                1,
                1,
                1,
                64,
                1,
                1,
                0,
                NULL,
                std::ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        assert_eq!(launched.is_err(), bug);
        client.wait(NULL);
        client.free(out);
    });
    expect(&finding, Kind::InvalidLaunch, "cuLaunchKernel");
    assert!(finding.what.contains("kernel fill"), "{finding}");
}

// 28. Without it, a block of too many threads would be a bare invalid value.
#[test]
fn a_block_is_too_large() {
    let finding = found(|client, bug| {
        client.launch("meet", if bug { 1025 } else { 1024 }, NULL, &[1]);
        client.wait(NULL);
    });
    expect(&finding, Kind::InvalidLaunch, "cuLaunchKernel");
}

// 29. Without it, threads at different barriers would hang, as on a GPU.
#[test]
fn threads_wait_at_different_barriers() {
    let finding = found(|client, bug| {
        client.launch("meet", 64, NULL, &[u64::from(!bug)]);
        client.wait(NULL);
    });
    expect(&finding, Kind::Deadlock, "cuLaunchKernel");
    let kernel = finding.kernel.as_ref().unwrap();
    assert_eq!(kernel.kernel, "meet");
}

// 30. Without it, endless recursion would be a bare error.
#[test]
fn a_function_calls_itself_without_end() {
    let finding = found(|client, bug| {
        client.launch("recurse", 1, NULL, &[if bug { u64::MAX } else { 9 }]);
        client.wait(NULL);
    });
    expect(&finding, Kind::StackOverflow, "cuLaunchKernel");
    expect_kernel(&finding, "recurse", "deeper's call", 0);
    assert_eq!(finding.kernel.unwrap().function, "deeper");
}

// 31. Without it, a kernel's own check would be a bare launch failure.
#[test]
fn a_kernel_stops_itself() {
    let finding = found(|client, bug| {
        client.launch("stop", 8, NULL, &[if bug { 5 } else { 8 }]);
        client.wait(NULL);
    });
    expect(&finding, Kind::Trap, "cuLaunchKernel");
    expect_kernel(&finding, "stop", "stop's trap", 5);
}

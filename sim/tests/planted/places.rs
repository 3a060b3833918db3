//! Memory that is not plain device memory: registered, managed, of pools, and mapped.

use cupola_sim::{FindingKind as Kind, Memory};
use cupola_sys::driver::*;

use crate::client::{Client, expect, expect_kernel, expect_memory, found};

const NULL: CUstream = std::ptr::null_mut();

fn register(client: &Client, memory: &mut [u32; 64], flags: u32) -> u64 {
    let start = memory.as_mut_ptr();
    // SAFETY: the memory outlives its registration.
    unsafe {
        client
            .driver
            .cuMemHostRegister_v2(start.cast(), 256, flags)
            .unwrap();
    }
    start.expose_provenance() as u64
}

fn unregister(client: &Client, memory: &mut [u32; 64]) {
    // A broken context says so.
    // SAFETY: nothing uses the memory any more.
    let _ = unsafe {
        client
            .driver
            .cuMemHostUnregister(memory.as_mut_ptr().cast())
    };
}

// 42. Without it, a kernel that writes memory which is registered for reading alone would
// kill the process where the host means it.
#[test]
fn a_kernel_writes_memory_registered_for_reading() {
    let finding = found(|client, bug| {
        let mut memory = [0u32; 64];
        let flags = if bug { CU_MEMHOSTREGISTER_READ_ONLY } else { 0 };
        let at = register(client, &mut memory, flags);
        client.launch("fill", 64, NULL, &[at, 4]);
        client.wait(NULL);
        unregister(client, &mut memory);
    });
    expect(&finding, Kind::ReadOnlyWrite, "cuLaunchKernel");
    expect_memory(&finding, 256, "cuMemHostRegister_v2", None);
    expect_kernel(&finding, "fill", "fill's store", 0);
}

// 43. Without it, the same by a memset or a copy would do what no device can.
#[test]
fn a_memset_and_a_copy_write_memory_registered_for_reading() {
    for copy in [false, true] {
        let finding = found(|client, bug| {
            let mut memory = [0u32; 64];
            let flags = if bug { CU_MEMHOSTREGISTER_READ_ONLY } else { 0 };
            let at = register(client, &mut memory, flags);
            let from = client.alloc(256);
            if copy {
                let to = memory.as_mut_ptr().cast();
                // SAFETY: both have as many bytes, until the wait is over.
                let _ = unsafe { client.driver.cuMemcpyDtoHAsync_v2(to, from, 256, NULL) };
            } else {
                client.fill(at, 256, NULL);
            }
            client.wait(NULL);
            assert_eq!(
                memory,
                if copy || bug {
                    [0; 64]
                } else {
                    [0x0101_0101; 64]
                }
            );
            unregister(client, &mut memory);
            client.free(from);
        });
        let function = if copy {
            "cuMemcpyDtoHAsync_v2"
        } else {
            "cuMemsetD8Async"
        };
        expect(&finding, Kind::ReadOnlyWrite, function);
        expect_memory(&finding, 256, "cuMemHostRegister_v2", None);
    }
}

// 44. Without it, an access beyond managed memory would be told of as if a device had it, or
// one far away in the program's own memory as a miss of it.
#[test]
fn a_kernel_leaves_managed_memory() {
    let finding = found(|client, bug| {
        let mut at = 0;
        // SAFETY: the place outlives the call.
        unsafe { client.driver.cuMemAllocManaged(&raw mut at, 256, 1) }.unwrap();
        client.launch("fill", if bug { 65 } else { 64 }, NULL, &[at, 4]);
        client.wait(NULL);
        client.free(at);
    });
    expect(&finding, Kind::OutOfBounds, "cuLaunchKernel");
    expect_memory(&finding, 256, "cuMemAllocManaged", None);
    expect_kernel(&finding, "fill", "fill's store", 64);
    assert_eq!(finding.allocation.unwrap().memory, Memory::Managed);
}

//! Physical memory, and addresses that it is mapped at.

use cupola_sim::FindingKind as Kind;
use cupola_sys::driver::*;

use crate::client::{Client, expect, expect_memory, found};

/// What physical memory is made of.
const GRANULE: usize = 2 << 20;

/// Physical memory of one granule, mapped at addresses of its own.
fn map(client: &Client) -> (u64, u64) {
    let (driver, mut at, mut handle) = (&client.driver, 0, 0);
    let location = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        __bindgen_anon_1: CUmemLocation_st__bindgen_ty_1 { id: 0 },
    };
    let properties = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location,
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: CUmemAllocationProp_st__bindgen_ty_1::default(),
    };
    let access = CUmemAccessDesc {
        location,
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    // SAFETY: the places outlive the calls.
    unsafe {
        driver
            .cuMemAddressReserve(&raw mut at, GRANULE, 0, 0, 0)
            .unwrap();
        driver
            .cuMemCreate(&raw mut handle, GRANULE, &raw const properties, 0)
            .unwrap();
        driver.cuMemMap(at, GRANULE, 0, handle, 0).unwrap();
        driver
            .cuMemSetAccess(at, GRANULE, &raw const access, 1)
            .unwrap();
    }
    (at, handle)
}

// 45. Without it, memory could be unmapped under a kernel that the program has not waited for:
// the kernel may find nothing there.
#[test]
fn memory_is_unmapped_under_a_kernel() {
    let finding = found(|client, bug| {
        let (stream, (at, handle)) = (client.stream(), map(client));
        let over = client.pinned(4).cast::<u8>();
        // SAFETY: one byte of the memory.
        unsafe { over.write_volatile(0) };
        client.launch("fill", 64, stream, &[at, 4]);
        client.fill(over.expose_provenance() as u64, 1, stream);
        if bug {
            // The kernel is over, but nothing says that the program knows.
            // SAFETY: the memory is there until `unpin`.
            while unsafe { over.read_volatile() } != 1 {
                std::thread::yield_now();
            }
        } else {
            client.wait(stream);
        }
        // SAFETY: no pointers; nothing uses the page-locked memory after the wait.
        unsafe {
            client.driver.cuMemUnmap(at, GRANULE).unwrap();
            client.driver.cuMemAddressFree(at, GRANULE).unwrap();
            client.driver.cuMemRelease(handle).unwrap();
            client.wait(stream);
            client.unpin(over.cast());
        }
        client.destroy(stream);
    });
    expect(&finding, Kind::FreeInUse, "cuMemUnmap");
    expect_memory(&finding, GRANULE as u64, "cuMemMap", None);
    assert_eq!(finding.other.unwrap().function, "cuLaunchKernel");
}

// 48. Without it, physical memory that no address leads to any more would not be
// reported.
#[test]
fn physical_memory_is_not_released() {
    let finding = found(|client, bug| {
        let (at, handle) = map(client);
        // SAFETY: no pointers.
        unsafe {
            client.driver.cuMemUnmap(at, GRANULE).unwrap();
            client.driver.cuMemAddressFree(at, GRANULE).unwrap();
            if !bug {
                client.driver.cuMemRelease(handle).unwrap();
            }
        }
    });
    assert_eq!(finding.kind, Kind::Leak);
    assert_eq!(finding.other.unwrap().function, "cuMemCreate");
}

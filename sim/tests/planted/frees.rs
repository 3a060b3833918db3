//! Frees of what cannot be freed.

use cupola_sim::FindingKind as Kind;

use crate::client::{expect, expect_memory, found};

// 13. Without it, a second free would be a bare invalid value.
#[test]
fn memory_is_freed_twice() {
    let finding = found(|client, bug| {
        let at = client.alloc(64);
        client.free(at);
        if bug {
            client.free(at);
        }
    });
    expect(&finding, Kind::DoubleFree, "cuMemFree_v2");
    expect_memory(&finding, 64, "cuMemAlloc_v2", Some("cuMemFree_v2"));
}

// 14. Without it, a second free while the first is still queued would be found only if
// the stream was quick.
#[test]
fn memory_is_freed_twice_in_stream_order() {
    let finding = found(|client, bug| {
        let stream = client.stream();
        let at = client.alloc_async(64, stream);
        client.free_async(at, stream);
        if bug {
            client.free_async(at, stream);
        }
        client.wait(stream);
        client.destroy(stream);
    });
    expect(&finding, Kind::DoubleFree, "cuMemFreeAsync");
    assert_eq!(finding.allocation.as_ref().unwrap().size, 64);
}

// 15. Without it, a free of a pointer that was moved on would not say by how much.
#[test]
fn a_pointer_into_the_middle_is_freed() {
    let finding = found(|client, bug| {
        let at = client.alloc(64);
        if bug {
            client.free(at + 16);
        }
        client.free(at);
    });
    expect(&finding, Kind::InvalidFree, "cuMemFree_v2");
    expect_memory(&finding, 64, "cuMemAlloc_v2", None);
    assert!(
        finding.what.contains("16 bytes after the start"),
        "{finding}"
    );
}

// 16. Without it, a free with the function of another kind of memory would be a bare
// invalid value.
#[test]
fn page_locked_memory_is_freed_as_device_memory() {
    let finding = found(|client, bug| {
        let memory = client.pinned(4096);
        if bug {
            client.free(memory.expose_provenance() as u64);
        }
        // SAFETY: from `pinned`, and not used.
        unsafe { client.unpin(memory) };
    });
    expect(&finding, Kind::InvalidFree, "cuMemFree_v2");
    expect_memory(&finding, 4096, "cuMemHostAlloc", None);
    assert!(finding.what.contains("for cuMemFreeHost"), "{finding}");
}

// 17. Without it, registered memory that is freed as if the driver had allocated it would
// be a bare invalid value.
#[test]
fn registered_memory_is_freed() {
    let finding = found(|client, bug| {
        let mut bytes = [0u8; 64];
        let memory = bytes.as_mut_ptr().cast();
        // SAFETY: the bytes outlive the registration.
        unsafe {
            client.driver.cuMemHostRegister_v2(memory, 64, 0).unwrap();
            if bug {
                client.unpin(memory);
            }
            client.driver.cuMemHostUnregister(memory).unwrap();
        }
    });
    expect(&finding, Kind::InvalidFree, "cuMemFreeHost");
    expect_memory(&finding, 64, "cuMemHostRegister_v2", None);
}

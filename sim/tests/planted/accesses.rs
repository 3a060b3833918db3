//! Accesses that miss.

use cupola_sim::FindingKind as Kind;

use crate::client::{expect, expect_kernel, expect_memory, found};

const NULL: cupola_sys::driver::CUstream = std::ptr::null_mut();

// 1. Without it, a kernel that writes one element too many would go unseen, as on a GPU,
// where the allocation's granularity hides it.
#[test]
fn a_kernel_writes_one_past_the_end() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        client.launch("fill", if bug { 65 } else { 64 }, NULL, &[out, 4]);
        client.wait(NULL);
        client.free(out);
    });
    expect(&finding, Kind::OutOfBounds, "cuLaunchKernel");
    expect_kernel(&finding, "fill", "fill's store", 64);
    expect_memory(&finding, 256, "cuMemAlloc_v2", None);
    // The whole text, which reports and their readers rely on.
    let base = finding.allocation.as_ref().unwrap().base;
    assert_eq!(
        finding.to_string(),
        format!(
            "out-of-bounds: kernel fill (function fill, PTX line 18), block (0,0,0), thread \
             (64,0,0): write of 4 bytes at 0x{:x}: 0 bytes past the end [256 bytes of device \
             memory at 0x{base:x}, allocated by cuMemAlloc_v2 (call 5)]; in cuLaunchKernel \
             (call 7, stream 2)",
            base + 256
        )
    );
}

// 2. Without it, a stride in the wrong unit would be a bare illegal address.
#[test]
fn a_kernel_reads_far_past_the_end() {
    let finding = found(|client, bug| {
        let (to, from) = (client.alloc(128), client.alloc(128));
        let far = from + if bug { 100_000 } else { 0 };
        client.launch("copy", 32, NULL, &[to, far]);
        client.wait(NULL);
        client.free(to);
        client.free(from);
    });
    expect(&finding, Kind::OutOfBounds, "cuLaunchKernel");
    expect_kernel(&finding, "copy", "copy's load", 0);
    expect_memory(&finding, 128, "cuMemAlloc_v2", None);
    assert!(
        finding.what.contains("99872 bytes past the end"),
        "{finding}"
    );
}

// 3. Without it, a copy of too many bytes would be a bare invalid value.
#[test]
fn a_copy_is_longer_than_the_memory() {
    let finding = found(|client, bug| {
        let to = client.alloc(100);
        client.upload(to, &[1; 108][..if bug { 108 } else { 100 }]);
        client.free(to);
    });
    expect(&finding, Kind::OutOfBounds, "cuMemcpyHtoD_v2");
    expect_memory(&finding, 100, "cuMemAlloc_v2", None);
    assert!(
        finding.what.contains("it ends 8 bytes past the end"),
        "{finding}"
    );
}

// 4. Without it, a memset that starts before the memory would name no allocation.
#[test]
fn a_memset_starts_too_early() {
    let finding = found(|client, bug| {
        let at = client.alloc(64);
        client.fill(at - if bug { 8 } else { 0 }, 16, NULL);
        client.wait(NULL);
        client.free(at);
    });
    expect(&finding, Kind::OutOfBounds, "cuMemsetD8Async");
    expect_memory(&finding, 64, "cuMemAlloc_v2", None);
    assert!(
        finding.what.contains("8 bytes before the start"),
        "{finding}"
    );
}

// 5. Without it, the variable that a copy overruns would have no name.
#[test]
fn a_copy_overruns_a_constant() {
    let finding = found(|client, bug| {
        let (at, size) = client.global("table");
        client.upload(at, &vec![3; size + usize::from(bug)]);
    });
    expect(&finding, Kind::OutOfBounds, "cuMemcpyHtoD_v2");
    expect_memory(&finding, 16, "cuModuleLoadData", None);
    let name = finding.allocation.as_ref().unwrap().name.as_deref();
    assert_eq!(name, Some("table"));
}

// 6. Without it, a kernel that uses freed memory would be a bare illegal address.
#[test]
fn a_kernel_uses_freed_memory() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        if bug {
            client.free(out);
        }
        client.launch("fill", 64, NULL, &[out, 4]);
        client.wait(NULL);
        if !bug {
            client.free(out);
        }
    });
    expect(&finding, Kind::UseAfterFree, "cuLaunchKernel");
    expect_kernel(&finding, "fill", "fill's store", 0);
    expect_memory(&finding, 256, "cuMemAlloc_v2", Some("cuMemFree_v2"));
}

// 7. Without it, a copy into memory freed in stream order would not say who freed it.
#[test]
fn a_memset_uses_memory_freed_in_its_stream() {
    let finding = found(|client, bug| {
        let stream = client.stream();
        let at = client.alloc_async(64, stream);
        if bug {
            client.free_async(at, stream);
        }
        client.fill(at, 64, stream);
        if !bug {
            client.free_async(at, stream);
        }
        client.wait(stream);
        client.destroy(stream);
    });
    expect(&finding, Kind::UseAfterFree, "cuMemsetD8Async");
    expect_memory(&finding, 64, "cuMemAllocAsync", Some("cuMemFreeAsync"));
}

// 8. Without it, host memory that a kernel cannot reach would look like any wild pointer.
#[test]
fn a_kernel_gets_memory_that_is_not_page_locked() {
    let finding = found(|client, bug| {
        let mut words = [0u32; 32];
        let memory = words.as_mut_ptr();
        // SAFETY: the words outlive the registration.
        unsafe {
            if !bug {
                client
                    .driver
                    .cuMemHostRegister_v2(memory.cast(), 128, 0)
                    .unwrap();
            }
            let at = memory.expose_provenance() as u64;
            client.launch("count", 1, NULL, &[at]);
            client.wait(NULL);
            if !bug {
                client.driver.cuMemHostUnregister(memory.cast()).unwrap();
            }
        }
    });
    expect(&finding, Kind::UnmappedAccess, "cuLaunchKernel");
    expect_kernel(&finding, "count", "count's atomic", 0);
    assert!(
        finding.what.contains("no host memory that is page-locked"),
        "{finding}"
    );
}

// 9. Without it, a null pointer would look like any wild pointer.
#[test]
fn a_kernel_gets_a_null_pointer() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        let given = if bug { 0 } else { out };
        client.launch("fill", 64, NULL, &[given, 4]);
        client.wait(NULL);
        client.free(out);
    });
    expect(&finding, Kind::UnmappedAccess, "cuLaunchKernel");
    expect_kernel(&finding, "fill", "fill's store", 0);
    assert!(finding.what.contains("a null pointer"), "{finding}");
}

// 10. Without it, a write to constant memory would not say which variable it is.
#[test]
fn a_kernel_writes_constant_memory() {
    let finding = found(|client, bug| {
        let (at, _) = client.global(if bug { "table" } else { "total" });
        client.launch("poke", 1, NULL, &[at]);
        client.wait(NULL);
    });
    expect(&finding, Kind::ReadOnlyWrite, "cuLaunchKernel");
    expect_kernel(&finding, "poke", "poke's store", 0);
    let name = finding.allocation.as_ref().unwrap().name.as_deref();
    assert_eq!(name, Some("table"));
}

// 11. Without it, a misaligned access would not say whose.
#[test]
fn a_kernel_access_is_misaligned() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        client.launch("fill", 2, NULL, &[out, if bug { 6 } else { 8 }]);
        client.wait(NULL);
        client.free(out);
    });
    expect(&finding, Kind::MisalignedAccess, "cuLaunchKernel");
    expect_kernel(&finding, "fill", "fill's store", 1);
}

// 12. Without it, an overrun of shared memory would not say how much there is.
#[test]
fn a_kernel_leaves_shared_memory() {
    let finding = found(|client, bug| {
        client.launch("stage", 32, NULL, &[if bug { 512 } else { 0 }]);
        client.wait(NULL);
    });
    expect(&finding, Kind::OutOfBounds, "cuLaunchKernel");
    expect_kernel(&finding, "stage", "stage's store", 0);
    assert!(finding.what.contains("byte 512 of 128 bytes"), "{finding}");
}

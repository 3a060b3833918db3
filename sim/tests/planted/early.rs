//! Things that go while work which uses them may still run. The work is over long before,
//! as a rule: what counts is whether the program has waited for it.

use cupola_sim::{FindingKind as Kind, Strict};

use crate::client::{expect, expect_memory, found, found_if};

// 18. Without it, `cuMemFree` of memory that a kernel was given would pass, because the
// driver happens to wait.
#[test]
fn memory_is_freed_under_a_kernel() {
    let finding = found(|client, bug| {
        let stream = client.stream();
        let out = client.alloc(256);
        client.launch("fill", 64, stream, &[out, 4]);
        if !bug {
            client.wait(stream);
        }
        client.free(out);
        client.wait(stream);
        client.destroy(stream);
    });
    expect(&finding, Kind::FreeInUse, "cuMemFree_v2");
    expect_memory(&finding, 256, "cuMemAlloc_v2", None);
    assert_eq!(finding.other.unwrap().function, "cuLaunchKernel");
}

// 19. Without it, a stream-ordered free that does not wait for another stream's use would
// be found only when it loses the race.
#[test]
fn memory_is_freed_in_a_stream_that_does_not_wait_for_its_user() {
    let finding = found(|client, bug| {
        let (user, other) = (client.stream(), client.stream());
        let at = client.alloc_async(64, user);
        client.fill(at, 64, user);
        if !bug {
            client.order(user, other);
        }
        client.free_async(at, other);
        client.wait(user);
        client.wait(other);
        client.destroy(user);
        client.destroy(other);
    });
    expect(&finding, Kind::FreeInUse, "cuMemFreeAsync");
    expect_memory(&finding, 64, "cuMemAllocAsync", None);
    assert_eq!(finding.other.unwrap().function, "cuMemsetD8Async");
}

// 20. Without it, page-locked memory could go under an asynchronous copy.
#[test]
fn page_locked_memory_is_freed_under_a_copy() {
    let finding = found(|client, bug| {
        let stream = client.stream();
        let (to, from) = (client.alloc(4096), client.pinned(4096));
        // SAFETY: the copy is over when the memory is freed: the driver waits.
        unsafe {
            client
                .driver
                .cuMemcpyHtoDAsync_v2(to, from, 4096, stream)
                .unwrap();
            if !bug {
                client.wait(stream);
            }
            client.unpin(from);
        }
        client.wait(stream);
        client.free(to);
        client.destroy(stream);
    });
    expect(&finding, Kind::FreeInUse, "cuMemFreeHost");
    expect_memory(&finding, 4096, "cuMemHostAlloc", None);
    assert_eq!(finding.other.unwrap().function, "cuMemcpyHtoDAsync_v2");
}

// 21. Without it, a module could be unloaded under its kernel.
#[test]
fn a_module_is_unloaded_under_its_kernel() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        client.launch("fill", 64, std::ptr::null_mut(), &[out, 4]);
        if !bug {
            client.wait(std::ptr::null_mut());
        }
        // SAFETY: no pointers.
        unsafe { client.driver.cuModuleUnload(client.module) }.unwrap();
        client.wait(std::ptr::null_mut());
        client.free(out);
    });
    expect(&finding, Kind::FreeInUse, "cuModuleUnload");
    assert_eq!(finding.other.unwrap().function, "cuLaunchKernel");
}

// Without it, a library could be unloaded under its kernel.
#[test]
fn a_library_is_unloaded_under_its_kernel() {
    let finding = found(|client, bug| {
        let out = client.alloc(256);
        let (library, function) = client.library_function("fill");
        let _ = client.launch_function(function, 64, std::ptr::null_mut(), &[out, 4]);
        if !bug {
            client.wait(std::ptr::null_mut());
        }
        // SAFETY: no pointers.
        unsafe { client.driver.cuLibraryUnload(library) }.unwrap();
        client.wait(std::ptr::null_mut());
        client.free(out);
    });
    expect(&finding, Kind::FreeInUse, "cuLibraryUnload");
    assert_eq!(finding.other.unwrap().function, "cuLaunchKernel");
}

// 22. Without it, a program could not ask for reports of what the driver allows: an event
// that goes before its record is reached.
#[test]
fn an_event_is_destroyed_before_its_work() {
    let finding = found_if(Strict::PENDING_DESTROY, |client, bug| {
        let at = client.alloc(64);
        let event = client.event();
        client.fill(at, 64, std::ptr::null_mut());
        // SAFETY: no pointers.
        unsafe {
            let driver = &client.driver;
            driver.cuEventRecord(event, std::ptr::null_mut()).unwrap();
            if !bug {
                driver.cuEventSynchronize(event).unwrap();
            }
            driver.cuEventDestroy_v2(event).unwrap();
        }
        client.wait(std::ptr::null_mut());
        client.free(at);
    });
    expect(&finding, Kind::DestroyInUse, "cuEventDestroy_v2");
}

// 46. Without it, memory that a queued wait looks at could be freed under it, which ends the
// wait with a fault.
#[test]
fn memory_is_freed_under_a_wait_for_a_value() {
    let finding = found(|client, bug| {
        let stream = client.stream();
        let flag = client.alloc(4);
        client.upload(flag, &[1, 0, 0, 0]);
        // SAFETY: no pointers.
        let waits = unsafe { client.driver.cuStreamWaitValue32_v2(stream, flag, 1, 0) };
        waits.unwrap();
        if !bug {
            client.wait(stream);
        }
        client.free(flag);
        client.wait(stream);
        client.destroy(stream);
    });
    expect(&finding, Kind::FreeInUse, "cuMemFree_v2");
    expect_memory(&finding, 4, "cuMemAlloc_v2", None);
    assert_eq!(finding.other.unwrap().function, "cuStreamWaitValue32_v2");
}

// 47. Without it, a stream that waits for its user by a value alone, in whatever order they
// are queued and on whatever way it is told, would be reported; or, once any program has
// used values, a stream that waits for no other would not be.
#[test]
fn values_order_streams() {
    for first in [false, true] {
        let finding = found(|client, bug| {
            let (user, other, third) = (client.stream(), client.stream(), client.stream());
            let (at, flag) = (client.alloc_async(256, user), client.alloc(4));
            client.upload(flag, &[0; 4]);
            client.wait(user);
            let frees = || {
                // SAFETY: no pointers.
                let waits = unsafe { client.driver.cuStreamWaitValue32_v2(other, flag, 1, 0) };
                waits.unwrap();
                // What the wait knows goes on by an event.
                client.order(other, third);
                client.free_async(at, third);
            };
            let uses = || {
                client.launch("fill", 64, user, &[at, 4]);
                // SAFETY: no pointers.
                unsafe { client.driver.cuStreamWriteValue32_v2(user, flag, 1, 0) }.unwrap();
            };
            if first {
                frees();
                uses();
            } else {
                uses();
                frees();
            }
            for stream in [user, other, third] {
                client.wait(stream);
            }
            client.free(flag);
            // The streams are not ordered any more.
            let at = client.alloc_async(64, user);
            client.fill(at, 64, user);
            if !bug {
                client.order(user, other);
            }
            client.free_async(at, other);
            for stream in [user, other, third] {
                client.wait(stream);
                client.destroy(stream);
            }
        });
        expect(&finding, Kind::FreeInUse, "cuMemFreeAsync");
        expect_memory(&finding, 64, "cuMemAllocAsync", None);
    }
}

//! What only the slow checks find.

use cupola_sim::{FindingKind as Kind, Strict};

use crate::client::{expect, expect_kernel, expect_memory, found_if, line_of};

const NULL: cupola_sys::driver::CUstream = std::ptr::null_mut();

// 36. Without it, a kernel that reads what was never written would see zeros here, and
// anything on a GPU.
#[test]
fn a_kernel_reads_memory_that_nobody_has_written() {
    let finding = found_if(Strict::UNINITIALISED, |client, bug| {
        let (to, from) = (client.alloc(128), client.alloc(128));
        client.upload(from, &[1; 128][..if bug { 120 } else { 128 }]);
        client.launch("copy", 32, NULL, &[to, from]);
        client.wait(NULL);
        client.free(to);
        client.free(from);
    });
    expect(&finding, Kind::UninitialisedRead, "cuLaunchKernel");
    expect_kernel(&finding, "copy", "copy's load", 30);
    expect_memory(&finding, 128, "cuMemAlloc_v2", None);
}

// 37. Without it, memory would count as written once anything has been copied there, or
// only when the host writes it: it is as written as what was copied, and kernels write too.
#[test]
fn a_kernel_reads_a_copy_of_memory_that_nobody_has_written() {
    let finding = found_if(Strict::UNINITIALISED, |client, bug| {
        let (first, second, third) = (client.alloc(128), client.alloc(128), client.alloc(128));
        // Every second word.
        let stride = if bug { 8 } else { 4 };
        let threads = if bug { 16 } else { 32 };
        client.launch("fill", threads, NULL, &[first, stride]);
        // SAFETY: both ends are device memory.
        unsafe { client.driver.cuMemcpyDtoD_v2(second, first, 128) }.unwrap();
        client.launch("copy", 32, NULL, &[third, second]);
        client.wait(NULL);
        for memory in [first, second, third] {
            client.free(memory);
        }
    });
    expect(&finding, Kind::UninitialisedRead, "cuLaunchKernel");
    expect_kernel(&finding, "copy", "copy's load", 1);
}

// 38. Without it, a read of shared memory that the block has not written would see the
// pattern that it is filled with.
#[test]
fn a_kernel_reads_shared_memory_that_nobody_has_written() {
    let finding = found_if(Strict::UNINITIALISED, |client, bug| {
        let out = client.alloc(128);
        client.launch("gather", 32, NULL, &[out, if bug { 31 } else { 32 }]);
        client.wait(NULL);
        client.free(out);
    });
    expect(&finding, Kind::UninitialisedRead, "cuLaunchKernel");
    expect_kernel(&finding, "gather", "gather's load", 31);
    assert!(
        finding.what.contains("has not written byte 124"),
        "{finding}"
    );
}

// 39. Without it, a missing barrier would be found only when the warps run in the wrong
// order.
#[test]
fn a_barrier_is_missing_between_a_write_and_a_read() {
    let finding = found_if(Strict::SHARED_RACES, |client, bug| {
        let out = client.alloc(256);
        client.launch("exchange", 64, NULL, &[out, u64::from(!bug)]);
        client.wait(NULL);
        client.free(out);
    });
    expect(&finding, Kind::SharedMemoryRace, "cuLaunchKernel");
    // Which of the two comes second is the schedule's.
    let (kernel, against) = (finding.kernel.unwrap(), finding.against.unwrap());
    let mut lines = [kernel.line, against.line];
    lines.sort_unstable();
    let expected = [line_of("exchange's store"), line_of("exchange's load")];
    assert_eq!((kernel.kernel.as_str(), lines), ("exchange", expected));
    // Each thread reads what the one 32 away writes.
    assert_eq!(kernel.thread[0] ^ 32, against.thread[0]);
}

// 40. Without it, warps that write the same cell without an atomic would pass.
#[test]
fn two_warps_write_the_same_cell() {
    let finding = found_if(Strict::SHARED_RACES, |client, bug| {
        client.launch("tally", 64, NULL, &[u64::from(!bug)]);
        client.wait(NULL);
    });
    expect(&finding, Kind::SharedMemoryRace, "cuLaunchKernel");
    let line = line_of("tally's store");
    assert_eq!(finding.kernel.as_ref().unwrap().line, line);
    assert!(
        finding.what.contains(&format!("writes at PTX line {line}")),
        "{finding}"
    );
}

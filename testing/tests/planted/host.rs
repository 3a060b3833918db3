//! The host's own accesses of page-locked memory.

use cupola_managers::ops;
use cupola_testing::FindingKind as Kind;

use crate::client::found;

// Without it the host could look at page-locked memory while a copy writes it.
#[test]
fn the_host_reads_what_a_copy_writes() {
    let finding = found(|client, bug| {
        let block = client.words(64);
        let pinned = client.context.buffers().pinned::<u32>(64).unwrap();
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: as many bytes; the buffer does not know of the copy, which is the bug.
        unsafe {
            let to = pinned.as_ptr().cast();
            driver
                .cuMemcpyDtoHAsync_v2(to, block.as_raw(), 256, stream)
                .unwrap();
        }
        if !bug {
            ops::synchronize(&client.stream).unwrap();
        }
        drop(pinned.as_slice().unwrap().to_vec());
        client.wait();
    });
    assert_eq!(finding.kind, Kind::HostRace, "{finding}");
    let call = finding.call.unwrap().source.unwrap();
    assert!(call.contains("planted/host.rs:"), "{call}");
}

// Without it the host could change page-locked memory while a copy reads it.
#[test]
fn the_host_writes_what_a_copy_reads() {
    let finding = found(|client, bug| {
        let block = client.words(64);
        let mut pinned = client.context.buffers().pinned::<u32>(64).unwrap();
        let driver = client.driver();
        let stream = client.stream.as_raw();
        // SAFETY: as many bytes; the buffer does not know of the copy, which is the bug.
        unsafe {
            let from = pinned.as_ptr().cast_const().cast();
            driver
                .cuMemcpyHtoDAsync_v2(block.as_raw(), from, 256, stream)
                .unwrap();
        }
        // A look is no change.
        drop(pinned.as_slice().unwrap().to_vec());
        if !bug {
            ops::synchronize(&client.stream).unwrap();
        }
        pinned.as_mut_slice().unwrap()[0] = 1;
        client.wait();
    });
    assert_eq!(finding.kind, Kind::HostRace, "{finding}");
}

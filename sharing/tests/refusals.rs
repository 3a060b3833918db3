//! What a driver, a limit or a device refuses, on the software device. What works is in the integration
//! suite (`tests/suite/memory/sharing.rs`), which runs on a GPU too.
#![cfg(target_os = "linux")]

use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{ImportCharge, VirtualMemory};
use cupola_managers::{Error, ExecutionManager};
use cupola_sharing::{SharingError, receive, send, wire};
use cupola_sim::Machine;
use cupola_sys::driver::id;

const MIB: u64 = 1 << 20;

fn memory(execution: &ExecutionManager, device: u32, limit: u64) -> VirtualMemory {
    let context = execution.devices().get(device).unwrap().primary().unwrap();
    context.virtual_memory(&DeviceLimit::new(limit)).unwrap()
}

// Without it memory of one device could be mapped as another's, and be read over the bus.
#[test]
fn memory_of_another_device_is_refused_and_released() {
    let machine = Machine::builder().devices(2).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let [zero, one] = [0, 1].map(|device| memory(&execution, device, 8 * MIB));
    let (ours, theirs) = UnixStream::pair().unwrap();
    let piece = zero.create_exportable(2 * MIB).unwrap();
    send(&ours, &piece).unwrap();
    let refused = receive(&theirs, &one, ImportCharge::ThisLimit).unwrap_err();
    let SharingError::Device { theirs: a, ours: b } = &refused else {
        panic!("{refused}");
    };
    assert_eq!(
        (*a, *b),
        (zero.device_uuid().unwrap(), one.device_uuid().unwrap())
    );
    assert_ne!(a, b);
    assert_eq!(one.limit().used(), 0);
    // The message was read to its end.
    send(&ours, &piece).unwrap();
    receive(&theirs, &zero, ImportCharge::ThisLimit).unwrap();
    drop((piece, zero, one, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it an importer could pass its limit by what others have made.
#[test]
fn a_full_limit_refuses_and_other_limits_are_not_asked() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let exporter = memory(&execution, 0, 8 * MIB);
    let importer = memory(&execution, 0, 4 * MIB);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let piece = exporter.create_exportable(4 * MIB).unwrap();
    for _ in 0..3 {
        send(&ours, &piece).unwrap();
    }
    let held = importer.create(2 * MIB).unwrap();
    let refused = receive(&theirs, &importer, ImportCharge::ThisLimit);
    let Err(SharingError::Cuda(Error::OverLimit(account))) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        (account.requested, importer.limit().used()),
        (4 * MIB, 2 * MIB)
    );
    let free = receive(&theirs, &importer, ImportCharge::OtherLimit).unwrap();
    assert_eq!(
        (importer.limit().used(), importer.bytes()),
        (2 * MIB, 6 * MIB)
    );
    drop(held);
    let charged = receive(&theirs, &importer, ImportCharge::ThisLimit).unwrap();
    assert_eq!(importer.limit().used(), 4 * MIB);
    drop(free);
    assert_eq!(
        (importer.limit().used(), importer.bytes()),
        (4 * MIB, 4 * MIB)
    );
    drop(charged);
    assert_eq!((importer.limit().used(), importer.bytes()), (0, 0));
    drop((piece, exporter, importer, execution));
    assert_eq!(machine.leaks(), None);
}

// Without it private memory could be sent, or the refusal of it disturb the socket.
#[test]
fn private_and_imported_memory_is_not_sent() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let memory = memory(&execution, 0, 8 * MIB);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let private = memory.create(2 * MIB).unwrap();
    send(&ours, &memory.create_exportable(2 * MIB).unwrap()).unwrap();
    let imported = receive(&theirs, &memory, ImportCharge::ThisLimit).unwrap();
    for piece in [private, imported] {
        let refused = send(&ours, &piece);
        assert!(
            matches!(
                refused,
                Err(SharingError::Cuda(Error::Invalid {
                    field: "memory",
                    ..
                }))
            ),
            "{refused:?}"
        );
    }
    drop(ours);
    let end = receive(&theirs, &memory, ImportCharge::ThisLimit);
    assert!(
        matches!(end, Err(SharingError::Closed { received: 0 })),
        "{end:?}"
    );
}

// Without it a driver of before file descriptors could be one whose memory does not work.
#[test]
fn a_driver_without_the_functions_is_named() {
    for (symbol, name) in [
        (
            id::cuMemExportToShareableHandle,
            "cuMemExportToShareableHandle",
        ),
        (
            id::cuMemImportFromShareableHandle,
            "cuMemImportFromShareableHandle",
        ),
    ] {
        let machine = Machine::builder().without(symbol).build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let memory = memory(&execution, 0, 8 * MIB);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let piece = memory.create_exportable(2 * MIB).unwrap();
        let refused = send(&ours, &piece)
            .and_then(|()| receive(&theirs, &memory, ImportCharge::ThisLimit).map(drop));
        let Err(SharingError::Cuda(Error::Unsupported { symbol, .. })) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((symbol, memory.limit().used()), (name, 2 * MIB));
        drop((piece, memory, execution));
        assert_eq!(machine.leaks(), None);
    }
}

// Without it a peer that sends part of a message could hold its reader for ever, or a message that is there be refused
// because time is over.
#[test]
fn bytes_that_do_not_come_by_then_are_a_timeout() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    wire::send(&ours, b"all", Some(ours.as_fd())).unwrap();
    ours.write_all(b"pa").unwrap();
    let mut bytes = [0; 3];
    let now = Instant::now();
    let file = wire::receive_until(&theirs, &mut bytes, now).unwrap();
    assert_eq!((file.is_some(), &bytes), (true, b"all"));
    let soon = now + Duration::from_millis(20);
    let refused = wire::receive_until(&theirs, &mut bytes, soon).unwrap_err();
    let SharingError::Socket { source, .. } = &refused else {
        panic!("{refused}");
    };
    assert_eq!(source.kind(), ErrorKind::TimedOut);
    assert!(Instant::now() >= soon);
}

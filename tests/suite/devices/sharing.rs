//! Memory of another process on one device, which this process uses on another device. The other process is
//! this test binary, see `memory::sharing`.
//!
//! With one device, or none that may access another one's memory, nothing is tried, and a line on
//! standard error says so.

use std::time::Duration;

use cupola_managers::device::Features;
use cupola_managers::ops::{self, PeerAddress};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::ImportCharge::OtherLimit;
use cupola_managers::vmm::{Access, AddressRange, VirtualMemory};
use cupola_sharing::{receive, send};

use super::peers::{Side, launch_add, linked, sides};
use crate::child;
use crate::common::{Bench, on_gpu};
use crate::memory::sharing::{assert_filled, fill, hear, map, parent, piece, tell};

/// Bytes of the memory.
fn size() -> u64 {
    if on_gpu() { 256 << 20 } else { 2 << 20 }
}

/// As many words.
fn words() -> usize {
    size() as usize / 4
}

/// Two devices, of which device 0 shares memory; `None`, with a line that says so, where there are none.
fn open() -> Option<(Bench, VirtualMemory)> {
    let bench = Bench::with_devices(2)?;
    let features = bench.device.info().unwrap().features;
    if !features.contains(Features::POSIX_FILE_HANDLES) {
        eprintln!("SKIPPED: the device shares no memory by file descriptors");
        return None;
    }
    let limit = DeviceLimit::new(2 * size());
    let memory = bench.context.virtual_memory(&limit).unwrap();
    Some((bench, memory))
}

// Without it memory of another process could be out of another device's reach, be two memories, end with
// the process that made it though a kernel of the other device uses it, or be left behind.
#[test]
fn another_device_uses_memory_of_a_process_that_dies() {
    child::passes_alone("devices::sharing::child_outlives_the_exporter");
}

#[test]
#[ignore = "a process of another_device_uses_memory_of_a_process_that_dies"]
fn child_outlives_the_exporter() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let sides = sides(&bench);
    // Whose memory it is to be: device 0, as the other process has it.
    let Some((other, owner)) = linked(&bench, &sides, 0) else {
        return;
    };
    let free = || [owner, other].map(|side| side.context.memory_info().unwrap().free);
    let files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    // What the driver makes for the first import, access and kernel stays.
    round(&bench, &memory, other, owner, Death::Idle);
    let before = (free(), files());
    for _ in 0..3 {
        round(&bench, &memory, other, owner, Death::Idle);
        round(&bench, &memory, other, owner, Death::UnderKernel);
    }
    // The driver may still be ending the last process.
    let left = || {
        let now = free();
        [0, 1].map(|side| before.0[side].saturating_sub(now[side]))
    };
    let waits = (0..1000).take_while(|_| left() != [0, 0]);
    waits.for_each(|_| std::thread::sleep(Duration::from_millis(10)));
    assert_eq!(left(), [0, 0], "bytes that are not free again");
    assert_eq!(files(), before.1, "open files");
    assert_eq!(memory.bytes(), 0);
    bench.finish_after((sides, memory));
}

/// When the process that made the memory is killed.
#[derive(Clone, Copy)]
enum Death {
    Idle,
    /// While a kernel of the other device uses the memory.
    UnderKernel,
}

/// A word whose bytes have this value.
fn filled(value: u32) -> u32 {
    value * 0x0101_0101
}

fn round(bench: &Bench, memory: &VirtualMemory, other: &Side, owner: &Side, death: Death) {
    let (mut exporter, socket) = child::spawn("devices::sharing::child_exports");
    let theirs = map(
        receive(&socket, memory, OtherLimit).unwrap(),
        Access::ReadWrite,
    );
    let access = theirs.grant_peer(0..size(), &other.context, Access::ReadWrite);
    access.unwrap();
    let ours = other.pool.zeros::<u32>(words(), &other.stream).unwrap();
    let kernel = other.add_words();
    let add = |to, from| launch_add(&kernel, other, to, from, words()).unwrap();
    // Read on the other device, then written there.
    add(ours.as_raw(), theirs.address());
    assert_eq!(
        ours.to_vec(&other.stream).unwrap(),
        vec![filled(1); words()]
    );
    add(theirs.address(), ours.as_raw());
    ops::synchronize(&other.stream).unwrap();
    assert_filled(&theirs, 2, bench);
    tell(&socket);
    hear(&socket);
    // The other process has seen that, and has changed it.
    if let Death::Idle = death {
        exporter.kill().unwrap();
        exporter.wait().unwrap();
    }
    add(ours.as_raw(), theirs.address());
    if let Death::UnderKernel = death {
        exporter.kill().unwrap();
        exporter.wait().unwrap();
    }
    assert_eq!(
        ours.to_vec(&other.stream).unwrap(),
        vec![filled(4); words()]
    );
    fill(&theirs, 5, bench);
    copy_between(&theirs, owner, &ours, other);
    assert_eq!(
        ours.to_vec(&other.stream).unwrap(),
        vec![filled(5); words()]
    );
    add(theirs.address(), ours.as_raw());
    ops::synchronize(&other.stream).unwrap();
    assert_filled(&theirs, 10, bench);
    drop((ours, theirs, kernel));
    ops::synchronize(&other.stream).unwrap();
    other.pool.trim().unwrap();
}

/// The way that needs no access of the other device.
fn copy_between(
    theirs: &AddressRange,
    owner: &Side,
    ours: &cupola_managers::Buffer<u32>,
    other: &Side,
) {
    let from = PeerAddress {
        context: &owner.context,
        address: theirs.address(),
    };
    let to = PeerAddress {
        context: &other.context,
        address: ours.as_raw(),
    };
    // SAFETY: both have as many bytes, and the copy comes after all that the test has put on streams.
    unsafe { ops::copy_between_raw(from, to, words() * 4, &other.stream) }.unwrap();
}

#[test]
#[ignore = "a process of another_device_uses_memory_of_a_process_that_dies"]
fn child_exports() {
    let (bench, memory) = open().unwrap();
    let socket = parent();
    let ours = map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
    fill(&ours, 1, &bench);
    send(&socket, piece(&ours)).unwrap();
    hear(&socket);
    assert_filled(&ours, 2, &bench);
    fill(&ours, 3, &bench);
    tell(&socket);
    // Killed while it waits.
    hear(&socket);
}

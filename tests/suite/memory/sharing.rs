//! Memory of two processes. The other process is this test binary, told to run one ignored test alone, with
//! a socket to this one as its standard input.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::device::Features;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::ImportCharge::{OtherLimit, ThisLimit};
use cupola_managers::vmm::{Access, AddressRange, PhysicalMemory, VirtualMemory};
use cupola_random::Random;
use cupola_sharing::{receive, send};
use cupola_sys::driver::CUresult;

use crate::child;
use crate::common::{Bench, on_gpu};

/// Bytes of a piece.
fn size() -> u64 {
    if on_gpu() { 2 << 30 } else { 4 << 20 }
}

/// A device that shares memory; `None`, with a line that says so, where there is none.
fn open() -> Option<(Bench, VirtualMemory)> {
    let bench = Bench::open();
    let features = bench.device.info().unwrap().features;
    if !features.contains(Features::POSIX_FILE_HANDLES) {
        eprintln!("skipped: the device shares no memory by file descriptors");
        return None;
    }
    let limit = DeviceLimit::new(2 * size());
    let memory = bench.context.virtual_memory(&limit).unwrap();
    Some((bench, memory))
}

pub(crate) fn map(piece: PhysicalMemory, access: Access) -> AddressRange {
    let bytes = piece.bytes();
    let mut range = piece.virtual_memory().reserve(bytes).unwrap();
    range.map(0, piece).unwrap();
    range.set_access(0..bytes, access).unwrap();
    range
}

/// The one piece of a range.
pub(crate) fn piece(range: &AddressRange) -> &PhysicalMemory {
    range.pieces().next().unwrap().1
}

pub(crate) fn fill(range: &AddressRange, value: u8, bench: &Bench) {
    let bytes = usize::try_from(range.bytes()).unwrap();
    // SAFETY: all of it is mapped, and the test's processes use it in turn.
    let all = unsafe { DeviceSliceMut::<u8>::from_raw(range.address(), bytes) };
    ops::fill(all, value, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
}

/// The beginning, the middle and the end have this value.
pub(crate) fn assert_filled(range: &AddressRange, value: u8, bench: &Bench) {
    let part = 64 << 10;
    let last = range.bytes() - part as u64;
    for at in [0, last / 2, last] {
        // SAFETY: it is mapped, and the test's processes use it in turn.
        let slice = unsafe { DeviceSlice::<u8>::from_raw(range.address() + at, part) };
        let bytes = slice.to_vec(&bench.stream).unwrap();
        assert!(bytes == vec![value; part], "at {at}: not {value}");
    }
}

/// Tells the other process that it is its turn.
pub(crate) fn tell(socket: &UnixStream) {
    try_tell(socket).expect("the other process");
}

/// As [`tell`], unless it has ended.
fn try_tell(mut socket: &UnixStream) -> io::Result<()> {
    socket.write_all(&[1])
}

/// Waits until it is this process's turn.
pub(crate) fn hear(socket: &UnixStream) {
    try_hear(socket).expect("the other process");
}

/// As [`hear`], unless it has ended.
fn try_hear(mut socket: &UnixStream) -> io::Result<()> {
    socket.read_exact(&mut [0])
}

/// The socket of a child.
pub(crate) fn parent() -> UnixStream {
    let input = io::stdin();
    UnixStream::from(input.as_fd().try_clone_to_owned().unwrap())
}

fn ends_well(mut child: Child) {
    let status = child.wait().unwrap();
    assert!(status.success(), "the other process: {status}");
}

// Without it the two could be two memories, or the memory end with the value that made it.
#[test]
fn an_import_is_the_same_memory_and_outlives_the_export() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let made = map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
    let begin = Instant::now();
    let file = piece(&made).export().unwrap();
    println!("exported in {:?}", begin.elapsed());
    let again = file.try_clone().unwrap();
    let begin = Instant::now();
    let imported = memory.import(file, size(), OtherLimit).unwrap();
    println!("imported in {:?}", begin.elapsed());
    let imported = map(imported, Access::Read);
    fill(&made, 7, &bench);
    assert_filled(&imported, 7, &bench);
    drop(made);
    assert_eq!((memory.limit().used(), memory.bytes()), (0, size()));
    assert_filled(&imported, 7, &bench);
    drop(imported);
    // The descriptor alone has kept it.
    let last = map(
        memory.import(again, size(), ThisLimit).unwrap(),
        Access::Read,
    );
    assert_filled(&last, 7, &bench);
    assert_eq!(memory.limit().used(), size());
    bench.finish_after((last, memory));
}

// Without it what another process writes could be lost, or memory end with the process that made it though
// another has it.
#[test]
fn two_processes_have_one_memory_and_either_may_go_first() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let (mut child, socket) = child::spawn("memory::sharing::child_shares");
    let ours = map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
    fill(&ours, 1, &bench);
    let begin = Instant::now();
    send(&socket, piece(&ours)).unwrap();
    println!("exported and sent in {:?}", begin.elapsed());
    hear(&socket);
    assert_filled(&ours, 2, &bench);
    drop(ours);
    assert_eq!(memory.limit().used(), 0);
    tell(&socket);
    // Memory of the child, which ends before it is used.
    let theirs = receive(&socket, &memory, ThisLimit).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let theirs = map(theirs, Access::ReadWrite);
    assert_filled(&theirs, 3, &bench);
    fill(&theirs, 4, &bench);
    assert_filled(&theirs, 4, &bench);
    bench.finish_after((theirs, memory));
}

#[test]
#[ignore = "a process of two_processes_have_one_memory_and_either_may_go_first"]
fn child_shares() {
    let (bench, memory) = open().unwrap();
    let socket = parent();
    let received = receive(&socket, &memory, OtherLimit).unwrap();
    let begin = Instant::now();
    let theirs = map(received, Access::ReadWrite);
    println!("mapped in {:?}", begin.elapsed());
    assert_filled(&theirs, 1, &bench);
    fill(&theirs, 2, &bench);
    tell(&socket);
    hear(&socket);
    // The exporter has dropped it.
    assert_filled(&theirs, 2, &bench);
    drop(theirs);
    let ours = map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
    fill(&ours, 3, &bench);
    send(&socket, piece(&ours)).unwrap();
    // Killed while it waits.
    hear(&socket);
}

// Without it a reader could write, or one that tries could take the memory of its writer along.
#[test]
fn a_reader_that_writes_is_lost_and_the_memory_is_not() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let (child, socket) = child::spawn("memory::sharing::child_writes_what_it_may_read");
    let ours = map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
    fill(&ours, 5, &bench);
    send(&socket, piece(&ours)).unwrap();
    ends_well(child);
    assert_filled(&ours, 5, &bench);
    fill(&ours, 6, &bench);
    assert_filled(&ours, 6, &bench);
    bench.finish_after((ours, memory));
}

#[test]
#[ignore = "a process of a_reader_that_writes_is_lost_and_the_memory_is_not"]
fn child_writes_what_it_may_read() {
    let (bench, memory) = open().unwrap();
    let theirs = map(
        receive(&parent(), &memory, OtherLimit).unwrap(),
        Access::Read,
    );
    assert_filled(&theirs, 5, &bench);
    let scale = bench.kernel("cupola_scale");
    let (grid, at) = (LaunchConfig::linear(1, 32), theirs.address());
    // SAFETY: not safe, on purpose: the kernel writes the 32 elements that it reads.
    let launched = unsafe { ops::launch(&scale, grid, (32u64, 2.0f32, at, at), &bench.stream) };
    let refused = launched.and_then(|()| ops::synchronize(&bench.stream));
    let refused = refused.unwrap_err();
    println!("{refused}");
    assert!(refused.is_sticky(), "{refused}");
    assert_eq!(refused.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    // Dropping in a lost context is silent.
    drop((theirs, memory, bench));
}

// Without it a process that is killed could leave memory that nothing gives back, or spoil that of the
// other side.
#[test]
fn processes_that_are_killed_leave_nothing() {
    child::passes_alone("memory::sharing::child_kills_the_other_side");
}

/// Kills the child at a random moment: in every other round after some turns, else while it starts,
/// perhaps. `turn` is this side's, to the end of the socket.
fn kill_at_random(round: u64, test: &str, turn: impl Fn(&UnixStream) -> Option<()> + Sync) {
    let (mut child, socket) = child::spawn(test);
    let mut random = Random::new(round);
    let (turns, is_started) = (AtomicU32::new(0), round.is_multiple_of(2));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while turn(&socket).is_some() {
                turns.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Killed though it never begins, so that the test ends.
        let patience = Instant::now() + Duration::from_secs(20);
        while is_started && turns.load(Ordering::Relaxed) < 3 && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        let most = if is_started { 5000 } else { 200_000 };
        std::thread::sleep(Duration::from_micros(random.below(most)));
        child.kill().unwrap();
        child.wait().unwrap();
    });
    assert!(
        !is_started || turns.into_inner() > 2,
        "{test} did not begin"
    );
}

#[test]
#[ignore = "a process of processes_that_are_killed_leave_nothing"]
fn child_kills_the_other_side() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let free = || bench.context.memory_info().unwrap().free;
    let files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let create = || map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
    // What the driver loads for the first fill stays.
    fill(&create(), 1, &bench);
    let ours = create();
    let round = |number: u64| {
        kill_at_random(
            number,
            "memory::sharing::child_imports_for_ever",
            |socket| {
                send(socket, piece(&ours)).ok()?;
                try_hear(socket).ok()
            },
        );
        kill_at_random(
            number,
            "memory::sharing::child_exports_for_ever",
            |socket| {
                let theirs = receive(socket, &memory, OtherLimit).ok()?;
                assert_filled(&map(theirs, Access::Read), 9, &bench);
                try_tell(socket).ok()
            },
        );
    };
    // Nor what it makes for the first import.
    round(0);
    let before = (free(), files());
    (1..20).for_each(round);
    fill(&ours, 2, &bench);
    assert_filled(&ours, 2, &bench);
    // The driver may still be ending the last process.
    let left = || before.0.saturating_sub(free());
    let waits = (0..1000).take_while(|_| left() > 0);
    waits.for_each(|_| std::thread::sleep(Duration::from_millis(10)));
    assert_eq!(left(), 0, "bytes that are not free again");
    assert_eq!(files(), before.1, "open files");
    drop(ours);
    assert_eq!(memory.bytes(), 0);
    bench.finish_after(memory);
}

#[test]
#[ignore = "a process of processes_that_are_killed_leave_nothing"]
fn child_imports_for_ever() {
    let (bench, memory) = open().unwrap();
    let socket = parent();
    loop {
        let theirs = receive(&socket, &memory, OtherLimit).unwrap();
        fill(&map(theirs, Access::ReadWrite), 8, &bench);
        tell(&socket);
    }
}

#[test]
#[ignore = "a process of processes_that_are_killed_leave_nothing"]
fn child_exports_for_ever() {
    let (bench, memory) = open().unwrap();
    let socket = parent();
    loop {
        let ours = map(memory.create_exportable(size()).unwrap(), Access::ReadWrite);
        fill(&ours, 9, &bench);
        send(&socket, piece(&ours)).unwrap();
        drop(ours);
        hear(&socket);
    }
}

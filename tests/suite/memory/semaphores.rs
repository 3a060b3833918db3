//! Semaphores of another API between two processes, whose streams wait for each other on the device. The other process is
//! this test binary, see [`sharing`](super::sharing).
//!
//! A driver imports the semaphores of a graphics interface alone. The software device has none, and takes its own
//! exportable memory for them: on a GPU nothing is tried, and a line on standard error says so.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use cupola_managers::Buffer;
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::interop::{ExternalSemaphore, ExternalTimeline};
use cupola_managers::ops;
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::ImportCharge::OtherLimit;
use cupola_managers::vmm::{Access, AddressRange, VirtualMemory};
use cupola_sharing::{receive, send, wire};

use super::sharing::{hear, map, parent, piece, tell};
use crate::child;
use crate::common::{Bench, on_gpu};

const PAGE: u64 = 2 << 20;
/// How often each side has its turn.
const TURNS: usize = 32;

/// Words of the memory that the sides take turns with.
const LEN: usize = 1 << 16;

fn open() -> Option<(Bench, VirtualMemory)> {
    if on_gpu() {
        eprintln!("SKIPPED: a driver imports no semaphores but those of a graphics interface");
        return None;
    }
    let bench = Bench::open();
    let limit = DeviceLimit::new(3 * PAGE);
    let memory = bench.context.virtual_memory(&limit).unwrap();
    Some((bench, memory))
}

/// The turn of a process begins with one of them and ends with the other.
struct Turns {
    line: ExternalTimeline,
    flag: ExternalSemaphore,
}

impl Turns {
    /// Those of the process that begins, which also go to the other one.
    fn new(bench: &Bench, memory: &VirtualMemory, socket: &UnixStream) -> Self {
        let files = [(); 2].map(|()| memory.create_exportable(PAGE).unwrap().export().unwrap());
        for file in &files {
            wire::send(socket, &[0], Some(file.as_fd())).unwrap();
        }
        Self::of(bench, files)
    }

    /// Those of the other process.
    fn received(bench: &Bench, socket: &UnixStream) -> Self {
        let file = |()| wire::receive(socket, &mut [0]).unwrap().unwrap();
        Self::of(bench, [(); 2].map(file))
    }

    fn of(bench: &Bench, [line, flag]: [OwnedFd; 2]) -> Self {
        // SAFETY: the descriptors stand for those of semaphores.
        unsafe {
            Self {
                line: ExternalTimeline::import(&bench.context, line).unwrap(),
                flag: ExternalSemaphore::import(&bench.context, flag).unwrap(),
            }
        }
    }
}

/// The words of memory that both processes have.
fn words(range: &AddressRange) -> DeviceSlice<'_, u32> {
    // SAFETY: they are mapped, and the semaphores order what uses them.
    unsafe { DeviceSlice::from_raw(range.address(), LEN) }
}

/// What a turn leaves in each word.
fn left_by(turn: usize, is_first: bool) -> u32 {
    2 * turn as u32 + u32::from(!is_first)
}

/// In each turn all words are written. The other side's are read in the next one, each turn's for itself.
struct Work<'b> {
    bench: &'b Bench,
    shared: AddressRange,
    seen: Buffer<u32>,
}

impl<'b> Work<'b> {
    fn new(bench: &'b Bench, shared: AddressRange) -> Self {
        let seen = bench.pool.zeros::<u32>(TURNS * LEN, &bench.stream).unwrap();
        Self {
            bench,
            shared,
            seen,
        }
    }

    fn write(&self, value: u32) {
        // SAFETY: they are mapped, and the semaphores order what uses them.
        let all = unsafe { DeviceSliceMut::<u32>::from_raw(self.shared.address(), LEN) };
        ops::fill(all, value, &self.bench.stream).unwrap();
    }

    fn read(&mut self, turn: usize) {
        let to = self.seen.slice_mut(turn * LEN..(turn + 1) * LEN).unwrap();
        ops::copy(words(&self.shared), to, &self.bench.stream).unwrap();
    }

    /// Each turn has seen all of what the other side left, and nothing else.
    fn check(self, theirs: impl Fn(usize) -> u32) {
        let seen = self.seen.to_vec(&self.bench.stream).unwrap();
        for (turn, seen) in seen.chunks(LEN).enumerate() {
            let expected = theirs(turn);
            assert!(seen.iter().all(|&word| word == expected), "turn {turn}");
        }
    }
}

// Without it a stream could run ahead of another process's work that it was told to wait for, or wait for ever.
// Neither host waits between the turns.
#[test]
fn streams_of_two_processes_wait_for_each_other() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let (mut child, socket) = child::spawn("memory::semaphores::child_takes_turns");
    let shared = map(memory.create_exportable(PAGE).unwrap(), Access::ReadWrite);
    send(&socket, piece(&shared)).unwrap();
    let turns = Turns::new(&bench, &memory, &socket);
    let mut work = Work::new(&bench, shared);
    for turn in 0..TURNS {
        work.write(left_by(turn, true));
        turns.line.signal(turn as u64 + 1, &bench.stream).unwrap();
        turns.flag.wait(&bench.stream).unwrap();
        work.read(turn);
    }
    assert!(
        !ops::query(&bench.stream).unwrap(),
        "the other process has not begun"
    );
    tell(&socket);
    let status = child.wait().unwrap();
    if !status.success() {
        // The signals that it owes, without which this process would wait for ever.
        let other = bench.another_stream();
        while !ops::query(&bench.stream).unwrap() {
            turns.flag.signal(&other).unwrap();
            ops::synchronize(&other).unwrap();
        }
    }
    assert!(status.success(), "the other process: {status}");
    work.check(|turn| left_by(turn, false));
    bench.finish_after((turns, memory));
}

#[test]
#[ignore = "a process of streams_of_two_processes_wait_for_each_other"]
fn child_takes_turns() {
    let (bench, memory) = open().unwrap();
    let socket = parent();
    let shared = receive(&socket, &memory, OtherLimit).unwrap();
    let mut work = Work::new(&bench, map(shared, Access::ReadWrite));
    let turns = Turns::received(&bench, &socket);
    hear(&socket);
    for turn in 0..TURNS {
        turns.line.wait(turn as u64 + 1, &bench.stream).unwrap();
        work.read(turn);
        work.write(left_by(turn, false));
        turns.flag.signal(&bench.stream).unwrap();
    }
    work.check(|turn| left_by(turn, true));
    bench.finish_after((turns, memory));
}

// Without it what a process has signalled could end with it, or a process that is killed while its stream waits
// take the semaphore from the other one.
#[test]
fn a_signal_outlives_the_process_that_gave_it() {
    let Some((bench, memory)) = open() else {
        return;
    };
    let (mut child, socket) = child::spawn("memory::semaphores::child_signals_and_waits");
    let turns = Turns::new(&bench, &memory, &socket);
    hear(&socket);
    child.kill().unwrap();
    child.wait().unwrap();
    turns.line.wait(5, &bench.stream).unwrap();
    turns.flag.wait(&bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    turns.line.signal(6, &bench.stream).unwrap();
    turns.line.wait(6, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    bench.finish_after((turns, memory));
}

#[test]
#[ignore = "a process of a_signal_outlives_the_process_that_gave_it"]
fn child_signals_and_waits() {
    let (bench, _memory) = open().unwrap();
    let socket = parent();
    let turns = Turns::received(&bench, &socket);
    turns.line.signal(5, &bench.stream).unwrap();
    turns.flag.signal(&bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    turns.line.wait(100, &bench.stream).unwrap();
    tell(&socket);
    // Killed while it waits.
    hear(&socket);
}

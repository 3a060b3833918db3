//! Memory that outlives its workers. They are processes: this test binary, told to run one ignored test
//! alone, with a socket to the test as its standard input, and a keeper to connect to.

mod limits;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use cupola_keeper::{Filling, Guest, Keeper, KeeperConfig, KeeperError, Kept, ObjectState, Rights};
use cupola_kernels::Kernels;
use cupola_managers::buffer::DeviceSlice;
use cupola_managers::device::Features;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_random::Random;
use cupola_sys::driver::CUresult;

use crate::child;
use crate::common::{Bench, eventually, on_gpu};

const MIB: u64 = 1 << 20;
/// Of an object, which a kernel sums up for each request.
const FRONT: usize = 64 << 10;

/// How many objects of weights there are, and how many bytes each has.
fn weights() -> (u64, u64) {
    if on_gpu() {
        (10, 1 << 30)
    } else {
        (3, 4 * MIB)
    }
}

/// As often as a worker of each kind ends.
const ROUNDS: u64 = 100;

fn config() -> KeeperConfig {
    let (count, bytes) = weights();
    let config = KeeperConfig::limit(count * bytes + 8 * MIB);
    // On the software device several pieces an object.
    if on_gpu() {
        config
    } else {
        config.piece(2 * MIB)
    }
}

/// A device that shares memory; `None`, with a line that says so, where there is none.
fn open() -> Option<Bench> {
    let bench = Bench::open();
    let features = bench.device.info().unwrap().features;
    if !features.contains(Features::POSIX_FILE_HANDLES) {
        eprintln!("skipped: the device shares no memory by file descriptors");
        return None;
    }
    Some(bench)
}

/// A keeper's end of a worker.
struct Worker {
    child: Child,
    socket: BufReader<UnixStream>,
}

/// What a worker says when it is in service.
#[derive(Debug)]
struct Service {
    uploaded: u64,
    mapped: Duration,
}

impl Worker {
    fn start(test: &str, path: &str) -> Self {
        let (child, mut socket) = child::spawn(test);
        // So that a worker that hangs is an error.
        socket
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        writeln!(socket, "{path}").unwrap();
        let socket = BufReader::new(socket);
        Self { child, socket }
    }

    /// Waits until it serves. `None` if it ends before.
    fn service(&mut self) -> Option<Service> {
        let mut line = String::new();
        let read = self.socket.read_line(&mut line);
        if read.ok()? == 0 {
            return None;
        }
        let mut numbers = line
            .split_whitespace()
            .map(|word| word.parse::<u64>().unwrap());
        let uploaded = numbers.next()?;
        let mapped = Duration::from_micros(numbers.next()?);
        Some(Service { uploaded, mapped })
    }

    /// Waits for the end of one request.
    fn request(&mut self) -> Option<()> {
        self.socket.read_exact(&mut [0]).ok()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Where a keeper listens: a path of the test's own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> String {
        self.0.path().join("keeper").to_str().unwrap().to_owned()
    }
}

/// A worker's side: the keeper, its device and the weights.
struct Side {
    socket: UnixStream,
    guest: Guest,
    kernels: Kernels,
    bench: Bench,
    mapped: Duration,
    uploaded: u64,
    weights: Vec<Kept>,
}

impl Side {
    fn open() -> Self {
        let bench = Bench::open();
        let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
        let input = io::stdin();
        let socket = UnixStream::from(input.as_fd().try_clone_to_owned().unwrap());
        // Without a buffer, so that what comes next stays there.
        let mut path = Vec::new();
        let mut byte = [0];
        while (&socket).read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            path.push(byte[0]);
        }
        let begin = Instant::now();
        let guest = Guest::connect_to(String::from_utf8(path).unwrap(), &bench.context).unwrap();
        let mut side = Self {
            socket,
            guest,
            kernels,
            bench,
            mapped: Duration::ZERO,
            uploaded: 0,
            weights: Vec::new(),
        };
        let (count, bytes) = weights();
        for number in 0..count {
            let name = format!("weights {number}");
            let kept = match side.guest.open(&name, Rights::Read) {
                Ok(kept) => kept,
                Err(KeeperError::NotFound { .. }) => side.upload(&name, number, bytes),
                Err(other) => panic!("{other}"),
            };
            side.weights.push(kept);
        }
        side.mapped = begin.elapsed();
        side
    }

    /// Makes an object of weights.
    fn upload(&mut self, name: &str, number: u64, bytes: u64) -> Kept {
        let mut filling = self.guest.create(name, bytes, Rights::Read).unwrap();
        self.fill(&mut filling, number);
        self.uploaded += bytes;
        let filled = filling.bytes() as usize;
        // SAFETY: the sums are waited for before the object is sealed.
        let (whole, front) = unsafe {
            let whole = self.sum(filling.slice_mut::<u8>(0..filled).unwrap().as_slice());
            let front = self.sum(filling.slice_mut::<u8>(0..FRONT).unwrap().as_slice());
            (whole, front)
        };
        let description = [whole.to_le_bytes(), front.to_le_bytes()].concat();
        filling.seal(description).unwrap()
    }

    /// Blocks of noise, each other than the others.
    fn fill(&self, filling: &mut Filling, seed: u64) {
        let block = MIB as usize;
        let mut noise = Random::new(seed).bytes(block);
        for at in 0..filling.bytes() as usize / block {
            noise[..8].copy_from_slice(&at.to_le_bytes());
            // SAFETY: the write has read all of the noise, and is waited for before the object is sealed.
            let to = unsafe {
                filling
                    .slice_mut::<u8>(at * block..(at + 1) * block)
                    .unwrap()
            };
            ops::write(to, &noise, &self.bench.stream).unwrap();
        }
        ops::synchronize(&self.bench.stream).unwrap();
    }

    /// By a kernel.
    fn sum(&self, data: DeviceSlice<'_, u8>) -> u32 {
        // The software device takes its time for much of it.
        if !on_gpu() && data.len() > FRONT {
            return crc32fast::hash(&data.to_vec(&self.bench.stream).unwrap());
        }
        let mut sum = self
            .bench
            .pool
            .allocate::<u32>(1, &self.bench.stream)
            .unwrap();
        self.kernels
            .crc32(data, &mut sum, &self.bench.stream)
            .unwrap();
        sum.to_vec(&self.bench.stream).unwrap()[0]
    }

    fn assert_whole(&self, kept: &Kept) {
        // SAFETY: the sum is waited for.
        let all = unsafe { kept.slice::<u8>(0..kept.bytes() as usize).unwrap() };
        assert_eq!(
            self.sum(all).to_le_bytes(),
            kept.description().unwrap()[..4],
            "{}",
            kept.name()
        );
    }

    /// Serves a request from one object.
    fn serve(&self, kept: &Kept) {
        // SAFETY: the sum is waited for.
        let front = unsafe { kept.slice::<u8>(0..FRONT).unwrap() };
        assert_eq!(
            self.sum(front).to_le_bytes(),
            kept.description().unwrap()[4..],
            "{}",
            kept.name()
        );
    }

    /// All sums are right. Then it is in service, and says so.
    fn begin(&self) {
        let weights = self.weights.iter();
        weights.for_each(|kept| self.assert_whole(kept));
        let micros = self.mapped.as_micros();
        // The other side may have had enough of it.
        let _ = writeln!(&self.socket, "{} {micros}", self.uploaded);
    }
}

/// The times of successors, in a line.
fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (count, bytes) = weights();
    if let [first, .., last] = times[..] {
        let middle = times[times.len() / 2];
        println!(
            "{what}: {} successors mapped {count} objects of {bytes} bytes in {first:?} to {last:?}, {middle:?} in the middle",
            times.len()
        );
    }
}

/// Nothing is left but the weights, and then nothing at all: the device has as much free memory as
/// `before`.
fn assert_only_weights(keeper: &Keeper, bench: &Bench, before: u64) {
    let (count, bytes) = weights();
    eventually("no guests", || keeper.guests().is_empty());
    for object in keeper.objects() {
        if object.state == ObjectState::Awake && !object.name.starts_with("weights") {
            keeper.remove(&object.name).unwrap();
        }
    }
    assert_eq!(keeper.used(), count * bytes, "{:?}", keeper.objects());
    for number in 0..count {
        keeper.remove(&format!("weights {number}")).unwrap();
    }
    assert_eq!((keeper.used(), keeper.objects()), (0, Vec::new()));
    // The driver may still be ending the last process.
    eventually("all memory is free again", || free(bench) >= before);
}

fn free(bench: &Bench) -> u64 {
    bench.context.memory_info().unwrap().free
}

// Without it weights could be lost or spoiled with a worker that is killed while it uses them, or memory
// that it was about to have could stay for ever.
#[test]
fn weights_survive_workers_that_are_killed() {
    child::passes_alone("memory::keeper::child_kills_workers");
}

#[test]
#[ignore = "a process of weights_survive_workers_that_are_killed"]
fn child_kills_workers() {
    let Some(bench) = open() else {
        return;
    };
    let (place, test) = (Place::new(), "memory::keeper::child_serves_and_scribbles");
    let keeper = Keeper::new(&bench.context, config()).unwrap();
    keeper.listen(place.path()).unwrap();
    let mut first = Worker::start(test, &place.path());
    let service = first.service().expect("the first worker serves");
    let (count, bytes) = weights();
    assert_eq!(service.uploaded, count * bytes);
    first.kill();
    // What the driver has made for the first of all stays.
    let before = free(&bench) + count * bytes;
    let mut times = Vec::new();
    let mut random = Random::new(1);
    for round in 0..ROUNDS {
        let mut worker = Worker::start(test, &place.path());
        // In every fourth round while it starts, perhaps.
        if round % 4 == 0 {
            std::thread::sleep(Duration::from_micros(random.below(100_000)));
        } else {
            let service = worker.service().expect("a worker serves");
            assert_eq!(service.uploaded, 0, "round {round}");
            times.push(service.mapped);
            for _ in 0..random.below(4) {
                worker.request().expect("a request");
            }
            std::thread::sleep(Duration::from_micros(random.below(5000)));
        }
        worker.kill();
        // What it was filling is no more, and its memory is not counted.
        let filling = |keeper: &Keeper| {
            let objects = keeper.objects();
            objects
                .iter()
                .any(|object| object.state == ObjectState::Filling)
        };
        assert!(!filling(&keeper), "round {round}: {:?}", keeper.objects());
    }
    tell("killed", times);
    assert_only_weights(&keeper, &bench, before);
    bench.finish_after(keeper);
}

#[test]
#[ignore = "a process of weights_survive_workers_that_are_killed"]
fn child_serves_and_scribbles() {
    let side = Side::open();
    side.begin();
    for entry in side.guest.list().unwrap() {
        if entry.name.starts_with("scribble") {
            side.guest.remove(&entry.name).unwrap();
        }
    }
    for number in 0.. {
        side.serve(&side.weights[number % side.weights.len()]);
        // Killed in the middle of any of it.
        let name = format!("scribble {number}");
        let mut filling = side.guest.create(&name, 2 * MIB, Rights::Read).unwrap();
        side.fill(&mut filling, 5);
        drop(filling.seal(*b"scribble").unwrap());
        side.guest.remove(&name).unwrap();
        (&side.socket).write_all(&[1]).unwrap();
    }
}

// Without it weights could be lost with the context of a worker that a fault of its own has ended, or be written
// by it.
#[test]
fn weights_survive_workers_that_fault() {
    child::passes_alone("memory::keeper::child_has_workers_fault");
}

#[test]
#[ignore = "a process of weights_survive_workers_that_fault"]
fn child_has_workers_fault() {
    let Some(bench) = open() else {
        return;
    };
    let (place, test) = (Place::new(), "memory::keeper::child_serves_and_faults");
    let keeper = Keeper::new(&bench.context, config()).unwrap();
    keeper.listen(place.path()).unwrap();
    let (count, bytes) = weights();
    let (mut times, mut before) = (Vec::new(), 0);
    for round in 0..=ROUNDS {
        let mut worker = Worker::start(test, &place.path());
        let service = worker.service().expect("a worker serves");
        if round == 0 {
            assert_eq!(service.uploaded, count * bytes);
        } else {
            assert_eq!(service.uploaded, 0, "round {round}");
            times.push(service.mapped);
        }
        // It ends by itself.
        let status = worker.child.wait().unwrap();
        assert!(status.success(), "round {round}: {status}");
        if round == 0 {
            // What the driver has made for the first of all stays.
            before = free(&bench) + count * bytes;
        }
    }
    tell("faulted", times);
    assert_only_weights(&keeper, &bench, before);
    bench.finish_after(keeper);
}

#[test]
#[ignore = "a process of weights_survive_workers_that_fault"]
fn child_serves_and_faults() {
    let side = Side::open();
    side.begin();
    side.weights.iter().for_each(|kept| side.serve(kept));
    // Half of them write to what they may read, and the others where nothing is.
    let may_read = std::process::id().is_multiple_of(2);
    let at = side.weights[0].address();
    let to = if may_read { at } else { 0x10 };
    let scale = side.bench.kernel("cupola_scale");
    let grid = LaunchConfig::linear(1, 32);
    // SAFETY: not safe, on purpose.
    let launched =
        unsafe { ops::launch(&scale, grid, (32u64, 2.0f32, at, to), &side.bench.stream) };
    let refused = launched.and_then(|()| ops::synchronize(&side.bench.stream));
    let refused = refused.unwrap_err();
    assert!(refused.is_sticky(), "{refused}");
    assert_eq!(refused.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    // A keeper can still be asked, and nothing of it can be used here.
    assert!(side.guest.list().is_ok());
    let refused = side.guest.open("weights 0", Rights::Read).unwrap_err();
    assert!(matches!(refused, KeeperError::Device(_)), "{refused}");
}

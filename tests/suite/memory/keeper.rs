//! Memory that outlives its workers. They are processes: this test binary, told to run one ignored test
//! alone, with a socket to the test as its standard input, and a keeper to connect to.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use cupola_keeper::{
    Filling, Guest, Keeper, KeeperConfig, KeeperError, Kept, ObjectState, Rights, SleepMode,
};
use cupola_kernels::Kernels;
use cupola_managers::Error;
use cupola_managers::buffer::DeviceSlice;
use cupola_managers::device::Features;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
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
            kept.description()[..4],
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
            kept.description()[4..],
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

/// Nothing is left but the weights, and then nothing at all.
fn assert_only_weights(keeper: &Keeper) {
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
    assert_only_weights(&keeper);
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
    let mut times = Vec::new();
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
    }
    tell("faulted", times);
    assert_only_weights(&keeper);
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

/// Says to the other side what it waits for.
fn say(mut socket: &UnixStream, number: u64) {
    writeln!(socket, "{number}").unwrap();
}

/// What the other side says next.
fn hear(socket: &mut BufReader<UnixStream>) -> u64 {
    let mut line = String::new();
    socket.read_line(&mut line).expect("the other process");
    line.trim().parse().expect("a number of the other process")
}

// Without it the objects and the pools of several processes could be more than their limit together, or what a
// killed worker had in its pool, or of an object that was removed, count for ever, or not long enough.
#[test]
fn objects_and_pools_of_workers_have_one_limit() {
    let Some(bench) = open() else {
        return;
    };
    let (part, test) = (part(), "memory::keeper::child_has_a_pool");
    let keeper = Keeper::new(&bench.context, KeeperConfig::limit(4 * part)).unwrap();
    let place = Place::new();
    keeper.listen(place.path()).unwrap();
    let guest = Guest::connect_to(place.path(), &bench.context).unwrap();
    let filling = guest.create("weights", part, Rights::Read).unwrap();
    drop(filling.seal(Vec::new()).unwrap());
    // Each opens the object, and takes what there is.
    let mut first = Worker::start(test, &place.path());
    assert_eq!(hear(&mut first.socket), 3 * part);
    assert_eq!(keeper.used(), 4 * part);
    let mut second = Worker::start(test, &place.path());
    assert_eq!(hear(&mut second.socket), 0);
    let refused = guest.create("more", part, Rights::Read).unwrap_err();
    assert!(
        matches!(refused, KeeperError::OverLimit { .. }),
        "{refused}"
    );
    // What a worker had is free when it has ended.
    first.kill();
    say(second.socket.get_ref(), 0);
    assert_eq!(hear(&mut second.socket), 3 * part);
    assert_eq!(keeper.used(), 4 * part);
    keeper.remove("weights").unwrap();
    assert_eq!(keeper.used(), 4 * part, "it is mapped there");
    second.kill();
    assert_eq!(keeper.used(), 0);
    drop(guest);
    bench.finish_after(keeper);
}

/// A quarter of a limit.
fn part() -> u64 {
    if on_gpu() { 1 << 30 } else { 4 * MIB }
}

/// A worker's socket and its keeper, of a child.
fn parent(bench: &Bench) -> (BufReader<UnixStream>, Guest) {
    let input = io::stdin();
    let socket = UnixStream::from(input.as_fd().try_clone_to_owned().unwrap());
    let mut socket = BufReader::new(socket);
    let mut path = String::new();
    socket.read_line(&mut path).unwrap();
    let guest = Guest::connect_to(path.trim(), &bench.context).unwrap();
    (socket, guest)
}

#[test]
#[ignore = "a process of objects_and_pools_of_workers_have_one_limit"]
fn child_has_a_pool() {
    let bench = Bench::open();
    let (mut socket, guest) = parent(&bench);
    let kept = guest.open("weights", Rights::Read).unwrap();
    let config = PoolConfig::limit(u64::MAX).within(&guest.limit().unwrap());
    let pool = bench.context.memory_pool(config).unwrap();
    let mut buffers = Vec::new();
    loop {
        loop {
            match pool.allocate::<u8>(part() as usize, &bench.stream) {
                Ok(buffer) => buffers.push(buffer),
                Err(Error::OverLimit(_)) => break,
                Err(other) => panic!("{other}"),
            }
        }
        say(socket.get_ref(), buffers.len() as u64 * part());
        // Killed while it waits for more.
        hear(&mut socket);
        assert!(kept.is_awake());
    }
}

// Without it a sleep could take memory from a worker that uses it, or a worker's graphs find their weights elsewhere
// when they are awake.
#[test]
fn workers_let_weights_sleep_and_find_them_again() {
    let Some(bench) = open() else {
        return;
    };
    let (part, test) = (part(), "memory::keeper::child_replays_a_graph");
    let keeper = Keeper::new(&bench.context, KeeperConfig::limit(part)).unwrap();
    let place = Place::new();
    keeper.listen(place.path()).unwrap();
    let mut worker = Worker::start(test, &place.path());
    let replayed = hear(&mut worker.socket);
    let long = Duration::from_secs(60);
    for cycle in 0..5 {
        // It does something else, and does not attend.
        let early = keeper.sleep("weights", SleepMode::HostCopy, Duration::from_millis(20));
        let Err(KeeperError::InUse { guests, .. }) = early else {
            panic!("cycle {cycle}: {early:?}");
        };
        assert_eq!(guests, [worker.child.id()]);
        say(worker.socket.get_ref(), 0);
        hear(&mut worker.socket);
        let begin = Instant::now();
        keeper.sleep("weights", SleepMode::HostCopy, long).unwrap();
        let asleep = begin.elapsed();
        assert_eq!(keeper.used(), 0, "cycle {cycle}");
        let begin = Instant::now();
        keeper.wake("weights").unwrap();
        println!(
            "{part} bytes asleep in {asleep:?}, awake in {:?}",
            begin.elapsed()
        );
        say(worker.socket.get_ref(), 1);
        assert_eq!(hear(&mut worker.socket), replayed, "cycle {cycle}");
        assert_eq!(keeper.used(), part);
    }
    worker.kill();
    keeper.remove("weights").unwrap();
    assert_eq!(keeper.used(), 0);
    bench.finish_after(keeper);
}

#[test]
#[ignore = "a process of workers_let_weights_sleep_and_find_them_again"]
fn child_replays_a_graph() {
    let bench = Bench::open();
    let (mut socket, guest) = parent(&bench);
    let mut filling = guest.create("weights", part(), Rights::Read).unwrap();
    // SAFETY: it is waited for.
    let all = unsafe { filling.slice_mut::<u8>(0..part() as usize).unwrap() };
    ops::fill(all, 0x5a, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let kept = filling.seal(Vec::new()).unwrap();
    let mut out = bench.pool.zeros::<u8>(8, &bench.stream).unwrap();
    let (captured, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        // SAFETY: the graph is launched only while the object is awake.
        let end = unsafe { DeviceSlice::<u8>::from_raw(kept.address() + part() - 8, 8) };
        ops::copy(end, &mut out, capture.stream())
    })
    .unwrap();
    let mut graph = captured.instantiate().unwrap();
    let mut replay = || {
        ops::zero(&mut out, &bench.stream).unwrap();
        graph.launch(&bench.stream).unwrap();
        let bytes = out.to_vec(&bench.stream).unwrap();
        u64::from_le_bytes(bytes.try_into().unwrap())
    };
    say(socket.get_ref(), replay());
    loop {
        hear(&mut socket);
        // Of the sleep that was in vain.
        assert_eq!(guest.attend().unwrap(), 1);
        kept.wake().unwrap();
        assert_eq!(replay(), 0x5a5a_5a5a_5a5a_5a5a);
        say(socket.get_ref(), 0);
        assert_eq!(guest.attend_for(Duration::from_secs(60)).unwrap(), 1);
        assert!(!kept.is_awake());
        hear(&mut socket);
        kept.wake().unwrap();
        say(socket.get_ref(), replay());
    }
}

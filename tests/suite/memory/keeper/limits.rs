//! Several workers under one limit, and objects that sleep while a worker has them.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use cupola_keeper::{Guest, Keeper, KeeperConfig, KeeperError, Rights, SleepMode};
use cupola_managers::Error;
use cupola_managers::buffer::DeviceSlice;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops;
use cupola_managers::pool::PoolConfig;

use super::{MIB, Place, Worker, open};
use crate::common::{Bench, on_gpu};

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
    let (part, test) = (part(), "memory::keeper::limits::child_has_a_pool");
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
    let (part, test) = (part(), "memory::keeper::limits::child_replays_a_graph");
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
        assert_eq!(guest.attend_for(Duration::from_secs(60)).unwrap(), 1);
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

//! Streams and events, used again and again.

use std::collections::HashSet;
use std::time::Duration;

use cupola_managers::{EventConfig, StreamConfig, ops};

use crate::common::Bench;

/// Kilobytes of the process that are in memory.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap()
}

// Without it lives could cost memory, of the host or the device, or driver objects. In a
// process of its own, with the GPU to itself: other tests use memory too.
#[test]
#[cfg(target_os = "linux")]
fn a_hundred_thousand_lives_leave_memory_flat() {
    crate::child::passes_alone("recycle::child_lives");
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "a process of a_hundred_thousand_lives_leave_memory_flat"]
fn child_lives() {
    const LIVES: u64 = 100_000;
    let bench = Bench::open();
    let context = &bench.context;
    let life = |n: u64| {
        let stream = context.streams().acquire(StreamConfig::default()).unwrap();
        let event = context.events().acquire(EventConfig::default()).unwrap();
        if n.is_multiple_of(16) {
            ops::record(&event, &stream).unwrap();
            ops::wait(&bench.stream, &event).unwrap();
        }
        (stream.handle(), event.handle())
    };
    for n in 0..1000 {
        life(n);
    }
    ops::synchronize(&bench.stream).unwrap();
    let created = (
        context.streams().stats().created,
        context.events().stats().created,
    );
    let (host, device) = (resident(), context.memory_info().unwrap().free);
    let mut handles = HashSet::new();
    for n in 0..LIVES {
        let (stream, event) = life(n);
        // Most are kept only to see that none comes again; a few are enough for that.
        if n.is_multiple_of(64) {
            assert!(handles.insert((stream, event)), "a handle came again");
        }
    }
    ops::synchronize(&bench.stream).unwrap();
    let after = (context.streams().stats(), context.events().stats());
    assert_eq!(
        (after.0.created, after.1.created),
        created,
        "driver objects"
    );
    assert!(after.0.reused >= LIVES && after.1.reused >= LIVES);
    assert!(
        resident() <= host + 4096,
        "the process grew from {host} to {} KiB",
        resident()
    );
    let free = context.memory_info().unwrap().free;
    println!(
        "{LIVES} lives: resident {host} to {} KiB, device {device} to {free} bytes free",
        resident()
    );
    // Other programs may use the device too, so only a leak of its own size is one.
    assert!(
        free + (64 << 20) >= device,
        "the device lost {} bytes",
        device - free
    );
    bench.finish();
}

// Without it a driver object could be destroyed while its last work runs, or leak when it
// is made anew each time.
#[test]
fn streams_and_events_may_be_destroyed_with_work_on_them() {
    let bench = Bench::open();
    let context = &bench.context;
    let mut buffer = bench.pool.allocate::<u32>(1 << 16, &bench.stream).unwrap();
    for n in 0..200 {
        let stream = context.streams().acquire(StreamConfig::default()).unwrap();
        let event = context.events().acquire(EventConfig::default()).unwrap();
        ops::order(&bench.stream, &stream).unwrap();
        ops::fill(&mut buffer, n, &stream).unwrap();
        ops::record(&event, &stream).unwrap();
        ops::wait(&bench.stream, &event).unwrap();
        drop((stream, event));
        context.streams().trim(0).unwrap();
        context.events().trim(0).unwrap();
    }
    let mut back = vec![0; 1 << 16];
    ops::read(&buffer, &mut back, &bench.stream).unwrap();
    assert!(back.iter().all(|&word| word == 199));
    drop(buffer);
    bench.finish();
}

// Without it a thread's end, or thousands of threads, could lose leases.
#[test]
fn thousands_of_threads_share_few_streams() {
    let bench = Bench::open();
    let context = &bench.context;
    for _ in 0..100 {
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let stream = context.streams().acquire(StreamConfig::default()).unwrap();
                    let event = context.events().acquire(EventConfig::default()).unwrap();
                    ops::record(&event, &stream).unwrap();
                    ops::synchronize_event(&event).unwrap();
                    std::thread::sleep(Duration::from_micros(50));
                });
            }
        });
    }
    let stats = context.streams().stats();
    // The bench's own stream is live.
    assert_eq!(stats.live, 1);
    assert!(stats.peak <= 21, "{stats:?}");
    assert_eq!(stats.created + stats.reused, 2001);
    bench.finish();
}

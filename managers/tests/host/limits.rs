//! The limit of a pinned pool, and how little of it is wasted.

use std::thread;
use std::time::{Duration, Instant};

use cupola_managers::host::{PinnedPool, PinnedPoolConfig};
use cupola_managers::{Error, HostMemoryError, ops};

use super::{bench, hold};

const MIB: u64 = 1 << 20;

/// A pool whose regions are as small as they can be.
fn pool(context: &cupola_managers::Context, limit: u64) -> PinnedPool {
    let config = PinnedPoolConfig::limit(limit).region_bytes(0);
    context.pinned_pool(config.wait(Duration::ZERO)).unwrap()
}

/// Bytes of a buffer of so many that nothing else can use.
fn wasted(host: &PinnedPool, bytes: usize) -> u64 {
    let buffer = host.allocate::<u8>(bytes).unwrap();
    let live = host.usage().unwrap().live;
    drop(buffer);
    live - bytes as u64
}

// Without it requests could be rounded to powers of two, which wastes up to half of page-locked
// memory.
#[test]
fn no_size_wastes_more_than_an_eighth() {
    let bench = bench();
    let host = pool(&bench.base.context, 256 * MIB);
    let check = |bytes: usize| {
        let wasted = wasted(&host, bytes);
        let held = bytes as u64 + wasted;
        assert!(wasted * 8 <= held || wasted < 64, "{bytes}: {wasted}");
        assert!(wasted * 8 <= held || bytes < 449, "{bytes}: {wasted}");
    };
    (1..=8200).for_each(check);
    let mut random = cupola_random::Random::new(3);
    for _ in 0..2000 {
        // As many of each magnitude.
        let magnitude = 1 << random.below(27);
        check((magnitude + random.below(magnitude)) as usize);
    }
    drop(host);
    bench.finish();
}

// Without it the pool could page-lock more than it may, or refuse what its limit has room for.
#[test]
fn the_limit_is_exact() {
    let bench = bench();
    let context = &bench.base.context;
    let limit = 3 * MIB + (64 << 10);
    let host = pool(context, limit);
    let all = host.allocate::<u8>(limit as usize).unwrap();
    let usage = host.usage().unwrap();
    assert_eq!((usage.locked, usage.live, usage.free), (limit, limit, 0));
    let refused = host.allocate::<u8>(1).unwrap_err();
    let Error::Host(refusal) = &refused else {
        panic!("{refused:?}");
    };
    assert!(matches!(
        **refusal,
        HostMemoryError::OverLimit { requested: 1, usage: account } if account == usage
    ));
    assert!(refused.is_retryable());
    let text = refused.to_string();
    assert!(text.contains("3211264 bytes alive in 1 buffers"), "{text}");
    drop(all);
    // A region of the usual size does not fit, one of the rest does.
    let config = PinnedPoolConfig::limit(limit).wait(Duration::ZERO);
    let usual = context.pinned_pool(config).unwrap();
    let _small = usual.allocate::<u8>(1).unwrap();
    assert_eq!(usual.usage().unwrap().locked, limit);
    assert!(usual.allocate::<u8>(limit as usize).is_err());
    drop((host, usual, _small));
    bench.finish();
}

// Without it memory that only empty regions keep would be refused, or a lower limit never be kept.
#[test]
fn empty_regions_are_given_back_where_the_limit_needs_them() {
    let bench = bench();
    let host = pool(&bench.base.context, 4 * MIB);
    let parts: Vec<_> = (0..4)
        .map(|_| host.allocate::<u8>(MIB as usize).unwrap())
        .collect();
    assert_eq!(bench.base.machine.usage().registrations, 4);
    drop(parts);
    let all = host.allocate::<u8>(4 * MIB as usize).unwrap();
    assert_eq!(bench.base.machine.usage().registrations, 1);
    host.set_limit(MIB).unwrap();
    assert_eq!(host.usage().unwrap().locked, 4 * MIB, "it is alive");
    assert!(host.allocate::<u8>(1).is_err());
    drop(all);
    assert_eq!(host.trim(), Ok(4 * MIB));
    assert_eq!(bench.base.machine.usage().registrations, 0);
    let usage = host.usage().unwrap();
    assert_eq!((usage.locked, usage.regions, usage.peak), (0, 0, 4 * MIB));
    assert!(host.allocate::<u8>(2 * MIB as usize).is_err());
    drop(host.allocate::<u8>(MIB as usize).unwrap());
    host.set_limit(0).unwrap();
    assert_eq!(host.usage().unwrap().locked, 0);
    drop(host);
    bench.finish();
}

// Without it a pool at its limit would refuse what a copy that is nearly done gives, or wait for
// what no copy gives.
#[test]
fn an_allocation_waits_for_copies_at_the_limit() {
    let bench = bench();
    let (stream, elements) = (&bench.stream, MIB as usize);
    let config = PinnedPoolConfig::limit(2 * MIB).region_bytes(0);
    let host = bench.base.context.pinned_pool(config).unwrap();
    let mut there = bench.pool.allocate::<u8>(elements, stream).unwrap();
    let kept = host.zeros::<u8>(elements).unwrap();
    let copied = host.zeros::<u8>(elements).unwrap();
    let held = hold(stream);
    ops::copy_to_device(&copied, &mut there, stream).unwrap();
    drop(copied);
    let start = Instant::now();
    // The bytes of `kept` are missing, whatever the copy does.
    assert!(host.allocate::<u8>(2 * elements).is_err());
    assert!(start.elapsed() < Duration::from_secs(5));
    let end = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        drop(held);
    });
    let again = host.allocate::<u8>(elements).unwrap();
    end.join().unwrap();
    let usage = host.usage().unwrap();
    assert_eq!((usage.pending, usage.locked), (0, 2 * MIB));
    drop((kept, again, there, host));
    bench.finish();
}

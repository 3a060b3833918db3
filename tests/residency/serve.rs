//! Thirteen models that serve requests under a limit that less than half of them fit in.

use std::time::{Duration, Instant};

use cupola_kernels::Kernels;
use cupola_random::Random;
use cupola_residency::{Residency, ResidencyConfig, Slot};

use super::common::{Bench, on_gpu};
use super::{MIB, Model, register, times};

/// The models of the trace `embed13`, in parts of a thousand of its limit.
const SHARES: [u64; 13] = [41, 61, 122, 199, 609, 75, 199, 20, 127, 334, 147, 199, 156];

/// How long: `CUPOLA_SERVE_SECONDS`, or as long as a test may take.
fn duration() -> Duration {
    let asked = std::env::var("CUPOLA_SERVE_SECONDS").ok();
    let asked = asked.map(|text| text.parse().expect("CUPOLA_SERVE_SECONDS"));
    Duration::from_secs(asked.unwrap_or(times(2, 10)))
}

fn checksum(model: &Model) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    let mut part = vec![0; 1 << 20];
    let mut at = 0;
    while at < model.bytes {
        let len = (model.bytes - at).min(MIB) as usize;
        model.fill(at, &mut part[..len]);
        hash.update(&part[..len]);
        at += len as u64;
    }
    hash.finalize()
}

// Without it a request could be answered by a model that is not all there, or by another one.
#[test]
fn embed13_serves_requests() {
    let bench = Bench::open();
    let stream = &bench.stream;
    // Less than 8 GB on a GPU.
    let share = if on_gpu() { 8_000_000 } else { 64 << 10 };
    let limit = 1000 * share;
    let config = match on_gpu() {
        true => ResidencyConfig::limit(limit),
        false => ResidencyConfig {
            piece: 2 * MIB,
            chunk: 8 * MIB,
            ..ResidencyConfig::limit(limit)
        },
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
    let mut slots: Vec<Slot> = Vec::new();
    let mut sums = Vec::new();
    for (seed, shares) in SHARES.into_iter().enumerate() {
        let (seed, bytes) = (seed as u64, shares * share + seed as u64);
        slots.push(register(&residency, seed, bytes));
        sums.push(checksum(&Model { seed, bytes }));
    }
    for slot in &slots {
        residency.preload(slot).unwrap();
    }
    let mut crc = bench.pool.zeros::<u32>(1, stream).unwrap();
    let mut random = Random::new(13);
    let mut latencies = Vec::new();
    let before = residency.metrics();
    let (began, duration) = (Instant::now(), duration());
    while began.elapsed() < duration {
        // As the trace: the first models are the most popular.
        let model = (0..12).find(|_| random.one_in(4)).unwrap_or(12);
        let asked = Instant::now();
        let lease = residency.lease(&slots[model], stream).unwrap();
        // SAFETY: the kernel is on the stream of the lease.
        let all = unsafe { lease.slice::<u8>(0..slots[model].bytes() as usize) }.unwrap();
        cupola_managers::ops::zero(&mut crc, stream).unwrap();
        kernels.crc32(all, &mut crc, stream).unwrap();
        let answer = crc.to_vec(stream).unwrap()[0];
        latencies.push(asked.elapsed().as_secs_f64() * 1e3);
        assert_eq!(answer, sums[model], "model {model}");
        let charged = residency.usage().charged;
        assert!(charged <= limit, "{charged} of {limit}");
    }
    let (metrics, requests) = (residency.metrics(), latencies.len());
    latencies.sort_by(f64::total_cmp);
    let at = |part: f64| latencies[((requests - 1) as f64 * part) as usize];
    println!(
        "{requests} requests in {duration:?}, all right: {} hits, {} partial, {} misses; {} evictions, {} MB loaded, {} waits",
        metrics.hits - before.hits,
        metrics.partial_hits - before.partial_hits,
        metrics.misses - before.misses,
        metrics.evictions - before.evictions,
        (metrics.bytes_loaded - before.bytes_loaded) / 1_000_000,
        metrics.waits - before.waits,
    );
    println!(
        "latency: p10 {:.2} ms, p50 {:.2}, p90 {:.2}, p99 {:.2}, longest {:.2}",
        at(0.1),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    drop((crc, slots, kernels, residency));
    bench.finish();
}

//! Copies in virtual time: bandwidths, latency, and both directions at once.

use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, Order};
use cupola_sys::driver::*;

use crate::support::TestBench;

const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const LEN: usize = 1 << 20;

/// A device whose bandwidths make a copy of `LEN` bytes take these times.
fn device(up: Duration, down: Duration) -> DeviceConfig {
    let rate = |time: Duration| (LEN as f64 / time.as_secs_f64()) as u64;
    DeviceConfig::new()
        .upload_bandwidth(rate(up))
        .download_bandwidth(rate(down))
}

/// A copy: in which stream, whether it is an upload, and how many bytes.
type Copy = (usize, bool, usize);

/// How long copies take in streams of their own, all asked for at once; the machine's order.
fn time(config: DeviceConfig, order: Order, copies: &[Copy]) -> Duration {
    let bench = TestBench::with(Machine::builder().device(config).order(order));
    let d = &bench.driver;
    let (memory, host) = (bench.alloc(LEN), bench.pinned(LEN).as_mut_ptr());
    let streams: Vec<_> = (0..4).map(|_| bench.stream(NON_BLOCKING)).collect();
    for (stream, is_upload, len) in copies.iter().copied() {
        let stream = streams[stream];
        // SAFETY: live handles, and memory that goes with the machine.
        unsafe {
            match is_upload {
                true => d.cuMemcpyHtoDAsync_v2(memory, host.cast(), len, stream),
                false => d.cuMemcpyDtoHAsync_v2(host.cast(), memory, len, stream),
            }
        }
        .unwrap();
    }
    bench.synchronize();
    bench.machine.trace().expect("an order").now()
}

fn is_near(time: Duration, wanted: Duration) -> bool {
    time.abs_diff(wanted) < wanted / 100
}

const MILLI: Duration = Duration::from_millis(1);
const UP: Copy = (0, true, LEN);
const DOWN: Copy = (1, false, LEN);

/// Without it, a copy could last another time than its bytes, its direction and its latency say.
#[test]
fn a_copy_takes_its_latency_and_its_bytes() {
    let device = || device(MILLI, 3 * MILLI);
    for duplex in [1.0, 0.9] {
        let plain = || device().duplex(duplex);
        let late = || plain().copy_latency(5 * MILLI);
        for (config, copies, wanted) in [
            (plain(), &[UP][..], MILLI),
            (plain(), &[DOWN], 3 * MILLI),
            (late(), &[UP], 6 * MILLI),
            // The latency holds the engine: copies of one direction come after each other.
            (late(), &[UP, (1, true, LEN / 2)], 11 * MILLI + MILLI / 2),
        ] {
            let time = time(config, Order::Timed, copies);
            assert!(is_near(time, wanted), "{copies:?}: {time:?}, {wanted:?}");
        }
    }
    // Latencies and bytes of both directions overlap.
    let both = time(device().copy_latency(5 * MILLI), Order::Timed, &[UP, DOWN]);
    assert!(is_near(both, 8 * MILLI), "{both:?}");
}

/// Without it, a program that copies both ways at once would look faster than a bus lets it be.
/// With the figures of an H200: 55.4 GB/s each way, and 101.5 GB/s both ways at once.
#[test]
fn both_directions_at_once_reach_a_part_of_both_bandwidths() {
    let h200 = |duplex| {
        DeviceConfig::new()
            .upload_bandwidth(55_400_000_000)
            .download_bandwidth(55_400_000_000)
            .duplex(duplex)
    };
    let one = Duration::from_secs_f64(LEN as f64 / 55.4e9);
    let both = Duration::from_secs_f64(2.0 * LEN as f64 / 101.5e9);
    let part = 101.5 / 110.8;
    for (duplex, copies, wanted) in [
        (part, &[UP][..], one),
        (part, &[UP, DOWN], both),
        (1.0, &[UP, DOWN], one),
        // The half is slower while the other half is there, and then alone.
        (part, &[UP, (1, false, LEN / 2)], both / 2 + one / 2),
        // Ten of each, one after the other.
        (part, &[[UP; 10], [DOWN; 10]].concat(), 10 * both),
    ] {
        let time = time(h200(duplex), Order::Timed, copies);
        assert!(is_near(time, wanted), "{copies:?}: {time:?}, {wanted:?}");
    }
    // One engine does one copy at a time.
    let time = time(h200(part).copy_engines(1), Order::Timed, &[UP, DOWN]);
    assert!(is_near(time, 2 * one), "{time:?}");
}

/// Without it, more engines than two could be one for each direction.
#[test]
fn engines_of_a_direction_copy_at_once() {
    for (engines, duplex, wanted) in [(2, 0.5, 3), (4, 0.5, 2), (4, 1.0, 2), (6, 0.5, 1)] {
        let config = device(MILLI, MILLI).copy_engines(engines).duplex(duplex);
        let uploads = [UP, (1, true, LEN), (2, true, LEN)];
        let time = time(config, Order::Timed, &uploads);
        assert!(is_near(time, wanted * MILLI), "{engines}: {time:?}");
    }
}

/// Without it, copies that slow each other down could hang, or move other bytes, where their order
/// is drawn.
#[test]
fn a_seed_draws_an_order_of_copies_that_share_the_bus() {
    for seed in 0..20 {
        let config = device(MILLI, MILLI).duplex(0.5);
        let copies = [UP, DOWN, (2, true, LEN / 3), (3, false, LEN), UP, DOWN];
        let first = time(config.clone(), Order::Seeded(seed), &copies);
        assert_eq!(first, time(config, Order::Seeded(seed), &copies), "{seed}");
        // No order is faster than the busiest direction, none slower than one after the other.
        assert!(
            first >= 3 * MILLI && first <= 12 * MILLI,
            "{seed}: {first:?}"
        );
    }
}

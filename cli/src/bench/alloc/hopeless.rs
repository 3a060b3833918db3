//! A request that cannot be had, beside a thread that works: how long its refusal takes, and what
//! the other thread notices of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cupola_managers::ops;
use cupola_managers::stream::Stream;

use super::allocator::Allocator;
use super::ours::{Raw, Typed};
use super::percentiles::{Point, Spread, clock, since};
use super::{Error, names};
use crate::bench::Figures;

/// What the pool may have, what is alive in it, and what is asked for again and again.
const LIMIT: u64 = 16 << 20;
const ALIVE: u64 = 13 << 20;
const REQUEST: u64 = 4 << 20;

/// Between two of these requests: as often as a server may try.
const EVERY: Duration = Duration::from_millis(10);

/// So many of them, then as long without any, and so on: a machine whose speed changes meanwhile
/// changes both alike. The last one's time is over before those without begin.
const IN_TURN: u32 = 5;

/// What the neighbour works beside: without requests, with them, and the end of both.
const WITHOUT: usize = 0;
const WITH: usize = 1;
const OVER: usize = 2;

/// What the neighbour has, a few at a time.
const SIZES: [u64; 5] = [20_000, 50_000, 90_000, 130_000, 300_000];
const AT_A_TIME: usize = 4;

/// Samples take so much longer than those of other rows: the slowest in a thousand of the
/// neighbour's operations are to be among many.
const LONGER: u32 = 10;

/// What a refusal is meant to take at most, in nanoseconds, all but the slowest in a hundred.
const REFUSAL: f64 = 1e6;
/// What the neighbour's slowest in a thousand are meant to take at most of what they take without.
const NOTICED: f64 = 1.2;

const REFUSALS: &[Point] = &[Point::P50, Point::P99, Point::Max];
const OPERATIONS: &[Point] = &[Point::P50, Point::P99, Point::P99_9];

/// A pool that is nearly full, and two streams.
struct Bench {
    raw: Raw,
    typed: Typed,
    streams: [Stream; 2],
}

impl Bench {
    /// The neighbour's operations until it is told to end, each in nanoseconds, by what they were
    /// beside; `seen` says where there is one by now.
    fn neighbour(
        &self,
        beside: &AtomicUsize,
        seen: &[AtomicBool; 2],
        clock: u64,
    ) -> Option<[Vec<u64>; 2]> {
        let stream = &self.streams[1];
        let mut times = [(); 2].map(|()| Vec::with_capacity(1 << 18));
        let mut blocks = std::collections::VecDeque::with_capacity(AT_A_TIME + 1);
        let mut ok = self.typed.enter();
        for turn in 0_usize.. {
            let now = beside.load(Ordering::Relaxed);
            let Some(times) = times.get_mut(now) else {
                break;
            };
            // Each size after each other one, now and then.
            let bytes = SIZES[(turn * turn + turn / SIZES.len()) % SIZES.len()];
            let start = Instant::now();
            let mut block = self.typed.allocate(bytes, stream)?;
            times.push(since(start, clock));
            ok &= ops::zero(block.slice_mut(..256).ok()?, stream).is_ok();
            blocks.push_back(block);
            if blocks.len() > AT_A_TIME {
                let start = Instant::now();
                drop(blocks.pop_front());
                times.push(since(start, clock));
            }
            seen[now].store(true, Ordering::Relaxed);
        }
        (ok && self.typed.settle(stream)).then_some(times)
    }

    /// The neighbour's operations for a time, without requests and with them in turn, and how long
    /// the refusals took.
    fn round(&self, time: Duration, clock: u64) -> Option<([Vec<u64>; 2], Vec<u64>)> {
        let beside = AtomicUsize::new(WITHOUT);
        let seen = [(); 2].map(|()| AtomicBool::new(false));
        let mut refusals = Vec::new();
        thread::scope(|scope| {
            let neighbour = scope.spawn(|| self.neighbour(&beside, &seen, clock));
            let mut ok = self.raw.enter();
            let begin = Instant::now();
            // Figures of nothing are none, however late that thread has begun.
            let is_seen = || seen.iter().all(|seen| seen.load(Ordering::Relaxed));
            while !neighbour.is_finished() && (begin.elapsed() < time || !is_seen()) {
                for now in [WITHOUT, WITH] {
                    beside.store(now, Ordering::Relaxed);
                    for _ in 0..IN_TURN {
                        if now == WITH {
                            let start = Instant::now();
                            ok &= self.raw.allocate(REQUEST, &self.streams[0]).is_none();
                            refusals.push(since(start, clock));
                        }
                        thread::sleep(EVERY);
                    }
                }
            }
            beside.store(OVER, Ordering::Relaxed);
            let times = neighbour.join().ok()??;
            ok.then_some((times, refusals))
        })
    }
}

/// Adds the rows.
pub(super) fn rows(
    figures: &mut Figures,
    ours: &Raw,
    (rounds, time): (usize, Duration),
) -> Result<(), Error> {
    let raw = ours.limited(LIMIT)?;
    let bench = Bench {
        typed: raw.typed(),
        streams: [raw.stream()?, raw.stream()?],
        raw,
    };
    let wrong = || Error::Wrong(names::refusal("all"));
    let alive = bench.raw.allocate(ALIVE, &bench.streams[0]);
    let alive = alive.ok_or_else(wrong)?;
    let mut refusals = Spread::new(REFUSALS);
    let mut neighbours = [Spread::new(OPERATIONS), Spread::new(OPERATIONS)];
    for round in 0..=rounds {
        let times = bench.round(2 * LONGER * time, clock());
        let (operations, refused) = times.ok_or_else(wrong)?;
        // The first round warms up.
        if round > 0 {
            for (spread, times) in neighbours.iter_mut().zip(operations) {
                spread.add(times);
            }
            refusals.add(refused);
        }
    }
    if !bench.raw.free(alive, &bench.streams[0]) {
        return Err(wrong());
    }
    let who = bench.raw.name();
    let row = |point: &str| names::row(&names::refusal(point), &who);
    refusals.rows(figures, row, None, &[(Point::P99, REFUSAL)])?;
    for (requests, spread) in neighbours.iter().enumerate() {
        let row = |point: &str| names::row(&names::neighbour(requests > 0, point), &who);
        let without = |point: &str| names::row(&names::neighbour(false, point), &who);
        let against: Option<&dyn Fn(&str) -> String> =
            if requests > 0 { Some(&without) } else { None };
        spread.rows(figures, row, against, &[])?;
    }
    let row = |requests| {
        let point = Point::P99_9.name();
        names::row(&names::neighbour(requests, &point), &who)
    };
    figures.want(&row(true), NOTICED, &[&row(false)]);
    Ok(())
}

//! Page-locked host memory: what a pool takes for it against the driver's own call, and copies from
//! and to both.

use std::ptr;
use std::time::Instant;

use cupola_managers::buffer::Buffer;
use cupola_managers::host::{PinnedPool, PinnedPoolConfig};
use cupola_managers::{Context, Device, Error, PinnedBuffer, PoolConfig, Stream, ops};
use cupola_sys::driver::DriverError;

use super::{Figures, nanoseconds};

/// The part of the driver's time that a pool's first buffer is to take at most.
const FASTER: f64 = 0.5;
/// The part of the raw rate that copies of a pool's memory are to reach.
const KEPT: f64 = 0.99;

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum PinnedError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver by hand.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
}

/// Sizes of a measurement.
struct Plan {
    /// Bytes that are page-locked at a time.
    allocations: &'static [usize],
    /// Bytes of a copy.
    copied: usize,
    rounds: usize,
    hits: u32,
}

impl Plan {
    fn new(quick: bool, software: bool) -> Self {
        match (quick, software) {
            (true, _) => Self {
                allocations: &[1 << 20],
                copied: 1 << 20,
                rounds: 1,
                hits: 10,
            },
            (false, true) => Self {
                allocations: &[64 << 20, 256 << 20],
                copied: 64 << 20,
                rounds: 3,
                hits: 100_000,
            },
            (false, false) => Self {
                allocations: &[64 << 20, 256 << 20, 1 << 30, 4 << 30],
                copied: 1 << 30,
                rounds: 7,
                hits: 1_000_000,
            },
        }
    }
}

/// Measures pinned memory on `device`; with `quick` so little that the figures mean nothing.
///
/// # Errors
/// What the driver returned.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, PinnedError> {
    let plan = Plan::new(quick, name.contains("software"));
    let context = device.primary()?;
    let mut figures = Figures::new("pinned", name);
    let backing = context.pinned_backing()?;
    figures.notes.push(format!("pinned memory: {backing}"));
    for &bytes in plan.allocations {
        allocations(&mut figures, &context, bytes, plan.rounds)?;
    }
    hits(&mut figures, &context, &plan)?;
    copies(&mut figures, &context, &plan)?;
    Ok(figures)
}

fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes >> 20)
}

/// The first buffer of a pool and the pool's end, against the driver's calls, in turns.
fn allocations(
    figures: &mut Figures,
    context: &Context,
    bytes: usize,
    rounds: usize,
) -> Result<(), PinnedError> {
    let (mut raw, mut raw_ends) = (Vec::new(), Vec::new());
    let (mut pool, mut pool_ends) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (begun, ended) = by_the_driver(context, bytes)?;
        raw.push(begun);
        raw_ends.push(ended);
        let start = Instant::now();
        let host = context.pinned_pool(PinnedPoolConfig::limit(bytes as u64))?;
        let buffer = host.allocate::<u8>(bytes)?;
        pool.push(milliseconds(start));
        let start = Instant::now();
        drop((buffer, host));
        pool_ends.push(milliseconds(start));
    }
    let size = mebibytes(bytes);
    let driver = format!("{size}: cuMemHostAlloc");
    let ours = format!("{size}: a pool's first buffer");
    figures.push(&driver, "ms", &raw, None);
    figures.push(&ours, "ms", &pool, Some(&driver));
    // Smaller ones take as long as the call of a registration.
    if bytes >= 4 << 30 {
        figures.want(&ours, FASTER, &[&driver]);
    }
    let driver = format!("{size}: cuMemFreeHost");
    figures.push(&driver, "ms", &raw_ends, None);
    let ours = format!("{size}: a pool's end");
    figures.push(&ours, "ms", &pool_ends, Some(&driver));
    Ok(())
}

/// How long `cuMemHostAlloc` and `cuMemFreeHost` take, in milliseconds.
fn by_the_driver(context: &Context, bytes: usize) -> Result<(f64, f64), PinnedError> {
    let _current = context.enter()?;
    let (driver, mut memory) = (context.driver(), ptr::null_mut());
    let start = Instant::now();
    // SAFETY: the place outlives the call, and the context is current.
    unsafe { driver.cuMemHostAlloc(&raw mut memory, bytes, 1) }?;
    let begun = milliseconds(start);
    let start = Instant::now();
    // SAFETY: allocated just now, and used by nothing.
    unsafe { driver.cuMemFreeHost(memory) }?;
    Ok((begun, milliseconds(start)))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// A buffer that is allocated and dropped where the pool has memory.
fn hits(figures: &mut Figures, context: &Context, plan: &Plan) -> Result<(), PinnedError> {
    let host = context.pinned_pool(PinnedPoolConfig::limit(64 << 20))?;
    for bytes in [4 << 10, 1 << 20] {
        drop(host.allocate::<u8>(bytes)?);
        let mut failed = None;
        let times = nanoseconds(plan.rounds, plan.hits, || {
            failed = host.allocate::<u8>(bytes).err().or(failed.take());
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        let name = format!("{} KiB: allocated and dropped", bytes >> 10);
        figures.push(&name, "ns", &times, None);
    }
    Ok(())
}

/// Copies from and to both kinds of memory, in turns.
fn copies(figures: &mut Figures, context: &Context, plan: &Plan) -> Result<(), PinnedError> {
    let bytes = plan.copied;
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(bytes as u64 + (64 << 20)))?;
    let mut there = pool.zeros::<u8>(bytes, &stream)?;
    let host: PinnedPool = context.pinned_pool(PinnedPoolConfig::limit(bytes as u64))?;
    let mut raw = context.buffers().pinned::<u8>(bytes)?;
    let mut ours = host.zeros::<u8>(bytes)?;
    let mut up = [Vec::new(), Vec::new()];
    let mut down = [Vec::new(), Vec::new()];
    // One more, which warms up.
    for round in 0..=plan.rounds {
        for (index, memory) in [&mut raw, &mut ours].into_iter().enumerate() {
            let (sent, received) = both_ways(memory, &mut there, &stream)?;
            if round > 0 {
                up[index].push(sent);
                down[index].push(received);
            }
        }
    }
    for (way, [raw, ours]) in [("upload", up), ("download", down)] {
        let size = mebibytes(bytes);
        let of_driver = format!("{way} of {size}: memory of cuMemHostAlloc");
        let of_pool = format!("{way} of {size}: a pool's");
        figures.push(&of_driver, "GB/s", &raw, None);
        figures.push(&of_pool, "GB/s", &ours, Some(&of_driver));
        figures.want_least(&of_pool, KEPT, &of_driver);
    }
    Ok(())
}

/// Rates of a copy up and one down, in GB/s.
fn both_ways(
    memory: &mut PinnedBuffer<u8>,
    there: &mut Buffer<u8>,
    stream: &Stream,
) -> Result<(f64, f64), PinnedError> {
    ops::synchronize(stream)?;
    let start = Instant::now();
    ops::copy_to_device(&*memory, &mut *there, stream)?;
    ops::synchronize(stream)?;
    let sent = start.elapsed();
    let start = Instant::now();
    ops::copy_to_host(&*there, &mut *memory, stream)?;
    ops::synchronize(stream)?;
    let received = start.elapsed();
    let rate = |seconds: f64| memory.len() as f64 / seconds / 1e9;
    Ok((rate(sent.as_secs_f64()), rate(received.as_secs_f64())))
}

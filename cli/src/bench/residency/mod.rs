//! Models that share a device's memory: how fast a slot is loaded beside a plain copy of pinned memory, what
//! a hit and an eviction cost, how a request that finds nothing loaded overlaps with its work, and how many
//! bytes requests load beside the least that is possible.
//!
//! Times are the host's, from a call to the end of a wait for all that it has put.

mod orders;
mod overlap;

use std::time::Instant;

use cupola_managers::{Context, Device, Error, PinnedBuffer, PoolConfig, Stream, ops};
use cupola_residency::{
    Loader, LoaderError, Residency, ResidencyConfig, ResidencyError, Slot, SlotConfig,
};

use super::{Figures, median};

const MIB: u64 = 1 << 20;

/// Sizes of a measurement.
struct Plan {
    rounds: usize,
    hits: u32,
    /// Slots that are loaded, in MiB.
    sizes: &'static [u64],
    /// The model that computes, and what is filled in its layers, in MiB.
    model: u64,
    scratch: u64,
    /// Bytes that are evicted at once, in MiB.
    evicted: u64,
    orders: orders::Plan,
}

impl Plan {
    fn new(quick: bool, is_software: bool) -> Self {
        match (quick, is_software) {
            (true, _) => Self {
                rounds: 1,
                hits: 1,
                sizes: &[4],
                model: 26,
                scratch: 1,
                evicted: 32,
                orders: orders::Plan::small(13),
            },
            (false, true) => Self {
                rounds: 5,
                hits: 1000,
                sizes: &[16, 64, 256],
                model: 208,
                scratch: 1,
                evicted: 256,
                orders: orders::Plan::small(200),
            },
            (false, false) => Self {
                rounds: 11,
                hits: 10_000,
                sizes: &[16, 64, 256, 1024, 4096],
                model: 1300,
                scratch: 512,
                evicted: 8192,
                orders: orders::Plan::full(),
            },
        }
    }
}

/// A group of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Slots that are loaded, beside plain copies.
    Loads,
    /// Leases of slots that are there, and evictions.
    Slots,
    /// Requests that find nothing loaded.
    Cold,
    /// Requests for models in four orders.
    Orders,
}

/// What is measured.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// So little that the figures mean nothing.
    pub quick: bool,
    /// Only these rows; all where there are none.
    pub only: Vec<Part>,
    /// Bytes of a piece, if not as many as a residency has by itself.
    pub piece: Option<u64>,
}

impl Options {
    fn has(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Measures slots on `device`.
///
/// # Errors
/// What the driver returned, or that the device or the host has too little memory.
pub fn run(device: &Device, name: String, options: &Options) -> Result<Figures, ResidencyError> {
    let context = device.primary()?;
    let is_software = !super::is_system_driver(device)?;
    let plan = Plan::new(options.quick, is_software);
    let stream = context.streams().create(Default::default())?;
    let bench = Bench {
        context,
        stream,
        piece: options.piece,
    };
    let mut figures = Figures::new("residency", name);
    if options.has(Part::Loads) {
        for &size in plan.sizes {
            bench.load(&mut figures, size * MIB, plan.rounds)?;
        }
    }
    if options.has(Part::Slots) {
        bench.hit(&mut figures, &plan)?;
        bench.evict(&mut figures, &plan)?;
    }
    if options.has(Part::Cold) {
        overlap::run(&bench, &mut figures, device.info()?, &plan)?;
    }
    if options.has(Part::Orders) {
        orders::run(&bench, &mut figures, &plan.orders)?;
    }
    Ok(figures)
}

struct Bench {
    context: Context,
    stream: Stream,
    piece: Option<u64>,
}

/// Weights that cost no time to read: all bytes are the same.
struct Weights(u64);

impl Loader for Weights {
    fn bytes(&self) -> Result<u64, LoaderError> {
        Ok(self.0)
    }

    fn read(&self, _: u64, into: &mut [u8]) -> Result<(), LoaderError> {
        into.fill(7);
        Ok(())
    }
}

/// What `work` takes, in microseconds.
fn micros<E>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64() * 1e6)
}

fn gigabytes(bytes: u64, micros: &[f64]) -> Vec<f64> {
    micros.iter().map(|&it| bytes as f64 / it / 1e3).collect()
}

impl Bench {
    fn wait(&self) -> Result<(), Error> {
        self.stream.ticket()?.wait()
    }

    fn config(&self, limit: u64) -> ResidencyConfig {
        let config = ResidencyConfig::limit(limit);
        let piece = self.piece.unwrap_or(config.piece);
        ResidencyConfig {
            piece,
            chunk: config.chunk.max(piece),
            ..config
        }
    }

    fn slot(residency: &Residency, name: &str, bytes: u64) -> Result<Slot, ResidencyError> {
        residency.register(SlotConfig::new(name), Weights(bytes))
    }

    /// Loads a slot in place of another one, and copies as much by hand, by turns.
    fn load(&self, figures: &mut Figures, bytes: u64, rounds: usize) -> Result<(), ResidencyError> {
        let len = bytes as usize;
        let host: PinnedBuffer<u8> = self.context.buffers().pinned(len)?;
        let pool = self
            .context
            .memory_pool(PoolConfig::limit(bytes + 32 * MIB))?;
        let mut there = pool.allocate::<u8>(len, &self.stream)?;
        let residency = Residency::new(&self.context, self.config(bytes))?;
        let slots = [
            Self::slot(&residency, "one", bytes)?,
            Self::slot(&residency, "two", bytes)?,
        ];
        let load = |slot: &Slot| -> Result<(), ResidencyError> {
            drop(residency.lease(slot, &self.stream)?);
            Ok(self.wait()?)
        };
        // The host copies are made, and the memory.
        slots.iter().try_for_each(load)?;
        let (mut copies, mut loads, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            copies.push(micros(|| {
                ops::copy_to_device(&host, &mut there, &self.stream)?;
                self.wait()
            })?);
            let slot = &slots[round % 2];
            whole.push(micros(|| load(slot))?);
            // Into memory that is kept.
            residency.evict(slot)?;
            loads.push(micros(|| load(slot))?);
        }
        let size = format!("{} MiB", bytes / MIB);
        let by_hand = format!("a copy of {size} of pinned memory");
        let kept = format!("a slot of {size}, into kept memory");
        let other = format!("a slot of {size}, in place of another");
        figures.push(&by_hand, "GB/s", &gigabytes(bytes, &copies), None);
        figures.push(&kept, "GB/s", &gigabytes(bytes, &loads), Some(&by_hand));
        figures.push(&other, "GB/s", &gigabytes(bytes, &whole), Some(&by_hand));
        for (row, taken) in [(&kept, &loads), (&other, &whole)] {
            if bytes >= 256 * MIB {
                figures.want_least(row, 0.97, &by_hand);
                continue;
            }
            let beyond = median(taken) - median(&copies);
            let row = format!("{row}: beyond the copy");
            figures.push(&row, "us", &[beyond], None).want(100.0);
        }
        Ok(())
    }

    /// Leases of a slot that is there.
    fn hit(&self, figures: &mut Figures, plan: &Plan) -> Result<(), ResidencyError> {
        let residency = Residency::new(&self.context, self.config(64 * MIB))?;
        let slot = Self::slot(&residency, "hit", 4 * MIB)?;
        drop(residency.lease(&slot, &self.stream)?);
        self.wait()?;
        let mut hits = Vec::new();
        for _ in 0..plan.rounds {
            let all = micros(|| {
                for _ in 0..plan.hits {
                    drop(residency.lease(&slot, &self.stream)?);
                }
                Ok::<_, ResidencyError>(())
            })?;
            hits.push(all * 1e3 / f64::from(plan.hits));
        }
        figures.push("a lease of a slot that is there", "ns", &hits, None);
        Ok(())
    }

    /// Slots give all their memory up.
    fn evict(&self, figures: &mut Figures, plan: &Plan) -> Result<(), ResidencyError> {
        let bytes = plan.evicted * MIB / 8;
        let residency = Residency::new(&self.context, self.config(plan.evicted * MIB))?;
        let mut slots = Vec::new();
        for number in 0..8 {
            // No host copies: pinning them takes longer than everything else.
            let config = SlotConfig::new(format!("{number}")).without_host_copy();
            slots.push(residency.register(config, Weights(bytes))?);
        }
        let mut taken = Vec::new();
        for _ in 0..plan.rounds.min(3) {
            for slot in &slots {
                drop(residency.lease(slot, &self.stream)?);
            }
            self.wait()?;
            let all = micros(|| {
                slots
                    .iter()
                    .try_for_each(|it| residency.evict(it).map(drop))
            })?;
            taken.push(all / 1e3);
        }
        let row = format!("{} MiB of unchanged slots are evicted", plan.evicted);
        figures.push(&row, "ms", &taken, None).want(10.0);
        let written = residency.metrics().bytes_written_back as f64;
        let row = figures.push("bytes that were copied for it", "B", &[written], None);
        row.want(0.0);
        Ok(())
    }
}

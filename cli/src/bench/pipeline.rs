//! The three-stream pipeline beside the same work in sequence (a pipeline of one slot).
//!
//! Each item is uploaded, scaled `repeats` times, and downloaded. `repeats` is tuned so
//! that the kernels take as long as the upload, ten times as long, and a tenth. The bound
//! of a ratio is `(h + k + d) / (f * max(h, k, d))`: f is how much longer a transfer takes
//! while the other direction runs, and counts only where transfers are the bound.

use std::time::Instant;

use cupola_kernels::Kernels;
use cupola_managers::buffer::{Buffer, PinnedBuffer};
use cupola_managers::event::EventConfig;
use cupola_managers::ops;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Context, Device, Error};

use super::{Figures, median};
use cupola::{MemoryPool, PoolConfig, Stream, StreamConfig};

/// Copies or kernels in a row that are timed together: what an event costs disappears.
const PAIRS: u32 = 16;

/// Sizes of a measurement.
struct Plan {
    elements: usize,
    items: u64,
    rounds: usize,
}

/// What the pool has from the driver beside what is asked for: it takes whole pages.
const PAGES: u64 = 16 << 20;

/// Measures the pipeline on `device`; with `quick` so few items that the figures mean nothing.
///
/// # Errors
/// What the driver returned.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, Error> {
    let context = device.primary()?;
    // The interpreter needs no megabytes to be busy for long.
    let software = name.contains("software");
    let plan = if quick {
        Plan {
            elements: 1 << 10,
            items: 4,
            rounds: 1,
        }
    } else if software {
        Plan {
            elements: 32 << 10,
            items: 12,
            rounds: 3,
        }
    } else {
        Plan {
            elements: 4 << 20,
            items: 200,
            rounds: 5,
        }
    };
    let bytes = (plan.elements * size_of::<f32>()) as u64;
    let pool = context.memory_pool(PoolConfig::limit(10 * bytes + PAGES))?;
    let mut figures = Figures::new("pipeline", name);

    let kernels = Kernels::load(&context, device.info()?)?;
    let stages = Stages::measure(&context, &pool, &plan, &kernels)?;
    let gigabytes = |us: f64| bytes as f64 / us / 1e3;
    figures.push("upload alone", "us", &stages.upload, None);
    figures.push("download alone", "us", &stages.download, None);
    figures.push(
        "both directions at once",
        "us",
        &stages.both,
        Some("upload alone"),
    );
    figures.push("kernel alone", "us", &stages.kernel, None);
    figures.push(
        "upload rate",
        "GB/s",
        &[gigabytes(median(&stages.upload))],
        None,
    );
    figures.push(
        "download rate",
        "GB/s",
        &[gigabytes(median(&stages.download))],
        None,
    );

    let (h, d) = (median(&stages.upload), median(&stages.download));
    let one = median(&stages.kernel);
    let duplex = (median(&stages.both) / h.max(d)).max(1.0);
    for (ratio, share) in [("1:1", 1.0), ("10:1", 10.0), ("1:10", 0.1)] {
        let repeats = (h * share / one).round().clamp(1.0, 2000.0);
        let k = one * repeats;
        let serial = rounds(&context, &pool, &plan, &kernels, repeats as u32, 1)?;
        let overlapped = rounds(&context, &pool, &plan, &kernels, repeats as u32, 3)?;
        let name = format!("{ratio} in sequence");
        figures.push(&name, "us/item", &serial, None);
        figures.push(
            &format!("{ratio} overlapped"),
            "us/item",
            &overlapped,
            Some(&name),
        );
        let speedup = median(&serial) / median(&overlapped);
        let bound = (h + k + d) / k.max(duplex * h.max(d));
        figures.push(&format!("{ratio} speed-up"), "x", &[speedup], None);
        figures.push(&format!("{ratio} bound"), "x", &[bound], None);
        figures.push(
            &format!("{ratio} efficiency"),
            "of the bound",
            &[speedup / bound],
            None,
        );
    }
    Ok(figures)
}

/// Microseconds of each stage alone, by the device's clock.
struct Stages {
    upload: Vec<f64>,
    download: Vec<f64>,
    both: Vec<f64>,
    kernel: Vec<f64>,
}

impl Stages {
    fn measure(
        context: &Context,
        pool: &MemoryPool,
        plan: &Plan,
        kernels: &Kernels,
    ) -> Result<Self, Error> {
        let streams = [
            context.streams().create(StreamConfig::default())?,
            context.streams().create(StreamConfig::default())?,
        ];
        let [stream, other] = &streams;
        let mut from: PinnedBuffer<f32> = context.buffers().pinned(plan.elements)?;
        let mut to: PinnedBuffer<f32> = context.buffers().pinned(plan.elements)?;
        from.as_mut_slice()?.fill(1.0);
        let mut input: Buffer<f32> = pool.allocate(plan.elements, stream)?;
        let mut output: Buffer<f32> = pool.allocate(plan.elements, stream)?;
        ops::zero(&mut output, stream)?;
        ops::synchronize(stream)?;

        let mut found = Self {
            upload: vec![],
            download: vec![],
            both: vec![],
            kernel: vec![],
        };
        for _ in 0..plan.rounds.max(5) {
            found.upload.push(timed(context, stream, || {
                ops::copy_to_device(&from, &mut input, stream)
            })?);
            found.download.push(timed(context, stream, || {
                ops::copy_to_host(&output, &mut to, stream)
            })?);
            let start = Instant::now();
            for _ in 0..PAIRS {
                ops::copy_to_device(&from, &mut input, stream)?;
                ops::copy_to_host(&output, &mut to, other)?;
            }
            ops::synchronize(stream)?;
            ops::synchronize(other)?;
            found
                .both
                .push(start.elapsed().as_secs_f64() * 1e6 / f64::from(PAIRS));
            let scaled = timed(context, stream, || {
                for _ in 0..PAIRS {
                    kernels.scale(1.5, &input, &mut output, stream)?;
                }
                Ok(())
            })?;
            found.kernel.push(scaled / f64::from(PAIRS));
        }
        // The first round warms up.
        for rounds in [
            &mut found.upload,
            &mut found.download,
            &mut found.both,
            &mut found.kernel,
        ] {
            rounds.remove(0);
        }
        Ok(found)
    }
}

/// Microseconds between two events around what `put` puts on `stream`.
fn timed(
    context: &Context,
    stream: &Stream,
    put: impl FnOnce() -> Result<(), Error>,
) -> Result<f64, Error> {
    let config = EventConfig {
        timing: true,
        ..EventConfig::default()
    };
    let (start, end) = (
        context.events().create(config)?,
        context.events().create(config)?,
    );
    ops::record(&start, stream)?;
    put()?;
    ops::record(&end, stream)?;
    ops::synchronize_event(&end)?;
    Ok(f64::from(ops::elapsed(&start, &end)?) * 1e3)
}

/// Microseconds for an item through a pipeline of `depth` slots, for each round.
fn rounds(
    context: &Context,
    pool: &MemoryPool,
    plan: &Plan,
    kernels: &Kernels,
    repeats: u32,
    depth: usize,
) -> Result<Vec<f64>, Error> {
    let config = PipelineConfig::new(plan.elements, plan.elements).depth(depth);
    let mut pipeline = Pipeline::<f32, f32>::new(context, pool, config)?;
    let mut found = Vec::new();
    for round in 0..=plan.rounds {
        let mut left = plan.items;
        let start = Instant::now();
        pipeline.run(
            |_| {
                // What the slot holds from before is as good as anything: the pipeline is
                // measured, not the host's memory.
                let more = left > 0;
                left -= u64::from(more);
                Ok::<_, Error>(more.then_some(plan.elements))
            },
            |mut step| {
                for _ in 0..repeats {
                    kernels.scale(1.5, step.input, step.output.reborrow(), step.stream)?;
                }
                Ok(plan.elements)
            },
            |_| Ok(()),
        )?;
        // The first round warms up.
        if round > 0 {
            found.push(start.elapsed().as_secs_f64() * 1e6 / plan.items as f64);
        }
    }
    Ok(found)
}

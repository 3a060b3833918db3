//! The stages alone, in the same run: what a pipeline can reach at most.

use std::time::Instant;

use cupola::MemoryPool;
use cupola_managers::buffer::{Buffer, PinnedBuffer};
use cupola_managers::ops;
use cupola_managers::{Context, Error};

use super::kernel::{Work, timed};

/// Copies in a row that are timed together.
const COPIES: u32 = 16;

/// Microseconds of each stage alone, by the device's clock, for each round.
pub(super) struct Stages {
    pub(super) upload: Vec<f64>,
    pub(super) download: Vec<f64>,
    /// A copy of each direction, both at once.
    pub(super) both: Vec<f64>,
}

impl Stages {
    pub(super) fn measure(
        context: &Context,
        pool: &MemoryPool,
        work: &Work,
        elements: usize,
        rounds: usize,
    ) -> Result<Self, Error> {
        let streams = [
            context.streams().create(Default::default())?,
            context.streams().create(Default::default())?,
        ];
        let [stream, other] = &streams;
        let mut from: PinnedBuffer<f32> = context.buffers().pinned(elements)?;
        let mut to: PinnedBuffer<f32> = context.buffers().pinned(elements)?;
        from.as_mut_slice()?.fill(1.0);
        let mut input: Buffer<f32> = pool.allocate(elements, stream)?;
        let mut output: Buffer<f32> = pool.allocate(elements, stream)?;
        ops::zero(&mut input, stream)?;
        work.put(input.view(), output.view_mut(), 1, stream)?;
        ops::synchronize(stream)?;

        let mut found = Self {
            upload: Vec::new(),
            download: Vec::new(),
            both: Vec::new(),
        };
        for round in 0..=rounds.max(5) {
            let upload = timed(context, stream, COPIES, || {
                ops::copy_to_device(&from, &mut input, stream)
            })?;
            let download = timed(context, stream, COPIES, || {
                ops::copy_to_host(&output, &mut to, stream)
            })?;
            let start = Instant::now();
            for _ in 0..COPIES {
                ops::copy_to_device(&from, &mut input, stream)?;
                ops::copy_to_host(&output, &mut to, other)?;
            }
            ops::synchronize(stream)?;
            ops::synchronize(other)?;
            let both = start.elapsed().as_secs_f64() * 1e6 / f64::from(COPIES);
            // The first round warms up.
            if round > 0 {
                found.upload.push(upload);
                found.download.push(download);
                found.both.push(both);
            }
        }
        Ok(found)
    }
}

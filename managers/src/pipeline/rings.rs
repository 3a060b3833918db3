//! `DeviceRing`: the device memory of the items in flight, of the inputs or of the outputs.
//!
//! There may be less of it than slots: an input is free when its kernels have run, and an output when
//! its download has, which both is earlier than the item is taken. The device waits for that.

use std::num::NonZeroUsize;

use cupola_core::Turn;

use crate::buffer::{Buffer, DeviceCopy};
use crate::error::Result;
use crate::pool::MemoryPool;
use crate::stream::Stream;

/// Buffers that items use one after the other.
pub(super) struct DeviceRing<T: DeviceCopy> {
    buffers: Vec<Used<T>>,
    /// Which the next item uses.
    next: usize,
}

/// A buffer, and the turn that used it last.
struct Used<T: DeviceCopy> {
    buffer: Buffer<T>,
    last: Option<Turn>,
}

impl<T: DeviceCopy> DeviceRing<T> {
    /// So many buffers of `len` elements, of `home` and used on `other` too.
    #[track_caller]
    pub(super) fn new(
        count: NonZeroUsize,
        len: usize,
        pool: &MemoryPool,
        home: &Stream,
        other: &Stream,
    ) -> Result<Self> {
        let mut buffers = Vec::new();
        for _ in 0..count.get() {
            let buffer = Self::allocate(len, pool, home, other)?;
            buffers.push(Used { buffer, last: None });
        }
        Ok(Self { buffers, next: 0 })
    }

    /// A buffer of `len` elements, of `home` and used on `other` too.
    #[track_caller]
    pub(super) fn allocate(
        len: usize,
        pool: &MemoryPool,
        home: &Stream,
        other: &Stream,
    ) -> Result<Buffer<T>> {
        let buffer = pool.allocate(len, home)?;
        // The other stream waits once, here.
        buffer.used_on(other)?;
        Ok(buffer)
    }

    /// Adds a buffer, which the next item uses.
    pub(super) fn add(&mut self, buffer: Buffer<T>) {
        self.next = self.buffers.len();
        self.buffers.push(Used { buffer, last: None });
    }

    /// The place of the buffer that `turn` uses, and the turn that used it before.
    pub(super) fn take(&mut self, turn: Turn) -> (usize, Option<Turn>) {
        let place = self.next;
        self.next = (place + 1) % self.buffers.len();
        (place, self.buffers[place].last.replace(turn))
    }

    pub(super) fn buffer(&self, place: usize) -> &Buffer<T> {
        &self.buffers[place].buffer
    }

    pub(super) fn buffer_mut(&mut self, place: usize) -> &mut Buffer<T> {
        &mut self.buffers[place].buffer
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_sim::{Machine, Strict};
    use cupola_sys::driver::id;

    use crate::pipeline::{Pipeline, PipelineConfig};
    use crate::test_bench::TestBench;
    use crate::{Error, ops};

    // Without it an upload could overwrite an input that kernels still read, or a kernel an output
    // that is still copied.
    #[test]
    fn the_device_waits_until_a_buffer_is_free_again() {
        let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
        for (input, output) in [(1, 1), (1, 2), (2, 1), (2, 2), (4, 2), (2, 4), (9, 9)] {
            let machine = Machine::builder().worker_threads(2).strict(strict);
            let bench = TestBench::on(machine);
            let pool = bench.pool(8 << 20);
            let config = PipelineConfig::new(100, 100).depth(4).split(input, output);
            let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, config).unwrap();
            let whole = input >= 4 && output >= 4;
            let buffers = pool.usage().unwrap().blocks;
            assert_eq!(buffers, (input.min(4) + output.min(4)) as u64);
            let (mut sent, mut seen) = (0, 0);
            bench.faults.reset();
            let report = pipeline.run::<Error>(
                |slot| {
                    slot.fill(sent);
                    sent += 1;
                    Ok((sent <= 40).then_some(100))
                },
                |step| ops::copy(step.input, step.output, step.stream).map(|()| 100),
                |item| {
                    assert_eq!(item.output, [seen; 100]);
                    seen += 1;
                    Ok(())
                },
            );
            assert_eq!((report.unwrap().items, seen), (40, 40));
            assert_eq!(bench.machine.findings(), [], "{input} and {output}");
            let waits = bench.faults.count(id::cuStreamWaitEvent);
            assert_eq!(waits > 80, !whole, "{input} and {output}: {waits} waits");
        }
        let bench = TestBench::new();
        let pool = bench.pool(8 << 20);
        for (input, output) in [(0, 1), (1, 0)] {
            let config = PipelineConfig::new(1, 1).split(input, output);
            let refused = Pipeline::<u8, u8>::new(&bench.context, &pool, config);
            let Err(Error::Invalid { field, .. }) = refused else {
                panic!("a pipeline without device memory");
            };
            assert_eq!(field, "pipeline rings");
        }
    }
}

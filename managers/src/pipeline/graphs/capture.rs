//! `captured`: the work of one item as an executable graph.

use super::{KernelCopy, Shape};
use crate::buffer::{Buffer, DeviceCopy};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::graph::{CaptureConfig, Graph, GraphExec};
use crate::pipeline::item::{Progress, Step};
use crate::pipeline::slot::{HostEnds, Slot, StageFences};
use crate::stream::Stream;

/// The stages of earlier items that an item's come after, as in its [`Shape`].
pub(in crate::pipeline) struct Order {
    before: Option<StageFences>,
    read_by: Option<StageFences>,
    copied_by: Option<StageFences>,
}

impl Order {
    pub(in crate::pipeline) fn of<I: DeviceCopy, O: DeviceCopy>(
        shape: &Shape,
        slots: &[Slot<I, O>],
    ) -> Self {
        let fences = |slot: Option<usize>| slot.map(|slot| slots[slot].fences().clone());
        Self {
            before: fences(shape.before),
            read_by: fences(shape.read_by),
            copied_by: fences(shape.copied_by),
        }
    }
}

/// Why there is no graph.
pub(in crate::pipeline) enum Refusal {
    /// The step does not say that it repeats, where it has to.
    Opaque,
    /// The step failed.
    Step,
    /// A call failed.
    Call(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

/// The work of one item, to be launched.
pub(in crate::pipeline) struct Captured {
    pub(in crate::pipeline) exec: GraphExec,
    /// Elements that the step writes.
    pub(in crate::pipeline) written: usize,
    /// Whether the step says that it repeats.
    pub(in crate::pipeline) repeats: bool,
}

/// Captures the upload, the step and the download of the item in `slot`, on one stream and with the
/// events of the stages, and makes an executable of them. `copy` makes the copies that are its to make.
#[track_caller]
pub(in crate::pipeline) fn captured<I: DeviceCopy, O: DeviceCopy, E>(
    context: &Context,
    slot: &mut Slot<I, O>,
    input: &Buffer<I>,
    output: &mut Buffer<O>,
    order: &Order,
    copy: Option<&KernelCopy>,
    step: &mut impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
) -> Result<Captured, Refusal> {
    let mut progress = Progress::default();
    let mut has_failed = false;
    let kernel = match copy {
        Some(copy) => Some(ByKernel::new(copy, slot)?),
        None => None,
    };
    let captured = Graph::capture(context, CaptureConfig::default(), |capture| {
        let stream = capture.stream().clone();
        let own = slot.fences().clone();
        if let Some(reader) = &order.read_by
            && !mutant!("graph_step_overtakes_a_reader")
        {
            capture.wait_outside(reader.computed.event())?;
        }
        // Copies need no order among themselves but by the memory: an engine does them one by one.
        if !ByKernel::upload(kernel.as_ref(), slot, input, &stream)? {
            slot.put_upload(input, &stream)?;
        }
        if let Some(copier) = &order.copied_by
            && !mutant!("graph_step_overtakes_a_copy")
        {
            capture.wait_outside(copier.downloaded.event())?;
        }
        if let Some(before) = &order.before
            && !mutant!("graph_step_overtakes_kernels")
        {
            capture.wait_outside(before.computed.event())?;
        }
        let Ok(written) = step(slot.step(&stream, input, output, &mut progress)?) else {
            has_failed = true;
            return Err(Error::invalid("step", "it failed in a capture"));
        };
        slot.set_written(written)?;
        capture.record_outside(own.computed.event())?;
        if !ByKernel::download(kernel.as_ref(), slot, output, &stream)? {
            slot.put_download(output, &stream)?;
        }
        capture.record_outside(own.downloaded.event())?;
        Ok(written)
    });
    let made = captured.and_then(|(graph, written)| {
        Ok(Captured {
            exec: graph.instantiate()?,
            written,
            repeats: progress.repeats,
        })
    });
    made.map_err(|error| match has_failed {
        true => Refusal::Step,
        false => Refusal::Call(error),
    })
}

/// The kernel that makes copies, and the slot's memory for it.
struct ByKernel<'k> {
    copy: &'k KernelCopy,
    host: HostEnds,
}

impl<'k> ByKernel<'k> {
    #[track_caller]
    fn new<I: DeviceCopy, O: DeviceCopy>(copy: &'k KernelCopy, slot: &Slot<I, O>) -> Result<Self> {
        let host = slot.device_addresses()?;
        Ok(Self { copy, host })
    }

    /// Puts the upload of a slot's item if there is the kernel, and the copy is its to make. Whether it did.
    fn upload<I: DeviceCopy, O: DeviceCopy>(
        kernel: Option<&Self>,
        slot: &Slot<I, O>,
        input: &Buffer<I>,
        stream: &Stream,
    ) -> Result<bool> {
        let Some(Self { copy, host }) = kernel else {
            return Ok(false);
        };
        let (from, to, bytes) = (host.input, input.as_raw(), slot.input_bytes());
        // SAFETY: both ends have room for `bytes`, and the pipeline waits for the copy before a caller
        // may touch or free them.
        unsafe { copy.put_if_small(from, to, bytes, stream) }
    }

    /// The same of the download.
    fn download<I: DeviceCopy, O: DeviceCopy>(
        kernel: Option<&Self>,
        slot: &Slot<I, O>,
        output: &Buffer<O>,
        stream: &Stream,
    ) -> Result<bool> {
        let Some(Self { copy, host }) = kernel else {
            return Ok(false);
        };
        let (from, to, bytes) = (output.as_raw(), host.output, slot.output_bytes());
        // SAFETY: as in `upload`.
        unsafe { copy.put_if_small(from, to, bytes, stream) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_sim::{Machine, Strict};
    use cupola_sys::driver::id;

    use crate::pipeline::PipelineBuilder;
    use crate::test_bench::TestBench;
    use crate::{Error, ops};

    // Without it the stages of an item that is launched as a graph could use memory that those of an
    // earlier item still use: between kernels, on their way in, or on their way out.
    #[test]
    fn stages_come_after_those_of_the_item_before() {
        let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
        for (input, output) in [(1, 1), (3, 1), (1, 3), (2, 2), (3, 3)] {
            let bench = TestBench::on(Machine::builder().worker_threads(2).strict(strict));
            let pool = bench.pool(8 << 20);
            let (mut pipeline, mut chain) = PipelineBuilder::upload::<u32>(100)
                .repeating::<u32>(100, |step| {
                    ops::copy(step.input, step.output, step.stream).map(|()| 100)
                })
                .repeating::<u32>(100, |step| {
                    ops::copy(step.input, step.output, step.stream).map(|()| 100)
                })
                .split(input, output)
                .build(&bench.context, &pool)
                .unwrap();
            let (mut sent, mut seen) = (0, 0);
            let run = pipeline.run::<Error>(
                |slot| {
                    slot.fill(sent);
                    sent += 1;
                    Ok((sent <= 60).then_some(100))
                },
                |step| chain.put(step),
                |item| {
                    assert_eq!(item.output, [seen; 100]);
                    seen += 1;
                    Ok(())
                },
            );
            assert_eq!(run.unwrap().items, 60);
            let report = pipeline.graph_report();
            assert!(report.launched > 40, "{input} and {output}: {report}");
            assert_eq!(bench.machine.findings(), [], "{input} and {output}");
        }
    }

    // Without it the kernel could leave bytes out, or copy more than there are, or its copies could be
    // in no order with the kernels of other items, or be none of its at all.
    #[test]
    fn small_copies_are_a_kernels() {
        let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
        let lens = [
            0, 1, 15, 16, 17, 31, 33, 128, 2047, 2048, 2049, 4096, 4097, 5000,
        ];
        for most in [16, 4096] {
            let bench = TestBench::on(Machine::builder().worker_threads(2).strict(strict));
            let pool = bench.pool(8 << 20);
            let (mut pipeline, mut chain) = PipelineBuilder::upload::<u8>(5000)
                .repeating::<u8>(5000, |step| {
                    let len = step.input.len();
                    ops::copy(step.input, step.output.slice(..len)?, step.stream).map(|()| len)
                })
                .kernel_copies(most)
                .build(&bench.context, &pool)
                .unwrap();
            for len in lens {
                let (mut sent, mut seen) = (0, 0);
                bench.faults.reset();
                let byte = |item: usize, at: usize| (item * 31 + at * 7) as u8;
                let run = pipeline.run::<Error>(
                    |slot| {
                        for (at, to) in slot[..len].iter_mut().enumerate() {
                            *to = byte(sent, at);
                        }
                        sent += 1;
                        Ok((sent <= 20).then_some(len))
                    },
                    |step| chain.put(step),
                    |item| {
                        let expected: Vec<u8> = (0..len).map(|at| byte(seen, at)).collect();
                        assert_eq!(item.output, expected, "item {seen} of {len} bytes");
                        seen += 1;
                        Ok(())
                    },
                );
                assert_eq!(run.unwrap().items, 20);
                // Engines copy what is put by calls, and in captures what is too long for the kernel.
                let report = pipeline.graph_report();
                let by_engines = match len {
                    0 => 0,
                    _ if len <= most => report.direct,
                    _ => report.direct + report.captured,
                };
                for copy in [id::cuMemcpyHtoDAsync_v2, id::cuMemcpyDtoHAsync_v2] {
                    assert_eq!(bench.faults.count(copy), by_engines, "{len} of {most}");
                }
            }
            let report = pipeline.graph_report();
            assert!(report.launched > 0, "{report}");
            assert_eq!(bench.machine.findings(), [], "copies of up to {most}");
        }
    }
}

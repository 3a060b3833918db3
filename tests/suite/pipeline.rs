//! The pipeline: every item, in order, intact; and the overlap as the device's clock sees it.

use cupola_kernels::{geometry, reference};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{
    CopyThreads, Graphs, Item, ItemStage, Pipeline, PipelineConfig, Report, Step,
};
use cupola_managers::{DeviceCopy, Error};

use crate::common::{Bench, noise};

fn put<I: DeviceCopy>(kernel: &Function, step: Step<'_, I, u32>) -> Result<usize, Error> {
    let len = step.input.bytes();
    let Step {
        stream,
        input,
        mut output,
        ..
    } = step;
    ops::zero(output.reborrow(), stream)?;
    let grid = geometry::crc32(len, 8);
    let grid = LaunchConfig::linear(grid.blocks, grid.threads);
    // SAFETY: the kernel reads the input's bytes and adds to one word of output.
    unsafe { ops::launch(kernel, grid, (input, len, output), stream) }?;
    Ok(1)
}

/// Sends items of noise through a pipeline that computes their CRC, and compares.
fn check(bench: &Bench, depth: usize, items: u64) {
    let kernel = bench.kernel("cupola_crc32");
    let most = 40_000;
    let config = PipelineConfig::new(most, 1).depth(depth);
    let mut pipeline = Pipeline::<u8, u32>::new(&bench.context, &bench.pool, config).unwrap();
    let item = |index: u64| noise(index + 1, (index as usize * 7919) % (most + 1));
    for round in 0..2 {
        let (mut filled, mut seen) = (0, 0);
        let report: Report = pipeline
            .run::<Error>(
                |input| {
                    if filled == items {
                        return Ok(None);
                    }
                    let data = item(filled);
                    input[..data.len()].copy_from_slice(&data);
                    filled += 1;
                    Ok(Some(data.len()))
                },
                |step| put(&kernel, step),
                |found| {
                    let (index, sent) = (found.index, item(found.index));
                    assert_eq!(index, seen, "round {round}: in order, none lost");
                    assert_eq!(found.input_len, sent.len(), "item {index}");
                    assert_eq!(found.output, [reference::crc32(&sent)], "item {index}");
                    seen += 1;
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!((report.items, seen), (items, items));
        // One look more than there are items: the one that finds the end needs a slot too.
        assert_eq!(report.full_waits, (items + 1).saturating_sub(depth as u64));
        assert_eq!(report.overlap, None);
    }
    drop((pipeline, kernel));
}

// Without it an item could be lost, repeated, overtaken, or mixed with its slot's last one.
#[test]
fn every_item_arrives_in_order_and_intact() {
    let bench = Bench::open();
    check(&bench, 1, 5);
    check(&bench, 2, 30);
    check(&bench, 3, 60);
    check(&bench, 4, 2);
    check(&bench, 5, 0);
    let none = PipelineConfig::new(1, 1).depth(0);
    let refused = Pipeline::<u8, u8>::new(&bench.context, &bench.pool, none);
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "pipeline depth",
            ..
        })
    ));
    bench.finish();
}

// Without it a GPU's driver could order the events in graphs in another way than the software device's.
#[test]
fn items_that_are_launched_as_graphs_arrive_in_order_and_intact() {
    let bench = Bench::open();
    let kernel = bench.kernel("cupola_crc32");
    let most = 60_000;
    let items = if crate::common::on_gpu() { 20_000 } else { 200 };
    let lens = [most, 100, 20_000];
    for config in [
        PipelineConfig::new(most, 1),
        PipelineConfig::new(most, 1).depth(1),
        PipelineConfig::new(most, 1).depth(4).split(2, 2),
    ] {
        // Also where copies block.
        let config = config
            .graphs(Graphs::Steps)
            .copy_threads(CopyThreads::Never);
        let mut pipeline = Pipeline::<u8, u32>::new(&bench.context, &bench.pool, config).unwrap();
        let item = |index: u64| noise(index % 64 + 1, lens[index as usize / 50 % lens.len()]);
        let sums: Vec<_> = (0..items)
            .map(|index| reference::crc32(&item(index)))
            .collect();
        let (mut filled, mut seen) = (0, 0);
        let report = pipeline.run::<Error>(
            |input| {
                if filled == items {
                    return Ok(None);
                }
                let data = item(filled);
                input[..data.len()].copy_from_slice(&data);
                filled += 1;
                Ok(Some(data.len()))
            },
            |step| put(&kernel, step),
            |found| {
                assert_eq!(found.index, seen, "in order, none lost");
                assert_eq!(found.output, [sums[seen as usize]], "item {seen}");
                seen += 1;
                Ok(())
            },
        );
        assert_eq!((report.unwrap().items, seen), (items, items));
        let report = pipeline.graph_report();
        assert!(report.launched > items / 2, "{report}");
    }
    drop(kernel);
    bench.finish();
}

/// Where a run is made to fail.
#[derive(Clone, Copy, PartialEq)]
enum Fail {
    Fill,
    TooLong,
    Step,
    TooMuch,
    Sink,
}

// Without it an error could leave work in flight, leak a slot, or spoil the next run.
#[test]
fn an_error_ends_a_run_and_the_next_one_works() {
    let bench = Bench::open();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &bench.pool, config).unwrap();
    let mut run = |fail: Option<(Fail, u64)>| {
        let hit = |place, index| fail == Some((place, index));
        let error = || Error::Full { kind: "test" };
        let (mut filled, mut seen) = (0, 0);
        let result = pipeline.run::<Error>(
            |input| {
                if filled == 10 {
                    return Ok(None);
                }
                if hit(Fail::Fill, filled) {
                    return Err(error());
                }
                input.fill(filled as u32);
                filled += 1;
                Ok(Some(if hit(Fail::TooLong, filled) { 101 } else { 100 }))
            },
            |step| {
                if hit(Fail::Step, step.index) {
                    return Err(error());
                }
                ops::copy(step.input, step.output, step.stream)?;
                Ok(if hit(Fail::TooMuch, step.index) {
                    101
                } else {
                    100
                })
            },
            |Item { index, output, .. }| {
                if hit(Fail::Sink, index) {
                    return Err(error());
                }
                assert_eq!(output, [index as u32; 100]);
                seen += 1;
                Ok(())
            },
        );
        (result, seen)
    };
    for (place, stage) in [
        (Fail::Fill, ItemStage::Fill),
        (Fail::TooLong, ItemStage::Fill),
        (Fail::Step, ItemStage::Kernel(0)),
        (Fail::TooMuch, ItemStage::Kernel(0)),
        (Fail::Sink, ItemStage::Sink),
    ] {
        for index in [0, 1, 5, 9] {
            let (result, seen) = run(Some((place, index)));
            let never = place == Fail::TooLong && index == 0;
            assert_eq!(result.is_err(), !never, "item {index}: {result:?}");
            if let Err(error) = result {
                let at = index - u64::from(place == Fail::TooLong);
                assert_eq!((error.index, error.stage), (at, stage), "{error}");
            }
            assert!(seen <= index || never);
            let (result, seen) = run(None);
            assert_eq!((result.unwrap().items, seen), (10, 10));
        }
    }
    drop(pipeline);
    bench.finish();
}

// Without it a sink could be given what an earlier, longer item left in its slot, or not be told
// how long its item is.
#[test]
fn a_sink_sees_its_item_and_nothing_of_those_before() {
    let bench = Bench::open();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &bench.pool, config).unwrap();
    let lengths = [100, 100, 100, 7, 0, 100, 1, 99];
    let (mut filled, mut seen) = (0, 0);
    pipeline
        .run::<Error>(
            |input| {
                let Some(&len) = lengths.get(filled) else {
                    return Ok(None);
                };
                input[..len].fill(filled as u32);
                filled += 1;
                Ok(Some(len))
            },
            |step| {
                // The first half of it, rounded up.
                let len = step.input.len().div_ceil(2);
                ops::copy(
                    step.input.slice(..len)?,
                    step.output.slice(..len)?,
                    step.stream,
                )?;
                Ok(len)
            },
            |item| {
                let len = lengths[seen];
                assert_eq!((item.index, item.input_len), (seen as u64, len));
                assert_eq!(item.output, vec![seen as u32; len.div_ceil(2)]);
                seen += 1;
                Ok(())
            },
        )
        .unwrap();
    assert_eq!(seen, lengths.len());
    drop(pipeline);
    bench.finish();
}

// Without it threads that fill could write into a slot that is being read, items be lost, repeated
// or out of order, or a run not end with its threads.
#[test]
fn threads_fill_pinned_slots_and_items_come_in_order() {
    const ITEMS: u64 = 200;
    let bench = Bench::open();
    let kernel = bench.kernel("cupola_crc32");
    let most = 4_000;
    let config = PipelineConfig::new(most, 1);
    let mut pipeline = Pipeline::<u8, u32>::new(&bench.context, &bench.pool, config).unwrap();
    let item = |index: u64| noise(index + 1, (index as usize * 7919) % (most + 1));
    let left_out = |index: u64| index % 17 == 5;
    for producers in [1, 4] {
        let expected: Vec<u64> = (0..ITEMS).filter(|&index| !left_out(index)).collect();
        let mut seen = Vec::new();
        let report = std::thread::scope(|threads| {
            let (producer, consumer) = pipeline.producers();
            for _ in 0..producers {
                let producer = producer.clone();
                threads.spawn(move || {
                    while let Some(mut slot) = producer.slot() {
                        let index = slot.index();
                        if index >= ITEMS {
                            return;
                        }
                        if left_out(index) {
                            continue;
                        }
                        let data = item(index);
                        slot[..data.len()].copy_from_slice(&data);
                        slot.submit(data.len()).unwrap();
                    }
                });
            }
            drop(producer);
            consumer.run::<Error>(
                |step| put(&kernel, step),
                |found| {
                    let sent = item(found.index);
                    assert_eq!(found.input_len, sent.len(), "item {}", found.index);
                    assert_eq!(
                        found.output,
                        [reference::crc32(&sent)],
                        "item {}",
                        found.index
                    );
                    seen.push(found.index);
                    Ok(())
                },
            )
        })
        .unwrap();
        assert_eq!(
            seen, expected,
            "in order, none lost, with {producers} producers"
        );
        assert_eq!(report.items, expected.len() as u64);
    }
    drop((pipeline, kernel));
    bench.finish();
}

// Without it an error could leave threads waiting for a slot for ever, or the next run take an
// item of this one.
#[test]
fn an_error_ends_a_run_for_its_producers() {
    let bench = Bench::open();
    let config = PipelineConfig::new(100, 100);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &bench.pool, config).unwrap();
    let mut run = |fail: Option<u64>, items: u64| {
        std::thread::scope(|threads| {
            let (producer, consumer) = pipeline.producers();
            for _ in 0..2 {
                let producer = producer.clone();
                threads.spawn(move || {
                    while let Some(mut slot) = producer.slot() {
                        let index = slot.index();
                        if index >= items {
                            return;
                        }
                        slot.fill(index as u32);
                        assert!(slot.submit(100).is_ok());
                    }
                });
            }
            drop(producer);
            consumer.run::<Error>(
                |step| {
                    if fail == Some(step.index) {
                        return Err(Error::Full { kind: "test" });
                    }
                    ops::copy(step.input, step.output, step.stream).map(|()| 100)
                },
                |item| {
                    assert_eq!(item.output, [item.index as u32; 100]);
                    Ok(())
                },
            )
        })
    };
    for index in [0, 1, 7] {
        // Without an end of their own: the threads are told.
        let failed = run(Some(index), u64::MAX);
        let failed = failed.unwrap_err();
        assert_eq!((failed.index, failed.stage), (index, ItemStage::Kernel(0)));
        assert_eq!(failed.error, Error::Full { kind: "test" });
        assert_eq!(run(None, 10).unwrap().items, 10);
    }
    // A consumer that never runs, and a slot that is filled too far.
    let (producer, consumer) = pipeline.producers();
    drop(consumer);
    assert!(producer.slot().is_none());
    drop(producer);
    std::thread::scope(|threads| {
        let (producer, consumer) = pipeline.producers();
        threads.spawn(move || {
            let slot = producer.slot().unwrap();
            assert!(slot.submit(101).is_err());
        });
        let report = consumer.run::<Error>(|_| Ok(0), |_| Ok(())).unwrap();
        assert_eq!(report.items, 0);
    });
    drop(pipeline);
    bench.finish();
}

fn overlap(bench: &Bench, depth: usize, bytes: usize) -> cupola_managers::pipeline::OverlapReport {
    let config = PipelineConfig::new(bytes, bytes).depth(depth).measured();
    let mut pipeline = Pipeline::<u8, u8>::new(&bench.context, &bench.pool, config).unwrap();
    let mut left = 24;
    let report = pipeline
        .run::<Error>(
            |input| {
                left -= 1;
                Ok((left >= 0).then_some(input.len()))
            },
            |step| {
                // A few passes over the memory, so that the stage can be seen.
                let Step {
                    stream,
                    input,
                    mut output,
                    ..
                } = step;
                for _ in 0..4 {
                    ops::copy(input, output.reborrow(), stream)?;
                }
                Ok(bytes)
            },
            |_| Ok(()),
        )
        .unwrap();
    report.overlap.expect("a measured run has times")
}

fn show(what: &str, report: &cupola_managers::pipeline::OverlapReport) {
    println!(
        "{what}: {} items, upload {:.2?}, compute {:.2?}, download {:.2?}, one after the other {:.2?}, \
         took {:.2?}, shared {:.2?}, efficiency {:.3}, {:.2} times faster",
        report.items,
        report.upload,
        report.compute,
        report.download,
        report.serial_sum,
        report.span,
        report.shared,
        report.efficiency,
        report.speedup()
    );
}

// Without it a pipeline whose stages run one after the other would pass every other test.
#[test]
fn stages_overlap_as_the_devices_clock_sees_it() {
    // Slow copies make the stages of the software device long enough to be seen.
    #[cfg(feature = "sim")]
    let bench = Bench::with_device(
        cupola_sim::DeviceConfig::new()
            .upload_bandwidth(100 << 20)
            .download_bandwidth(100 << 20),
    );
    #[cfg(not(feature = "sim"))]
    let bench = Bench::open();
    let bytes = if crate::common::on_gpu() {
        16 << 20
    } else {
        512 << 10
    };
    let (serial, three) = (overlap(&bench, 1, bytes), overlap(&bench, 3, bytes));
    show("1 slot ", &serial);
    show("3 slots", &three);
    assert!(!serial.overlapped, "one slot is serial: {serial:?}");
    // Where copies block too: downloads have a thread of their own, and an upload keeps no more than the next
    // item's waiting. So a step takes as long as its longest stage, or its upload and the host's part.
    assert!(three.overlapped, "three slots overlap: {three:?}");
    bench.finish();
}

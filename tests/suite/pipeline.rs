//! The pipeline: every item, in order, intact; and the overlap as the device's clock sees it.

use cupola_kernels::{geometry, reference};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{Pipeline, PipelineConfig, Report, Step};
use cupola_managers::{DeviceCopy, Error};

use crate::common::{Bench, noise};

fn put<I: DeviceCopy>(kernel: &Function, step: Step<'_, I, u32>) -> Result<(), Error> {
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
    unsafe { ops::launch(kernel, grid, (input, len, output), stream) }
}

/// Sends items of noise through a pipeline that computes their CRC, and compares.
fn check<const SLOTS: usize>(bench: &Bench, items: u64) {
    let kernel = bench.kernel("cupola_crc32");
    let most = 40_000;
    let mut pipeline = Pipeline::<u8, u32, SLOTS>::with_slots(
        &bench.context,
        &bench.pool,
        PipelineConfig::new(most, 1),
    )
    .unwrap();
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
                |index, output| {
                    assert_eq!(index, seen, "round {round}: in order, none lost");
                    assert_eq!(output, [reference::crc32(&item(index))], "item {index}");
                    seen += 1;
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!((report.items, seen), (items, items));
        // One look more than there are items: the one that finds the end needs a slot too.
        assert_eq!(report.full_waits, (items + 1).saturating_sub(SLOTS as u64));
        assert_eq!(report.overlap, None);
    }
    drop((pipeline, kernel));
}

// Without it an item could be lost, repeated, overtaken, or mixed with its slot's last one.
#[test]
fn every_item_arrives_in_order_and_intact() {
    let bench = Bench::open();
    check::<1>(&bench, 5);
    check::<2>(&bench, 30);
    check::<3>(&bench, 60);
    check::<4>(&bench, 2);
    check::<5>(&bench, 0);
    bench.finish();
}

/// Where a run is made to fail.
#[derive(Clone, Copy, PartialEq)]
enum Fail {
    Fill,
    TooLong,
    Step,
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
                ops::copy(step.input, step.output, step.stream)
            },
            |index, output| {
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
    for place in [Fail::Fill, Fail::TooLong, Fail::Step, Fail::Sink] {
        for index in [0, 1, 5, 9] {
            let (result, seen) = run(Some((place, index)));
            let never = place == Fail::TooLong && index == 0;
            assert_eq!(result.is_err(), !never, "item {index}: {result:?}");
            assert!(seen <= index || never);
            let (result, seen) = run(None);
            assert_eq!((result.unwrap().items, seen), (10, 10));
        }
    }
    drop(pipeline);
    bench.finish();
}

fn overlap<const SLOTS: usize>(
    bench: &Bench,
    bytes: usize,
) -> cupola_managers::pipeline::OverlapReport {
    let config = PipelineConfig::new(bytes, bytes).measured();
    let mut pipeline =
        Pipeline::<u8, u8, SLOTS>::with_slots(&bench.context, &bench.pool, config).unwrap();
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
                Ok(())
            },
            |_, _| Ok(()),
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
    let (serial, three) = (overlap::<1>(&bench, bytes), overlap::<3>(&bench, bytes));
    show("1 slot ", &serial);
    show("3 slots", &three);
    assert!(!serial.overlapped, "one slot is serial: {serial:?}");
    assert!(three.overlapped, "three slots overlap: {three:?}");
    bench.finish();
}

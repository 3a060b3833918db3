use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, MachineBuilder, Profile, Strict};
use cupola_sys::driver::{CUresult, id};

use super::{CopyThread, CopyThreads};
use crate::pipeline::{Graphs, Item, MultiPipeline, Pipeline, PipelineConfig, Step};
use crate::test_bench::TestBench;
use crate::{CopyMode, Error, ItemError, ItemStage, ops};

const LEN: usize = 100;

/// A machine whose copies block, and which looks for everything.
fn confidential() -> MachineBuilder {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    Machine::builder()
        .worker_threads(2)
        .profile(Profile::Confidential)
        .strict(strict)
}

/// Three slots whose downloads a thread puts.
fn by_thread() -> PipelineConfig {
    PipelineConfig::new(LEN, LEN).copy_threads(CopyThreads::Always)
}

/// In place of a kernel.
fn copy(step: Step<'_, u32, u32>) -> Result<usize, Error> {
    ops::copy(step.input, step.output, step.stream).map(|()| LEN)
}

/// Fills so many items with their numbers.
fn numbers(items: u64) -> impl FnMut(&mut [u32]) -> Result<Option<usize>, Error> {
    let mut next = 0;
    move |slot| {
        slot.fill(next as u32);
        next += 1;
        Ok((next <= items).then_some(LEN))
    }
}

/// Checks an item, the next after so many.
fn check(seen: &mut u64, item: &Item<'_, u32>) {
    assert_eq!(item.index, *seen);
    assert_eq!(item.output, [item.index as u32; LEN]);
    *seen += 1;
}

// Without it items could be lost, come out of order, or be overwritten before they are downloaded.
#[test]
fn items_come_whole_and_in_order() {
    for config in [
        by_thread(),
        by_thread().depth(1),
        by_thread().depth(5),
        by_thread().split(1, 1),
        by_thread().depth(4).split(3, 2),
        by_thread().adaptive(2..=5),
        by_thread().measured(),
        by_thread().graphs(Graphs::Steps),
    ] {
        let bench = TestBench::on(confidential());
        // Long enough that a kernel which does not wait for it is sooner.
        bench.faults.watch(|call| {
            if call == id::cuMemcpyDtoHAsync_v2 {
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        let pool = bench.pool(8 << 20);
        let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, config).unwrap();
        let mut seen = 0;
        for _ in 0..2 {
            seen = 0;
            let run = pipeline.run(numbers(40), copy, |item| {
                check(&mut seen, &item);
                Ok(())
            });
            assert_eq!(run.unwrap().items, 40, "{config:?}");
        }
        assert_eq!(seen, 40);
        assert_eq!(
            pipeline.graph_report().launched,
            0,
            "a graph has the download"
        );
        assert_eq!(bench.machine.findings(), [], "{config:?}");
        drop((pipeline, pool));
        bench.finish();
    }
}

// Without it a pipeline would be as slow as its copies block, or start a thread where they do not.
#[test]
fn a_thread_puts_downloads_where_copies_block() {
    let device = DeviceConfig::new()
        .upload_bandwidth(500 << 20)
        .download_bandwidth(100 << 20);
    for profile in [Profile::Confidential, Profile::Discrete] {
        let bench = TestBench::on(confidential().profile(profile).device(device.clone()));
        let pool = bench.pool(32 << 20);
        let blocks = profile == Profile::Confidential;
        let reason = match blocks {
            true => CopyThread::CopiesBlock,
            false => CopyThread::NotNeeded,
        };
        // Of the first pipeline of a context it is not known when it is made.
        for (round, known) in [CopyThread::NotNeeded, reason.clone()]
            .into_iter()
            .enumerate()
        {
            let config = PipelineConfig::new(64 << 10, 64 << 10);
            let mut pipeline = Pipeline::<u8, u8>::new(&bench.context, &pool, config).unwrap();
            assert_eq!(pipeline.copy_thread(), &known, "{profile:?} {round}");
            let mut left = 8;
            let run = pipeline.run::<Error>(
                |_| {
                    left -= 1;
                    Ok((left >= 0).then_some(64 << 10))
                },
                |step| ops::copy(step.input, step.output, step.stream).map(|()| 64 << 10),
                |_| Ok(()),
            );
            run.unwrap();
            assert_eq!(pipeline.copy_thread(), &reason, "{profile:?} {round}");
            let told = match blocks {
                true => "a thread of their own, because copies of pinned memory block here",
                false => "the thread that submits items, because no copy was seen to block it",
            };
            assert_eq!(
                pipeline.copy_thread().to_string(),
                format!("downloads are put by {told}")
            );
            let config = PipelineConfig::new(1, 1);
            for (config, expected) in [
                (config.depth(1), CopyThread::OneSlot),
                (config.copy_threads(CopyThreads::Never), CopyThread::Off),
                (config.copy_threads(CopyThreads::Always), CopyThread::Always),
            ] {
                let other = Pipeline::<u8, u8>::new(&bench.context, &pool, config).unwrap();
                assert_eq!(other.copy_thread(), &expected);
            }
        }
        if blocks {
            assert_eq!(bench.context.known_copy_mode(), Some(CopyMode::Blocking));
        }
        drop(pool);
        bench.finish();
    }
}

// Without it an item whose download failed could be told to have arrived, the error be another item's, or the
// items behind it be lost.
#[test]
fn a_download_that_fails_is_told_with_its_item() {
    for call in [
        id::cuMemcpyDtoHAsync_v2,
        id::cuStreamWaitEvent,
        id::cuEventRecord,
    ] {
        let bench = TestBench::on(confidential());
        let pool = bench.pool(8 << 20);
        let config = by_thread().depth(4);
        let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, config).unwrap();
        let submit = |pipeline: &mut Pipeline<u32, u32>, number: u32| {
            let mut input = pipeline.try_input().unwrap();
            input.fill(number);
            input.submit(LEN, copy).unwrap();
        };
        submit(&mut pipeline, 0);
        submit(&mut pipeline, 1);
        // The thread has put both.
        pipeline.synchronize().unwrap();
        bench.faults.reset();
        // The calls of the thread that submits come before: 2 records and 2 waits of the next item.
        let own = match call {
            id::cuEventRecord => 3,
            id::cuStreamWaitEvent => 2,
            _ => 1,
        };
        bench.faults.fail(call, own, CUresult::CUDA_ERROR_UNKNOWN);
        submit(&mut pipeline, 2);
        pipeline.synchronize().unwrap();
        submit(&mut pipeline, 3);
        let mut taken = Vec::new();
        while pipeline.in_flight() > 0 {
            taken.push(match pipeline.output() {
                Ok(item) => {
                    let item = item.unwrap();
                    assert_eq!(item.output, [item.index as u32; LEN]);
                    Ok(item.index)
                }
                Err(ItemError {
                    index,
                    stage,
                    error,
                }) => {
                    assert_eq!(stage, ItemStage::Download, "{call:?}");
                    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_UNKNOWN));
                    assert_eq!(
                        error.location().unwrap().file(),
                        file!(),
                        "the program's place"
                    );
                    Err(index)
                }
            });
        }
        assert_eq!(taken, [Ok(0), Ok(1), Err(2), Ok(3)], "{call:?}");
        // And in a run, which ends with it; the pipeline can be used again.
        bench.faults.reset();
        bench
            .faults
            .fail(id::cuMemcpyDtoHAsync_v2, 6, CUresult::CUDA_ERROR_UNKNOWN);
        let failed = pipeline.run(numbers(20), copy, |_| Ok(())).unwrap_err();
        assert_eq!((failed.index, failed.stage), (5, ItemStage::Download));
        let mut seen = 0;
        let run = pipeline.run(numbers(20), copy, |item| {
            check(&mut seen, &item);
            Ok(())
        });
        assert_eq!((run.unwrap().items, seen), (20, 20));
        drop((pipeline, pool));
        bench.finish();
    }
}

// Without it a pipeline could hang, give memory back that a copy still writes, or leave its thread behind.
#[test]
fn items_in_flight_end_with_the_pipeline() {
    for cancels in [false, true] {
        let bench = TestBench::on(confidential());
        let pool = bench.pool(8 << 20);
        let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, by_thread()).unwrap();
        bench
            .faults
            .delay(id::cuMemcpyDtoHAsync_v2, 1, Duration::from_millis(20));
        let submit = |pipeline: &mut Pipeline<u32, u32>| {
            for _ in 0..3 {
                pipeline.try_input().unwrap().submit(LEN, copy).unwrap();
            }
        };
        submit(&mut pipeline);
        if cancels {
            assert_eq!(pipeline.cancel().unwrap().dropped, 3);
            submit(&mut pipeline);
            assert_eq!(pipeline.output().unwrap().unwrap().index, 0);
        }
        drop((pipeline, pool));
        assert_eq!(bench.machine.findings(), []);
        bench.finish();
    }
}

// Without it a caller could wait for ever for a thread that has met the loss of the context.
#[test]
fn the_loss_of_the_context_reaches_every_caller() {
    let bench = TestBench::on(confidential());
    let pool = bench.pool(8 << 20);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, by_thread()).unwrap();
    let lost = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.faults.fail_from(id::cuMemcpyDtoHAsync_v2, 2, lost);
    let failed = pipeline.run(numbers(20), copy, |_| Ok(())).unwrap_err();
    assert_eq!(failed.error.status(), Some(lost));
    assert!(bench.context.poison().is_some());
    let failed = pipeline.run(numbers(20), copy, |_| Ok(())).unwrap_err();
    assert_eq!(failed.error.status(), Some(lost));
    drop(pipeline);
}

// Without it a program that looks whether an item has arrived would wait for its download.
#[test]
fn a_look_waits_for_no_download() {
    let bench = TestBench::on(confidential());
    let pool = bench.pool(8 << 20);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, by_thread()).unwrap();
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let copies = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&copies);
    bench.faults.watch(move |call| {
        if call == id::cuMemcpyDtoHAsync_v2 && seen.fetch_add(1, Ordering::Relaxed) == 0 {
            // The thread is in its call until the program says so.
            let _ended = held.lock().unwrap().recv();
        }
    });
    pipeline.try_input().unwrap().submit(LEN, copy).unwrap();
    while copies.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    assert!(pipeline.try_output().unwrap().is_none());
    // And submits meanwhile.
    pipeline.try_input().unwrap().submit(LEN, copy).unwrap();
    assert!(pipeline.try_output().unwrap().is_none());
    drop(hold);
    assert_eq!(pipeline.output().unwrap().unwrap().index, 0);
    assert_eq!(pipeline.output().unwrap().unwrap().index, 1);
    drop((pipeline, pool));
    bench.finish();
}

// Without it pipelines of several devices could wait for each other's threads.
#[test]
fn each_pipeline_of_several_has_a_thread_of_its_own() {
    let bench = TestBench::on(confidential().devices(2));
    let mut pipelines = Vec::new();
    for device in bench.execution.devices().iter() {
        let context = device.unwrap().primary().unwrap();
        let pool = context
            .memory_pool(crate::PoolConfig::limit(8 << 20))
            .unwrap();
        pipelines.push(Pipeline::<u32, u32>::new(&context, &pool, by_thread()).unwrap());
    }
    let mut pipeline = MultiPipeline::new(pipelines).unwrap();
    let (mut sent, mut received) = (0, 0);
    while received < 40 {
        match pipeline.try_input().filter(|_| sent < 40) {
            Some(mut input) => {
                input.fill(sent);
                input.submit(LEN, copy).unwrap();
                sent += 1;
            }
            None => {
                let item = pipeline.output().unwrap().unwrap();
                assert_eq!(item.output, [received; LEN]);
                received += 1;
            }
        }
    }
    drop(pipeline);
    bench.finish();
}

//! Steps that repeat, launched as graphs.

use std::cell::Cell;

use cupola_managers::pipeline::{
    DirectReason, Graphs, ItemStage, Pipeline, PipelineBuilder, PipelineConfig, Step,
};
use cupola_managers::{Error, PoolConfig, ops};
use cupola_sim::Machine;
use cupola_sys::driver::{CUresult, id};

use super::test_bench::{PoolBench, TestBench};
use super::{LEN, bench, copy};

fn repeated(bench: &PoolBench, config: PipelineConfig) -> Pipeline<u32, u32> {
    let config = config.graphs(Graphs::Steps);
    Pipeline::new(&bench.base.context, &bench.pool, config).unwrap()
}

fn config() -> PipelineConfig {
    PipelineConfig::new(LEN, LEN)
}

/// Sends items of these lengths through a pipeline, as many at once as it takes, and compares what
/// comes back.
fn check(
    pipeline: &mut Pipeline<u32, u32>,
    lens: impl ExactSizeIterator<Item = usize> + Clone,
    mut step: impl FnMut(Step<'_, u32, u32>) -> Result<usize, Error>,
) {
    let (mut sent, mut seen) = (lens.clone().enumerate(), lens.enumerate());
    let items = seen.len() as u64;
    let report = pipeline.run::<Error>(
        |input| {
            let Some((item, len)) = sent.next() else {
                return Ok(None);
            };
            input.fill(!0);
            input[..len].fill(item as u32);
            Ok(Some(len))
        },
        &mut step,
        |item| {
            let (index, len) = seen.next().expect("no more items than there were");
            assert_eq!((item.index, item.input_len), (index as u64, len));
            assert_eq!(item.output, vec![index as u32; len]);
            Ok(())
        },
    );
    assert_eq!(report.unwrap().items, items);
    assert!(seen.next().is_none(), "an item is lost");
}

// Without it the stages of items that are launched as graphs, or of these and others, could come in
// another order than on three streams, or a graph be launched for an item of another length or place.
#[test]
fn items_are_the_same_as_graphs() {
    let bench = bench();
    let lens: [fn(usize) -> usize; 4] = [
        |_| LEN,
        // Some alike in a row.
        |item| (item / 9 % 3) * 40,
        // Of so many lengths in turn that graphs of all are kept.
        |item| (item % 5) * 20,
        // Of too many.
        |item| (item * 37) % (LEN + 1),
    ];
    for config in [
        config().depth(1),
        config().depth(2),
        config(),
        config().depth(4).split(2, 3),
        config().split(1, 1),
    ] {
        let mut pipeline = repeated(&bench, config);
        for (round, len) in lens.into_iter().chain(lens).enumerate() {
            check(&mut pipeline, (0..90).map(len), copy);
            let report = pipeline.graph_report();
            assert_eq!(report.launched + report.direct, 90, "{round}: {report}");
            match round % 4 {
                0 => assert!(report.launched >= 66, "{config:?}, {round}: {report}"),
                1 => assert!(report.launched >= 30, "{config:?}, {round}: {report}"),
                _ => {}
            }
            if round == 4 {
                assert_eq!(report.direct, 0, "the graphs are there: {report}");
            }
        }
    }
    assert_eq!(bench.base.machine.findings(), []);
    assert_eq!(
        bench.pool.usage().unwrap().blocks,
        0,
        "a graph keeps memory"
    );
}

// Without it a step that may differ from item to item could be launched as it was before.
#[test]
fn only_what_is_said_to_repeat_is_launched() {
    let bench = bench();
    let (context, pool) = (&bench.base.context, &bench.pool);
    let calls = Cell::new(0);
    let counted = |step: Step<'_, u32, u32>| {
        calls.set(calls.get() + 1);
        copy(step)
    };
    let lens = || (0..20).map(|_| LEN);
    let mut opaque = Pipeline::new(context, pool, config()).unwrap();
    check(&mut opaque, lens(), counted);
    let report = opaque.graph_report();
    assert_eq!((report.launched, report.direct, calls.take()), (0, 20, 20));
    assert_eq!(report.reason, Some(DirectReason::Opaque));

    let chain = || PipelineBuilder::upload::<u32>(LEN).repeating::<u32>(LEN, counted);
    let (mut pipeline, mut mixed) = chain()
        .kernel::<u32>(LEN, counted)
        .build(context, pool)
        .unwrap();
    check(&mut pipeline, lens(), |step| mixed.put(step));
    let report = pipeline.graph_report();
    assert_eq!((report.launched, calls.take()), (0, 40));
    assert_eq!(report.reason, Some(DirectReason::Opaque));

    let (mut pipeline, mut known) = chain()
        .repeating::<u32>(LEN, counted)
        .build(context, pool)
        .unwrap();
    check(&mut pipeline, lens(), |step| known.put(step));
    let report = pipeline.graph_report().clone();
    // The first item in each slot is put, and so is the first behind no other: that one once more.
    assert_eq!((report.launched, report.captured), (16, 3), "{report}");
    assert_eq!((report.direct, calls.take()), (4, 2 * 7));
    assert_eq!(report.reason, Some(DirectReason::New));
    assert_eq!(
        report.to_string(),
        "16 items as graphs (3 made), 4 by calls; the last of these because no item lately was as \
         long, in the same memory"
    );

    let off = |config: PipelineConfig| Pipeline::new(context, pool, config).unwrap();
    let mut never = off(config().graphs(Graphs::Never));
    check(&mut never, lens(), copy);
    assert_eq!(never.graph_report().reason, Some(DirectReason::Off));
    let mut measured = off(config().graphs(Graphs::Steps).measured());
    check(&mut measured, lens(), copy);
    assert_eq!(measured.graph_report().reason, Some(DirectReason::Measured));
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it a step that cannot be captured could take its item, or the pipeline, along.
#[test]
fn what_cannot_be_captured_is_put_by_calls() {
    let bench = bench();
    let mut pipeline = repeated(&bench, config());
    check(&mut pipeline, (0..20).map(|_| LEN), |step| {
        // Not allowed while the stream is captured.
        ops::query(step.stream)?;
        copy(step)
    });
    let report = pipeline.graph_report();
    assert_eq!((report.launched, report.direct), (0, 20));
    assert_eq!(report.reason, Some(DirectReason::Step));

    for function in [
        id::cuStreamBeginCapture_v2,
        id::cuStreamEndCapture,
        id::cuEventRecordWithFlags,
        id::cuGraphInstantiateWithFlags,
    ] {
        let faults = &bench.base.faults;
        faults.reset();
        faults.fail(function, 1, CUresult::CUDA_ERROR_NOT_PERMITTED);
        let mut pipeline = repeated(&bench, config());
        check(&mut pipeline, (0..20).map(|_| LEN), copy);
        let report = pipeline.graph_report();
        assert_eq!((report.launched, report.direct), (0, 20));
        let Some(DirectReason::Refused(error)) = &report.reason else {
            panic!("{report}");
        };
        assert!(
            error.to_string().contains("CUDA_ERROR_NOT_PERMITTED"),
            "{error}"
        );
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it a driver that has no graphs, or no events in them, could have no pipelines.
#[test]
fn a_driver_without_graphs_takes_calls() {
    for function in [id::cuStreamBeginCapture_v2, id::cuEventRecordWithFlags] {
        let machine = Machine::builder().without(function);
        let bench = PoolBench::on(TestBench::on(machine), PoolConfig::limit(8 << 20));
        let mut pipeline = repeated(&bench, config());
        check(&mut pipeline, (0..20).map(|_| LEN), copy);
        let reason = pipeline.graph_report().reason.clone();
        let Some(DirectReason::Refused(Error::Unsupported { .. })) = reason else {
            panic!("{reason:?}");
        };
    }
}

// Without it the error of an item's own could be taken for one of its capture.
#[test]
fn an_error_of_the_step_ends_its_item_alone() {
    let bench = bench();
    let mut pipeline = repeated(&bench, config());
    let push = |pipeline: &mut Pipeline<u32, u32>, fails: bool| {
        let mut input = pipeline.try_input().unwrap();
        let value = input.index() as u32;
        input.fill(value);
        let submitted = input.submit::<Error>(LEN, |step| {
            let len = copy(step)?;
            match fails {
                true => Err(Error::Full { kind: "test" }),
                false => Ok(len),
            }
        });
        submitted.map(|_| value)
    };
    let take = |pipeline: &mut Pipeline<u32, u32>, value: u32| {
        assert_eq!(pipeline.output().unwrap().unwrap().output, [value; LEN]);
    };
    for fails in [false, false, false, true, true, false, false, false, false] {
        match push(&mut pipeline, fails) {
            Ok(value) => take(&mut pipeline, value),
            Err(error) => assert_eq!((fails, error.stage), (true, ItemStage::Kernel(0))),
        }
    }
    for _ in 0..4 {
        let value = push(&mut pipeline, false).unwrap();
        take(&mut pipeline, value);
    }
    assert!(
        pipeline.graph_report().launched >= 4,
        "{:?}",
        pipeline.graph_report()
    );
    // A launch that is refused is its item's, and the ones before it are there to be taken.
    let first = push(&mut pipeline, false).unwrap();
    let refused = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.base.faults.reset();
    bench.base.faults.fail(id::cuGraphLaunch, 1, refused);
    let error = push(&mut pipeline, false).unwrap_err();
    assert_eq!(
        (error.index, error.stage),
        (u64::from(first) + 1, ItemStage::Launch)
    );
    take(&mut pipeline, first);
    let next = push(&mut pipeline, false).unwrap();
    take(&mut pipeline, next);
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it what is cancelled, or dropped, while graphs run could be used or freed under them.
#[test]
fn items_in_flight_are_waited_for() {
    let bench = bench();
    for round in 0..6 {
        let mut pipeline = repeated(&bench, config().depth(3));
        for cancelled in 0..3 {
            check(&mut pipeline, (0..12).map(|_| LEN), copy);
            for _ in 0..2 {
                let mut input = pipeline.try_input().unwrap();
                input.fill(7);
                input.submit(LEN, copy).unwrap();
            }
            if cancelled < 2 {
                assert_eq!(pipeline.cancel().unwrap().dropped, 2, "{round}");
            }
        }
        pipeline.synchronize().unwrap();
        assert!(pipeline.graph_report().launched >= 12);
    }
    assert_eq!(bench.pool.usage().unwrap().blocks, 0);
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it a slot that comes back without an item could leave the next one without an order.
#[test]
fn items_around_a_slot_without_one_keep_their_order() {
    let bench = bench();
    let mut pipeline = repeated(&bench, config().depth(4).split(3, 2));
    let (producer, consumer) = pipeline.producers();
    let mut seen = 0;
    std::thread::scope(|threads| {
        threads.spawn(move || {
            while let Some(mut slot) = producer.slot() {
                let index = slot.index();
                if index == 300 {
                    break;
                }
                slot.fill(index as u32);
                if index % 11 != 3 {
                    slot.submit(LEN).unwrap();
                }
            }
        });
        let report = consumer.run::<Error>(copy, |item| {
            assert_eq!(item.output, [item.index as u32; LEN]);
            seen += 1;
            Ok(())
        });
        report.unwrap();
    });
    assert_eq!(seen, (0..300).filter(|index| index % 11 != 3).count());
    assert!(pipeline.graph_report().launched > 100);
    assert_eq!(bench.base.machine.findings(), []);
}

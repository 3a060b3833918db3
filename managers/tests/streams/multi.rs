//! Items over several devices.

use std::collections::BTreeMap;

use cupola_managers::pipeline::{Graphs, ItemStage, MultiPipeline, Pipeline, PipelineConfig, Step};
use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
use cupola_sim::fault::FaultTable;
use cupola_sim::{Machine, Strict};
use cupola_sys::driver::{CUresult, id};

use super::{LEN, copy};

struct Devices {
    machine: Machine,
    faults: FaultTable,
    pipeline: MultiPipeline<u32, u32>,
}

/// A pipeline of each of these depths, on a device of its own.
fn devices(depths: &[usize], graphs: Graphs) -> Devices {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    let machine = Machine::builder().devices(depths.len()).worker_threads(2);
    let machine = machine.strict(strict).build();
    let faults = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(faults.driver()).unwrap();
    let pipelines = depths.iter().enumerate().map(|(ordinal, &depth)| {
        let device = execution.devices().get(ordinal as u32).unwrap();
        let context = device.primary().unwrap();
        let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
        let config = PipelineConfig::new(LEN, LEN).depth(depth).graphs(graphs);
        Pipeline::new(&context, &pool, config).unwrap()
    });
    let pipeline = MultiPipeline::new(pipelines.collect()).unwrap();
    Devices {
        machine,
        faults,
        pipeline,
    }
}

/// Submits an item of its number: the place that it went to, if there was room.
fn push(
    pipeline: &mut MultiPipeline<u32, u32>,
    step: impl FnMut(Step<'_, u32, u32>) -> Result<usize, Error>,
) -> Option<usize> {
    let mut input = pipeline.try_input()?;
    let (index, place) = (input.index(), input.place());
    input.fill(index as u32);
    assert_eq!(input.submit(LEN, step), Ok(index));
    Some(place)
}

#[track_caller]
fn take(pipeline: &mut MultiPipeline<u32, u32>, index: u64) {
    let item = pipeline.output().unwrap().expect("one is in flight");
    assert_eq!((item.index, item.output), (index, &[index as u32; LEN][..]));
}

// Without it an item of one device could overtake, replace or lose one of another, or a device be left
// without work while another has more.
#[test]
fn items_of_several_devices_come_in_the_order_of_all() {
    for graphs in [Graphs::Never, Graphs::Steps] {
        let Devices {
            machine,
            mut pipeline,
            ..
        } = devices(&[3, 3, 6], graphs);
        assert!(pipeline.output().unwrap().is_none());
        let mut places = Vec::new();
        while let Some(place) = push(&mut pipeline, copy) {
            places.push(place);
        }
        // Shares of the slots: one each, then the deep one until it has as large a share.
        assert_eq!(places[..4], [0, 1, 2, 2]);
        let mut counts = BTreeMap::new();
        for place in &places {
            *counts.entry(*place).or_insert(0) += 1;
        }
        assert_eq!(counts, [(0, 3), (1, 3), (2, 6)].into());
        assert_eq!(pipeline.in_flight(), 12);
        for index in 0..300 {
            take(&mut pipeline, index);
            let place = push(&mut pipeline, copy).expect("a slot is free");
            // The one that the item has left.
            assert_eq!(place, places[index as usize]);
            places.push(place);
        }
        let cancelled = pipeline.cancel().unwrap();
        assert_eq!((cancelled.taken, cancelled.dropped), (300, 12));
        for index in 0..3 {
            push(&mut pipeline, |step| {
                assert_eq!(step.index, index, "numbers of all");
                copy(step)
            });
        }
        for index in 0..3 {
            take(&mut pipeline, index);
        }
        for pipeline in pipeline.pipelines() {
            let launched = pipeline.graph_report().launched;
            assert_eq!(launched > 0, graphs == Graphs::Steps);
        }
        assert_eq!(machine.findings(), []);
    }
}

// Without it an item that fails on one device could take those of others along, or shift their numbers.
#[test]
fn an_error_on_one_device_is_that_of_its_item() {
    let Devices {
        machine,
        faults,
        mut pipeline,
    } = devices(&[2, 2], Graphs::Never);
    assert_eq!(push(&mut pipeline, copy), Some(0));
    let input = pipeline.try_input().unwrap();
    assert_eq!((input.index(), input.place()), (1, 1));
    let failed = input.submit(LEN, |step| {
        ops::zero(step.output, step.stream)?;
        Err(Error::Full { kind: "test" })
    });
    let error = failed.unwrap_err();
    assert_eq!((error.index, error.stage), (1, ItemStage::Kernel(0)));
    assert!(push(&mut pipeline, copy).is_some());
    take(&mut pipeline, 0);
    // The wait fails once, and the item is there all the same.
    faults.reset();
    faults.fail(id::cuEventSynchronize, 1, CUresult::CUDA_ERROR_UNKNOWN);
    let error = pipeline.output().map(drop).unwrap_err();
    assert_eq!((error.index, error.stage), (2, ItemStage::Download));
    assert_eq!(pipeline.in_flight(), 1);
    take(&mut pipeline, 2);
    assert!(pipeline.output().unwrap().is_none());
    assert!(MultiPipeline::<u8, u8>::new(Vec::new()).is_err());
    assert_eq!(machine.findings(), []);
}

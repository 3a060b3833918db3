//! Items that are pushed and pulled.

use cupola_managers::Error;
use cupola_managers::pipeline::{ItemError, ItemStage};
use cupola_sys::driver::{CUresult, id};

use super::{LEN, bench, copy, pipeline};

fn failure() -> Error {
    Error::Full { kind: "test" }
}

// Without it an item could be lost, repeated or overtaken, or a slot be used while its item is in
// flight.
#[test]
fn items_come_in_order_and_slots_are_the_back_pressure() {
    const ITEMS: u32 = 40;
    let bench = bench();
    for depth in 1..=4 {
        let mut pipeline = pipeline(&bench, depth);
        assert_eq!((pipeline.depth(), pipeline.in_flight()), (depth, 0));
        assert!(pipeline.output().unwrap().is_none());
        let (mut sent, mut received) = (0, 0);
        while received < ITEMS {
            while sent < ITEMS
                && let Some(mut input) = pipeline.try_input()
            {
                assert_eq!(input.index(), u64::from(sent));
                let len = (sent * 37) as usize % (LEN + 1);
                input[..len].fill(sent);
                assert_eq!(input.submit(len, copy), Ok(u64::from(sent)));
                sent += 1;
            }
            let in_flight = (sent - received) as usize;
            assert_eq!(pipeline.in_flight(), in_flight);
            assert_eq!(in_flight == depth, pipeline.is_full());
            assert_eq!(in_flight == depth, pipeline.try_input().is_none());
            // Both ways to take one.
            let item = match received % 2 {
                0 => pipeline.output().unwrap().unwrap(),
                _ => loop {
                    if let Some(item) = pipeline.try_output().unwrap() {
                        break item;
                    }
                },
            };
            let len = (received * 37) as usize % (LEN + 1);
            assert_eq!((item.index, item.input_len), (u64::from(received), len));
            assert_eq!(item.output, vec![received; len]);
            received += 1;
        }
        assert!(pipeline.try_output().unwrap().is_none());
        assert_eq!(pipeline.report().items, u64::from(ITEMS));
        // An input that is not submitted is no item.
        let _ = pipeline.try_input();
        assert!(pipeline.output().unwrap().is_none());
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it an error could take the items before it along, leave its slot in use, or not say
// whose it is.
#[test]
fn an_error_in_the_middle_is_that_of_its_item_alone() {
    let bench = bench();
    let mut pipeline = pipeline(&bench, 4);
    let push = |pipeline: &mut super::Pipeline<u32, u32>, how: Option<ItemStage>| {
        let mut input = pipeline.try_input().unwrap();
        let index = input.index();
        input.fill(index as u32);
        let len = LEN + usize::from(how == Some(ItemStage::Fill));
        input.submit(len, |step| {
            // Work of the failed item is on the stream by then.
            let len = copy(step)?;
            match how {
                Some(ItemStage::Kernel(_)) => Err(failure()),
                _ => Ok(len),
            }
        })
    };
    for round in 0..3 {
        let first = round * 4;
        for index in [first, first + 1] {
            assert_eq!(push(&mut pipeline, None), Ok(index));
        }
        for (index, stage) in [
            (first + 2, ItemStage::Fill),
            (first + 3, ItemStage::Kernel(0)),
        ] {
            let error = push(&mut pipeline, Some(stage)).unwrap_err();
            assert_eq!((error.index, error.stage), (index, stage));
            let text = Error::from(error.clone()).to_string();
            assert_eq!(text, error.to_string());
            assert!(text.starts_with(&format!("item {index} of the pipeline, {stage}: ")));
            let class = Error::from(error.clone()).class();
            assert_eq!(class, error.error.class());
        }
        assert_eq!(pipeline.in_flight(), 2);
        for index in [first, first + 1] {
            let item = pipeline.output().unwrap().unwrap();
            assert_eq!((item.index, item.output), (index, &[index as u32; LEN][..]));
        }
        assert!(pipeline.output().unwrap().is_none());
    }
    // With none before it, its slot is free at once.
    for index in 12..20 {
        let error = push(&mut pipeline, Some(ItemStage::Fill)).unwrap_err();
        assert_eq!((error.index, pipeline.is_full()), (index, false));
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it a call that fails for a while could lose an item, or have it delivered before it has
// arrived.
#[test]
fn a_failed_call_names_its_stage_and_a_failed_wait_loses_nothing() {
    let bench = bench();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let stages = [
        (id::cuMemcpyHtoDAsync_v2, 1, ItemStage::Upload),
        (id::cuEventRecord, 1, ItemStage::Upload),
        (id::cuStreamWaitEvent, 1, ItemStage::Kernel(0)),
        (id::cuEventRecord, 2, ItemStage::Kernel(0)),
        (id::cuStreamWaitEvent, 2, ItemStage::Download),
        (id::cuMemcpyDtoHAsync_v2, 1, ItemStage::Download),
        (id::cuEventRecord, 3, ItemStage::Download),
    ];
    let mut pipeline = pipeline(&bench, 3);
    let mut next = 0;
    for (function, call, stage) in stages {
        let push = |pipeline: &mut super::Pipeline<u32, u32>| {
            let mut input = pipeline.try_input().unwrap();
            input.fill(7);
            input.submit(LEN, copy)
        };
        assert_eq!(push(&mut pipeline), Ok(next));
        bench.base.faults.reset();
        bench.base.faults.fail(function, call, code);
        let error = push(&mut pipeline).unwrap_err();
        bench.base.faults.reset();
        assert_eq!((error.index, error.stage), (next + 1, stage), "{error}");
        assert_eq!(error.error.status(), Some(code));
        assert_eq!(push(&mut pipeline), Ok(next + 2));
        for wait in [id::cuEventSynchronize, id::cuEventQuery] {
            bench.base.faults.fail_from(wait, 1, code);
        }
        // That the failed one's work has ended tells the end of the item before it.
        let item = pipeline.output().unwrap().unwrap();
        assert_eq!((item.index, item.output), (next, &[7; LEN][..]));
        for _ in 0..2 {
            for error in [pipeline.output().err(), pipeline.try_output().err()] {
                let ItemError { index, stage, .. } = error.unwrap();
                assert_eq!((index, stage), (next + 2, ItemStage::Download));
            }
        }
        bench.base.faults.reset();
        let item = pipeline.output().unwrap().unwrap();
        assert_eq!((item.index, item.output), (next + 2, &[7; LEN][..]));
        next += 3;
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it cancelling could leave work that uses a slot, or count wrongly what is lost by it.
#[test]
fn cancelling_drops_what_is_in_flight_and_begins_anew() {
    let bench = bench();
    let mut pipeline = pipeline(&bench, 3);
    for round in 0..3_u32 {
        for item in 0..5_u32 {
            if pipeline.try_input().is_none() {
                pipeline.output().unwrap();
            }
            let mut input = pipeline.try_input().unwrap();
            assert_eq!(input.index(), u64::from(item));
            input.fill(10 * round + item);
            input.submit(LEN, copy).unwrap();
        }
        let cancelled = pipeline.cancel().unwrap();
        assert_eq!((cancelled.taken, cancelled.dropped), (2, 3));
        assert_eq!(pipeline.in_flight(), 0);
        assert!(pipeline.try_output().unwrap().is_none());
    }
    // A run drops them too.
    pipeline.try_input().unwrap().submit(LEN, copy).unwrap();
    let mut left = 4_u32;
    let mut seen = 0;
    let report = pipeline
        .run::<Error>(
            |input| {
                input.fill(left);
                left -= 1;
                Ok((left > 0).then_some(LEN))
            },
            copy,
            |item| {
                assert_eq!(
                    (item.index, item.output),
                    (seen, &[4 - seen as u32; LEN][..])
                );
                seen += 1;
                Ok(())
            },
        )
        .unwrap();
    assert_eq!((report.items, seen), (3, 3));
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it a context that is lost could be waited for, or its pipeline report success.
#[test]
fn a_lost_context_ends_a_pipeline_by_name() {
    let bench = bench();
    let mut pipeline = pipeline(&bench, 3);
    pipeline.try_input().unwrap().submit(LEN, copy).unwrap();
    let lost = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.base.faults.fail_from(id::cuEventSynchronize, 1, lost);
    let error = pipeline.output().unwrap_err();
    assert_eq!((error.index, error.stage), (0, ItemStage::Download));
    assert!(error.error.is_sticky(), "{error}");
    bench
        .base
        .faults
        .fail_from(id::cuStreamSynchronize, 1, lost);
    let error = pipeline.cancel().unwrap_err();
    bench.base.faults.reset();
    assert_eq!(error.stage, ItemStage::Begin);
    assert!(matches!(error.error, Error::Poisoned { .. }), "{error}");
    assert!(pipeline.try_input().unwrap().submit(LEN, copy).is_err());
    drop(pipeline);
    assert_eq!(
        bench.base.faults.count(id::cuMemFreeHost),
        0,
        "a copy may still run"
    );
}

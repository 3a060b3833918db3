//! Items by an iterator.

use cupola_managers::Error;
use cupola_managers::pipeline::{ItemStage, Pipeline};

use super::{LEN, bench, copy, pipeline};

fn failure() -> Error {
    Error::Full { kind: "test" }
}

fn sums(
    pipeline: &mut Pipeline<u32, u32>,
    items: u32,
    fail: Option<(u32, ItemStage)>,
) -> Vec<Result<u32, (u64, ItemStage)>> {
    let hit = move |index: u32, stage| fail == Some((index, stage));
    let outputs = pipeline.iter(
        0..items,
        |input, slot| {
            slot.fill(input);
            match hit(input, ItemStage::Fill) {
                true => Err(failure()),
                false => Ok(LEN),
            }
        },
        |step| match hit(step.index as u32, ItemStage::Kernel(0)) {
            true => Err(failure()),
            false => copy(step),
        },
        |item| match hit(item.index as u32, ItemStage::Sink) {
            true => Err(failure()),
            false => Ok(item.output.iter().sum::<u32>()),
        },
    );
    let place = |result: Result<u32, _>| {
        result.map_err(|error: cupola_managers::ItemError<Error>| (error.index, error.stage))
    };
    outputs.map(place).collect()
}

// Without it an iterator could lose or repeat an item, or go on after an error with items whose
// place is not known.
#[test]
fn an_iterator_gives_every_output_in_order_and_ends_with_its_first_error() {
    let bench = bench();
    for depth in [1, 3] {
        let mut pipeline = pipeline(&bench, depth);
        let all: Vec<_> = (0..20).map(|item| Ok(item * LEN as u32)).collect();
        assert_eq!(sums(&mut pipeline, 0, None), []);
        assert_eq!(sums(&mut pipeline, 20, None), all);
        for stage in [ItemStage::Fill, ItemStage::Kernel(0), ItemStage::Sink] {
            for index in [0, 1, 7, 19] {
                let found = sums(&mut pipeline, 20, Some((index, stage)));
                let Some((last, before)) = found.split_last() else {
                    panic!("the error is there");
                };
                assert_eq!(*last, Err((u64::from(index), stage)));
                assert_eq!(before, &all[..before.len()]);
                assert_eq!(pipeline.in_flight(), 0);
            }
        }
        assert_eq!(sums(&mut pipeline, 20, None), all);
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it items in flight could outlive the iterator, and be taken for those of the next run.
#[test]
fn an_iterator_that_is_dropped_leaves_nothing_in_flight() {
    let bench = bench();
    let mut pipeline = pipeline(&bench, 3);
    let mut taken = 0;
    let mut outputs = pipeline.iter(
        std::iter::repeat(5_u32),
        |input, slot| {
            slot.fill(input);
            taken += 1;
            Ok::<_, Error>(LEN)
        },
        copy,
        |item| Ok(item.index),
    );
    assert_eq!(outputs.next(), Some(Ok(0)));
    assert_eq!(outputs.next(), Some(Ok(1)));
    drop(outputs);
    assert_eq!(taken, 4, "as many as slots were free");
    assert_eq!(pipeline.in_flight(), 0);
    assert!(pipeline.output().unwrap().is_none());
    assert_eq!(bench.base.machine.findings(), []);
}

//! Spans and events of `tracing`.

use cupola_managers::ops;
use cupola_managers::pipeline::{Graphs, Pipeline, PipelineConfig};
use cupola_sys::driver::{CUresult, id};

use super::subscriber::{subscribe, told};
use super::{LEN, TestBench, pipeline, run};

// Without it a program that subscribes could miss an item, see a span that never ends, or not be told
// what bound a run.
#[test]
fn a_subscriber_is_told_of_items_and_of_what_bound_a_run() {
    subscribe();
    let config = PipelineConfig::new(LEN, LEN).measured();
    let (_bench, mut pipeline) = pipeline(TestBench::new(), config);
    let made = told();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(
        made[0].starts_with("DEBUG pipeline made depth=3 upload="),
        "{made:?}"
    );

    run(&mut pipeline, 4, None).unwrap();
    let mut found = told();
    let ended = found.pop().unwrap();
    let submit = |item: u64| [format!("begin submit item={item}"), "end".into()];
    let wait = |item: u64| [format!("begin wait item={item}"), "end".into()];
    let mut expected = vec!["TRACE pipeline run begun".to_owned()];
    // Three slots: the fourth item waits for the first.
    for part in [
        submit(0),
        submit(1),
        submit(2),
        wait(0),
        submit(3),
        wait(1),
        wait(2),
        wait(3),
    ] {
        expected.extend(part);
    }
    let direct = "DEBUG item put by calls reason=the stages of each item are measured";
    expected.insert(2, direct.to_owned());
    assert_eq!(found, expected);
    assert!(
        ended.starts_with("DEBUG pipeline run ended items=4 full_waits=2 efficiency="),
        "{ended}"
    );
    let report = pipeline.report().overlap.unwrap();
    for part in [
        format!("diagnosis={}", report.diagnosis()),
        format!("utilisation={}", report.utilisation()),
    ] {
        assert!(ended.contains(&part), "{ended} lacks {part}");
    }

    run(&mut pipeline, 4, Some(1)).unwrap_err();
    let ended = told().pop().unwrap();
    assert!(ended.contains(" failed_item=1"), "{ended}");

    // And by the iterator, which ends when it is dropped.
    let mut items = pipeline.iter(
        0..2_u32,
        |input, slot| {
            slot[0] = input;
            Ok::<_, cupola_managers::Error>(1)
        },
        |step| ops::zero(step.output, step.stream).map(|()| 1),
        |item| Ok(item.index),
    );
    assert_eq!(items.next(), Some(Ok(0)));
    told();
    drop(items);
    let ended: Vec<String> = told();
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert!(
        ended[0].starts_with("DEBUG pipeline run ended items=2"),
        "{ended:?}"
    );
}

/// What was told at this level, without the end of each run.
fn events(level: &str) -> Vec<String> {
    let mut events = told();
    events.retain(|it| it.starts_with(level) && !it.contains("pipeline run ended"));
    events
}

// Without it a program could not see that its steps are no graphs any more, or be told so of each item.
#[test]
fn a_subscriber_is_told_of_graphs_and_of_their_end() {
    subscribe();
    let config = PipelineConfig::new(LEN, LEN).graphs(Graphs::Steps);
    let (bench, mut launched) = pipeline(TestBench::new(), config);
    told();
    run(&mut launched, 12, None).unwrap();
    let mut found = events("DEBUG");
    assert_eq!(
        found.remove(0),
        "DEBUG item put by calls reason=no item lately was as long, in the same memory"
    );
    found.sort();
    let captured = |slot: usize| format!("DEBUG step captured as a graph slot={slot} len={LEN}");
    assert_eq!(found, [0, 1, 2].map(captured));
    // Nothing is new in the next run.
    run(&mut launched, 12, None).unwrap();
    assert_eq!(events("DEBUG"), [""; 0]);

    let (context, faults) = (&bench.base.context, &bench.base.faults);
    let mut refused = Pipeline::new(context, &bench.pool, config).unwrap();
    faults.reset();
    let code = CUresult::CUDA_ERROR_NOT_PERMITTED;
    faults.fail(id::cuStreamBeginCapture_v2, 1, code);
    told();
    run(&mut refused, 12, None).unwrap();
    let warned = events("WARN");
    assert_eq!(warned.len(), 1, "{warned:?}");
    let reason = refused.graph_report().reason.clone().unwrap();
    assert_eq!(
        warned[0],
        format!("WARN steps go back to calls reason={reason}")
    );
    // A later run has the same reason, and no news.
    run(&mut refused, 12, None).unwrap();
    let later = format!("DEBUG item put by calls reason={reason}");
    let mut found = told();
    found.retain(|it| it.contains(" reason="));
    assert_eq!(found, [later]);
}

// Without it a program could not see why its pipeline takes more memory, or why it stays as it is.
#[test]
fn a_subscriber_is_told_of_growth() {
    subscribe();
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    for fails in [false, true] {
        let config = PipelineConfig::new(LEN, LEN).adaptive(2..=3);
        let (bench, mut pipeline) = pipeline(TestBench::new(), config);
        let faults = &bench.base.faults;
        faults.reset();
        // What is not known to have arrived has not when it is asked for.
        faults.fail_from(id::cuEventQuery, 1, CUresult::CUDA_ERROR_NOT_READY);
        if fails {
            faults.fail_from(id::cuMemHostAlloc, 1, code);
        }
        told();
        for item in 0..200 {
            // The host is late now and then.
            if item % 20 == 19 {
                pipeline.synchronize().unwrap();
            }
            if pipeline.is_full() {
                pipeline.output().unwrap().expect("one is in flight");
            }
            let input = pipeline.try_input().expect("there is room");
            input
                .submit(LEN, |step| {
                    ops::copy(step.input, step.output, step.stream).map(|()| LEN)
                })
                .unwrap();
        }
        let mut found = told();
        found.retain(|it| it.starts_with("DEBUG pipeline"));
        assert_eq!(found.len(), 1, "{found:?}");
        match &pipeline.growth().unwrap().refused {
            None => assert_eq!(found[0], "DEBUG pipeline grown depth=3"),
            Some(error) => assert_eq!(
                found[0],
                format!("DEBUG pipeline cannot grow depth=2 error={error}")
            ),
        }
        assert_eq!(pipeline.depth(), if fails { 2 } else { 3 });
        faults.reset();
    }
}

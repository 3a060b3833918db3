//! Spans and events of `tracing`.

use cupola_managers::pipeline::PipelineConfig;

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
        |step| cupola_managers::ops::zero(step.output, step.stream).map(|()| 1),
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

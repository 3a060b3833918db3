//! Items and results of every size, and more of them than are received.

use std::time::Duration;

use cupola_worker::{ItemError, Refusal, Supervisor};

use crate::jobs::config;

// Without it an item of no bytes could be taken for the end, or a large one be cut.
#[test]
fn every_size_up_to_the_limit_goes_both_ways() {
    let mut config = config("reverse");
    config.item_limit = 1 << 20;
    let mut supervisor = Supervisor::start(config).unwrap();
    for size in [0, 1, 15, 16, 17, 65_519, 65_536, 65_537, 1 << 20] {
        let item: Vec<u8> = (0..size)
            .map(|place: u32| (place * 7 + place / 251) as u8)
            .collect();
        let expected: Vec<u8> = item.iter().rev().copied().collect();
        assert!(supervisor.call(item).unwrap() == expected, "{size} bytes");
    }
    let refused = supervisor.submit(vec![0; (1 << 20) + 1]).unwrap_err();
    assert_eq!(refused.item.len(), (1 << 20) + 1);
    assert!(matches!(
        refused.why,
        Refusal::TooLong {
            limit: 0x10_0000,
            ..
        }
    ));
    let text = format!("{refused:?} {supervisor:?}");
    assert!(text.len() < 2000, "the bytes are not printed");
    assert!(supervisor.call(vec![3; 3]).is_ok());
    assert_eq!(supervisor.statistics().lost.total(), 0);
}

// Without it a supervisor could hold as many long items and results as it takes short ones.
#[test]
fn bytes_that_are_held_are_limited() {
    let mut config = config("reverse");
    config.capacity_bytes = 1000;
    let mut supervisor = Supervisor::start(config).unwrap();
    // One that is over the limit alone, and nothing beside it.
    supervisor.submit(vec![1; 2000]).unwrap();
    assert!(supervisor.is_full());
    let refused = supervisor.submit(vec![2; 1]).unwrap_err();
    assert_eq!(refused.item, [2]);
    let Refusal::FullBytes { bytes, held, limit } = refused.why else {
        panic!("{refused}");
    };
    assert_eq!((bytes, held, limit), (1, 2000, 1000));
    supervisor.receive().unwrap().unwrap();
    supervisor.submit(vec![3; 600]).unwrap();
    assert!(!supervisor.is_full() && supervisor.submit(vec![4; 401]).is_err());
    supervisor.submit(vec![5; 400]).unwrap();
    // The results count until they are received.
    loop {
        assert!(supervisor.submit(vec![6; 1]).is_err());
        if let Some(outcome) = supervisor.try_receive().unwrap() {
            assert_eq!(outcome.sequence, 2);
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    while supervisor.receive().unwrap().is_some() {}
    assert_eq!(supervisor.statistics().received, 3);
    assert!(!supervisor.is_full());
}

// Without it one outcome that is not received would stop calls after as many as are taken.
#[test]
fn calls_go_on_past_an_outcome_that_is_not_received() {
    let mut config = config("reverse");
    config.capacity = 2;
    let mut supervisor = Supervisor::start(config).unwrap();
    supervisor.submit(vec![1]).unwrap();
    for number in 0..10 {
        assert_eq!(supervisor.call(vec![number]).unwrap(), [number]);
        assert_eq!(supervisor.outstanding(), 1);
    }
    assert_eq!(supervisor.receive().unwrap().unwrap().sequence, 1);
}

// Without it a shutdown would cut off an item that is being sent, and the worker take the rest
// for the end of its items.
#[test]
fn a_shutdown_sends_an_item_to_its_end() {
    let mut config = config("reverse");
    config.stop_deadline = Duration::from_secs(120);
    let mut supervisor = Supervisor::start(config).unwrap();
    // Longer than the connection holds.
    let item: Vec<u8> = (0..32_u32 << 20).map(|place| (place % 251) as u8).collect();
    supervisor.submit(item.clone()).unwrap();
    let report = supervisor.shutdown().unwrap();
    assert!(report.orderly, "{:?}", report.statistics);
    let result = report.outcomes[0].result.as_ref().unwrap();
    assert!(result.iter().eq(item.iter().rev()));
}

// Without it a long result would be taken for a broken connection and cost the worker.
#[test]
fn a_result_over_the_limit_is_an_error_of_its_item() {
    let mut config = config("script");
    config.item_limit = 1000;
    let mut supervisor = Supervisor::start(config).unwrap();
    assert_eq!(supervisor.call(b"bytes 1000".to_vec()).unwrap(), [7; 1000]);
    supervisor.submit(b"bytes 1001".to_vec()).unwrap();
    let outcome = supervisor.receive().unwrap().unwrap();
    let Err(ItemError::Failed(failure)) = outcome.result else {
        panic!("{outcome:?}");
    };
    assert!(failure.text().contains("1001") && failure.text().contains("item_limit"));
    assert_eq!(supervisor.statistics().lost.total(), 0);
}

// Without it both sides could wait for each other for ever, each with a full connection; or a
// worker that waits to be heard be taken for one that hangs.
#[test]
fn nobody_waits_for_ever_when_both_directions_are_full() {
    let mut config = config("reverse");
    config.capacity = 40;
    config.window = 40;
    config.item_deadline = Some(Duration::from_secs(1));
    let mut supervisor = Supervisor::start(config).unwrap();
    let item = |number: u64| vec![number as u8; 1 << 20];
    for number in 1..=40 {
        assert_eq!(supervisor.submit(item(number)).unwrap(), number);
    }
    let refused = supervisor.submit(item(41)).unwrap_err();
    assert!(matches!(refused.why, Refusal::Full(40)));
    // Longer than the deadline, and the supervisor does not receive.
    std::thread::sleep(Duration::from_millis(1500));
    for number in 1..=40 {
        let outcome = supervisor.receive().unwrap().unwrap();
        assert_eq!(outcome.sequence, number);
        assert!(outcome.result.unwrap() == item(number));
    }
    assert_eq!(supervisor.statistics().lost.total(), 0);
}

// Without it something else in the worker could read items, or wait for input for ever.
#[test]
fn the_standard_input_of_a_worker_is_empty() {
    let mut config = config("script");
    config.item_deadline = Some(Duration::from_secs(20));
    config.attempts = 1;
    let mut supervisor = Supervisor::start(config).unwrap();
    assert_eq!(supervisor.call(b"input".to_vec()).unwrap(), [0]);
}

//! One fault at a time: what it costs, and what is said about it.

use std::time::Duration;

use cupola_worker::{CallError, ItemError, Loss, LossCounts, Refusal, Supervisor, WorkerError};

use crate::jobs::{config, start};

fn losses(supervisor: &Supervisor) -> LossCounts {
    supervisor.statistics().lost
}

// Without it a mistake in one item would cost a restart, or be taken for a result.
#[test]
fn an_error_of_an_item_is_its_outcome() {
    let mut supervisor = start("script");
    let error = supervisor.call(b"fail it is too red".to_vec()).unwrap_err();
    let CallError::Item(ItemError::Failed(failure)) = error else {
        panic!("{error}");
    };
    assert_eq!(failure.text(), "it is too red");
    assert_eq!(supervisor.call(b"say".to_vec()).unwrap(), b"2 say");
    assert_eq!(losses(&supervisor).total(), 0);
    assert!(supervisor.shutdown().unwrap().orderly);
}

// Without it a worker that is lost once would cost an item, or its cause be another.
#[test]
fn each_way_to_be_lost_is_told_apart_and_survived() {
    let mut supervisor = start("script");
    let mut cause = |item: &str| {
        let result = supervisor.call(item.into()).unwrap();
        assert!(result.ends_with(item.as_bytes()), "{item}");
        supervisor.statistics().last_cause.unwrap()
    };
    let lost = cause("until 2 lost the device went away");
    assert!(matches!(lost, Loss::Sticky(_)), "{lost}");
    assert!(lost.to_string().contains("went away"));
    let lost = cause("until 2 panic what is this");
    assert!(matches!(lost, Loss::Panicked(_)), "{lost}");
    assert!(lost.to_string().contains("what is this"), "{lost}");
    let lost = cause("until 2 exit 9");
    assert!(matches!(lost, Loss::Exited(9)), "{lost}");
    let lost = cause("until 2 abort");
    assert!(matches!(lost, Loss::Killed { signal: 6, .. }), "{lost}");
    let counts = losses(&supervisor);
    let told = [counts.sticky, counts.panicked, counts.ended];
    assert_eq!((told, counts.total()), ([1, 1, 2], 4));
    assert_eq!(supervisor.statistics().started, 5);
}

// Without it a worker that hangs would hold the program up for ever.
#[test]
fn a_worker_that_hangs_is_replaced() {
    let mut config = config("script");
    config.item_deadline = Some(Duration::from_millis(300));
    // A slow machine may take an item that is only slow for one that hangs.
    config.attempts = 100;
    let mut supervisor = Supervisor::start(config).unwrap();
    assert!(supervisor.call(b"until 2 hang".to_vec()).is_ok());
    assert!(losses(&supervisor).hung > 0);
    let last = supervisor.statistics().last_cause.unwrap();
    assert!(matches!(last, Loss::Hung(_)), "{last}");
}

// Without it one item could keep all others from being worked on.
#[test]
fn a_poisoned_item_is_given_up_and_the_others_go_on() {
    let mut supervisor = start("script");
    for item in [
        "say",
        "until 2 exit 1",
        "panic for ever",
        "say",
        "abort",
        "say",
    ] {
        supervisor.submit(item.into()).unwrap();
    }
    let mut outcomes = Vec::new();
    while let Some(outcome) = supervisor.receive().unwrap() {
        outcomes.push((outcome.sequence, outcome.result));
    }
    let good: Vec<_> = outcomes.iter().map(|(_, result)| result.is_ok()).collect();
    assert_eq!(good, [true, true, false, true, false, true]);
    assert!(outcomes.iter().map(|&(number, _)| number).eq(1..=6));
    let (
        _,
        Err(ItemError::GivenUp {
            attempts: 3, first, ..
        }),
    ) = &outcomes[2]
    else {
        panic!("{outcomes:?}");
    };
    assert!(matches!(&**first, Loss::Panicked(why) if why.text() == "for ever"));
    assert_eq!(supervisor.statistics().given_up, 2);
}

// Without it a supervisor could start workers for ever, or forget what it was given.
#[test]
fn too_many_losses_end_it_and_nothing_is_forgotten() {
    let mut config = config("script");
    config.restarts = 4;
    config.attempts = 3;
    let mut supervisor = Supervisor::start(config).unwrap();
    for item in ["say", "exit 1", "exit 2", "say", "say"] {
        supervisor.submit(item.into()).unwrap();
    }
    assert!(supervisor.receive().unwrap().unwrap().result.is_ok());
    assert!(supervisor.receive().unwrap().unwrap().result.is_err());
    let error = supervisor.receive().unwrap_err();
    let WorkerError::GaveUp {
        restarts: 5,
        first,
        last,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert!(matches!(**first, Loss::Exited(1)) && matches!(**last, Loss::Exited(2)));
    assert!(supervisor.try_receive().is_err());
    let refused = supervisor.submit(b"say".to_vec()).unwrap_err();
    assert_eq!(refused.item, b"say");
    assert!(matches!(
        refused.why,
        Refusal::Worker(WorkerError::GaveUp { .. })
    ));
    let report = supervisor.shutdown().unwrap();
    assert!(!report.orderly);
    let numbers: Vec<_> = report
        .unfinished
        .iter()
        .map(|(number, _)| *number)
        .collect();
    assert_eq!(numbers, [3, 4, 5]);
    assert_eq!(report.unfinished[1].1, b"say");
}

// Without it a worker that is stopped with work at hand could drop it silently.
#[test]
fn a_shutdown_hands_back_what_was_not_received() {
    let mut supervisor = start("script");
    for _ in 0..10 {
        supervisor.submit(b"sleep 30".to_vec()).unwrap();
    }
    assert!(supervisor.receive().unwrap().unwrap().result.is_ok());
    let report = supervisor.shutdown().unwrap();
    assert!(report.orderly, "{report:?}");
    let outcomes = report.outcomes.iter().map(|outcome| outcome.sequence);
    let unfinished = report.unfinished.iter().map(|&(number, _)| number);
    assert!(outcomes.chain(unfinished).eq(2..=10), "{report:?}");
    // What the worker had is finished, what it never had is not.
    assert!(
        report.outcomes.len() >= 3 && report.unfinished.len() >= 3,
        "{report:?}"
    );
}

// Without it the crash of a worker that is being stopped would not be reported, or the answers
// that it gave before be thrown away.
#[test]
fn a_loss_during_a_shutdown_is_recorded() {
    for (last, exited) in [("abort", false), ("exit 0", true), ("exit 7", true)] {
        let mut supervisor = start("script");
        for item in ["sleep 20", "say", last] {
            supervisor.submit(item.into()).unwrap();
        }
        let report = supervisor.shutdown().unwrap();
        assert!(!report.orderly, "{last}");
        let outcomes: Vec<_> = report.outcomes.iter().map(|one| one.sequence).collect();
        assert_eq!(outcomes, [1, 2], "{last}");
        assert_eq!(report.unfinished, [(3, last.into())]);
        let statistics = &report.statistics;
        let cause = statistics.first_cause.as_ref().unwrap();
        assert_eq!(matches!(cause, Loss::Exited(_)), exited, "{last}: {cause}");
        assert_eq!((statistics.lost.ended, statistics.lost.total()), (1, 1));
        assert_eq!(statistics.lost_at_work, 1);
    }
}

// Without it the answers of a worker that has to be killed at a shutdown would be lost, or its
// kill be taken for an orderly end.
#[test]
fn a_worker_that_hangs_at_a_shutdown_keeps_its_answers() {
    let mut config = config("script");
    config.stop_deadline = Duration::ZERO;
    let mut supervisor = Supervisor::start(config).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let last = format!("mark-and-hang {}", mark.display()).into_bytes();
    // The first one lets the others be submitted before there is an answer; the answers are more
    // than is read at once.
    let items = ["sleep 50", "bytes 60000", "bytes 60000"].map(|item| item.as_bytes().to_vec());
    for item in items.into_iter().chain([last.clone()]) {
        supervisor.submit(item).unwrap();
    }
    // The mark says that the answers were sent.
    while !mark.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let report = supervisor.shutdown().unwrap();
    assert!(!report.orderly);
    assert_eq!(report.unfinished, [(4, last)]);
    let outcomes = report.outcomes.iter();
    let lengths = outcomes.map(|one| one.result.as_ref().unwrap().len());
    assert!(lengths.eq(["1 sleep 50".len(), 60_000, 60_000]));
    let cause = report.statistics.last_cause.unwrap();
    assert!(matches!(cause, Loss::NotStopped(_)), "{cause}");
}

// Without it a call could steal the outcome of an earlier item, or wait behind the order.
#[test]
fn a_call_leaves_other_outcomes_to_be_received() {
    let mut supervisor = start("script");
    supervisor.submit(b"say".to_vec()).unwrap();
    assert_eq!(supervisor.call(b"say a".to_vec()).unwrap(), b"2 say a");
    supervisor.submit(b"say b".to_vec()).unwrap();
    assert_eq!(supervisor.receive().unwrap().unwrap().sequence, 1);
    assert_eq!(supervisor.receive().unwrap().unwrap().sequence, 3);
    assert!(supervisor.receive().unwrap().is_none());
}

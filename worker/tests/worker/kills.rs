//! Workers that are lost in mid-work, a hundred times and more.

use cupola_random::Random;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use cupola_worker::{ItemError, Loss, Statistics, Supervisor};
use rustix::process::{Pid, Signal, kill_process};

use crate::jobs::{config, gpu_item, gpu_result};

fn seed() -> u64 {
    let given = std::env::var("CUPOLA_TEST_SEED").ok();
    let seed = given.and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("CUPOLA_TEST_SEED={seed}");
    seed
}

/// Kills the worker. Its number cannot be another process's: only this thread waits for it.
fn kill(supervisor: &Supervisor) {
    let process = supervisor.statistics().process;
    if let Some(process) = process.and_then(|process| Pid::from_raw(process as i32)) {
        kill_process(process, Signal::KILL).expect("it was not waited for");
    }
}

/// An item, most likely one that makes no trouble; `b'a'` in front aborts one worker.
fn any_item(random: &mut Random, sequence: u64) -> Vec<u8> {
    match random.below(600) {
        _ if sequence == POISON => gpu_item(b'p', 255, sequence),
        0..20 => gpu_item(b's', 2, sequence),
        20..30 => gpu_item(b's', 3, sequence),
        30..50 => gpu_item(b'p', 2, sequence),
        50..60 => gpu_item(b'a', 2, sequence),
        60..65 => gpu_item(b'h', 2, sequence),
        _ => gpu_item(0, 0, sequence),
    }
}

/// The item that every worker panics over.
const POISON: u64 = 77;

// Without it an item that was taken could be lost, delivered twice or out of order when a
// worker is killed, faults, panics, aborts or hangs while it works.
#[test]
fn nothing_is_lost_in_a_hundred_kills() {
    const ITEMS: u64 = 600;
    const KILLS: u64 = 100;
    let mut random = Random::new(seed());
    let mut config = config("gpu");
    config.item_deadline = Some(Duration::from_millis(300));
    config.restarts = u32::MAX;
    // A kill hits whatever item the worker has; the poisoned one is given up all the same.
    config.attempts = 12;
    config.capacity = 16;
    let mut supervisor = Supervisor::start(config).expect("the worker starts");
    let mut items: Vec<Vec<u8>> = Vec::new();
    let begin = Instant::now();
    let (mut next, mut sent, mut aborts) = (1, 0, 0);
    // Workers that were killed with an item in flight: those that were lost with one, less
    // all others that may have been, and an item aborts one worker at most.
    let in_mid_work = |statistics: &Statistics, aborts: u64| {
        let lost = &statistics.lost;
        let others = lost.sticky + lost.panicked + lost.hung + aborts;
        statistics.lost_at_work.saturating_sub(others)
    };
    loop {
        let submitted = items.len() as u64;
        let more = submitted < ITEMS || in_mid_work(&supervisor.statistics(), aborts) < KILLS;
        if !more && next > submitted {
            break;
        }
        while more && !supervisor.is_full() {
            let sequence = items.len() as u64 + 1;
            let item = any_item(&mut random, sequence);
            aborts += u64::from(item[0] == b'a');
            items.push(item.clone());
            assert_eq!(supervisor.submit(item).expect("it is taken"), sequence);
        }
        std::thread::sleep(Duration::from_micros(random.below(1500)));
        if random.below(5) == 0 && supervisor.statistics().process.is_some() {
            kill(&supervisor);
            sent += 1;
        }
        let received = match random.below(2) {
            0 => supervisor.try_receive(),
            _ => supervisor.receive(),
        };
        let Some(outcome) = received.expect("it goes on") else {
            continue;
        };
        assert_eq!(outcome.sequence, next, "the order");
        match outcome.result {
            Ok(result) => assert_eq!(result, gpu_result(&items[next as usize - 1])),
            Err(ItemError::GivenUp { attempts, .. }) if next == POISON => assert_eq!(attempts, 12),
            Err(error) => panic!("item {next}: {error}"),
        }
        next += 1;
    }
    assert!(supervisor.receive().expect("it goes on").is_none());
    let report = supervisor.shutdown().expect("not forked");
    let statistics = &report.statistics;
    let killed = in_mid_work(statistics, aborts);
    println!(
        "SIGKILL sent {sent} times, {killed} workers killed with an item in flight, {} lost in {:?}: \
         {statistics:#?}",
        statistics.lost.total(),
        begin.elapsed()
    );
    let all = items.len() as u64;
    assert!(report.outcomes.is_empty() && report.unfinished.is_empty());
    assert_eq!((statistics.submitted, statistics.received), (all, all));
    assert_eq!(statistics.answered + statistics.given_up, all);
    assert_eq!(statistics.given_up, 1);
    assert!(killed >= KILLS && sent >= KILLS, "{:?}", statistics.lost);
    assert!(statistics.lost.sticky > 0 && statistics.lost.panicked > 0);
    assert_eq!(statistics.unreaped, 0);
}

// Without it a program would learn that its worker was lost, and not by what.
#[test]
fn the_first_cause_is_handed_back() {
    let mut config = config("gpu");
    config.attempts = 2;
    let mut supervisor = Supervisor::start(config).expect("the worker starts");
    supervisor.submit(gpu_item(b's', 9, 1)).unwrap();
    supervisor.submit(gpu_item(0, 0, 2)).unwrap();
    let outcome = supervisor.receive().unwrap().unwrap();
    let Err(ItemError::GivenUp {
        attempts: 2, first, ..
    }) = &outcome.result
    else {
        panic!("{outcome:?}");
    };
    let Loss::Sticky(failure) = &**first else {
        panic!("{first:?}");
    };
    assert_eq!(failure.status().map(|status| status.0), Some(700));
    assert!(failure.class().is_sticky() && failure.is_sticky());
    for part in ["device 0", "cuStreamSynchronize", "ILLEGAL_ADDRESS"] {
        assert!(failure.text().contains(part), "{failure}");
        assert!(
            outcome
                .result
                .as_ref()
                .unwrap_err()
                .to_string()
                .contains(part)
        );
    }
    let outcome = supervisor.receive().unwrap().unwrap();
    assert_eq!(outcome.result.unwrap(), gpu_result(&gpu_item(0, 0, 2)));
    let first = supervisor.statistics().first_cause;
    assert!(matches!(first, Some(Loss::Sticky(_))), "{first:?}");
}

//! The ledger against a model, over any row of steps.

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::*;
use crate::failure::Failure;

const ATTEMPTS: u32 = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    Send,
    Answer,
    /// An answer to another item than the first of those sent.
    Foreign(u8),
    Lose(bool),
    Receive,
    ReceiveThis(u8),
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let number = u8::arbitrary(g);
        match u8::arbitrary(g) % 16 {
            0..4 => Self::Push,
            4..8 => Self::Send,
            8..11 => Self::Answer,
            11 => Self::Foreign(number),
            12 => Self::Lose(number % 4 != 0),
            13 => Self::ReceiveThis(number),
            _ => Self::Receive,
        }
    }
}

fn cause(number: u64) -> Loss {
    Loss::Sticky(Failure::new(number.to_string()))
}

/// The item's bytes are its number; so is its result.
fn bytes(sequence: u64) -> Vec<u8> {
    sequence.to_le_bytes().to_vec()
}

// Without it an item could be lost, have two outcomes, come out of order or be given up for
// another one's faults.
#[test]
fn each_item_has_one_outcome_in_order() {
    fn property(steps: Vec<Step>) {
        let mut ledger = Ledger::new();
        let (mut pushed, mut received) = (0, Vec::new());
        let mut early = Vec::new();
        let mut sent = VecDeque::new();
        // Losses so far, and the first one, of each item.
        let mut losses: Vec<(u32, Option<u64>)> = vec![(0, None)];
        let check = |outcome: Outcome, losses: &[(u32, Option<u64>)]| {
            let (lost, first) = losses[outcome.sequence as usize];
            match outcome.result {
                Ok(result) => assert!(result == bytes(outcome.sequence) && lost < ATTEMPTS),
                Err(error) => {
                    assert_eq!(lost, ATTEMPTS);
                    let first = first.unwrap().to_string();
                    assert_eq!(error.failure().unwrap().text(), first);
                }
            }
            outcome.sequence
        };
        let mut lives = 0;
        for step in steps {
            match step {
                Step::Push => {
                    pushed += 1;
                    losses.push((0, None));
                    assert_eq!(ledger.push(bytes(pushed)), pushed);
                }
                Step::Send => {
                    if let Some((sequence, attempt, len)) = ledger.send_next() {
                        assert_eq!(u32::from(attempt), losses[sequence as usize].0 + 1);
                        assert_eq!(ledger.bytes(sequence), bytes(sequence));
                        assert_eq!(len, 8);
                        assert!(sent.back().is_none_or(|&last| last < sequence));
                        sent.push_back(sequence);
                    }
                }
                Step::Answer => {
                    if let Some(sequence) = sent.pop_front() {
                        assert!(ledger.answer(sequence, Ok(bytes(sequence))));
                    }
                }
                Step::Foreign(number) => {
                    let number = u64::from(number) % (pushed + 2);
                    if sent.front() != Some(&number) {
                        assert!(!ledger.answer(number, Ok(Vec::new())));
                    }
                }
                Step::Lose(whole) => {
                    lives += 1;
                    if let (Some(&head), true) = (sent.front(), whole) {
                        let (lost, first) = &mut losses[head as usize];
                        *lost += 1;
                        first.get_or_insert(lives);
                    }
                    let charged = if whole { ledger.head() } else { None };
                    ledger.worker_lost(&cause(lives), charged, ATTEMPTS);
                    sent.clear();
                }
                Step::Receive => {
                    if let Some(outcome) = ledger.receive() {
                        received.push(check(outcome, &losses));
                    }
                }
                Step::ReceiveThis(number) => {
                    let number = u64::from(number) % (pushed + 2);
                    if let Some(outcome) = ledger.receive_this(number) {
                        early.push(check(outcome, &losses));
                    }
                }
            }
            assert_eq!(ledger.in_flight(), sent.len());
            let open = pushed as usize - received.len() - early.len();
            assert_eq!(ledger.len(), open);
            let given_up = ledger
                .entries
                .values()
                .filter(|entry| entry.lost >= ATTEMPTS);
            assert_eq!(ledger.held_bytes(), 8 * (open - given_up.count()));
        }
        // The rest is worked on by a worker that is well.
        ledger.worker_lost(&cause(0), None, ATTEMPTS);
        while let Some((sequence, ..)) = ledger.send_next() {
            assert!(ledger.answer(sequence, Ok(bytes(sequence))));
        }
        while let Some(outcome) = ledger.receive() {
            received.push(check(outcome, &losses));
        }
        assert!(received.is_sorted(), "{received:?}");
        assert_eq!(ledger.len(), 0);
        let mut all = [received, early].concat();
        all.sort_unstable();
        assert_eq!(all, (1..=pushed).collect::<Vec<_>>());
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(property as fn(Vec<Step>));
}

// Without it an item could be given up for a hang of the one before it, which was answered
// between the verdict and the kill.
#[test]
fn a_late_answer_charges_the_next_item_nothing() {
    let mut ledger = Ledger::new();
    for sequence in 1..=2 {
        ledger.push(bytes(sequence));
        ledger.send_next();
    }
    let verdict = ledger.head();
    assert!(ledger.answer(1, Ok(bytes(1))));
    ledger.worker_lost(&cause(1), verdict, 1);
    assert_eq!(ledger.counts.given_up, 0);
    assert_eq!(ledger.send_next(), Some((2, 1, 8)));
    ledger.worker_lost(&cause(2), ledger.head(), 1);
    assert_eq!(ledger.counts.given_up, 1);
}

// Without it outcomes that were taken out of order would take room behind one that the
// caller does not receive, until there is none.
#[test]
fn what_was_received_takes_no_room() {
    let mut ledger = Ledger::new();
    ledger.push(bytes(1));
    ledger.send_next();
    assert!(ledger.answer(1, Ok(vec![0; 100])));
    for sequence in 2..=1000 {
        ledger.push(bytes(sequence));
        ledger.send_next();
        assert!(ledger.answer(sequence, Ok(bytes(sequence))));
        ledger.receive_this(sequence).unwrap();
    }
    assert_eq!((ledger.len(), ledger.held_bytes()), (1, 100));
}

// Without it what was taken could be missing from the report of a shutdown.
#[test]
fn the_rest_is_handed_back() {
    let mut ledger = Ledger::new();
    for sequence in 1..=4 {
        ledger.push(bytes(sequence));
    }
    for sequence in 1..=2 {
        ledger.send_next();
        assert!(ledger.answer(sequence, Ok(bytes(sequence))));
    }
    ledger.send_next();
    ledger.receive_this(1).unwrap();
    let (outcomes, unfinished) = ledger.into_rest();
    let numbers: Vec<_> = outcomes.iter().map(|outcome| outcome.sequence).collect();
    assert_eq!(numbers, [2]);
    assert_eq!(unfinished, [(3, bytes(3)), (4, bytes(4))]);
}

//! The ledger: every order of the steps of a few processes, which may end at any step, and random orders of
//! more of them.

mod any;
mod memory;
mod world;

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use cupola_core::ledger::{Operation, Outcome, Owner, UNIT};
use quickcheck::quickcheck;

use memory::Memory;
use world::Act::{Charge, Join, Leave, Reclaim, SetLimit};
use world::{Act, World};

/// Goes through all worlds that come of this one, where the processes of `mortal` may be killed at any step.
/// How many there are.
fn explore(limit: u64, scripts: &[&[Act]], mortal: &[usize]) -> usize {
    let memory = Memory::new();
    let first = World::new(&memory, limit, scripts);
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        world.check(&memory);
        let stepping = (0..world.len()).filter(|&index| world.may_step(index));
        let mut next: Vec<_> = stepping.map(|index| world.step(&memory, index)).collect();
        if next.is_empty() {
            world.check_end(&memory);
        }
        let killed = mortal.iter().filter(|&&index| world.may_step(index));
        next.extend(killed.map(|&index| world.kill(index)));
        open.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
    }
    println!("{} worlds", seen.len());
    seen.len()
}

// Without it two processes could have more than the limit together, or one that is killed at the wrong
// instruction could take bytes along, or have fewer taken back than it had.
#[test]
fn a_process_may_die_at_any_step() {
    let mortal: &[Act] = &[Join, Charge(3), Charge(1), Charge(4)];
    let other: &[Act] = &[Join, Charge(2), Reclaim, Charge(5)];
    assert!(explore(5, &[mortal, other], &[0]) > 10_000);
    let mortal: &[Act] = &[Join, Charge(3)];
    let other: &[Act] = &[Join, Charge(2), Reclaim];
    let third: &[Act] = &[Join, Charge(3)];
    assert!(explore(5, &[mortal, other, third], &[0]) > 10_000);
}

// Without it the same could happen where the process that takes back is killed meanwhile, or two do so.
#[test]
fn a_process_that_reclaims_may_die_at_any_step() {
    let mortal: &[Act] = &[Join, Charge(3)];
    let other: &[Act] = &[Reclaim];
    assert!(explore(5, &[mortal, other, other], &[0, 1]) > 1000);
}

// Without it a process that is late to take a row back could take the bytes of the row's new owner, or spoil its
// journal.
#[test]
fn a_late_reclaim_does_no_harm_to_a_new_owner() {
    let mortal: &[Act] = &[Join, Charge(3)];
    let late: &[Act] = &[Reclaim];
    let new: &[Act] = &[Reclaim, Join, Charge(2), Charge(4), Charge(1)];
    assert!(explore(5, &[mortal, late, new], &[0]) > 1000);
}

// Without it an owner could find what the last owner of its row had.
#[test]
fn a_row_passes_on_empty() {
    let first: &[Act] = &[Join, Charge(2), Charge(0), Leave];
    let second: &[Act] = &[Join, Charge(4), Charge(0), Leave, Join, Charge(1)];
    assert!(explore(4, &[first, second], &[0]) > 1000);
}

// Without it a charge that had read the old limit could be granted after a lower one was set.
#[test]
fn a_lower_limit_binds_charges_under_way() {
    let charging: &[Act] = &[Join, Charge(4), Charge(1), Charge(3)];
    let setting: &[Act] = &[SetLimit(2), SetLimit(5)];
    assert!(explore(5, &[charging, setting], &[]) > 30);
}

// Without it a process that was stopped while the total's operation changed as often as the total tells apart
// could apply an operation that has not happened.
#[test]
fn a_stopped_process_helps_with_no_operation_of_another_time() {
    let memory = Memory::new();
    let words = memory.words();
    words.set_limit(9 * UNIT);
    let rows = [1, 2].map(|pid| words.join(Owner::new(pid, 1).unwrap()).unwrap());
    for units in [1, 2, 3] {
        let done = Operation::charge(rows[0], units * UNIT).run(words);
        assert!(matches!(done, Outcome::Done { .. }));
    }
    let mut stopped = Operation::charge(rows[1], UNIT);
    assert_eq!(stopped.step(words), None);
    // 2^28 - 1 operations of the first row: the next one has the number that the total had.
    let later = 2 + (1 << 28);
    let applied = memory.word(2 + rows[0], 1);
    applied.store(later, Ordering::Relaxed);
    memory
        .word(2 + rows[0], 2)
        .store(3 << 36 | later, Ordering::Relaxed);
    let total = memory.word(1, 0);
    total.store(3 << 36 | later & 0xfff_ffff, Ordering::Relaxed);
    while stopped.step(words).is_none() {}
    assert_eq!(
        applied.load(Ordering::Relaxed),
        later,
        "no operation has come after it"
    );
    assert_eq!(words.used(), 4 * UNIT);
}

/// Any bytes are processes' scripts, and an order of steps and of deaths.
fn replay(bytes: &[u8]) {
    let mut bytes = bytes.iter().copied();
    let mut scripts = vec![Vec::new(); 3];
    for byte in bytes.by_ref().take(24) {
        let act = match byte % 8 {
            0 => Reclaim,
            1 => Leave,
            2 => Join,
            units => Charge(u64::from(units) - 3),
        };
        let script = &mut scripts[usize::from(byte) / 8 % 3];
        if script.is_empty() {
            script.push(Join);
        }
        // A process has one row at a time.
        if act != Join {
            script.push(act);
        }
    }
    let scripts: Vec<_> = scripts.iter().map(Vec::as_slice).collect();
    let memory = Memory::new();
    let mut world = World::new(&memory, 5, &scripts);
    for byte in bytes {
        let index = usize::from(byte) % world.len();
        let is_last = byte >= 250;
        if world.may_step(index) {
            world = match is_last {
                true => world.kill(index),
                false => world.step(&memory, index),
            };
            world.check(&memory);
        }
    }
    while let Some(index) = (0..world.len()).find(|&index| world.may_step(index)) {
        world = world.step(&memory, index);
    }
    world.check(&memory);
    world.check_end(&memory);
}

quickcheck! {
    /// Without it bytes that a stranger has written could make a process panic, or go on for ever.
    fn any_bytes_are_words_of_a_ledger(bytes: Vec<u8>, more: Vec<u8>, rest: Vec<u8>) -> bool {
        any::replay(&[bytes, more, rest].concat());
        true
    }

    /// Without it longer histories could come to what short ones do not.
    fn a_ledger_behaves_like_a_sum(bytes: Vec<u8>, more: Vec<u8>, rest: Vec<u8>) -> bool {
        replay(&[bytes, more, rest].concat());
        true
    }
}

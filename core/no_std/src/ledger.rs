//! The ledger of several processes.

use cupola_core::ledger::{
    Damaged, MAX_LIMIT, Member, Operation, Outcome, Owner, ROWS, UNIT, Words,
};

use crate::{length, message};

static WORDS: Words = Words::new();

fn member(row: usize) -> Result<u64, Damaged> {
    let member: Option<Member> = WORDS.member(row)?;
    Ok(member.map_or(0, |member| {
        member.bytes + length(format_args!("{member:?}")) as u64
    }))
}

fn bytes(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Done { before } => before,
        Outcome::Refused { used, limit } => used.min(limit),
        Outcome::Gone | Outcome::Damaged => length(format_args!("{outcome:?}")) as u64,
    }
}

/// Charges a row, step by step and at once, and takes it back.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_ledger(pid: u32, charged: u64, limit: u64) -> u64 {
    WORDS.set_limit(limit.min(MAX_LIMIT));
    let Some(owner) = Owner::new(pid, limit) else {
        return UNIT;
    };
    let Some(row) = WORDS.join(owner) else {
        return ROWS as u64;
    };
    let mut operation = Operation::charge(row, charged);
    let first = loop {
        if let Some(outcome) = operation.step(&WORDS) {
            break outcome;
        }
    };
    let there = member(row).unwrap_or_else(|damaged| message(&damaged) as u64);
    let second = Operation::charge(row, 0).run(&WORDS);
    WORDS.leave(row, owner);
    let left = WORDS.owner(row).map_or(0, |owner| u64::from(owner.pid()));
    let third = Operation::reclaim(row, owner).run(&WORDS);
    let text = length(format_args!("{WORDS:?} {operation:?} {owner:?}")) as u64;
    let used = WORDS.used() + WORDS.limit() + there + left + text;
    used + bytes(first) + bytes(second) + bytes(third)
}

//! `Operation`: one change of the ledger, in steps of one access each.

use super::word::{Entry, LIMIT_ROW, Owner, Total, UNIT, UNITS};
use super::words::Words;

/// A change of one row on its way. Each [step](Self::step) is one access to the shared words, so a process
/// that is killed or stopped is an operation that is stepped no further: wherever that is, all others go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    row: usize,
    goal: Goal,
    step: Step,
}

/// What an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Goal {
    /// The row has so many units. For its owner, one operation at a time.
    Charge(u64),
    /// The row of an owner that has ended has none, and is free.
    Reclaim(Owner),
    /// Nothing changes but the total's number.
    Note,
}

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It happened.
    Done {
        /// Bytes that the row had before, in whole units.
        before: u64,
    },
    /// The row's new bytes did not fit: nothing has changed.
    Refused {
        /// Bytes in use when it was refused.
        used: u64,
        /// The limit that it was refused under.
        limit: u64,
    },
    /// The row is no longer of the owner that has ended, or others are just freeing it.
    Gone,
    /// The row's words contradict each other: nothing has changed.
    Damaged,
}

/// The next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    /// Reads the total. All that follows is of this instant, or the exchange fails.
    Total,
    /// Reads whether the total's operation is applied.
    Named { total: Total },
    /// Reads the total again: a process that was stopped may have read a number that is older than the
    /// row's by all the numbers that the total tells apart.
    Confirm { total: Total, number: u64 },
    /// Applies the total's operation, for its process may never do so.
    Help { total: Total, number: u64 },
    /// Reads the number of the row's last operation.
    Applied { total: Total },
    /// Reads what the row has.
    Entry { total: Total, applied: u64 },
    /// Reads whether the row is still of the owner that has ended.
    Owner {
        total: Total,
        applied: u64,
        entry: Entry,
    },
    /// Reads the limit.
    Limit(Change),
    /// Reads the total again: bytes and limit of different instants must refuse nothing.
    Recheck { total: Total, limit: u64 },
    /// Writes the journal of an own row.
    Write(Change),
    /// Reads what the journal has in the entry's place, in the row of another.
    Spare(Change),
    /// Writes the journal there, unless another has.
    Replace { change: Change, spare: Entry },
    /// Exchanges the total: the operation happens, or does not.
    Exchange(Change),
    /// Applies it.
    Apply(Change),
    /// Frees the row.
    Free { before: u64 },
}

/// A change that is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Change {
    total: Total,
    next: Total,
    number: u64,
    /// Units of the row before and after.
    before: u64,
    after: u64,
}

impl Operation {
    /// The owner of `row` has `bytes` charged, rounded up to units, in place of what it had. One operation of a
    /// row at a time, and by its owner: the row is from [`Words::join`]. A row that there is not has no
    /// operations ([`Outcome::Damaged`]).
    #[must_use]
    #[inline]
    pub fn charge(row: usize, bytes: u64) -> Self {
        Self::new(row, Goal::Charge(bytes.div_ceil(UNIT)))
    }

    /// Takes back what `owner`, a process that has ended, had charged to `row`, and frees the row. Any
    /// process may do so, several at a time too.
    #[must_use]
    #[inline]
    pub fn reclaim(row: usize, owner: Owner) -> Self {
        Self::new(row, Goal::Reclaim(owner))
    }

    #[inline]
    pub(super) fn new(row: usize, goal: Goal) -> Self {
        Self {
            row,
            goal,
            step: Step::Total,
        }
    }

    /// All steps. Lock-free: it starts again only when another process's operation has happened.
    pub fn run(mut self, words: &Words) -> Outcome {
        loop {
            if let Some(outcome) = self.step(words) {
                return outcome;
            }
        }
    }

    /// One access to the words; what came of the operation, when it was the last.
    #[inline]
    pub fn step(&mut self, words: &Words) -> Option<Outcome> {
        let row = self.row;
        if row > LIMIT_ROW || (row == LIMIT_ROW && self.goal != Goal::Note) {
            return Some(Outcome::Damaged);
        }
        self.step = match self.step {
            Step::Total => Step::Named {
                total: words.total(),
            },
            Step::Named { total } => {
                let number = words.applied(total.row()).wrapping_add(1);
                if !total.is_number(number) || mutant!("ledger_helps_no_other") {
                    Step::Applied { total }
                } else if mutant!("ledger_helps_unconfirmed") {
                    Step::Help { total, number }
                } else {
                    Step::Confirm { total, number }
                }
            }
            Step::Confirm { total, number } => match words.total() == total {
                true => Step::Help { total, number },
                false => Step::Total,
            },
            Step::Help { total, number } => {
                words.apply(total.row(), number);
                Step::Applied { total }
            }
            Step::Applied { total } => {
                let applied = words.applied(row);
                match self.goal {
                    Goal::Note => Step::Exchange(Change {
                        total,
                        next: Total::new(total.units(), row, applied.wrapping_add(1)),
                        number: applied.wrapping_add(1),
                        before: 0,
                        after: 0,
                    }),
                    Goal::Charge(_) | Goal::Reclaim(_) => Step::Entry { total, applied },
                }
            }
            Step::Entry { total, applied } => {
                let entry = words.journal(row, applied);
                match self.goal {
                    Goal::Reclaim(_) if !mutant!("ledger_reclaims_from_a_new_owner") => {
                        Step::Owner {
                            total,
                            applied,
                            entry,
                        }
                    }
                    _ => match self.work_out(total, applied, entry) {
                        Ok(step) => step,
                        Err(outcome) => return Some(outcome),
                    },
                }
            }
            Step::Owner {
                total,
                applied,
                entry,
            } => {
                if !self.is_owner(words.owner(row)) {
                    return Some(Outcome::Gone);
                }
                match self.work_out(total, applied, entry) {
                    Ok(step) => step,
                    Err(outcome) => return Some(outcome),
                }
            }
            Step::Limit(change) => {
                let limit = words.limit();
                match change.next.units() * UNIT <= limit && change.fits() {
                    true => Step::Write(change),
                    false => Step::Recheck {
                        total: change.total,
                        limit,
                    },
                }
            }
            Step::Recheck { total, limit } => {
                if words.total() == total || mutant!("ledger_torn_refusal") {
                    let used = total.units() * UNIT;
                    return Some(Outcome::Refused { used, limit });
                }
                Step::Total
            }
            Step::Write(change) => {
                let entry = Entry::new(change.number, change.after);
                words.write_journal(row, change.number, entry);
                Step::Exchange(change)
            }
            Step::Spare(change) => {
                let spare = words.journal(row, change.number);
                // What the dead owner left: the entry before the last one, or that of an operation that did
                // not happen. A later one is of a new owner.
                let is_last = spare.is_number(change.number.wrapping_sub(2))
                    || mutant!("ledger_writes_to_any_journal");
                if !is_last && !spare.is_number(change.number) {
                    return Some(Outcome::Gone);
                }
                match spare == Entry::new(change.number, 0) {
                    true => Step::Exchange(change),
                    false => Step::Replace { change, spare },
                }
            }
            Step::Replace { change, spare } => {
                let entry = Entry::new(change.number, 0);
                match words.replace_journal(row, change.number, spare, entry) {
                    true => Step::Exchange(change),
                    false => Step::Total,
                }
            }
            Step::Exchange(change) => match words.exchange_total(change.total, change.next) {
                true => Step::Apply(change),
                false => Step::Total,
            },
            Step::Apply(change) => {
                words.apply(row, change.number);
                let before = change.before * UNIT;
                match self.goal {
                    Goal::Reclaim(_) => Step::Free { before },
                    Goal::Charge(_) | Goal::Note => return Some(Outcome::Done { before }),
                }
            }
            Step::Free { before } => {
                if let Goal::Reclaim(owner) = self.goal {
                    words.free(row, owner);
                }
                return Some(Outcome::Done { before });
            }
        };
        None
    }

    fn is_owner(&self, now: Option<Owner>) -> bool {
        matches!(self.goal, Goal::Reclaim(owner) if now == Some(owner))
    }

    /// What is to be done about a row that has `entry` after its operation `applied`.
    fn work_out(&self, total: Total, applied: u64, entry: Entry) -> Result<Step, Outcome> {
        let (after, damage) = match self.goal {
            Goal::Charge(units) => (units, Outcome::Damaged),
            // Others may be further.
            Goal::Reclaim(_) | Goal::Note => (0, Outcome::Gone),
        };
        let before = entry.units();
        let rest = total.units().checked_sub(before);
        let Some(rest) = rest.filter(|_| entry.is_number(applied)) else {
            return Err(damage);
        };
        if before == after {
            return match self.goal {
                Goal::Reclaim(_) => Ok(Step::Free { before: 0 }),
                Goal::Charge(_) | Goal::Note => Err(Outcome::Done {
                    before: before * UNIT,
                }),
            };
        }
        let number = applied.wrapping_add(1);
        let change = Change {
            total,
            next: Total::new((rest + after).min(UNITS), self.row, number),
            number,
            before,
            after,
        };
        Ok(match self.goal {
            Goal::Charge(_) if after > before => Step::Limit(change),
            Goal::Charge(_) | Goal::Note => Step::Write(change),
            Goal::Reclaim(_) => Step::Spare(change),
        })
    }
}

impl Change {
    /// Whether the total has room for the sum.
    fn fits(&self) -> bool {
        self.total.units() - self.before + self.after <= UNITS
    }
}
